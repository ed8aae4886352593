"""Symbols and lines from debuginfod servers: Debian's server, and the behaviour of hostile servers."""

import http.server
import os
import resource
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from conftest import NOBODY, Prof, end_group
from lacking import lacking, tool
from profiles import Stacks
from time_limit import TIME_LIMIT_S

PROGRAM = """\
#include <cstdint>
static volatile uint64_t sink;
namespace deep {
static inline __attribute__((always_inline)) uint64_t inlined_step(uint64_t x)
{
	for (int i = 0; i < 50; i++)
		x = x * 2862933555777941757ULL + 3037000493ULL;
	return x;
}
struct Worker {
	uint64_t state = 1;
	__attribute__((noinline)) void churn(int n)
	{
		for (int i = 0; i < n; i++)
			state = inlined_step(state);
		sink = state;
	}
};
}
int main()
{
	deep::Worker worker;
	for (int i = 0; i < 40; i++)
		worker.churn(100000);
}
"""
NAMES = ("main", "deep::Worker::churn(int)", "deep::inlined_step")
SIZE_LIMIT = 64 << 20


def run(*words, **options):
    return subprocess.run([*map(str, words)], check=True, capture_output=True, text=True, timeout=TIME_LIMIT_S,
                          **options).stdout


def build_id(path):
    for line in run("readelf", "-n", path).splitlines():
        if "Build ID:" in line:
            return line.split()[-1]
    raise ValueError(f"{path} has no build-id")


class Stripped:
    """A program without symbols, and a directory with its debug file next to it."""

    def __init__(self, folder, name="work", *flags):
        whole = folder / f"{name}.whole"
        self.source, self.program, self.served = folder / f"{name}.cc", folder / name, folder / "served"
        self.debug = self.served / f"{name}.debug"
        self.served.mkdir(exist_ok=True)
        self.source.write_text(PROGRAM, encoding="ascii")
        run(tool("g++"), "-O2", "-g", "-Wl,--build-id", *flags, "-o", whole, self.source)
        run("objcopy", "--only-keep-debug", whole, self.debug)
        run("strip", "-o", self.program, whole)
        self.build_id = build_id(self.program)


@pytest.fixture(scope="module")
def stripped(tmp_path_factory):
    return Stripped(tmp_path_factory.mktemp("stripped"))


@pytest.fixture(scope="module")
def recording(stripped, tmp_path_factory):
    """A perf.data of the stripped program."""
    folder = tmp_path_factory.mktemp("recording")
    result = Prof(folder)("record", "-q", "-F", "499", "-o", folder / "perf.data", stripped.program)
    assert result.returncode == 0, result.stderr
    return folder / "perf.data"


@pytest.fixture
def cache(tmp_path):
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def library():
    if subprocess.run(["sh", "-c", "ldconfig -p | grep -q libdebuginfod.so.1"], check=False).returncode:
        lacking("libdebuginfod")


def environment(cache, url=None):
    kept = {key: value for key, value in os.environ.items() if not key.startswith("DEBUGINFOD")}
    kept["DEBUGINFOD_CACHE_PATH"] = str(cache)
    return {**kept, "DEBUGINFOD_URLS": url} if url else kept


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=TIME_LIMIT_S) as reply:
            return reply.status == 200
    except (urllib.error.URLError, ConnectionError):
        return False


def serve(directory, known, folder):
    """Starts Debian's debuginfod for that directory, and returns it and its URL when it knows that build-id. Uses
    another port if one is already in use."""
    limit = time.monotonic() + TIME_LIMIT_S
    while True:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
        process = subprocess.Popen([tool("debuginfod"), "-p", url.rpartition(":")[2], "-d", ":memory:", "-F", directory],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(folder), start_new_session=True)
        while process.poll() is None:
            if answers(f"{url}/buildid/{known}/debuginfo"):
                return url, process
            assert time.monotonic() < limit
            time.sleep(0.01)


@pytest.fixture
def server(started, tmp_path):
    """server(directory, id): URL and process."""

    def start(directory, known):
        url, process = serve(directory, known, tmp_path / "of-server")
        return url, started(process)

    return start


@pytest.fixture(scope="module")
def url(stripped, tmp_path_factory):
    """The URL of a server that has the debug file of the program."""
    address, process = serve(stripped.served, stripped.build_id, tmp_path_factory.mktemp("of-server"))
    yield address
    end_group(process)
    process.wait()


