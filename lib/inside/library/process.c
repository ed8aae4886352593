/*
 * Runs at the start of the process (a constructor), of its children by fork()
 * and of its threads. The C library may be called here.
 */
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int timer_signal;
struct sigaction program_action;

/*
 * In pages that are zero in a child of the kernel's fork (MADV_WIPEONFORK). 64
 * KiB is the largest page size.
 */
static uint32_t own_process[(64 << 10) / sizeof(uint32_t)] __attribute__((aligned(64 << 10)));

static pthread_key_t thread_key; /* its destructor deletes a thread's timer */

/*
 * The function behind pthread_atfork(3), which only glibc has. In a program
 * with another C library, which a command may start, this library stays idle.
 */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *object) __attribute__((weak));

/* ---- seccomp filters ---- */

static bool is_filtered, has_untrusted_children;
static uint32_t known_process; /* unchanged in a child of fork() */

/*
 * The C library knows the tid. A thread's CPU clock id contains it
 * (clock_getcpuclockid(3), kernel ABI).
 */
uint32_t process_tid(void)
{
	clockid_t clock;

	return pthread_getcpuclockid(pthread_self(), &clock) ? 0 : ~(uint32_t)(clock >> 3);
}

void process_expect_filter(void)
{
	struct stat status;

	if (__atomic_exchange_n(&is_filtered, true, __ATOMIC_RELAXED) || !shared)
		return;
	has_untrusted_children = !stat("/proc/self/ns/pid_for_children", &status) &&
				 (uint32_t)status.st_ino != control->pid_namespace;
}

/* ---- CPU timers ---- */

static void delete_timer(void *thread)
{
	int32_t *timer = &((struct thread_state *)thread)->timer;

	if (*timer >= 0 && !is_filtered)
		syscall(SYS_timer_delete, *timer);
	*timer = -1;
}

/*
 * Handles a signal that none of our timers has sent. Its default action would
 * end the process. That is not done here, because a program that waits for the
 * signal (sigwait(3)) does not get it either.
 */
static void process_pass_on(int number, siginfo_t *info, void *context)
{
	struct sigaction action = program_action;

	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
		action.sa_handler(number);
}

static uint32_t cpu_hz(void)
{
	return __atomic_load_n(&control->cpu_hz, __ATOMIC_RELAXED);
}

static void on_timer(int number, siginfo_t *info, void *context)
{
	int saved_errno = errno;
	uint32_t hz = cpu_hz();

	if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &timer_signal)
		process_pass_on(number, info, context);
	else if (hz)
		sample_cpu(UINT64_C(1000000000) / hz * (1 + (unsigned)info->si_overrun), context);
	errno = saved_errno;
}

static void start_timer(void)
{
	uint32_t hz = cpu_hz();
	struct thread_state *thread = &thread_state;
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
				 .sigev_signo = timer_signal,
				 .sigev_value.sival_ptr = &timer_signal};
	struct itimerspec rate = {.it_interval.tv_nsec = hz > 1 ? 1000000000 / hz : 999999999};

	if (!hz || !timer_signal || !process_id())
		return;
	rate.it_value = rate.it_interval;
	event._sigev_un._tid = (pid_t)thread->tid;
	if (is_filtered ||
	    syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &thread->timer)) {
		__atomic_fetch_add(&control->timers_refused, 1, __ATOMIC_RELAXED);
		thread->timer = -1;
		return;
	}
	syscall(SYS_timer_settime, thread->timer, 0, &rate, NULL);
	pthread_setspecific(thread_key, thread);
}

/*
 * Takes a real-time signal without a handler, because the program may use
 * SIGPROF.
 */
