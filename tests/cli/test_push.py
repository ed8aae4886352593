"""prof --push: what servers receive, and what happens to a profile that a server does not accept."""

import base64
import gzip
import hashlib
import http.server
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import threading
from collections import Counter

import pytest

from conftest import NOBODY, Prof
from control_channel import end
from lacking import lacking, tool
from profiles import Pprof
from segment_directory import wait_for
from time_limit import TIME_LIMIT_S
from written_segments import name_at, write_merged_segment, write_segment

try:
    from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2 as otlp
except ImportError:
    otlp = None

PATHS = {"otlp": "/v1development/profiles", "pyroscope": "/push.v1.PusherService/Push", "parca": "/profiles/writeraw"}


class Answer:
    def __init__(self, status=200, body=b"", **headers):
        self.status, self.body, self.headers = status, body, {name.replace("_", "-"): text for name, text in headers.items()}


AWAY = Answer(503, Retry_After="3600")  # an hour is longer than prof's timeout


class Server(http.server.ThreadingHTTPServer):
    """A server that takes POSTs. It gives the answers in `answers` one after the other, then 200. SILENT means no
    answer while the server runs."""

    SILENT = Answer(0)
    daemon_threads = True

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.requests, self.answers, self.closing, self.asked = [], [], threading.Event(), threading.Semaphore(0)
        self.limit_bytes, self.too_large = None, Answer(413)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]

    def url(self, protocol="otlp", user=""):
        return f"{protocol}:http://{user}127.0.0.1:{self.port}"

    def stop(self):
        self.closing.set()
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        server = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.requests.append((self.path, self.headers, body))
        if server.limit_bytes and len(body) > server.limit_bytes:
            answer = server.too_large
        else:
            answer = server.answers.pop(0) if server.answers else Answer()
        server.asked.release()
        if answer is Server.SILENT:
            server.closing.wait()
            return
        self.send_response(answer.status)
        for name, text in answer.headers.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_):
        pass


@pytest.fixture(autouse=True)
def library():
    if subprocess.run(["sh", "-c", "ldconfig -p | grep -Eq 'libcurl(-gnutls)?.so.4'"], check=False).returncode:
        lacking("libcurl4")


@pytest.fixture
def server():
    started = Server()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def recorded(targets, tmp_path_factory):
    """A pprof file of a program with several threads."""
    folder = tmp_path_factory.mktemp("recorded")
    result = Prof(folder)("record", "-q", "-o", "recorded.pb.gz", targets / "threads", "0.2")
    assert result.returncode == 0, result.stderr
    return folder / "recorded.pb.gz"


def otlp_request(body):
    if not otlp:
        lacking("the Python package opentelemetry-proto")
    return otlp.ExportProfilesServiceRequest.FromString(gzip.decompress(body))


def pushed_pprof(protocol, body):
    """Returns the labels and the profile in a request to Pyroscope or Parca."""
    if protocol == "parca":
        request = json.loads(body)
        assert request["normalized"] is True
        series, = request["series"]
        sample, = series["samples"]
        labels = {label["name"]: label["value"] for label in series["labels"]["labels"]}
        return labels, base64.b64decode(sample["rawProfile"], validate=True)
    series, = fields(body, 1)
    sample, = fields(series, 2)
    profile, = fields(sample, 1)
    labels = dict((fields(label, 1)[0].decode(), fields(label, 2)[0].decode()) for label in fields(series, 1))
    return labels, profile


def fields(message, number):
    """Returns the fields of a protobuf message that has only fields of bytes."""
    found, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag, length = varint(), varint()
        assert tag & 7 == 2
        if tag >> 3 == number:
            found.append(message[at:at + length])
        at += length
    return found


# ---- What servers receive ----