def convert(prof, recording, cache, url, *words, **options):
    """Returns the stacks of a converted recording, and the messages."""
    result = prof.run("convert", recording, "-o", "out.folded", *words, env=environment(cache, url), **options)
    return Stacks.read(prof.folder / "out.folded"), result.stderr


def test_names_and_lines_come_from_a_server(prof, recording, stripped, url, cache):
    stacks, said = convert(prof, recording, cache, url)
    assert stacks.share(*NAMES) > 0.9, stacks.hottest()
    assert "downloaded debug information: 1 file" in said
    assert url in said
    report = prof("report", recording, "--by", "line", env=environment(cache, url))
    assert f"{stripped.source.name}:7" in report.stdout, report.stdout


def test_a_recording_downloads_when_it_has_ended(prof, stripped, url, cache):
    recorded = prof.record("-F", "499", "--debuginfod", url, stripped.program, env=environment(cache))
    assert recorded.stacks.share(*NAMES) > 0.9, recorded.stacks.hottest()


def test_the_cache_is_that_of_elfutils_and_serves_when_the_server_is_gone(prof, recording, stripped, server, tmp_path):
    url, process = server(stripped.served, stripped.build_id)
    env = {key: value for key, value in environment(tmp_path, url).items() if key not in ("DEBUGINFOD_CACHE_PATH", "XDG_CACHE_HOME")}
    caches = {"cache": {"DEBUGINFOD_CACHE_PATH": f"{tmp_path}/cache"}, ".cache/debuginfod_client": {},
              "xdg/debuginfod_client": {"XDG_CACHE_HOME": f"{tmp_path}/xdg"}}
    environments = [{**env, "HOME": str(tmp_path), **more} for more in caches.values()]
    for each in environments:
        assert prof("convert", recording, "-o", "out.folded", env=each).returncode == 0
    process.kill()
    process.wait()
    for folder, each in zip(caches, environments):
        found = run(tool("debuginfod-find"), "debuginfo", stripped.build_id, env=each).strip()
        assert Path(found).is_relative_to(tmp_path / folder)
        result = prof("convert", recording, "-o", "out.folded", env=each)
        assert "downloaded" not in result.stderr
        assert Stacks.read(prof.folder / "out.folded").share(*NAMES) > 0.9


def test_supplementary_files_of_dwz_are_downloaded_too(prof, server, cache, tmp_path):
    folder = tmp_path / "dwz"
    folder.mkdir()
    one, two = Stripped(folder, "one"), Stripped(folder, "two", "-DTWO")
    common = one.served / "common.debug"
    run(tool("dwz"), "-m", common, "-M", "/usr/lib/debug/.dwz/gone.debug", one.debug, two.debug)
    assert ".gnu_debugaltlink" in run("readelf", "-SW", one.debug)
    url, _ = server(one.served, build_id(common))
    recorded = prof.record("-F", "499", one.program, env=environment(cache, url))
    assert recorded.stacks.share(*NAMES) > 0.9, recorded.stacks.hottest()
    assert (cache / build_id(common) / "debuginfo").exists()


