"""Programs whose files are elsewhere: in containers, under chroot(2), in deleted images, in memory. prof runs outside
and gets their process id. Their debug files and symbol lists are inside."""

import contextlib
import ctypes
import itertools
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from conftest import NOBODY
from lacking import tool
from profiles import Stacks
from time_limit import TIME_LIMIT_S
from until_busy import wait

CPP = """
#include <cstdio>
__attribute__((noinline)) unsigned innermost(unsigned n) { for (unsigned i = n; i; i--) __asm__ volatile("" : "+r"(n)); return n; }
__attribute__((noinline)) unsigned busy_part(unsigned n) { n = innermost(n); __asm__ volatile("" : "+r"(n)); return n; }
int main() { std::puts("ready"); std::fflush(stdout); for (;;) busy_part(100000); }
"""

RUST = """
use std::hint::black_box;
#[inline(never)] fn innermost(n: u64) -> u64 { (0..n).fold(0, |sum, i| black_box(sum + i)) }
#[inline(never)] fn busy_part(n: u64) -> u64 { black_box(innermost(n)) + 1 }
fn main() { println!("ready"); loop { black_box(busy_part(black_box(100000))); } }
"""

# Reads the program from standard input into memory, so that it does not exist as a file. With an argument, the memory
# is a library, which is loaded.
MEMORY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	static char buffer[1 << 16], path[64];
	int fd = memfd_create("busy", 0);
	ssize_t len;

	while ((len = read(0, buffer, sizeof(buffer))) > 0)
		write(fd, buffer, len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (argc == 1)
		execl(path, "busy", NULL);
	void *library = dlopen(path, RTLD_NOW);
	int (*run)(void) = library ? dlsym(library, "run") : NULL;
	return run ? run() : 1;
}
"""

# Copies machine code into memory, and lists it like a JIT compiler.
COMPILED = r"""
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static const unsigned char code[] = {
#if defined(__x86_64__)
	0xff, 0xcf, 0x75, 0xfc, 0xc3, /* dec %edi; jnz; ret */
#else
	0x00, 0x04, 0x00, 0x71, 0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6, /* subs; b.ne; ret */
#endif
};
int main(void)
{
	void *memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	memcpy(memory, code, sizeof(code));
	mprotect(memory, 4096, PROT_READ | PROT_EXEC);
	__builtin___clear_cache(memory, (char *)memory + sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	fprintf(map, "%lx %zx busy_part\n", (unsigned long)memory, sizeof(code));
	fclose(map);
	puts("ready");
	fflush(stdout);
	for (;;) {
		((void (*)(unsigned))memory)(1000000);
		__asm__ volatile("" ::: "memory");
	}
}
"""

# The main thread ends, and another thread continues.
LEADERLESS = r"""
#include <pthread.h>
#include <stdio.h>
static pthread_t first;
static __attribute__((noinline)) void busy_part(unsigned n) { for (; n; n--) __asm__ volatile("" : "+r"(n)); }
static void *work(void *unused)
{
	pthread_join(first, NULL);
	puts("ready");
	fflush(stdout);
	for (;;)
		busy_part(100000);
}
int main(void)
{
	pthread_t thread;

	first = pthread_self();
	pthread_create(&thread, NULL, work, NULL);
	pthread_exit(NULL);
}
"""

HOT = """
function busy_part(n) { let sum = 0; for (let i = 0; i < n; i++) sum += i % 7; return sum; }
process.title = process.argv[2];
for (let i = 0; i < 300; i++) busy_part(1000000);
for (let i = 0; i < 300; i++) new Function("n", `let sum = ${i}; for (let k = 0; k < n; k++) sum += k; return sum;`)(20000);
console.log("ready");
for (;;) busy_part(1000000);
"""

# How containers are started. "$0" is the directory of the image, "$@" the command. `image` is consumed.
ROOTS = {
    "chroot": 'exec chroot "$0" "$@"',
    "namespaces": 'exec unshare --mount --pid --fork --kill-child chroot "$0" "$@"',
    "overlay": 'exec unshare --mount --pid --fork --kill-child sh -c \'mkdir "$0.upper" "$0.work" "$0.root" && mount -t overlay overlay '
               '-o lowerdir="$0",upperdir="$0.upper",workdir="$0.work" "$0.root" && exec chroot "$0.root" "$@"\' "$0" "$@"',
    "bubblewrap": 'exec bwrap --die-with-parent --unshare-all --bind "$0" / --proc /proc "$@"',
}
USER_ROOTS = {
    "user namespace": 'exec unshare --user --map-root-user --mount --pid --fork --kill-child chroot "$0" "$@"',
    "overlay": ROOTS["overlay"].replace("exec unshare", "exec unshare --user --map-root-user", 1),
    "bubblewrap": ROOTS["bubblewrap"],
}

WAYS = [pytest.param(root, 0, id=f"{name}-root") for name, root in ROOTS.items()] + \
       [pytest.param(root, NOBODY, id=f"{name}-user") for name, root in USER_ROOTS.items()]


def compiled(path, source, *options):
    compiler, language = ("rustc", None) if source == RUST else ("g++", "c++") if "cstdio" in source else ("gcc", "c")
    if source == RUST:
        command = [tool(compiler), "-g", "-O", "-Ctarget-feature=+crt-static", "-Clink-arg=-Wl,--build-id", "--crate-name=busy",
                   *options, "-o", path, "-"]
    else:
        command = [tool(compiler), "-g", "-O1", "-x", language, "-o", path, "-", *options]
    subprocess.run(command, check=True, text=True, input=source)
    return path


@pytest.fixture(scope="module")
def cpp(tmp_path_factory):
    """A static program, with its debug information."""
    return compiled(tmp_path_factory.mktemp("cpp") / "busy", CPP, "-static", "-Wl,--build-id")


@pytest.fixture(scope="module")
def lister(tmp_path_factory):
    """A static program that lists the code that it generates."""
    return compiled(tmp_path_factory.mktemp("lister") / "busy", COMPILED, "-static")


class Image:
    """The directory that is the root of a container, readable by everybody."""

    def __init__(self, folder, number):
        self.folder = folder / f"image{number}"
        self.name = f"c{os.getpid()}-{number}"  # the name of its process only
        for directory in ("opt/.debug", "proc", "tmp", "usr/lib/debug/.build-id"):
            (self.folder / directory).mkdir(parents=True)
        (self.folder / "tmp").chmod(0o1777)
        self.program = self.folder / "opt" / self.name
        self.debug = None

    def add(self, program):
        shutil.copy(program, self.program)
        return self

    def split(self, by):
        """Moves the debug information of the program to a file that is found by link or by build-id."""
        build_id = subprocess.run(["readelf", "-n", self.program], capture_output=True, text=True, check=True).stdout.split("Build ID: ")[1][:40]
        self.debug = self.folder / f"usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
        options = []
        if by == "link":
            subprocess.run(["objcopy", "--remove-section=.note.gnu.build-id", self.program], check=True)
            self.debug = self.folder / "opt" / ".debug" / "busy.debug"
            options = [f"--add-gnu-debuglink={self.debug}"]
        self.debug.parent.mkdir(exist_ok=True)
        subprocess.run(["objcopy", "--only-keep-debug", self.program, self.debug], check=True)
        subprocess.run(["objcopy", "--strip-all", *options, self.program], check=True)
        return self

    def give_to(self, user):
        for path in (self.folder, *self.folder.rglob("*")):
            os.chown(path, user, user, follow_symlinks=False)


@pytest.fixture
def folder():
    """All users may enter and write, as in /tmp."""
    path = Path(subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip())
    path.chmod(0o1777)
    yield path
    shutil.rmtree(path, ignore_errors=True)


NUMBERS = itertools.count()


@pytest.fixture
def image(folder):
    return lambda: Image(folder, next(NUMBERS))


def descendant_called(pid, name):
    """Returns the process with that name that is this process or one of its descendants."""
    if Path(f"/proc/{pid}/comm").read_text().strip() == name:
        return pid
    children = [int(child) for path in Path(f"/proc/{pid}/task").glob("*/children") for child in path.read_text().split()]
    return next(filter(None, (descendant_called(child, name) for child in children)), None)


@pytest.fixture
def contained(root, started):
    """contained(way, image, user) starts the program of the image and returns its process id outside."""
    found = []

    def start(way, image, user=0, name=None, stdin=subprocess.DEVNULL):
        if "bwrap" in way:
            tool("bwrap")
        image.give_to(user)
        process = started(subprocess.Popen(["sh", "-c", way, image.folder, f"/opt/{image.name}"], text=True, stdin=stdin, user=user,
                                           group=user, extra_groups=[], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           start_new_session=True))
        if process.stdout.readline() != "ready\n":
            pytest.skip(f"this machine refuses such a container: {process.stderr.read().strip()}")
        found.append(descendant_called(process.pid, name or image.name))
        return found[-1]

    yield start
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 9)


@pytest.fixture
def recorded(prof, folder, started):
    """recorded(pid, user) is a profile made by that user's prof from outside while the program uses CPU time. With
    kills, the program ends during the recording."""
    binary = shutil.copy(prof.binary, folder / "prof")

    def record(pid, user=0, kills=False):
        output = folder / f"out-{user}"
        output.mkdir()
        os.chown(output, user, user)
        process = started(subprocess.Popen([binary, "record", "-o", "out.folded", "-p", str(pid), "--", "sh", "-c", "echo recording; read end"],
                                           cwd=output, user=user, group=user, extra_groups=[], text=True, start_new_session=True,
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        if process.stdout.readline() == "recording\n":
            wait(pid, 0.2)
        if kills:
            os.kill(pid, 9)
            process.wait(TIME_LIMIT_S)  # before the command's pipe would end it
        _, errors = process.communicate("" if kills else "\n", timeout=TIME_LIMIT_S)
        assert process.returncode == 0, errors
        print(errors)  # shown if the test fails
        return Stacks.read(output / "out.folded")

    return record


def share(stacks, name="busy_part"):
    return stacks.count(lambda frames: any(name in frame for frame in frames)) / stacks.total


def assert_named(stacks):
    assert share(stacks) > 0.9, stacks.hottest()


# In a file system that only exists in its own mount namespace.
IN_TMPFS = '''exec unshare --mount sh -c 'mount -t tmpfs none "$0/tmp" && cp "$0$1" "$0/tmp" &&
exec chroot "$0" "/tmp/${1##*/}"' "$0" "$@"'''


def until_without_leader(pid):
    """Waits until no path leads to the files of the main thread."""
    with contextlib.suppress(FileNotFoundError):
        while os.readlink(f"/proc/{pid}/root"):
            time.sleep(0.001)


@pytest.mark.parametrize("way", ["chroot", "tmpfs", "deleted"])
def test_a_program_whose_main_thread_has_ended_is_named(contained, image, recorded, way):
    inside = image()
    compiled(inside.program, LEADERLESS, "-static", "-pthread")
    pid = contained(IN_TMPFS if way == "tmpfs" else ROOTS["chroot"], inside)
    if way == "deleted":
        inside.program.unlink()
    until_without_leader(pid)
    assert_named(recorded(pid))


@pytest.mark.parametrize("way, user", WAYS)
def test_a_stripped_program_is_named_by_the_debug_files_of_its_container(image, cpp, contained, recorded, way, user):
    assert_named(recorded(contained(way, image().add(cpp).split("link"), user), user))


@pytest.mark.parametrize("user", [0, NOBODY], ids=["root", "user"])
def test_a_stripped_program_of_rust_is_named_by_its_build_id(image, contained, recorded, tmp_path, user):
    way = USER_ROOTS["user namespace"] if user else ROOTS["namespaces"]
    assert_named(recorded(contained(way, image().add(compiled(tmp_path / "busy", RUST)).split("build-id"), user), user))


@pytest.mark.parametrize("way", USER_ROOTS.values(), ids=USER_ROOTS)
def test_root_names_the_programs_of_a_users_containers(image, cpp, contained, recorded, way):
    assert_named(recorded(contained(way, image().add(cpp).split("link"), NOBODY)))


@pytest.mark.parametrize("way, user", WAYS)
def test_a_program_whose_image_was_deleted_keeps_its_symbols(image, cpp, contained, recorded, way, user):
    """As after `docker rmi -f`, or an update of the image."""
    inside = image().add(cpp)
    pid = contained(way, inside, user)
    shutil.rmtree(inside.folder)
    assert_named(recorded(pid, user))


@pytest.mark.parametrize("user", [0, NOBODY], ids=["root", "user"])
def test_a_program_whose_file_system_was_unmounted_keeps_its_symbols(image, cpp, contained, recorded, user):
    """The process goes on, but no path leads to its file."""
    mounted = '''mount -t tmpfs -o mode=755 none "$0/mnt" && cp "$0$1" "$0/mnt/" && { "$0/mnt/${1##*/}" & cd / &&
until [ -e "$0/runs" ]; do sleep 0.01; done && umount -l "$0/mnt"; wait; }'''
    options = "--user --map-root-user " if user else ""
    inside = image().add(cpp)
    (inside.folder / "mnt").mkdir()
    pid = contained(f"exec unshare {options}--mount --pid --fork --kill-child sh -c '{mounted}' \"$0\" \"$@\"", inside, user)
    (inside.folder / "runs").touch()
    while str(inside.folder) in Path(f"/proc/{pid}/mounts").read_text():
        time.sleep(0.01)
    assert_named(recorded(pid, user))


def test_a_program_in_a_snap_is_named(image, cpp, contained, recorded):
    """A snap is a squashfs image that is mounted read-only, only in its own mount namespace."""
    inside = image().add(cpp)
    snap = '''mkdir "$0.snap" && mount -t tmpfs none "$0.snap" && mkdir -p "$0.snap/snap/busy/1" && mount --bind -o ro "$0/opt" "$0.snap/snap/busy/1" &&
exec chroot "$0.snap" "/snap/busy/1/${1##*/}"'''
    assert_named(recorded(contained(f"exec unshare --mount --pid --fork --kill-child sh -c '{snap}' \"$0\" \"$@\"", inside)))


@pytest.mark.parametrize("user", [0, NOBODY], ids=["root", "user"])
@pytest.mark.parametrize("kind", ["program", "library"])
def test_code_that_was_never_in_a_file_is_named(image, cpp, contained, recorded, tmp_path, kind, user):
    """The program is in memory from memfd_create(2). execve(2) names the process after the descriptor's number, 3."""
    inside, words = image(), [] if kind == "program" else ["library"]
    compiled(inside.program, MEMORY)
    code = cpp
    if kind == "library":
        code = compiled(tmp_path / "busy.so", CPP.replace("int main", 'extern "C" int run'), "-shared", "-fPIC")
    with open(code, "rb") as stdin:
        pid = contained(f'exec "$0$1" {" ".join(words)}', inside, user, stdin=stdin,
                        name="3" if kind == "program" else None)
        assert_named(recorded(pid, user))


@pytest.mark.parametrize("way, user", WAYS)
def test_code_that_a_program_lists_in_its_container_is_named(image, lister, contained, recorded, way, user):
    """The name of the list contains the process id inside the container, which differs from the one outside."""
    assert_named(recorded(contained(way, image().add(lister), user), user))


@pytest.mark.parametrize("way", [ROOTS["namespaces"], ROOTS["overlay"]], ids=["namespaces", "overlay"])
def test_code_that_a_program_has_listed_is_named_when_its_container_has_ended(image, lister, contained, recorded, way):
    assert_named(recorded(contained(way, image().add(lister)), kills=True))


def test_code_of_node_in_a_container_is_named_by_its_jitdump(image, client, contained, recorded):
    """The dump is in node's working directory, with node's own process id in its name. Node writes it in blocks, so
    that code that is compiled later flushes earlier code."""
    inside = image()
    (inside.folder / "hot.js").write_text(HOT)
    way = f"""exec unshare --mount --pid --fork --kill-child sh -c 'mount -t tmpfs none "$0/tmp" && cd "$0/tmp" &&
exec "$1" --perf-prof ../hot.js "$2"' "$0" {client("node")} {inside.name}"""
    assert_named(recorded(contained(way, inside)))


def test_a_container_that_ends_while_it_is_recorded_is_named(image, cpp, contained, recorded):
    """By then, its root and its mounts have disappeared from /proc."""
    inside = image().add(cpp).split("link")
    assert_named(recorded(contained(ROOTS["overlay"], inside), kills=True))


# --- Hostile containers ---------------------------------------------------------------------------


@pytest.fixture
def outside(image, cpp, folder):
    """A stripped program, and its debug file outside of the container: (image, path of the debug file)."""
    inside = image().add(cpp).split("link")
    secret = folder / "secret" / "busy.debug"
    secret.parent.mkdir()
    shutil.move(inside.debug, secret)
    return inside, secret


@pytest.mark.parametrize("way", [ROOTS["namespaces"], ROOTS["bubblewrap"]], ids=["namespaces", "bubblewrap"])
@pytest.mark.parametrize("climbs", [False, True], ids=["absolute", "climbing"])
def test_a_link_in_a_container_does_not_lead_out_of_it(outside, contained, recorded, way, climbs):
    """Otherwise the author of an image could read root's files, such as /etc/shadow, in a profile."""
    inside, secret = outside
    inside.debug.symlink_to(Path("../" * 20 + str(secret)[1:]) if climbs else secret)
    assert share(recorded(contained(way, inside, NOBODY if "bwrap" in way else 0))) == 0


def test_a_pipe_in_place_of_a_debug_file_is_not_opened(outside, contained, recorded):
    """A writer that waits for a reader keeps waiting, and prof does not wait."""
    inside, _ = outside
    os.mkfifo(inside.debug)
    with subprocess.Popen(["sh", "-c", 'echo text >"$0"', inside.debug]) as writer:
        assert share(recorded(contained(ROOTS["bubblewrap"], inside))) == 0
        assert writer.poll() is None
        writer.kill()


def test_a_pipe_in_place_of_a_symbol_list_is_not_opened(image, lister, contained, recorded):
    inside = image().add(lister)
    pid = contained(ROOTS["namespaces"], inside)
    listed = next((inside.folder / "tmp").glob("perf-*.map"))
    listed.unlink()
    os.mkfifo(listed)
    with subprocess.Popen(["sh", "-c", 'echo text >"$0"', listed]) as writer:
        assert share(recorded(pid)) == 0
        assert writer.poll() is None
        writer.kill()


@pytest.fixture
def silent(root):
    """silent(directory) mounts a file system there that never answers."""
    libc = ctypes.CDLL(None, use_errno=True)
    mounted = []

    def mount(directory):
        try:
            device = os.open("/dev/fuse", os.O_RDWR)
        except OSError as error:
            pytest.skip(f"needs /dev/fuse: {error}")
        mounted.append((device, directory))
        options = f"fd={device},rootmode=40000,user_id={NOBODY},group_id={NOBODY},allow_other"
        if libc.mount(b"silent", os.fsencode(directory), b"fuse", 0, options.encode()) != 0:
            pytest.skip("needs the right to mount")

    yield mount
    for device, directory in mounted:
        os.close(device)
        libc.umount2(os.fsencode(directory), 2)


@pytest.mark.parametrize("place", ["opt/.debug", "usr/lib/debug"])
def test_debug_files_that_never_answer_cost_their_names_only(outside, contained, recorded, silent, place):
    inside, _ = outside
    pid = contained(ROOTS["namespaces"], inside)
    silent(inside.folder / place)
    assert share(recorded(pid)) == 0


def test_a_symbol_list_that_never_answers_costs_its_names_only(image, lister, contained, recorded, silent):
    inside = image().add(lister)
    pid = contained(ROOTS["chroot"], inside)
    silent(inside.folder / "tmp")
    assert share(recorded(pid)) == 0