class Otlp:
    """A request with resolved indexes."""

    def __init__(self, body):
        self.message = otlp_request(body)
        self.tables = self.message.dictionary
        resource, = self.message.resource_profiles
        self.resource = {pair.key: pair.value.string_value for pair in resource.resource.attributes}
        scope, = resource.scope_profiles
        assert scope.scope.name == "prof"
        self.profiles = scope.profiles

    def text(self, index):
        return self.tables.string_table[index]

    def attributes(self, indices):
        found = {}
        for index in indices:
            attribute = self.tables.attribute_table[index]
            assert index > 0
            kind = attribute.value.WhichOneof("value")
            found[self.text(attribute.key_strindex)] = getattr(attribute.value, kind)
        return found

    def type(self, profile):
        return self.text(profile.sample_type.type_strindex), self.text(profile.sample_type.unit_strindex)

    def frame(self, index):
        """(file, build-id, address, ((name, system name, source, start line, line) …)) of a location."""
        location = self.tables.location_table[index]
        mapping = self.tables.mapping_table[location.mapping_index]
        build_id = self.attributes(mapping.attribute_indices).get("process.executable.build_id.gnu", "")
        lines = []
        for line in location.lines:
            function = self.tables.function_table[line.function_index]
            lines.append((self.text(function.name_strindex), self.text(function.system_name_strindex),
                          self.text(function.filename_strindex), function.start_line, line.line))
        return self.text(mapping.filename_strindex), build_id, location.address, tuple(lines)

    def samples(self, profile):
        found = Counter()
        for sample in profile.samples:
            stack = tuple(self.frame(index) for index in self.tables.stack_table[sample.stack_index].location_indices)
            labels = self.attributes(sample.attribute_indices)
            found[stack, frozenset(labels.items())] += sum(sample.values)
        return found


LABELS = {"comm": "process.executable.name", "thread": "thread.name", "pid": "process.pid", "tid": "thread.id"}


def expected_samples(pprof, value):
    """Returns the expected Otlp.samples() of a profile of prof."""

    def frame(id):
        location = pprof.locations[id]
        mapping = pprof.mappings.get(location.mapping_id)
        path, build_id = (pprof.strings[mapping.filename], pprof.strings[mapping.build_id]) if mapping else ("", "")
        lines = []
        for line in location.line:
            function = pprof.functions[line.function_id]
            lines.append((pprof.strings[function.name], pprof.strings[function.system_name], pprof.strings[function.filename],
                          function.start_line, line.line))
        # pprof has the address instead of a name. OTLP does not.
        unnamed = mapping and len(lines) == 1 and lines[0][0].startswith(f"[{os.path.basename(path)}+") or lines[0][0].startswith("[kernel.kallsyms]+")
        return path, build_id, location.address, () if unnamed else tuple(lines)

    found = Counter()
    for sample in pprof.message.sample:
        if sample.value[value]:
            labels = frozenset((LABELS.get(key, key), text) for key, text in pprof.labels(sample).items())
            found[tuple(frame(id) for id in sample.location_id), labels] += sample.value[value]
    return found


def test_opentelemetry_gets_every_sample_stack_name_and_build_id(prof, server, recorded):
    result = prof.run("convert", recorded, "--push", server.url("otlp"), "--label", "env=prod")
    (path, headers, body), = server.requests
    assert (path, headers["Content-Type"], headers["Content-Encoding"]) == (PATHS["otlp"], "application/x-protobuf", "gzip")
    pprof, got = Pprof.read(recorded), Otlp(body)
    assert got.resource["env"] == "prod"
    assert got.resource["service.name"] == got.resource["process.executable.name"] == "threads"
    assert got.resource["host.name"] == os.uname().nodename
    (profile,), kinds = got.profiles, pprof.sample_types()
    assert got.type(profile) == kinds[1] == ("cpu", "nanoseconds")
    assert got.samples(profile) == expected_samples(pprof, 1)
    assert profile.time_unix_nano == pprof.message.time_nanos
    assert profile.duration_nano == pprof.message.duration_nanos
    assert profile.period == pprof.message.period
    assert profile.period_type == profile.sample_type
    assert len(profile.profile_id) == 16 and any(profile.profile_id)
    assert f"pushed to {server.url('otlp')} (" in result.stderr
    assert not list(prof.folder.iterdir()), "without -o nothing is written"
    tables = got.tables
    for table in ("mapping", "location", "function", "link", "attribute", "stack"):
        first = getattr(tables, f"{table}_table")[0]
        assert first == type(first)(), table
    assert tables.string_table[0] == "" and len(set(tables.string_table)) == len(tables.string_table)
    assert all(0 < sample.stack_index < len(tables.stack_table) for sample in profile.samples)
    stacks = [tuple(stack.location_indices) for stack in tables.stack_table]
    assert len(set(stacks)) == len(stacks)
    types = {kind for location in tables.location_table for key, kind in got.attributes(location.attribute_indices).items()
             if key == "profile.frame.type"}
    assert "native" in types and types <= {"native", "kernel"}


