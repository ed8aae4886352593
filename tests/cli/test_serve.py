"""prof serve: profiles over HTTP in the format of Go programs, and misbehaving clients."""

import contextlib
import gzip
import http.client
import os
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

from conftest import BUILD, NOBODY, SOURCE
from lacking import lacking
from profiles import Pprof, Stacks
from time_limit import TIME_LIMIT_S

TOKEN = "a-token-of-24-characters"
PPROF = "/debug/pprof/"


class Server:
    """A running prof serve with a port of its own."""

    def __init__(self, process, url):
        self.process = process
        self.url = url
        self.host, _, self.port = urllib.parse.urlparse(url).netloc.rpartition(":")

    def get(self, path, method="GET", context=None, **headers):
        """(status, headers, body)"""
        request = urllib.request.Request(self.url + path, method=method,
                                         headers={name.replace("_", "-"): value for name, value in headers.items()})
        try:
            with urllib.request.urlopen(request, timeout=TIME_LIMIT_S, context=context) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

    def profile(self, **query):
        status, _, body = self.get(f"{PPROF}profile?{urllib.parse.urlencode(query)}")
        assert status == 200, body
        return body

    def connect(self):
        return socket.create_connection((self.host, int(self.port)), timeout=TIME_LIMIT_S)

    def ask(self, path):
        """Returns a connection that has sent a request and waits for the answer."""
        connection = self.connect()
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return connection

    def metric(self, name):
        text = self.get("/metrics")[2].decode()
        return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)[1])

    def until(self, name, value):
        while self.metric(name) != value:
            assert self.process.poll() is None
            time.sleep(0.02)


@pytest.fixture
def serve(prof, started):
    """serve(option, …) starts a server."""

    def start(*options, url=r"https?://\S+(?=/debug)|unix:\S+", program=prof, **how):
        process = started(program.start("serve", *options, **how))
        line = process.stderr.readline()
        if "built without" in line:
            lacking("libmicrohttpd")
        found = re.search(url, line)
        assert found, line + process.stderr.read()
        return Server(process, found[0])

    return start


@pytest.fixture
def server(serve):
    return serve("--listen", "127.0.0.1:0")


def refusal(prof, *options):
    result = prof("serve", *options)
    if "built without" in result.stderr:
        lacking("libmicrohttpd")
    assert result.returncode != 0
    return result.stderr


def read_all(connection):
    data = b""
    while part := connection.recv(1 << 16):
        data += part
    return data


# ---- What Go programs serve -----------------------------------------------------------------------------


def test_a_profile_is_what_clients_get_from_go_programs(server, service):
    status, headers, body = server.get(f"{PPROF}profile?seconds=1&hz=999&pid={service.pid}")
    assert status == 200
    assert headers["Content-Type"] == "application/octet-stream"
    assert headers["Content-Disposition"] == 'attachment; filename="profile"'
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert int(headers["Content-Length"]) == len(body)
    profile = Pprof(body)
    profile.check()
    assert profile.sample_types() == [("samples", "count"), ("cpu", "nanoseconds")]
    assert profile.message.duration_nanos >= 0.9e9
    assert {label for label in profile.by_label("pid")} == {service.pid}
    assert "burn" in profile.strings


def test_errors_are_as_those_of_go(server):
    for path, text in {"heap": "Unknown profile", "profile?seconds=x": "seconds=x is not", "profile?pid=999999999": "no process 999999999",
                       "profile?comm=no-such-name": "no process of no-such-name", "profile?cgroup=/no/such": "no process of /no/such",
                       "profile?event=alloc": "needs pid", "profile?a=b": 'unknown parameter "a"'}.items():
        status, headers, body = server.get(PPROF + path)
        assert status in (400, 404), path
        assert headers["X-Go-Pprof"] == "1" and headers["Content-Type"] == "text/plain; charset=utf-8"
        assert "Content-Disposition" not in headers
        assert text in body.decode() and body.endswith(b"\n")


