/*
 * Threads that sleep, each at the end of a different chain of functions with
 * all kinds of frames.
 *
 *	begin			a thread for each kind of wait, CHAINS times
 *	  go			chooses the next function by the thread's numbers
 *	    SHAPE go SHAPE go …
 *	      WAIT		nanosleep, mutex, condition variable, semaphore, read, poll, …
 *
 * Each thread prints its number and its chain, outermost function first, before
 * it sleeps: "1234 begin go plain go sleeps". It may wake once or twice before
 * it sleeps permanently. The program ends when its input ends.
 *
 *	sleepers [stale [SEED]]	stale: before it sleeps, a thread runs other chains and returns
 *				from them, so its stack is full of stale return addresses;
 *				SEED: selects other chains
 */
#include <alloca.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
/* Work after a function's last call, which otherwise would become a jump. */
#define AFTER() __asm__ volatile("" : : : "memory")
#define USE(room) __asm__ volatile("" : : "r"(room) : "memory")

/* Adds a function to the chain while it runs. */
#define ENTER(chain) ((chain)->names[(chain)->count++] = __func__)
#define LEAVE(chain) ((chain)->count--)

enum { DEPTH = 7, CHAINS = 8, NAMES_MAX = 128, STACK_BYTES = 256 << 10, FOREVER_S = 10000 };

struct wait {
	const char *name;
	void (*wait)(void);
};

struct chain {
	unsigned random, depth;
	const struct wait *wait;
	unsigned count;
	const char *names[NAMES_MAX];
};

static int stale;
static unsigned seed;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t held_for_writing = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t nothing;
static int silent[2], sockets[2];
static pid_t child;

static NOINLINE void go(struct chain *chain);

static NOINLINE void plain(struct chain *chain)
{
	ENTER(chain);
	go(chain);
	LEAVE(chain);
}

static NOINLINE void sized(struct chain *chain)
{
	char *room = alloca(chain->random % 700 + 16);

	ENTER(chain);
	USE(room);
	go(chain);
	USE(room);
	LEAVE(chain);
}

static NOINLINE void array(struct chain *chain)
{
	char room[chain->random % 300 + 1];

	ENTER(chain);
	USE(room);
	go(chain);
	USE(room);
	LEAVE(chain);
}

static NOINLINE void large(struct chain *chain)
{
	char room[2000];

	ENTER(chain);
	USE(room);
	go(chain);
	USE(room);
	LEAVE(chain);
}

static NOINLINE void huge(struct chain *chain)
{
	char room[9000];

	ENTER(chain);
	USE(room);
	go(chain);
	USE(room);
	LEAVE(chain);
}

static NOINLINE void aligned(struct chain *chain)
{
	char room[128] __attribute__((aligned(64)));

	ENTER(chain);
	USE(room);
	go(chain);
	USE(room);
	LEAVE(chain);
}

static NOINLINE int many(struct chain *chain, int a, int b, int c, int d, int e, int f, int g,
			 int h, int i)
{
	int sum = a * b + c * d + e * f + g * h + i;

	ENTER(chain);
	USE(&sum);
	go(chain);
	LEAVE(chain);
	return sum + a + b + c + d + e + f;
}

static NOINLINE void with_arguments(struct chain *chain)
{
	int sum;

	ENTER(chain);
	sum = many(chain, 1, 2, 3, 4, 5, 6, 7, 8, 9);
	USE(&sum);
	LEAVE(chain);
}

/* Leaves no frame if the compiler turns the call into a jump. */
static NOINLINE void jumps(struct chain *chain)
{
	plain(chain);
}

static int compare(const void *a, const void *b)
{
	struct chain *chain = *(struct chain *const *)a;

	(void)b;
	ENTER(chain);
	go(chain);
	LEAVE(chain);
	return 0;
}

static NOINLINE void sorts(struct chain *chain)
{
	struct chain *chains[] = {chain, chain};

	ENTER(chain);
	qsort(chains, 2, sizeof(*chains), compare);
	LEAVE(chain);
}

static void (*const shapes[])(struct chain *) = {plain,	  sized,	  array, large, huge,
						 aligned, with_arguments, jumps, sorts};

static NOINLINE void direct(struct chain *chain, unsigned shape)
{
	ENTER(chain);
	switch (shape) {
	case 0:
		plain(chain);
		break;
	case 1:
		sized(chain);
		break;
	case 2:
		array(chain);
		break;
	case 3:
		large(chain);
		break;
	case 4:
		aligned(chain);
		break;
	default:
		sorts(chain);
	}
	LEAVE(chain);
}

/* Prints the chain with one write. */
static NOINLINE void say(const struct chain *chain)
{
	char line[4096];
	int len = snprintf(line, sizeof(line), "%ld", (long)syscall(SYS_gettid));

	for (unsigned i = 0; i < chain->count; i++)
		len += snprintf(line + len, sizeof(line) - len, " %s", chain->names[i]);
	len += snprintf(line + len, sizeof(line) - len, " %s\n", chain->wait->name);
	if (write(1, line, len) < 0)
		abort();
}