def test_a_request_that_is_sent_twice_has_the_same_ids(prof, server, recorded):
    for _ in range(2):
        assert prof("convert", recorded, "--push", server.url("otlp")).returncode == 0
    one, two = (Otlp(body).profiles[0].profile_id for _, _, body in server.requests)
    assert one == two
    assert prof("convert", recorded, "--push", server.url("otlp"), "--label", "env=other").returncode == 0
    assert Otlp(server.requests[2][2]).profiles[0].profile_id != one


@pytest.mark.parametrize("protocol", ["pyroscope", "parca"])
def test_the_others_get_the_pprof_file_with_labels(prof, server, recorded, protocol):
    prof.run("convert", recorded, "--push", server.url(protocol) + "/", "--label", "service.name=shop", "--label", "env=prod")
    (path, headers, body), = server.requests
    assert path == PATHS[protocol]
    assert headers["Content-Type"] == {"pyroscope": "application/proto", "parca": "application/json"}[protocol]
    labels, profile = pushed_pprof(protocol, body)
    assert labels["__name__"] == "process_cpu"
    assert (labels["service_name"], labels["env"]) == ("shop", "prod")
    assert list(labels) == sorted(labels)
    if protocol == "parca":
        assert Pprof(profile).message == Pprof.read(recorded).message
    else:
        assert_the_same_without_threads(Pprof(profile), Pprof.read(recorded))


def assert_the_same_without_threads(pushed, recorded):
    """Pyroscope makes a series for each set of labels."""
    pushed.check()
    assert pushed.comments() == recorded.comments() and pushed.sample_types() == recorded.sample_types()
    stacks = [Counter(), Counter()]
    for counts, profile in zip(stacks, (pushed, recorded)):
        for sample in profile.message.sample:
            counts[profile.frames(sample)] += sample.value[1]
    assert stacks[0] == stacks[1]
    assert {"thread", "pid", "tid", "cgroup"} & set(recorded.labels(recorded.message.sample[0]))
    assert all(pushed.labels(sample).keys() <= {"comm", "container"} for sample in pushed.message.sample)


def test_a_recording_is_pushed_to_all_servers_and_kept(prof, server, targets):
    targets_of_push = [word for protocol in PATHS for word in ("--push", server.url(protocol))]
    prof.run("record", "-o", "prof.pb.gz", *targets_of_push, targets / "threads", "0.2")
    assert [path for path, _, _ in server.requests] == list(PATHS.values())
    assert Pprof.read(prof.folder / "prof.pb.gz").total() > 0


def test_credentials_reach_the_server_and_no_profile(prof, server, targets, tmp_path):
    token = tmp_path / "token"
    token.write_text("s3cret-token\n", encoding="ascii")
    token.chmod(0o600)
    url = server.url("pyroscope", user="me:s3cret-word@")
    prof.run("record", "-o", "prof.pb.gz", "--push", url, "--push-header", "X-Scope-OrgID: s3cret-team", "-v", targets / "threads", "0.2")
    result = prof.run("convert", "prof.pb.gz", "--push", server.url("otlp"), "--push-token-file", token)
    (_, first, _), (_, second, _) = server.requests
    assert first["Authorization"] == "Basic " + base64.b64encode(b"me:s3cret-word").decode()
    assert first["X-Scope-OrgID"] == "s3cret-team"
    assert second["Authorization"] == "Bearer s3cret-token"
    assert b"s3cret" not in gzip.decompress((prof.folder / "prof.pb.gz").read_bytes())
    assert "s3cret" not in result.stderr


# ---- What servers answer ----

def push(prof, recorded, server, *more):
    return prof("convert", recorded, "--push", server.url("otlp"), *more)


def test_a_busy_server_is_asked_again(prof, server, recorded):
    server.answers = [Answer(503)]
    result = push(prof, recorded, server)
    assert result.returncode == 0, result.stderr
    assert len(server.requests) == 2