def test_each_format_that_is_served_is_in_the_manual_and_on_the_index(server):
    _, _, body = server.get(f"{PPROF}profile?format=x")
    names = body.decode().strip().partition("(")[2].rstrip(")").split(", ")
    assert "pprof" in names and "perf.data" not in names
    manual = (SOURCE / "man/prof-serve.1").read_text(encoding="utf-8")
    assert re.search(r"^\.B format=(.*)$", manual, re.MULTILINE)[1].replace(r"\fR|\fP", "|").split("|") == names
    assert f"({', '.join(names)})" in server.get("/", Accept="text/html")[2].decode()


def test_a_recording_that_is_refused_says_why(server, service):
    status, headers, body = server.get(f"{PPROF}profile?seconds=1&event=alloc&pid={service.pid}")
    assert status == 500 and headers["X-Go-Pprof"] == "1"
    assert b"prof inside" in body and not body.startswith(b"prof:")
    assert server.metric('prof_serve_recordings_total{result="failed"}') == 1


def test_command_line_and_symbols_are_answered(server):
    status, _, body = server.get(f"{PPROF}cmdline")
    assert status == 200 and body.split(b"\0")[:2] == [b"prof", b"serve"]
    assert server.get(f"{PPROF}symbol")[2] == b"num_symbols: 0\n"


def test_the_standalone_pprof_finds_a_profile_at_the_root_and_a_browser_the_index(server):
    assert gzip.decompress(server.get("/?seconds=1")[2])
    connection = http.client.HTTPConnection(server.host, int(server.port), timeout=TIME_LIMIT_S)
    connection.request("GET", "/", headers={"Accept": "text/html,*/*"})
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Location"]) == (302, PPROF)
    connection.close()


def test_head_records_nothing(server):
    status, headers, body = server.get(f"{PPROF}profile?seconds=300", method="HEAD")
    assert (status, headers["Content-Type"], body) == (200, "application/octet-stream", b"")


# ---- Other pages -----------------------------------------------------------------------------------------


