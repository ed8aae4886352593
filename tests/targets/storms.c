/*
 * storms KIND [FILE]
 *
 * Repeats one operation of the kernel as fast as it can, until it is killed or
 * its parent ends:
 *
 *	threads   starts and joins threads
 *	forks     forks children that end immediately
 *	execs     makes children execute /bin/true
 *	switches  passes a byte back and forth between two threads
 *	names     renames itself
 *	mappings  maps FILE executable and unmaps it
 *	descending  maps FILE executable at ever lower addresses and unmaps it
 *	split     removes pages of an executable mapping of FILE, and maps them again
 *	memfd     maps a new memfd executable and unmaps it
 *	huge      maps huge pages executable and unmaps them
 *	anonymous maps executable memory at ever lower addresses
 *	inherited forks children of a process that has had 60,000 mappings; each maps FILE
 *	guards    makes memory executable and writable in turn
 *	libraries opens and closes the library FILE
 *	overlaps  runs code whose perf map has lines that all cover the same megabyte
 *	moves     runs code that its jitdump moves back and forth a million times
 *	sharers   has 300 children that share its 65,000 mappings
 *	hostile   maps FILE executable once, and uses CPU time
 */
#include "work.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	AT_ONCE = 16,
	PAGE_BYTES = 4096,
	PAGES = 256,
	HUGE_BYTES = 2 << 20,
	HERITAGE = 60000,
	SHARERS = 300,
	SHARED = 65000,
	SHARER_STACK_BYTES = 8192,
	CODE_BYTES = 1 << 20,
	LINES = 1000000,
	EXECUTABLE = PROT_READ | PROT_EXEC,
};

#define TOP UINT64_C(0x600000000000)
#define BOTTOM UINT64_C(0x100000000000)

static void *burn(void *unused)
{
	spin();
	return unused;
}

static void threads(const char *unused)
{
	pthread_t started[AT_ONCE];

	for (unsigned i = 0; i < AT_ONCE; i++)
		pthread_create(&started[i], NULL, burn, NULL);
	for (unsigned i = 0; i < AT_ONCE; i++)
		pthread_join(started[i], NULL);
}

static void forks(const char *unused)
{
	for (unsigned i = 0; i < AT_ONCE; i++)
		if (!fork()) {
			spin();
			_exit(0);
		}
	while (wait(NULL) > 0)
		continue;
}

static void execs(const char *unused)
{
	if (!vfork()) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	wait(NULL);
}

static void *echo(void *arg)
{
	const int *pipes = arg;
	char byte;

	while (read(pipes[0], &byte, 1) == 1)
		if (write(pipes[3], &byte, 1) != 1)
			break;
	return NULL;
}

static void switches(const char *unused)
{
	static int pipes[4];
	pthread_t other;
	char byte = 0;

	if (!pipes[3]) {
		if (pipe(pipes) || pipe(pipes + 2))
			exit(1);
		pthread_create(&other, NULL, echo, pipes);
	}
	if (write(pipes[1], &byte, 1) != 1 || read(pipes[2], &byte, 1) != 1)
		exit(1);
}

static void names(const char *unused)
{
	static unsigned number;
	char name[16];

	snprintf(name, sizeof(name), "%x", number++ * 2654435761u);
	prctl(PR_SET_NAME, name);
	spin();
}

static void *map_at(uint64_t address, size_t bytes, int flags, int fd)
{
	void *mapped = mmap((void *)address, bytes, EXECUTABLE,
			    MAP_PRIVATE | flags | (address ? MAP_FIXED : 0), fd, 0);

	if (mapped == MAP_FAILED)
		exit(1);
	return mapped;
}

static void *map(const char *path)
{
	int fd = open(path, O_RDONLY);
	void *mapped = map_at(0, PAGE_BYTES, 0, fd);

	close(fd);
	return mapped;
}

static void mappings(const char *path)
{
	munmap(map(path), PAGE_BYTES);
}

/* Returns the address two pages below the previous one. */
static uint64_t lower(void)
{
	static uint64_t at = TOP;

	at = at > BOTTOM ? at - 2 * PAGE_BYTES : TOP;
	return at;
}

static void descending(const char *path)
{
	static int fd = -1;

	if (fd < 0)
		fd = open(path, O_RDONLY);
	munmap(map_at(lower(), PAGE_BYTES, 0, fd), PAGE_BYTES);
}

static void split(const char *path)
{
	static char *mapped;
	static unsigned page;

	if (!mapped)
		mapped = map_at(0, PAGES * PAGE_BYTES, 0, open(path, O_RDONLY));
	page = (page + 2) % PAGES;
	mprotect(mapped + page * PAGE_BYTES, PAGE_BYTES, PROT_READ);
	mprotect(mapped + page * PAGE_BYTES, PAGE_BYTES, EXECUTABLE);
}

static void memfd(const char *unused)
{
	int fd = memfd_create("storm", 0);

	munmap(map_at(0, PAGE_BYTES, 0, fd), PAGE_BYTES);
	close(fd);
}