def test_other_answers_are_final_and_said(prof, server, recorded):
    for status, words in {302: "redirects", 401: "credentials", 403: "credentials", 404: "no profiles at this URL", 415: "status 415"}.items():
        server.answers = [Answer(status, b"because of that\nand more", Location=f"http://127.0.0.1:{server.port}/other")]
        server.requests.clear()
        result = push(prof, recorded, server)
        assert result.returncode == 1
        assert len(server.requests) == 1
        assert words in result.stderr and f"(status {status}): because of that\n" in result.stderr


# ---- Large profiles are sent in parts ----

@pytest.fixture
def large(prof):
    write_segment(prof.folder, 0, 60, {f"main;{hashlib.sha256(bytes([number])).hexdigest()}": number + 1 for number in range(200)})
    return prof.folder / name_at(0)


def accepted(server):
    """Returns the bodies that the server has accepted."""
    return [body for _, _, body in server.requests if len(body) <= server.limit_bytes]


def pushed_to(prof, path, server, protocol):
    server.requests.clear()
    return prof("convert", path, "--push", server.url(protocol))


def test_what_is_too_large_for_a_collector_is_sent_in_parts(prof, server, large):
    pushed_to(prof, large, server, "otlp")
    whole = otlp_request(server.requests[0][2])
    server.limit_bytes = len(server.requests[0][2]) // 2
    result = pushed_to(prof, large, server, "otlp")
    assert result.returncode == 0, result.stderr
    parts = [otlp_request(body) for body in accepted(server)]
    assert f" in {len(parts)} parts)" in result.stderr and 2 <= len(parts) <= 64
    profiles = [one for part in parts for one in part.resource_profiles[0].scope_profiles[0].profiles]
    assert len({one.profile_id for one in profiles}) == len(profiles), "each part is a profile of its own"
    assert sum(sum(sample.values) for one in profiles for sample in one.samples) == sum(
        sum(sample.values) for one in whole.resource_profiles[0].scope_profiles[0].profiles for sample in one.samples)
    assert all(part.resource_profiles[0].resource == whole.resource_profiles[0].resource for part in parts)
    first = accepted(server)
    pushed_to(prof, large, server, "otlp")
    assert accepted(server) == first, "what is sent again is the same"


def test_parts_that_differ_in_names_alone_have_ids_of_their_own(prof, server):
    write_segment(prof.folder, 0, 60, {f"main;f{number:02}": 1 for number in range(40)})
    pushed_to(prof, name_at(0), server, "otlp")
    server.limit_bytes = len(server.requests[0][2]) - 1
    assert pushed_to(prof, name_at(0), server, "otlp").returncode == 0
    requests = [otlp_request(body) for body in accepted(server)]
    ids = {request.resource_profiles[0].scope_profiles[0].profiles[0].profile_id for request in requests}
    assert len(ids) == len(requests) >= 2


@pytest.mark.parametrize("protocol,too_large", [
    ("pyroscope", Answer(400, b"exceeds the size limit (max_profile_size_byte, actual: 9, limit: 4)")), ("parca", Answer(413))])
def test_what_is_too_large_for_the_others_is_sent_in_parts(prof, server, large, protocol, too_large):
    pushed_to(prof, large, server, protocol)
    labels, whole = pushed_pprof(protocol, server.requests[0][2])
    server.limit_bytes, server.too_large = len(server.requests[0][2]) * 3 // 4, too_large
    result = pushed_to(prof, large, server, protocol)
    assert result.returncode == 0, result.stderr
    parts = [pushed_pprof(protocol, body) for body in accepted(server)]
    assert len(parts) >= 2 and all(one == labels for one, _ in parts)
    assert sum(Pprof(part).total() for _, part in parts) == Pprof(whole).total()
    assert {Pprof(part).message.time_nanos for _, part in parts} == {Pprof(whole).message.time_nanos}


def test_a_server_that_takes_no_part_is_given_up_soon(prof, server, large):
    server.limit_bytes, server.too_large = 1, Answer(413, b"because of that")
    result = pushed_to(prof, large, server, "otlp")
    assert result.returncode == 1 and len(server.requests) <= 7
    assert "too large for the server, even in parts" in result.stderr and "(status 413): because of that" in result.stderr