static void take_signal(void)
{
	struct sigaction action = {.sa_sigaction = on_timer,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	struct sigaction former;
	sigset_t set;
	int number = SIGRTMAX - 1;

	while (number > SIGRTMIN &&
	       (sigaction(number, NULL, &former) || former.sa_handler != SIG_DFL))
		number--;
	sigfillset(&action.sa_mask);
	sigemptyset(&set);
	sigaddset(&set, number);
	if (number == SIGRTMIN || sigaction(number, &action, NULL))
		return;
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	timer_signal = number;
}

/* ---- Threads ---- */

/*
 * The starts of threads that have started, which the next thread that creates
 * one frees. A new thread may not call the allocator: if the program itself
 * intercepts pthread_create(), as with ThreadSanitizer, this library's function
 * runs before the one that prepares the thread for it.
 */
static struct start *ended;

void process_end_start(struct start *start)
{
	start->next = __atomic_load_n(&ended, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&ended, &start->next, start, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

/*
 * The C library uses part of these bytes for a guard and, at the end, for the
 * thread's own data.
 */
static size_t usable_bytes(const pthread_attr_t *attributes)
{
	size_t all = 0, guard = 0;

	pthread_attr_getstacksize(attributes, &all);
	pthread_attr_getguardsize(attributes, &guard);
	guard += INSIDE_PAGE_BYTES;
	return all > guard ? all - guard : 0;
}

struct start *process_new_start(const pthread_attr_t *attributes)
{
	struct start *start = __atomic_exchange_n(&ended, NULL, __ATOMIC_ACQUIRE);
	pthread_attr_t usual;

	while (start && start->next) {
		struct start *next = start->next;

		free(start);
		start = next;
	}
	if (!start && !(start = malloc(sizeof(*start))))
		return NULL;
	start->stack_bytes = 0;
	if (attributes) {
		start->stack_bytes = usable_bytes(attributes);
	} else if (!pthread_getattr_default_np(&usual)) {
		start->stack_bytes = usable_bytes(&usual);
		pthread_attr_destroy(&usual);
	}
	return start;
}

void *process_run_thread(void *argument)
{
	struct start start = *(struct start *)argument;
	struct thread_state *thread = &thread_state;

	process_end_start(argument);
	thread->tid = process_tid();
	thread->end = (uintptr_t)pthread_self(); /* at the end of the stack */
	thread->low = thread->end - start.stack_bytes;
	start_timer();
	return start.run(start.argument);
}

/* The environment is above the frame of the first function. */
static void measure_main_stack(void)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0), end = (uintptr_t)environ;
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur > 1 << 30)
		limit.rlim_cur = 8 << 20;
	if (end - sp > limit.rlim_cur)
		return;
	thread_state.low = end - limit.rlim_cur;
	thread_state.end = end;
}

/* ---- Processes ---- */

static void process_write_start(unsigned flags, uint32_t parent)
{
	struct inside_start record = {.parent_pid = parent};

	if (!is_filtered)
		prctl(PR_GET_NAME, record.comm);
	if (__atomic_load_n(&control->records_mappings, __ATOMIC_RELAXED))
		sample_write(INSIDE_START, flags, (struct iovec[3]){{&record, sizeof(record)}});
}

/* Writes the executable mappings, line by line. */
static void write_mappings(void)
{
	FILE *maps = __atomic_load_n(&control->records_mappings, __ATOMIC_RELAXED)
			     ? fopen("/proc/self/maps", "re")
			     : NULL;
	char line[4200], executable;

	while (maps && fgets(line, sizeof(line), maps)) {
		struct inside_maps record = {.text_bytes = (uint32_t)strlen(line)};
		struct iovec parts[3] = {{&record, sizeof(record)}, {line, record.text_bytes}};

		if (sscanf(line, "%*s %*2c%c", &executable) == 1 && executable == 'x')
			sample_write(INSIDE_MAPS, 0, parts);
	}
	if (maps)
		fclose(maps);
}

static void put_hex(char digits[16], uintptr_t value)
{
	for (int i = 15; i >= 0; i--, value >>= 4)
		digits[i] = "0123456789abcdef"[value & 15];
}

void process_note_code(const void *at, size_t bytes)
{
	char line[] = "0000000000000000-0000000000000000 r-xp 00000000 00:00 0\n";
	struct inside_maps record = {.text_bytes = sizeof(line) - 1};
	size_t pages = (bytes + INSIDE_PAGE_BYTES - 1) / INSIDE_PAGE_BYTES;

	if (!__atomic_load_n(&control->records_mappings, __ATOMIC_RELAXED))
		return;
	put_hex(line, (uintptr_t)at);
	put_hex(line + 17, (uintptr_t)at + pages * INSIDE_PAGE_BYTES);
	sample_write(INSIDE_MAPS, 0,
		     (struct iovec[3]){{&record, sizeof(record)}, {line, record.text_bytes}});
}