def test_processes_are_chosen_by_name_or_cgroup_and_other_formats_are_served(root, server, service, target, started,
                                                                                 tmp_path):
    with open(f"/proc/{service.pid}/cgroup", encoding="utf-8") as file:
        path = max((line.rstrip("\n").split(":", 2)[2] for line in file), key=len)
    assert service.pid in set(Pprof(server.profile(seconds=1, hz=999, cgroup=path)).by_label("pid"))
    # Other tests have services, too.
    name = f"servic{os.getpid():x}e"
    shutil.copy(target("service"), tmp_path / name)
    named = started(subprocess.Popen([tmp_path / name], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    assert named.stdout.readline() == "ready\n"
    stacks = Stacks(server.profile(seconds=1, hz=999, comm=f"{name[:-1]}?", format="folded").decode())
    assert stacks.share("early_work", "burn") > 0.9


def test_a_flame_graph_is_a_page(server, service):
    status, headers, body = server.get(f"/flame?seconds=1&pid={service.pid}")
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    assert b"default-src 'none'" in body


def test_a_browser_goes_from_the_index_to_a_flame_graph(server, service, browser):
    page = browser.open(server.url + PPROF)
    page.until(f"document.querySelector('a[href^=\"/flame?pid={service.pid}&\"]') !== null")
    page.go(f"{server.url}/flame?seconds=1&pid={service.pid}")
    page.until("document.documentElement.dataset.ready")
    page.close()


def test_the_index_lists_processes_without_scripts(server, service):
    status, headers, body = server.get(PPROF)
    assert status == 200
    assert "default-src 'none'" in headers["Content-Security-Policy"] and b"<script" not in body
    row, = (line for line in body.decode().splitlines() if f">{service.pid}<" in line)
    assert f"/flame?pid={service.pid}&amp;seconds=5" in row
    assert int(re.search(r">(\d+)&nbsp;%", row)[1]) > 0


def test_names_of_processes_are_text_in_the_index(server, started, target, tmp_path):
    name = tmp_path / "<b>&x"
    name.symlink_to(target("shares"))
    started(subprocess.Popen([name, "600"]))  # the index begins with busy processes, and is bounded
    body = server.get(PPROF)[2].decode()
    assert "&lt;b>&amp;x" in body and "<b>&x" not in body


def test_waiting_is_recorded(server, target, started):
    sleepers = started(subprocess.Popen([target("sleepers")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    sleepers.stdout.readline()
    stacks = Stacks(server.profile(seconds=1, pid=sleepers.pid, event="off-cpu", format="folded").decode())
    assert stacks.total > 0 and any("[" in frames[-1] for frames in stacks.counts)


def test_memory_of_a_process_that_prof_inside_has_started_is_recorded(server, prof, target, started):
    if not (BUILD / "lib" / "inside" / "library" / "libprof-inside.so").exists():
        lacking("libprof-inside.so")
    program = started(subprocess.Popen([prof.binary, "inside", "--", target("allocations")], text=True, bufsize=1,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    program.stdin.write("small\n")
    while program.stdout.readline() != "small\n":
        pass
    path = f"{PPROF}profile?event=alloc&pid={program.pid}&seconds="
    for _ in range(2):
        # When a client disconnects, the library is idle for the next one.
        connection = server.ask(path + "300")
        server.until("prof_serve_recordings_running", 1)
        connection.close()
        server.until("prof_serve_recordings_running", 0)
    answer = server.ask(path + "1")
    while not select.select([answer], [], [], 0)[0]:
        program.stdin.write("medium*100\n")
        assert program.stdout.readline() == "medium*100\n"
    body = read_all(answer).partition(b"\r\n\r\n")[2]
    profile = Pprof(body)
    assert ("alloc_space", "bytes") in profile.sample_types()
    assert "medium" in profile.strings


def test_metrics_count_what_was_done(server, service):
    server.profile(seconds=1, hz=999, pid=service.pid)
    server.get(PPROF, Host="evil.example")
    status, headers, body = server.get("/metrics")
    assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4")
    for line in body.decode().splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[a-z]+"\})? [\d.e+-]+', line), line
    assert server.metric('prof_serve_recordings_total{result="whole"}') == 1
    assert server.metric("prof_serve_samples_total") > 0
    assert server.metric("prof_serve_recording_cpu_seconds_total") > 0
    assert server.metric('prof_serve_refused_requests_total{reason="host"}') == 1
    assert 1e6 < server.metric("process_resident_memory_bytes") < 1e8


# ---- Which clients are answered --------------------------------------------------------------------------


def test_pages_and_names_of_other_sites_are_refused(server):
    assert server.get(PPROF, Host="evil.example")[0] == 421
    assert server.get(PPROF, Host=f"127.0.0.1:{server.port}", Origin="https://evil.example")[0] == 403
    assert server.get(PPROF, Sec_Fetch_Site="same-origin", Origin=server.url)[0] == 200


def test_only_get_and_head_are_answered(server):
    status, headers, _ = server.get(PPROF, method="DELETE")
    assert (status, headers["Allow"]) == (405, "GET, HEAD")
    assert server.get(f"{PPROF}symbol", method="POST", Content_Length="0")[0] == 405
    connection = server.connect()
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello")
    assert read_all(connection).startswith(b"HTTP/1.1 413 ")
    connection.close()


def status_for(user, url, *options):
    return subprocess.run(["curl", "-so", "/dev/null", "-w", "%{http_code}", *options, url], user=user, group=user,
                          extra_groups=[], capture_output=True, text=True, check=True, timeout=TIME_LIMIT_S).stdout


def test_other_users_are_answered_only_if_they_are_allowed_to(root, serve, client):
    client("curl")
    server = serve("--listen", "127.0.0.1:0")
    assert status_for(NOBODY, server.url + PPROF) == "403"
    assert status_for(NOBODY, server.url + "/metrics") == "403"
    assert status_for(NOBODY, server.url + "/healthz") == "200"
    assert server.metric('prof_serve_refused_requests_total{reason="user"}') == 2
    assert status_for(NOBODY, serve("--listen", "127.0.0.1:0", "--allow-user", NOBODY).url + PPROF) == "200"


def test_a_unix_socket_answers_the_same_users(ordinary, serve, client):
    client("curl")
    path = ordinary.folder / "socket"
    serve("--listen", f"unix:{path}")
    via = ["--unix-socket", path]
    assert status_for(0, "http://localhost/metrics", *via) == "200"
    assert status_for(NOBODY, "http://localhost/metrics", *via) == "403"


def test_an_ordinary_user_serves_his_own_processes(ordinary, serve, target, started):
    server = serve("--listen", "127.0.0.1:0", program=ordinary, user=NOBODY, group=NOBODY, extra_groups=[])
    own = started(subprocess.Popen(["sh", "-c", "while :; do :; done"], user=NOBODY, group=NOBODY, extra_groups=[]))
    profile = Pprof(server.profile(seconds=1, hz=999))
    assert own.pid in set(profile.by_label("pid"))
    status, _, body = server.get(f"{PPROF}profile?seconds=1&pid={os.getpid()}")
    assert status == 500, body


@pytest.fixture
def certificate(tmp_path, client):
    subprocess.run([client("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                    "subjectAltName=IP:127.0.0.1"], cwd=tmp_path, check=True, capture_output=True)
    os.chmod(tmp_path / "key.pem", 0o600)
    return ["--tls-cert", "cert.pem", "--tls-key", "key.pem"]


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return path


def test_other_machines_need_a_token_and_tls(prof, token, certificate):
    for options in [], ["--token-file", token], certificate:
        assert "takes a token and TLS" in refusal(prof, "--listen", "0.0.0.0:0", *options)


@pytest.mark.parametrize("option", ["--token-file", "--tls-key"])
def test_a_secret_that_others_know_or_choose_is_refused(prof, root, token, option):
    fifo = token.parent / "fifo"
    os.mkfifo(fifo, 0o600)
    arguments = ["--listen", "127.0.0.1:0", "--tls-cert", token] if option == "--tls-key" else ["--listen", "127.0.0.1:0"]
    assert "is not a regular file" in refusal(prof, *arguments, option, fifo)
    token.chmod(0o640)
    assert f"is not secret: its mode is 640\n  chmod 600 {token}" in refusal(prof, *arguments, option, token)
    token.chmod(0o600)
    os.chown(token, 54321, 54321)
    assert "belongs to another user" in refusal(prof, *arguments, option, token)


def test_over_tls_who_knows_the_token_is_answered(serve, token, certificate, tmp_path, service, client):
    server = serve("--listen", "127.0.0.1:0", "--token-file", token, *certificate)
    assert server.url.startswith("https://")
    trusts = ssl.create_default_context(cafile=tmp_path / "cert.pem")
    path = f"{PPROF}profile?seconds=1&hz=999&pid={service.pid}"
    assert server.get(path, context=trusts)[0] == 401
    assert server.get(path, context=trusts, Authorization="Bearer " + TOKEN[:-1])[0] == 401
    status, _, body = server.get(path, context=trusts, Authorization="Bearer " + TOKEN)
    assert status == 200 and gzip.decompress(body)
    old = ssl.create_default_context(cafile=tmp_path / "cert.pem")
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises((urllib.error.URLError, ssl.SSLError)):
        server.get("/healthz", context=old)
    # go tool pprof has no option for a token, but a URL can have a password.
    url = server.url.replace("https://", f"https+insecure://prof:{TOKEN}@")
    top = subprocess.run([client("go"), "tool", "pprof", "-top", url + path], capture_output=True, text=True, check=True,
                         env={**os.environ, "PPROF_TMPDIR": str(tmp_path)}, timeout=TIME_LIMIT_S)
    assert "Type: cpu" in top.stdout and "burn" in top.stdout


# ---- Expensive clients -----------------------------------------------------------------------------------


def test_two_clients_do_not_record_at_once(server, service):
    first = server.ask(f"{PPROF}profile?seconds=2&pid={service.pid}")
    server.until("prof_serve_recordings_running", 1)
    status, headers, body = server.get(f"{PPROF}profile?seconds=1")
    assert status == 503 and 1 <= int(headers["Retry-After"]) <= 3 and headers["X-Go-Pprof"] == "1", body
    answer = read_all(first)
    assert answer.startswith(b"HTTP/1.1 200 ")
    first.close()
    assert server.metric('prof_serve_refused_requests_total{reason="busy"}') == 1


def recorders(server):
    """Children of the server."""
    with open(f"/proc/{server.process.pid}/task/{server.process.pid}/children", encoding="ascii") as file:
        return file.read().split()


def test_a_client_that_goes_ends_its_recording(server):
    client = server.ask(f"{PPROF}profile?seconds=300")
    server.until("prof_serve_recordings_running", 1)
    assert recorders(server)
    client.close()
    server.until('prof_serve_recordings_total{result="cancelled"}', 1)
    assert not recorders(server)
    assert server.profile(seconds=1)


def test_a_client_that_has_ended_its_request_gets_the_answer(server):
    """Its socket is half closed, but still belongs to its user."""
    for path, status in (("/healthz", b"200"), (f"{PPROF}profile?seconds=1", b"200")):
        client = server.connect()
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        client.shutdown(socket.SHUT_WR)
        assert read_all(client)[9:12] == status
        client.close()


def test_a_recording_that_is_killed_is_an_error(server):
    client = server.ask(f"{PPROF}profile?seconds=300")
    server.until("prof_serve_recordings_running", 1)
    os.kill(int(recorders(server)[0]), signal.SIGKILL)
    assert b"another process ended the recording" in read_all(client)
    client.close()


def test_a_signal_ends_the_server_and_its_recording(server):
    client = server.ask(f"{PPROF}profile?seconds=300")
    server.until("prof_serve_recordings_running", 1)
    recorder, = recorders(server)
    server.process.terminate()
    assert server.process.wait(timeout=TIME_LIMIT_S) == 0
    assert not os.path.exists(f"/proc/{recorder}")
    assert read_all(client) == b""
    client.close()


def test_huge_requests_are_refused(server):
    for request in (b"GET /" + b"a" * 100_000, b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X-A: b\r\n" * 20_000,
                    b"GET / HTTP/1.1\r\nCookie: " + b"a" * 100_000, b"\0" * 100_000):
        connection = server.connect()
        with contextlib.suppress(ConnectionError):
            connection.sendall(request)
            connection.sendall(b"\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            assert re.match(rb"HTTP/1.1 4\d\d |$", read_all(connection))
        connection.close()
    assert server.get("/healthz")[0] == 200


def test_clients_that_say_little_hold_nobody_up_for_long(serve):
    """Including clients that send steadily. Silent clients are disconnected after 10 s, and then there is room."""
    slow, crowded = (serve("--listen", "127.0.0.1:0") for _ in range(2))
    connections = [crowded.connect() for _ in range(100)]
    for connection in connections:
        connection.sendall(b"GET ")
    steady, begun = slow.connect(), time.monotonic()
    steady.sendall(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
    with contextlib.suppress(ConnectionError):
        while not select.select([steady], [], [], 0.5)[0]:
            steady.sendall(b"a")
            slow.connect().close()  # others come and go
    assert time.monotonic() - begun > 5
    assert slow.metric("prof_serve_slow_connections_total") == 1
    assert crowded.get("/healthz")[0] == 200
    assert crowded.metric("prof_serve_connections") <= 64
    for connection in steady, *connections:
        connection.close()


def test_many_honest_clients_are_all_answered(server):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(server.get("/metrics")[0])) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 100


def test_an_address_that_is_taken_is_an_error(server, prof):
    assert "Address already in use" in refusal(prof, "--listen", f"127.0.0.1:{server.port}")


def test_systemd_s_socket_is_taken(prof, started):
    listening = socket.create_server(("127.0.0.1", 0))
    descriptor = listening.fileno()
    code = (f"import os, sys; os.dup2({descriptor}, 3); os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1'); "
            f"os.execv({str(prof.binary)!r}, ['prof', 'serve'])")
    process = started(subprocess.Popen(["python3", "-c", code], pass_fds=[descriptor], stderr=subprocess.PIPE, text=True))
    line = process.stderr.readline()
    if "built without" in line:
        lacking("libmicrohttpd")
    port = listening.getsockname()[1]
    assert f"http://127.0.0.1:{port}/" in line
    listening.close()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=TIME_LIMIT_S) as answer:
        assert answer.read() == b"ok\n"


def test_options_that_make_no_sense_are_refused(prof):
    for options in ["true"], ["--tls-cert", "x"], ["--listen", "example.org:80"], ["--token-file", "x", "--allow-user", "root"]:
        assert refusal(prof, *options)
