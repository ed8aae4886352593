/*
 * Allocates in each possible way, and prints exact sums.
 *
 * Without arguments it prints "ready", and then carries out and prints each
 * word that it reads. With arguments it carries these out. A word is one of the
 * functions below, WORD*N for N times, or
 *
 *	all       each of the functions once
 *	release   frees in another thread what `keep` has kept
 *	fork      a child carries out the next word and ends
 *	exec      executes this program with the words that follow
 *	pause     sleeps for 2 ms, so that bursts do not fill the rings that prof reads
 *
 * At the end it prints, for each function and block size, how many blocks it
 * has allocated and how many are still in use: "PID medium 1000 8000 2000".
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART extern "C" __attribute__((noinline, noclone))

/* ---- What was allocated ---- */

struct sum {
	const char *function;
	size_t bytes;
	long allocated, live;
};

static sum sums[64];

static void count(const char *function, size_t bytes, long allocated, long live)
{
	sum *sum = sums;

	while (sum->function && (strcmp(sum->function, function) || sum->bytes != bytes))
		sum++;
	sum->function = function;
	sum->bytes = bytes;
	sum->allocated += allocated;
	sum->live += live;
}

static void say_sums()
{
	for (sum *sum = sums; sum->function; sum++)
		dprintf(1, "%d %s %zu %ld %ld\n", (int)getpid(), sum->function, sum->bytes,
			sum->allocated, sum->live);
}

/* The compiler must not remove the block. */
static void *used(void *block)
{
	asm volatile("" : "+r"(block) : : "memory");
	return block;
}

/* ---- Another thread ---- */

static sem_t asked, done;
static void (*job)();

static void *work(void *)
{
	prctl(PR_SET_NAME, "worker");
	for (;;) {
		sem_wait(&asked);
		job();
		sem_post(&done);
	}
	return nullptr;
}

static void start_worker()
{
	pthread_t thread;

	sem_init(&asked, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&thread, nullptr, work, nullptr);
}

static void let_worker(void (*what)())
{
	job = what;
	sem_post(&asked);
	sem_wait(&done);
}

/* ---- The functions ---- */

APART void small()
{
	for (int i = 0; i < 65536; i++)
		free(used(malloc(16)));
	count("small", 16, 65536, 0);
}

/* A quarter of the blocks is never released. */
APART void medium()
{
	for (int i = 0; i < 1000; i++) {
		void *block = used(malloc(1000));

		if (i % 4)
			free(block);
	}
	count("medium", 1000, 1000, 250);
}

APART void large()
{
	void *kept = used(malloc(1 << 20));

	free(used(malloc(1 << 20)));
	used(kept);
	count("large", 1 << 20, 2, 1);
}

APART void zeroed()
{
	for (int i = 0; i < 500; i++)
		free(used(calloc(10, 200)));
	count("zeroed", 2000, 500, 0);
}

APART void grown()
{
	for (int i = 0; i < 100; i++) {
		void *block = nullptr;

		for (size_t bytes = 1000; bytes <= 8000; bytes *= 2)
			block = used(realloc(block, bytes));
		if (i % 4)
			free(block);
	}
	for (size_t bytes = 1000; bytes <= 8000; bytes *= 2)
		count("grown", bytes, 100, bytes == 8000 ? 25 : 0);
}

APART void array()
{
	for (int i = 0; i < 250; i++)
		free(used(reallocarray(nullptr, 16, 250)));
	count("array", 4000, 250, 0);
}

APART void aligned()
{
	void *block;

	for (int i = 0; i < 100; i++) {
		free(used(aligned_alloc(64, 6400)));
		if (!posix_memalign(&block, 4096, 5000))
			free(used(block));
	}
	count("aligned", 6400, 100, 0);
	count("aligned", 5000, 100, 0);
}

APART void created()
{
	for (int i = 0; i < 200; i++) {
		operator delete[](used(operator new[](3000)), (size_t)3000);
		operator delete (used(operator new (2560, std::align_val_t{64})), (size_t)2560,
				 std::align_val_t{64});
	}
	count("created", 3000, 200, 0);
	count("created", 2560, 200, 0);
}