static NOINLINE void go(struct chain *chain)
{
	unsigned random = chain->random;

	ENTER(chain);
	chain->random = random * 1103515245 + 12345;
	if (chain->depth == 0) {
		if (chain->wait->name)
			say(chain);
		chain->wait->wait();
	} else if (chain->depth-- && random >> 30) {
		shapes[(random >> 16) % (sizeof(shapes) / sizeof(*shapes))](chain);
	} else {
		direct(chain, (random >> 16) % 6);
	}
	LEAVE(chain);
}

static NOINLINE void returns(void)
{
	volatile char room[200];

	room[0] = 1;
	getppid();
}

static NOINLINE void sleeps(void)
{
	struct timespec time = {.tv_sec = FOREVER_S};

	nanosleep(&time, NULL);
	AFTER();
}

static NOINLINE void sleeps_seconds(void)
{
	sleep(FOREVER_S);
	AFTER();
}

static NOINLINE void locks(void)
{
	pthread_mutex_lock(&held);
	AFTER();
}

static NOINLINE void reads_lock(void)
{
	pthread_rwlock_rdlock(&held_for_writing);
	AFTER();
}

static NOINLINE void awaits(void)
{
	pthread_mutex_lock(&free_mutex);
	pthread_cond_wait(&never, &free_mutex);
	AFTER();
}

static NOINLINE void awaits_until(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_sec += FOREVER_S;
	pthread_mutex_lock(&free_mutex);
	pthread_cond_timedwait(&never, &free_mutex, &time);
	AFTER();
}

static NOINLINE void takes(void)
{
	sem_wait(&nothing);
	AFTER();
}

static NOINLINE void reads(void)
{
	char room[64];

	if (read(silent[0], room, sizeof(room)) < 0)
		AFTER();
	USE(room);
}

static NOINLINE void receives(void)
{
	char room[64];

	recv(sockets[0], room, sizeof(room), 0);
	USE(room);
}

static NOINLINE void polls(void)
{
	struct pollfd wanted = {.fd = silent[0], .events = POLLIN};

	poll(&wanted, 1, -1);
	USE(&wanted);
}

static NOINLINE void selects(void)
{
	fd_set wanted;

	FD_ZERO(&wanted);
	FD_SET(silent[0], &wanted);
	select(silent[0] + 1, &wanted, NULL, NULL, NULL);
	USE(&wanted);
}

static NOINLINE void awaits_events(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0);

	epoll_ctl(epoll, EPOLL_CTL_ADD, silent[0], &event);
	epoll_wait(epoll, &event, 1, -1);
	USE(&event);
}

static NOINLINE void awaits_child(void)
{
	int status;

	waitpid(child, &status, 0);
	USE(&status);
}

static NOINLINE void awaits_signal(void)
{
	sigset_t none;
	int signal;

	sigemptyset(&none);
	sigaddset(&none, SIGUSR2);
	sigwait(&none, &signal);
	USE(&signal);
}

static NOINLINE void reads_a_line(void)
{
	FILE *file = fdopen(silent[0], "r");
	char line[100];

	fgets(line, sizeof(line), file);
	USE(line);
}

static const struct wait waits[] = {
	{"sleeps", sleeps},
	{"sleeps_seconds", sleeps_seconds},
	{"locks", locks},
	{"reads_lock", reads_lock},
	{"awaits", awaits},
	{"awaits_until", awaits_until},
	{"takes", takes},
	{"reads", reads},
	{"receives", receives},
	{"polls", polls},
	{"selects", selects},
	{"awaits_events", awaits_events},
	{"awaits_child", awaits_child},
	{"awaits_signal", awaits_signal},
	{"reads_a_line", reads_a_line},
};
static const struct wait no_wait = {NULL, returns};

enum { WAITS = sizeof(waits) / sizeof(*waits) };

/* Fills the stack with frames of chains that have returned. */
static NOINLINE void return_from_others(struct chain *chain, unsigned random)
{
	chain->wait = &no_wait;
	for (unsigned i = 0; i < 12; i++) {
		chain->depth = DEPTH + i % 3;
		chain->random = random + i * 40503;
		go(chain);
	}
}

static void *begin(void *number)
{
	unsigned random = ((unsigned)(size_t)number + 1000 * seed) * 2654435761u;
	struct chain chain = {.count = 0};

	ENTER(&chain);
	if (stale)
		return_from_others(&chain, random);
	chain.depth = (unsigned)(size_t)number / WAITS % DEPTH;
	chain.random = random;
	chain.wait = &waits[(size_t)number % WAITS];
	go(&chain);
	LEAVE(&chain);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t thread;
	char end;

	stale = argc > 1 && strcmp(argv[1], "stale") == 0;
	seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	if (pipe(silent) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return 1;
	sem_init(&nothing, 0, 0);
	pthread_mutex_lock(&held);
	pthread_rwlock_wrlock(&held_for_writing);
	child = fork();
	if (child == 0)
		return read(0, &end, 1) < 0;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (size_t i = 0; i < WAITS * CHAINS; i++)
		if (pthread_create(&thread, &attributes, begin, (void *)i))
			return 1;
	_exit(read(0, &end, 1) < 0);
}