@pytest.mark.parametrize("user", ["ordinary user", "caller of sudo"])
def test_files_of_the_cache_belong_to_the_user(user, recording, stripped, url, ordinary):
    cache = ordinary.folder / "cache"
    cache.mkdir()
    os.chown(cache, NOBODY, NOBODY)
    copy = ordinary.bring(recording)
    os.chmod(copy, 0o644)
    os.chmod(stripped.program, 0o755)
    for folder in stripped.program.parents:
        if os.stat(folder).st_uid == 0 and folder != Path("/"):
            os.chmod(folder, os.stat(folder).st_mode | 0o011)
    if user == "ordinary user":
        stacks, _ = convert(ordinary, copy, cache, url)
    else:
        sudo = {**environment(cache, url), "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)}
        result = Prof(ordinary.folder)("convert", copy, "-o", "out.folded", env=sudo)
        assert result.returncode == 0, result.stderr
        stacks = Stacks.read(ordinary.folder / "out.folded")
    assert stacks.share(*NAMES) > 0.9, stacks.hottest()
    cached = cache / stripped.build_id / "debuginfo"
    assert cached.stat().st_uid == NOBODY


class Hostile(http.server.ThreadingHTTPServer):
    """A server with arbitrary answers. It stores the requests."""

    daemon_threads = True

    def __init__(self, answer):
        self.asked, self.was_asked, self.is_over = [], threading.Event(), threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                outer.was_asked.set()
                try:
                    answer(self, outer)
                except (BrokenPipeError, ConnectionResetError):
                    pass

            do_HEAD = do_GET

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def end(self):
        self.is_over.set()
        self.shutdown()
        self.server_close()


@pytest.fixture
def hostile():
    """hostile(answer) starts a server with this answer."""
    servers = []

    def start(answer):
        servers.append(Hostile(answer))
        return servers[-1]

    yield start
    for each in servers:
        each.end()


def head(handler, length):
    handler.send_response(200)
    handler.send_header("Content-Type", "application/octet-stream")
    handler.send_header("Content-Length", str(length))
    handler.end_headers()


def hang(_handler, outer):
    outer.is_over.wait()


def trickle(handler, outer):
    head(handler, 1 << 20)
    while not outer.is_over.wait(1):
        handler.wfile.write(b"x")


def promise_more(handler, _outer):
    head(handler, 1 << 20)
    handler.wfile.write(b"\x7fELF" + bytes(1000))


def send_garbage(handler, _outer):
    head(handler, 100000)
    handler.wfile.write(os.urandom(100000))


def send_other(handler, _outer):
    program = Path("/bin/true").read_bytes()
    head(handler, len(program))
    handler.wfile.write(program)


def send_to_file(handler, _outer):
    handler.send_response(302)
    handler.send_header("Location", "file:///etc/passwd")
    handler.end_headers()


def fail(handler, _outer):
    handler.send_error(500)


def not_found(handler, _outer):
    handler.send_error(404)


def promise_10_gb(handler, outer):
    head(handler, 10 << 30)
    while not outer.is_over.is_set():
        handler.wfile.write(bytes(1 << 20))


class SendsSources:
    """Answers with the debug file of a program. Requests for a source are answered by `source(handler, outer)`."""

    def __init__(self, program, source):
        self.program, self.source = program, source

    def __call__(self, handler, outer):
        path = urllib.parse.unquote(handler.path)
        if path == f"/buildid/{self.program.build_id}/debuginfo":
            debug = self.program.debug.read_bytes()
            head(handler, len(debug))
            handler.wfile.write(debug)
        elif path == f"/buildid/{self.program.build_id}/source/build/gone/{self.program.source.name}":
            self.source(handler, outer)
        else:
            not_found(handler, outer)


def stream(handler, outer):
    """Sends no length."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/octet-stream")
    handler.end_headers()
    while not outer.is_over.is_set():
        handler.wfile.write(bytes(1 << 20))


def assert_whole_without_names(stacks):
    assert stacks.total > 10
    assert stacks.holding("deep::Worker::churn(int)") == 0
    assert stacks.count(lambda frames: any("[work+0x" in frame for frame in frames)) > 0.9 * stacks.total


SAYINGS = {
    hang: "did not send the debug information of work within 1",
    trickle: "did not send the debug information of work within 1",
    promise_more: None,
    promise_10_gb: "could not be downloaded: File too large",
    send_garbage: "is not its debug file",
    send_other: "is not its debug file",
    send_to_file: None,
    fail: None,
    not_found: None,
}


def time_for(answer):
    """Only these answers need time."""
    return ["--debuginfod-time", "1"] if answer in (hang, trickle) else []


@pytest.mark.parametrize("answer", SAYINGS, ids=lambda answer: answer.__name__)
def test_a_hostile_server_costs_names_and_no_more_than_the_time(answer, prof, recording, cache, hostile):
    stacks, said = convert(prof, recording, cache, hostile(answer).url, *time_for(answer))
    assert_whole_without_names(stacks)
    if SAYINGS[answer]:
        assert SAYINGS[answer] in said
    if answer in (hang, trickle, promise_10_gb):
        assert not list(cache.rglob("debuginfo*")), "the next run would not ask again"


def test_a_server_that_is_down_is_reported(prof, recording, cache):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        stacks, said = convert(prof, recording, cache, f"http://127.0.0.1:{closed.getsockname()[1]}")
    assert_whole_without_names(stacks)
    assert "the debug information of work could not be downloaded: Connection refused" in said


def test_a_file_without_end_is_cut_off_and_removed(prof, recording, cache, hostile):
    def lower_limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (SIZE_LIMIT, SIZE_LIMIT))

    peak, is_over = [0], threading.Event()

    def watch():
        while not is_over.wait(0.01):
            try:
                files = [path.stat() for path in cache.rglob("*")]
            except FileNotFoundError:
                continue
            peak[0] = max(peak[0], sum(512 * each.st_blocks for each in files))

    watcher = threading.Thread(target=watch)
    watcher.start()
    stacks, said = convert(prof, recording, cache, hostile(stream).url, preexec_fn=lower_limit)
    is_over.set()
    watcher.join()
    assert_whole_without_names(stacks)
    assert "could not be downloaded: File too large" in said
    assert peak[0] < 4 * SIZE_LIMIT + (1 << 20)
    assert not list(cache.rglob("debuginfo*"))


@pytest.mark.parametrize("answer", [hang, trickle, stream], ids=lambda answer: answer.__name__)
def test_a_signal_ends_the_download_alone(answer, prof, recording, cache, hostile, started):
    server = hostile(answer)
    process = started(prof.start("convert", recording, "-o", "out.folded", env=environment(cache, server.url)))
    assert server.was_asked.wait(TIME_LIMIT_S)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=TIME_LIMIT_S)[1]
    assert process.returncode == 0, said
    assert "stopped downloading the debug information of" in said
    assert_whole_without_names(Stacks.read(prof.folder / "out.folded"))
    assert not list(cache.rglob("debuginfo*")), "a part of a file stayed, or a note that no server has it"


def test_no_server_is_asked_without_being_named(prof, recording, cache, hostile):
    server = hostile(not_found)
    convert(prof, recording, cache, None)
    convert(prof, recording, cache, server.url, "--debuginfod", "no")
    assert not server.asked


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    """A stripped program whose source is not where its debug information names it, and its perf.data."""
    folder = tmp_path_factory.mktemp("moved")
    program = Stripped(folder, "moved", f"-fdebug-prefix-map={folder}=/build/gone")
    result = Prof(folder)("record", "-q", "-F", "499", "-o", folder / "perf.data", program.program)
    assert result.returncode == 0, result.stderr
    return program


def annotate(prof, program, server, cache, *words):
    result = prof.run("annotate", program.program.with_name("perf.data"), "deep::Worker::churn", *words,
                      env=environment(cache, server.url))
    return result


def test_annotate_downloads_sources(prof, moved, cache, hostile):
    server = hostile(SendsSources(moved, lambda handler, _: (head(handler, len(PROGRAM)),
                                                             handler.wfile.write(PROGRAM.encode()))))
    for _ in range(2):
        shown = annotate(prof, moved, server, cache).stdout
        assert f"/build/gone/{moved.source.name} (from debuginfod)" in shown
        assert "state = inlined_step(state);" in shown
    assert len([path for path in server.asked if "source" in path]) == 1


@pytest.mark.parametrize("answer", [hang, not_found, promise_10_gb, send_other], ids=lambda answer: answer.__name__)
def test_a_hostile_source_costs_the_source_alone(answer, prof, moved, cache, hostile):
    server = hostile(SendsSources(moved, answer))
    result = annotate(prof, moved, server, cache, *time_for(answer))
    assert f"the source file /build/gone/{moved.source.name} was not found" in result.stdout
    assert [line for line in result.stdout.splitlines() if line.split()[-1:] == ["15"]], result.stdout
    if answer == hang:
        assert "did not send /build/gone/moved.cc within 1" in result.stderr
        assert not list(cache.rglob("source*")), "the next run would not ask again"
    if answer == promise_10_gb:
        assert "/build/gone/moved.cc could not be downloaded: File too large" in result.stderr


def test_what_is_complete_or_on_no_server_is_not_asked_for_again(prof, recording, stripped, cache, hostile):
    server = hostile(not_found)
    _, said = convert(prof, recording, cache, server.url)
    assert "could not be downloaded" not in said
    assert any(stripped.build_id in path for path in server.asked)
    server.asked.clear()
    convert(prof, recording, cache, server.url)
    prof.run("record", "-F", "499", "-o", "whole.folded", stripped.program.with_name("work.whole"),
             env=environment(cache / "another", server.url))
    assert not [path for path in server.asked if stripped.build_id in path]


def test_prof_says_that_the_library_is_missing(prof, recording, cache, tmp_path):
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    (libraries / "libdebuginfod.so.1").touch()
    env = {**environment(cache, "http://127.0.0.1:1"), "LD_LIBRARY_PATH": str(libraries)}
    result = prof.run("convert", recording, "-o", "out.folded", env=env)
    assert "apt install libdebuginfod1" in result.stderr
    assert_whole_without_names(Stacks.read(prof.folder / "out.folded"))