def test_parts_of_a_server_that_goes_away_are_not_called_delivered(prof, server, large):
    pushed_to(prof, large, server, "otlp")
    server.limit_bytes, server.answers = len(server.requests[0][2]) * 3 // 4, [Answer(), Answer(403)]
    result = pushed_to(prof, large, server, "otlp")
    assert result.returncode == 1 and "credentials" in result.stderr and "pushed to" not in result.stderr


def test_a_server_says_when_to_come_again(prof, server, recorded):
    server.answers = [Answer(503, Retry_After="1")]
    assert push(prof, recorded, server).returncode == 0
    server.answers = [Answer(429, Retry_After="3600")]
    result = push(prof, recorded, server)
    assert result.returncode == 1 and "too many requests (status 429)" in result.stderr
    assert len(server.requests) == 3


def test_a_silent_server_costs_its_time_and_not_the_profile(prof, server, targets):
    server.answers = [Server.SILENT] * 20
    result = prof("record", "-o", "prof.pb.gz", "--push", server.url("otlp"), "--push-timeout", "0.1", targets / "threads", "0.2")
    assert result.returncode == 1
    assert f"push to {server.url('otlp')}: " in result.stderr
    assert Pprof.read(prof.folder / "prof.pb.gz").total() > 0


def test_what_was_refused_of_a_request_is_said(prof, server, recorded):
    answer = otlp_response(rejected=1, words="no such type")
    server.answers = [Answer(200, answer)]
    result = push(prof, recorded, server)
    assert result.returncode == 1
    assert "1 profile rejected: no such type" in result.stderr


def otlp_response(rejected, words):
    if not otlp:
        lacking("the Python package opentelemetry-proto")
    response = otlp.ExportProfilesServiceResponse()
    response.partial_success.rejected_profiles = rejected
    response.partial_success.error_message = words
    return response.SerializeToString()


def test_nonsense_in_answers_harms_nobody(prof, server, recorded):
    for body in bytes(range(256)) * 4, b"\n\xff\xff\xff\xff\xff", b"x" * 10_000_000:
        server.answers = [Answer(200, body), Answer(400, body)]
        assert push(prof, recorded, server).returncode == 0
        result = push(prof, recorded, server)
        assert result.returncode == 1 and len(result.stderr) < 1000 and "\x1b" not in result.stderr


def test_one_server_does_not_keep_the_profile_from_another(prof, server, recorded):
    server.answers = [Answer(401)]
    result = prof("convert", recorded, "--push", server.url("otlp"), "--push", server.url("parca"))
    assert result.returncode == 1
    assert [path for path, _, _ in server.requests] == [PATHS["otlp"], PATHS["parca"]]


def test_the_status_of_the_command_comes_first(prof, server):
    server.answers = [Answer(401)]
    assert prof("record", "--push", server.url("otlp"), "sh", "-c", "exit 7").returncode == 7


def test_a_signal_ends_the_waiting(prof, server, recorded):
    server.answers = [Server.SILENT] * 20
    process = prof.start("convert", recorded, "--push", server.url("otlp"))
    assert server.asked.acquire(timeout=TIME_LIMIT_S)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=TIME_LIMIT_S)
    assert process.returncode == 1 and "interrupted by a signal" in errors


@pytest.mark.parametrize("words,reason", [
    (["--push", "http://localhost"], "unknown protocol"),
    (["--push", "otlp:ftp://localhost"], "not a http:// or https:// URL"),
    (["--push", "otlp:http://"], "no host"),
    (["--push", "otlp:http://me:word@/x"], "no host"),
    (["--push", "otlp:http://host/?a=b"], "no spaces, ? or #"),
    (["--push", "otlp:http://localhost", "--push-header", "nonsense"], "not NAME:VALUE"),
    (["--push", "otlp:http://localhost", "--push-header", "A: b\r\nC: d"], "not NAME:VALUE"),
    (["--push", "otlp:http://localhost", "--label", "env"], "not KEY=VALUE"),
    (["--label", "env=prod"], "needs --push")])
def test_mistakes_are_found_before_anything_is_recorded(prof, words, reason):
    result = prof("record", *words, "touch", "ran")
    assert result.returncode == 2 and reason in result.stderr
    assert not (prof.folder / "ran").exists()
    assert "word" not in result.stderr