static void *handed[200];

APART void free_handed()
{
	for (void *&block : handed)
		free(block);
}

APART void hand_over()
{
	for (void *&block : handed)
		block = used(malloc(5000));
	let_worker(free_handed);
	count("hand_over", 5000, 200, 0);
}

APART void threaded()
{
	for (int i = 0; i < 100; i++) {
		void *block = used(malloc(10000));

		if (i % 4)
			free(block);
	}
	count("threaded", 10000, 100, 25);
}

static void in_thread()
{
	let_worker(threaded);
}

/* Half of each mapping is released. */
APART void mapped()
{
	char *block = static_cast<char *>(
		mmap(nullptr, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	munmap(block + (1 << 20), 1 << 20);
	count("mapped", 2 << 20, 1, 0);
}

static void *kept[1 << 16];
static int kept_count;

APART void keep()
{
	for (int i = 0; i < 1000; i++)
		kept[kept_count++] = used(malloc(1000));
	count("keep", 1000, 1000, 1000);
}

APART void free_kept()
{
	for (int i = 0; i < kept_count; i++)
		free(kept[i]);
	kept_count = 0;
}

static void release()
{
	count("keep", 1000, 0, -kept_count);
	let_worker(free_kept);
}

/* Allocates 1 MiB at once, among many other blocks. */
APART void leak()
{
	for (int i = 0; i < 1024; i++)
		used(malloc(1024));
	count("leak", 1024, 1024, 1024);
}

static void pause_briefly()
{
	const struct timespec time = {.tv_sec = 0, .tv_nsec = 2000000};

	nanosleep(&time, nullptr);
}

static void all()
{
	small();
	medium();
	large();
	zeroed();
	grown();
	array();
	aligned();
	created();
	hand_over();
	in_thread();
	mapped();
}

/* ---- Words ---- */

static const struct {
	const char *name;
	void (*run)();
} words[] = {
	{"small", small},	  {"medium", medium},
	{"large", large},	  {"zeroed", zeroed},
	{"grown", grown},	  {"array", array},
	{"aligned", aligned},	  {"created", created},
	{"hand_over", hand_over}, {"threaded", in_thread},
	{"mapped", mapped},	  {"keep", keep},
	{"release", release},	  {"leak", leak},
	{"pause", pause_briefly}, {"all", all},
};

static void do_word(const char *word)
{
	size_t len = strcspn(word, "*");
	int times = word[len] ? atoi(word + len + 1) : 1;

	for (const auto &known : words) {
		if (strlen(known.name) != len || strncmp(known.name, word, len))
			continue;
		for (int i = 0; i < times; i++) {
			known.run();
			if (times > 1)
				pause_briefly();
		}
		return;
	}
	dprintf(2, "allocations: unknown word %s\n", word);
	exit(1);
}

/* The child's sums are its own. Its parent's blocks are not. */
static void fork_for(const char *word)
{
	if (!fork()) {
		memset(sums, 0, sizeof(sums));
		do_word(word);
		say_sums();
		_exit(0);
	}
	wait(nullptr);
}

static void do_arguments(char **arguments)
{
	for (char **word = arguments + 1; *word; word++) {
		if (!strcmp(*word, "exec")) {
			say_sums();
			*word = arguments[0];
			execv(arguments[0], word);
			exit(1);
		}
		if (!strcmp(*word, "fork"))
			fork_for(*++word);
		else
			do_word(*word);
	}
}

static void do_input()
{
	char word[64];

	dprintf(1, "ready\n");
	while (scanf("%63s", word) == 1) {
		do_word(word);
		dprintf(1, "%s\n", word);
	}
}

int main(int count, char **arguments)
{
	start_worker();
	if (count > 1)
		do_arguments(arguments);
	else
		do_input();
	say_sums();
	return 0;
}