static void huge(const char *unused)
{
	static int flags = MAP_ANONYMOUS | MAP_HUGETLB;
	void *mapped = mmap((void *)TOP, HUGE_BYTES, EXECUTABLE, MAP_PRIVATE | flags, -1, 0);

	if (mapped == MAP_FAILED) {
		flags = MAP_ANONYMOUS; /* the kernel has not reserved huge pages */
		return;
	}
	madvise(mapped, HUGE_BYTES, MADV_HUGEPAGE);
	munmap(mapped, HUGE_BYTES);
}

static void anonymous(const char *unused)
{
	munmap(map_at(lower(), PAGE_BYTES, MAP_ANONYMOUS, -1), PAGE_BYTES);
}

static void inherited(const char *path)
{
	static unsigned count;

	if (count++ < HERITAGE) {
		descending(path);
	} else if (!fork()) {
		descending(path);
		_exit(0);
	} else {
		wait(NULL);
	}
}

static void guards(const char *unused)
{
	static char *memory;
	static unsigned page;

	if (!memory)
		memory = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page = (page + 1) % PAGES;
	mprotect(memory + page * PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_EXEC);
	mprotect(memory + page * PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_WRITE);
}

static void libraries(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	if (!library)
		exit(1);
	dlclose(library);
}

/* A loop that returns. It only runs on x86-64. */
static unsigned char *compile(void)
{
	static const unsigned char loop[] = {0xb9, 0, 0, 1, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
	unsigned char *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		exit(1);
	memcpy(code, loop, sizeof(loop));
	return code;
}

static void run(const unsigned char *code)
{
#ifdef __x86_64__
	((void (*)(void))(uintptr_t)code)();
#else
	spin();
#endif
}

static FILE *create(const char *format)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), format, (int)getpid());
	file = fopen(path, "w+");
	if (!file)
		exit(1);
	return file;
}

static void overlaps(const char *unused)
{
	static unsigned char *code;

	if (!code) {
		FILE *map = create("/tmp/perf-%d.map");

		code = compile();
		for (unsigned i = 0; i < LINES; i++)
			fprintf(map, "%lx %x f%u\n", (unsigned long)code + 16 + i % 997,
				CODE_BYTES - 1024, i);
		fclose(map);
	}
	run(code);
}

static void write_record(FILE *dump, uint32_t kind, const uint64_t *fields, size_t bytes)
{
	const uint32_t head[] = {kind, (uint32_t)(16 + bytes)};
	const uint64_t time_ns = 1;

	fwrite(head, sizeof(head), 1, dump);
	fwrite(&time_ns, sizeof(time_ns), 1, dump);
	fwrite(fields, bytes, 1, dump);
}

static void moves(const char *unused)
{
	static unsigned char *code;

	if (!code) {
		FILE *dump = create("/tmp/jit-%d.dump");
		const uint32_t header[10] = {0x4a695444, 1, 40, 62, 0, (uint32_t)getpid()};
		const uint64_t at = (uint64_t)(uintptr_t)(code = compile());
		const uint64_t load[] = {0, at, at, 16, 1, 'f', 0, 0};

		fwrite(header, sizeof(header), 1, dump);
		write_record(dump, 0, load, 5 * 8 + 2 + 16);
		for (uint64_t i = 0; i < LINES; i++) {
			const uint64_t move[] = {0, at, at, at + i % PAGE_BYTES, 1 << 20, 1};

			write_record(dump, 1, move, sizeof(move));
		}
		fflush(dump);
		mmap(NULL, PAGE_BYTES, EXECUTABLE, MAP_PRIVATE, fileno(dump), 0);
	}
	run(code);
}

static int wait_for_the_end(void *unused)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
	return unused != NULL;
}

static void sharers(const char *unused)
{
	static char *memory;

	if (!memory) {
		memory = mmap(NULL, SHARED * PAGE_BYTES, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		for (size_t i = 0; i < SHARED; i += 2)
			mprotect(memory + i * PAGE_BYTES, PAGE_BYTES, EXECUTABLE);
		for (unsigned i = 0; i < SHARERS; i++) {
			char *stack = malloc(SHARER_STACK_BYTES);

			clone(wait_for_the_end, stack + SHARER_STACK_BYTES, CLONE_VM | SIGCHLD,
			      NULL);
		}
	}
	spin();
}

static void hostile(const char *path)
{
	static void *mapped;

	if (!mapped)
		mapped = map(path);
	spin();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(const char *path);
	} kinds[] = {{"threads", threads},     {"forks", forks},
		     {"execs", execs},	       {"switches", switches},
		     {"names", names},	       {"mappings", mappings},
		     {"guards", guards},       {"hostile", hostile},
		     {"libraries", libraries}, {"descending", descending},
		     {"split", split},	       {"memfd", memfd},
		     {"huge", huge},	       {"anonymous", anonymous},
		     {"inherited", inherited}, {"overlaps", overlaps},
		     {"moves", moves},	       {"sharers", sharers}};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		while (!strcmp(kinds[i].name, argv[1]))
			kinds[i].run(argv[2]);
	return 1;
}