def test_a_server_with_tls_is_believed_only_with_a_known_certificate(prof, server, recorded, tmp_path):
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run([tool("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    url = server.url("otlp").replace("http:", "https:")
    result = prof("convert", recorded, "--push", url)  # the server is not asked again
    assert result.returncode == 1 and "certificate" in result.stderr and not server.requests
    prof.run("convert", recorded, "--push", url, env={**os.environ, "SSL_CERT_FILE": str(certificate)})
    assert len(server.requests) == 1


def test_a_user_without_privileges_pushes(ordinary, server, recorded):
    copy = ordinary.bring(recorded)
    os.chown(copy, NOBODY, NOBODY)
    ordinary.run("convert", copy, "--push", server.url("otlp"))
    assert len(server.requests) == 1


def test_a_token_that_others_know_is_not_sent(prof, recorded, server, tmp_path):
    token = tmp_path / "token"
    token.write_text("s3cret-token", encoding="ascii")
    token.chmod(0o604)
    result = prof("convert", recorded, "--push", server.url("otlp"), "--push-token-file", token)
    assert result.returncode == 1 and not server.requests
    assert f"read the token: {token} is not secret: its mode is 604\n  chmod 600 {token}" in result.stderr


# ---- A directory of profiles ----

@pytest.fixture
def ring(prof, recorded):
    """Three finished profiles, oldest first."""
    folder = prof.folder / "ring"
    folder.mkdir()
    for number in range(3):
        copy = folder / f"{number}.pb.gz"
        shutil.copy(recorded, copy)
        os.utime(copy, (1000 + number, 1000 + number))
    (folder / "notes.txt").write_text("not a profile", encoding="ascii")
    return folder


def done(ring):
    return sorted(line.rpartition(" ")[2] for line in (ring / ".pushed").read_text(encoding="utf-8").splitlines())


def test_a_directory_is_delivered_once(prof, server, ring):
    for requests in 3, 3:
        assert push(prof, ring, server).returncode == 0
        assert len(server.requests) == requests
    assert done(ring) == ["0.pb.gz", "1.pb.gz", "2.pb.gz"]
    assert prof("convert", ring, "--push", server.url("parca")).returncode == 0
    assert len(server.requests) == 6, "another server has not got them"


def test_what_an_hour_contains_is_delivered_with_it(prof, server):
    """prof was killed before it could remove the minutes that it had merged."""
    folder = prof.folder / "minutes"
    folder.mkdir()
    start = 1_795_000_000
    write_merged_segment(folder, [start, start + 1], {"f": 2})
    write_segment(folder, start + 1, 1, {"f": 1})
    write_segment(folder, start + 2, 1, {"f": 1})
    assert push(prof, folder, server).returncode == 0
    assert len(server.requests) == 2


def test_a_server_that_comes_back_gets_the_backlog(prof, server, ring):
    server.answers = [Answer(), AWAY]
    assert push(prof, ring, server).returncode == 1
    assert len(server.requests) == 2 and done(ring) == ["0.pb.gz"]
    gone = Server()
    gone.stop()
    assert push(prof, ring, gone, "--push-timeout", "0.1").returncode == 1
    assert push(prof, ring, server).returncode == 0
    assert len(server.requests) == 4 and done(ring) == ["0.pb.gz", "1.pb.gz", "2.pb.gz"]


def test_a_prof_that_is_killed_goes_on_where_it_was(prof, server, ring):
    server.answers = [Answer(), Server.SILENT]
    process = prof.start("convert", ring, "--push", server.url("otlp"))
    for _ in range(2):
        assert server.asked.acquire(timeout=TIME_LIMIT_S)
    process.kill()
    process.communicate(timeout=TIME_LIMIT_S)
    with (ring / ".pushed").open("a", encoding="ascii") as state:
        state.write("otlp:http://cut")
    assert push(prof, ring, server).returncode == 0
    assert len(server.requests) == 4, "the second one is delivered again"
    assert done(ring) == ["0.pb.gz", "1.pb.gz", "2.pb.gz"]


def test_wrong_credentials_keep_the_backlog_and_a_bad_profile_does_not_block_it(prof, server, ring):
    server.answers = [Answer(401)]
    assert push(prof, ring, server).returncode == 1
    assert len(server.requests) == 1 and not done(ring)
    server.answers = [Answer(422)]
    assert push(prof, ring, server).returncode == 1
    assert len(server.requests) == 4 and len(done(ring)) == 3


@pytest.mark.parametrize("name", [".pushed", ".pushed.new"])
@pytest.mark.parametrize("kind", ["fifo", "hard link", "link", "file"])
def test_the_state_is_not_what_another_user_has_put_there(prof, root, server, ring, tmp_path, name, kind):
    private = tmp_path / "private"
    private.write_text("kept", encoding="ascii")
    state, theirs = ring / name, tmp_path / "theirs"
    {"fifo": os.mkfifo, "hard link": lambda path: os.link(private, path), "link": lambda path: os.symlink(private, path),
     "file": lambda path: path.write_text(f"{server.url('otlp')} 0.pb.gz\n", encoding="ascii")}[kind](state)
    if kind != "hard link":
        os.chown(state, 54321, 54321, follow_symlinks=False)
    ring.rename(theirs)
    os.chown(theirs, 54321, 54321)
    prof.run("record", "--every", "1m", "-o", theirs, "--push", server.url("otlp"), "--", "true")
    assert len(server.requests) == len(done(theirs)) == 4 and private.read_text(encoding="ascii") == "kept"


def test_of_a_state_without_end_a_part_is_read(prof, server, ring):
    with (ring / ".pushed").open("ab") as state:
        state.truncate(4 << 30)
    process = prof.start("convert", ring, "--push", server.url("otlp"), stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0 and len(done(ring)) == 3
    assert usage.ru_maxrss < 1 << 20, "KiB"


def test_files_that_are_gone_are_forgotten(prof, server, ring):
    assert push(prof, ring, server).returncode == 0
    (ring / "0.pb.gz").unlink()
    assert push(prof, ring, server).returncode == 0
    assert done(ring) == ["1.pb.gz", "2.pb.gz"]


def test_one_prof_at_a_time_delivers_a_directory(prof, server, ring):
    server.answers = [Server.SILENT]
    process = prof.start("convert", ring, "--push", server.url("otlp"))
    assert server.asked.acquire(timeout=TIME_LIMIT_S)
    result = push(prof, ring, server)
    assert result.returncode == 1 and "another prof" in result.stderr
    process.kill()
    process.communicate(timeout=TIME_LIMIT_S)


# ---- The profiles of --switch-output ----

@pytest.fixture
def segments(prof, server, phases, controlled, channel):
    """segments(…) returns a prof that records an idle target, and the target."""

    def start(*arguments):
        target = phases()
        process = controlled(target.pid, "-o", "out.pb.gz", "--switch-output", "--push", server.url("otlp"), *arguments, delay=())
        channel("snapshot /dev/null")
        return process, target

    return start


def cut(process, target):
    target("left 0.2")
    process.send_signal(signal.SIGUSR2)


def test_segments_are_pushed_while_the_recording_goes_on(prof, server, segments, recorded):
    shutil.copy(recorded, prof.folder / "another.pb.gz")
    process, target = segments()
    cut(process, target)
    assert server.asked.acquire(timeout=TIME_LIMIT_S)
    wait_for(process, lambda: (prof.folder / ".pushed").exists() and done(prof.folder))
    target("right 0.2")
    process.send_signal(signal.SIGINT)
    errors = end(process)
    assert len(server.requests) == 2 and "another.pb.gz" not in done(prof.folder), "only those of the recording"
    assert done(prof.folder) == sorted(path.name for path in prof.folder.glob("out.*.pb.gz"))
    assert errors.count("pushed to ") == 2


def test_a_server_that_is_away_gets_the_segments_later(prof, server, segments):
    server.answers = [AWAY]
    process, target = segments()
    cut(process, target)
    assert server.asked.acquire(timeout=TIME_LIMIT_S)
    process.send_signal(signal.SIGINT)
    end(process)
    assert len(server.requests) == 1 + len(done(prof.folder)) and done(prof.folder)


def test_a_continuous_recording_is_pushed_while_it_goes_on(prof, server, phases, controlled):
    target = phases()
    process = controlled(target.pid, "-o", "ring/", "--every", "1s", "--push", server.url("otlp"), delay=())
    target("left 0.2")
    assert server.asked.acquire(timeout=TIME_LIMIT_S), "the recorder has locked the directory, and yet it is pushed"
    target("left 0.2")
    process.send_signal(signal.SIGINT)
    errors = end(process)
    ring = prof.folder / "ring"
    assert done(ring) == sorted(path.name for path in ring.glob("*Z.pb.gz")) and "another prof" not in errors
    # The end interrupts a request in progress, which is then repeated.
    assert len({Otlp(body).profiles[0].profile_id for _, _, body in server.requests}) == len(done(ring))


# ---- A real server ----

COLLECTOR = """\
receivers: {{otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{port}", max_request_body_size: {limit_bytes}}}}}}}}}
exporters: {{debug: {{verbosity: detailed}}}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines: {{profiles: {{receivers: [otlp], exporters: [debug]}}}}
"""


@pytest.fixture
def collector(request, tmp_path):
    """An OpenTelemetry Collector that prints what it receives: its port, and its output. Its parameter is the maximum
    size of a request in bytes."""
    program, reserved = tool("otelcol"), Server()
    port = reserved.port
    reserved.stop()
    (tmp_path / "collector.yaml").write_text(COLLECTOR.format(port=port, limit_bytes=getattr(request, "param", 20 << 20)), encoding="ascii")
    with subprocess.Popen([program, "--config", tmp_path / "collector.yaml", "--feature-gates=service.profilesSupport"],
                          stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if "Everything is ready" in line:
                break
        yield port, process.stderr, process
        process.kill()


def test_an_opentelemetry_collector_takes_it(prof, collector, recorded):
    port, output, process = collector
    prof.run("convert", recorded, "--push", f"otlp:http://127.0.0.1:{port}", "--label", "env=prod", timeout=TIME_LIMIT_S)
    process.terminate()
    printed = output.read()
    pprof = Pprof.read(recorded)
    assert "env: Str(prod)" in printed and "service.name: Str(threads)" in printed
    strings = printed.partition("String table:\n")[2].partition("Resource attributes:")[0].split("\n")
    assert {"spin", "process.executable.build_id.gnu", "profile.frame.type"} <= {text.strip() for text in strings}
    assert {"threads", "older", "younger"} <= set(re.findall(r"thread.name: Str\((.*)\)", printed))
    values = [int(value) for value in re.findall(r"Values: \[(\d+)\]", printed)]
    assert sum(values) == sum(sample.value[1] for sample in pprof.message.sample)
    assert f"DurationNano   : {pprof.message.duration_nanos}" in printed


@pytest.mark.parametrize("collector", [2500], indirect=True)
def test_an_opentelemetry_collector_takes_it_in_parts(prof, collector):
    port, output, process = collector
    write_segment(prof.folder, 0, 60, {f"main;function_with_a_long_name_{number}": 1 for number in range(40)})
    result = prof.run("convert", name_at(0), "--push", f"otlp:http://127.0.0.1:{port}")
    assert re.search(r"in \d+ parts", result.stderr)
    process.terminate()
    assert sum(int(value) for value in re.findall(r"Values: \[(\d+)\]", output.read())) == 40 * 10**9


@pytest.fixture
def pyroscope():
    """The handler of Pyroscope's own API (tests/clients/pyroscope): its port, and a line for each series."""
    with subprocess.Popen([tool("pyroscope_sink")], stdout=subprocess.PIPE, text=True) as process:
        yield int(process.stdout.readline()), process.stdout
        process.kill()


def test_the_handler_of_pyroscope_takes_it(prof, pyroscope, recorded):
    port, series = pyroscope
    url = f"pyroscope:http://127.0.0.1:{port}"
    prof.run("convert", recorded, "--push", url, "--label", "env=prod")
    got = json.loads(series.readline())
    assert got["Labels"]["__name__"] == "process_cpu"
    assert (got["Labels"]["service_name"], got["Labels"]["env"]) == ("threads", "prod")
    assert_the_same_without_threads(Pprof(base64.b64decode(got["Profiles"][0])), Pprof.read(recorded))
    result = prof("convert", recorded, "--push", url, "--label", "service.name=unwanted")
    assert result.returncode == 1
    assert "refuses these credentials (status 401)" in result.stderr and "no such team" in result.stderr