uint32_t process_id(void)
{
	return *own_process;
}

/* In another namespace, pids refer to other processes. */
static bool is_of_this_namespace(struct inside_control *found)
{
	struct stat status;

	if (!stat("/proc/self/ns/pid", &status) && (uint32_t)status.st_ino == found->pid_namespace)
		return true;
	__atomic_fetch_add(&found->other_namespace, 1, __ATOMIC_RELAXED);
	return false;
}

/*
 * Example: "monotonic      100000         0", which is seconds, possibly negative,
 * and nanoseconds. Returns 0 if unknown.
 */
static uint64_t own_time_offset(void)
{
	int fd = open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC);
	char text[128], *at;
	ssize_t len = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	uint64_t offset_ns;

	if (fd >= 0)
		close(fd);
	text[len > 0 ? len : 0] = '\0';
	if (strncmp(text, "monotonic", strlen("monotonic")))
		return 0;
	offset_ns = (uint64_t)strtoll(text + strlen("monotonic"), &at, 10) * UINT64_C(1000000000);
	return offset_ns + (uint64_t)strtoll(at, NULL, 10);
}

/*
 * Records use the time of the initial time namespace, like the kernel's
 * records.
 */
static void adjust_clock(const struct inside_control *found)
{
	struct stat status;

	if (stat("/proc/self/ns/time", &status))
		time_offset_ns = 0;
	else if ((uint32_t)status.st_ino == found->time_namespace)
		time_offset_ns = found->time_offset_ns;
	else
		time_offset_ns = own_time_offset();
}

static void begin_child(void)
{
	struct thread_state *thread = &thread_state;
	uint32_t parent = known_process;

	*own_process = known_process = thread->tid = process_tid();
	thread->ring = 0;
	thread->timer = -1;
	/* Otherwise it would draw the same random numbers as its parent. */
	if (thread->random)
		thread->random ^= (uint64_t)thread->tid << 32 | thread->tid;
	if (shared && (is_filtered ? has_untrusted_children : !is_of_this_namespace(control)))
		sample_use(NULL);
	if (shared && !is_filtered)
		adjust_clock(control);
	if (shared) {
		process_write_start(0, parent);
		start_timer();
	}
}

/* Returns -1 if there is no file, or it is another one. */
static int process_open_file(const char *process, int fd)
{
	char path[64];
	struct stat status;
	int file;

	snprintf(path, sizeof(path), "/proc/%s/fd/%d", process, fd);
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file >= 0 && (fstat(file, &status) || status.st_size != (off_t)INSIDE_FILE_BYTES)) {
		close(file);
		return -1;
	}
	return file;
}

static unsigned char *map_file(void)
{
	const char *value = getenv(INSIDE_VARIABLE);
	char owner[16];
	int number, fd;
	struct inside_control *found;

	if (!__register_atfork || !value || sscanf(value, "%d:%15[0-9]", &number, owner) != 2)
		return NULL;
	fd = process_open_file("self", number);
	if (fd < 0)
		fd = process_open_file(owner, number);
	if (fd < 0)
		return NULL;
	found = mmap(NULL, INSIDE_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (found == MAP_FAILED)
		return NULL;
	if (found->magic == INSIDE_MAGIC && found->version == INSIDE_VERSION &&
	    is_of_this_namespace(found))
		return (unsigned char *)found;
	munmap(found, INSIDE_FILE_BYTES);
	return NULL;
}

__attribute__((constructor)) static void begin_process(void)
{
	int saved_errno = errno;
	unsigned char *file = map_file();

	if (file) {
		thread_state.left = INT64_MAX; /* do not sample this library's own allocations */
		madvise(own_process, sizeof(own_process), MADV_WIPEONFORK);
		*own_process = known_process = thread_state.tid = process_tid();
		measure_main_stack();
		pthread_key_create(&thread_key, delete_timer);
		adjust_clock((struct inside_control *)file);
		sample_use(file);
		if (cpu_hz())
			take_signal();
		__register_atfork(NULL, NULL, begin_child, NULL);
		process_write_start(INSIDE_START_EXEC, (uint32_t)getppid());
		write_mappings();
		thread_state.left = 0;
		start_timer();
	}
	errno = saved_errno;
}
