/* Confined processes: what they can and cannot do, and how their end is
 * reported. */
#include "sandbox/confined.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/mapped_file.h"
#include "base/signals.h"
#include "lacking.h"
#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { MIB = 1 << 20, SOME_UID = 54321, SUCCESS = 0 };

static const struct confined_limits generous = {.memory_bytes = 64 * MIB, .cpu_seconds = 20};

static struct confined *start(confined_main *main, void *user)
{
	struct confined *ret;

	assert_null(confined_start(&generous, SOME_UID, main, user, &ret));
	return ret;
}

static enum channel_result await(struct confined *confined, struct channel_message *ret)
{
	struct pollfd ready = {.fd = channel_fd(confined_channel(confined)), .events = POLLIN};

	poll(&ready, 1, -1);
	return channel_receive(confined_channel(confined), ret);
}

static void answer(struct channel *channel, uint32_t kind)
{
	struct channel_message message = {.kind = kind, .fd = -1};

	if (channel_send(channel, &message) != CHANNEL_DONE)
		abort();
}

/* Returns the kind of the only message that `main` sends before it returns. */
static uint32_t answer_of(confined_main *main, void *user)
{
	struct confined *confined = start(main, user);
	struct channel_message message;
	enum channel_result result = await(confined, &message);
	struct confined_end end = confined_end(confined);

	assert_int_equal(result, CHANNEL_DONE);
	assert_true(end.outcome == CONFINED_RETURNED || end.outcome == CONFINED_KILLED);
	return message.kind;
}

/* Tries something. Returns SUCCESS or the errno. */
typedef int attempt(void);

static void run_attempt(struct channel *channel, void *user)
{
	attempt **of = user;

	answer(channel, (uint32_t)(*of)());
}

static int result_of(attempt *of)
{
	return (int)answer_of(run_attempt, &of);
}

static int errno_of(long result)
{
	return result < 0 ? errno : SUCCESS;
}

static int open_for_reading(void)
{
	return errno_of(open("/etc/passwd", O_RDONLY));
}

static int open_for_writing(void)
{
	return errno_of(open("/tmp/confined", O_WRONLY | O_CREAT, 0600));
}

static int remove_a_file(void)
{
	return errno_of(unlink("/tmp/confined"));
}

static int make_a_socket(void)
{
	return errno_of(socket(AF_INET, SOCK_STREAM, 0));
}

static int make_a_memory_file(void)
{
	return errno_of(memfd_create("x", 0));
}

static int fork_a_process(void)
{
	return errno_of(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static int execute_a_program(void)
{
	return errno_of(execl("/bin/true", "true", NULL));
}

static int signal_init(void)
{
	return errno_of(kill(1, 0));
}

static int trace_init(void)
{
	return errno_of(ptrace(PTRACE_SEIZE, 1, NULL, NULL));
}

static int read_memory_of_init(void)
{
	char byte;
	struct iovec local = {&byte, 1}, remote = {&byte, 1};

	return errno_of(process_vm_readv(1, &local, 1, &remote, 1, 0));
}

static int raise_a_limit(void)
{
	const struct rlimit limit = {100, 100};

	return errno_of(setrlimit(RLIMIT_NOFILE, &limit));
}

static int become_root(void)
{
	return errno_of(syscall(SYS_setresuid, 0, 0, 0));
}

static int become_dumpable(void)
{
	return errno_of(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static int make_a_call_of_another_architecture(void)
{
	/* a number of x32 on x86_64; unused elsewhere */
	return errno_of(syscall(0x40000000 | SYS_getpid));
}

static int map_memory(int protection, int flags)
{
	return mmap(NULL, 4096, protection, flags | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno
											: SUCCESS;
}

static int map_code(void)
{
	return map_memory(PROT_READ | PROT_EXEC, MAP_PRIVATE);
}

static int map_shared_memory(void)
{
	return map_memory(PROT_READ | PROT_WRITE, MAP_SHARED);
}

static int map_a_growing_stack(void)
{
	return map_memory(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_GROWSDOWN);
}

static int protect(int protection)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return errno_of(mprotect(page, 4096, protection));
}

static int make_memory_executable(void)
{
	return protect(PROT_READ | PROT_EXEC);
}

static int make_memory_read_only(void)
{
	return protect(PROT_READ);
}

static int make_memory_writable(void)
{
	return protect(PROT_READ | PROT_WRITE);
}

TEST(a_confined_process_reaches_no_file_no_network_and_no_process)
{
	assert_int_equal(result_of(open_for_reading), EPERM);
	assert_int_equal(result_of(open_for_writing), EPERM);
	assert_int_equal(result_of(remove_a_file), EPERM);
	assert_int_equal(result_of(make_a_socket), EPERM);
	assert_int_equal(result_of(make_a_memory_file), EPERM);
	assert_int_equal(result_of(fork_a_process), EPERM);
	assert_int_equal(result_of(execute_a_program), EPERM);
	assert_int_equal(result_of(signal_init), EPERM);
	assert_int_equal(result_of(trace_init), EPERM);
	assert_int_equal(result_of(read_memory_of_init), EPERM);
	assert_int_equal(result_of(make_a_call_of_another_architecture), EPERM);
}

TEST(a_confined_process_gets_no_right_back)
{
	assert_int_equal(result_of(raise_a_limit), EPERM);
	assert_int_equal(result_of(become_root), EPERM);
	assert_int_equal(result_of(become_dumpable), EPERM);
}

TEST(a_confined_process_has_no_executable_memory_and_none_that_no_limit_counts)
{
	assert_int_equal(result_of(map_code), EPERM);
	assert_int_equal(result_of(make_memory_executable), EPERM);
	assert_int_equal(result_of(map_shared_memory), EPERM);
	assert_int_equal(result_of(map_a_growing_stack), EPERM);
	assert_int_equal(result_of(make_memory_read_only), EPERM);
	assert_int_equal(result_of(make_memory_writable), SUCCESS);
}

/* A line of /proc/PID/status. */
static void assert_status(pid_t pid, const char *line)
{
	char *path = xasprintf("/proc/%d/status", (int)pid), *text = xcalloc(1, 16384);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(read(fd, text, 16383) > 0);
	if (!strstr(text, line))
		fail_msg("%s lacks %s", text, line);
	close(fd);
	free(path);
	free(text);
}

static void tell_pid_and_wait(struct channel *channel, void *user)
{
	struct channel_message message;

	(void)user;
	answer(channel, (uint32_t)syscall(SYS_getpid));
	if (channel_receive(channel, &message) == CHANNEL_DONE)
		answer(channel, 0);
}

static pid_t pid_of(struct confined *confined)
{
	struct channel_message message;

	assert_int_equal(await(confined, &message), CHANNEL_DONE);
	return (pid_t)message.kind;
}

TEST(a_confined_process_has_no_capabilities_no_new_privileges_and_a_filter)
{
	struct confined *confined = start(tell_pid_and_wait, NULL);
	pid_t pid = pid_of(confined);

	assert_status(pid, "CapEff:\t0000000000000000\n");
	assert_status(pid, "CapPrm:\t0000000000000000\n");
	assert_status(pid, "NoNewPrivs:\t1\n");
	assert_status(pid, "Seccomp:\t2\n");
	confined_end(confined);
}

TEST(a_confined_process_of_root_has_the_given_user_and_no_groups)
{
	if (geteuid() != 0)
		RETURN_LACKING("root");
	struct confined *confined = start(tell_pid_and_wait, NULL);
	pid_t pid = pid_of(confined);

	assert_status(pid, "Uid:\t54321\t54321\t54321\t54321\n");
	assert_status(pid, "Gid:\t65534\t65534\t65534\t65534\n");
	assert_status(pid, "Groups:\t \n");
	confined_end(confined);
}

static void count_descriptors(struct channel *channel, void *user)
{
	struct stat status;
	uint32_t count = 0;

	(void)user;
	for (int fd = 0; fd < 1024; fd++)
		if (fstat(fd, &status) == 0)
			count++;
	answer(channel, count);
}

TEST(a_confined_process_has_no_descriptor_but_its_channel)
{
	assert_int_equal(answer_of(count_descriptors, NULL), SANITIZED ? 1 + 3 : 1);
}

/* Measures how many MiB the process can touch. */
static void fill_memory(struct channel *channel, void *user)
{
	uint32_t count = 0;
	char *block;

	(void)user;
	while (count < 1024 && (block = malloc(MIB))) {
		memset(block, 1, MIB);
		count++;
	}
	answer(channel, count);
}

TEST(a_confined_process_can_allocate_what_it_was_allowed_and_not_more)
{
	if (SANITIZED)
		RETURN_LACKING("an allocator without shadow memory");
	uint32_t count = answer_of(fill_memory, NULL);

	assert_in_range(count, 60, 64);
}

static void exhaust_memory(struct channel *channel, void *user)
{
	(void)channel;
	(void)user;
	for (;;)
		memset(xmalloc(MIB), 1, MIB);
}

static void use_time(struct channel *channel, void *user)
{
	(void)user;
	answer(channel, 0);
	for (;;)
		__asm__ volatile("");
}

static void crash(struct channel *channel, void *user)
{
	(void)channel;
	(void)user;
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

static void return_at_once(struct channel *channel, void *user)
{
	(void)channel;
	(void)user;
}

/* Waits for the process and returns its end. */
static struct confined_end end_of(struct confined *confined)
{
	struct channel_message message;

	while (await(confined, &message) == CHANNEL_DONE)
		continue;
	return confined_end(confined);
}

TEST(the_end_of_a_confined_process_is_reported)
{
	struct confined_end end = end_of(start(crash, NULL));

	assert_int_equal(end.outcome, CONFINED_CRASHED);
	assert_int_equal(end.signal, SIGSEGV);
	assert_int_equal(end_of(start(return_at_once, NULL)).outcome, CONFINED_RETURNED);
}

TEST(a_confined_process_without_memory_ends_and_says_so)
{
	if (SANITIZED)
		RETURN_LACKING("an allocator without shadow memory");
	assert_int_equal(end_of(start(exhaust_memory, NULL)).outcome, CONFINED_OUT_OF_MEMORY);
}

TEST(a_confined_process_wants_a_cpu_unless_it_waits)
{
	struct confined *busy = start(use_time, NULL), *idle = start(tell_pid_and_wait, NULL);

	pid_of(idle);
	while (confined_wants_cpu(idle))
		usleep(1000);
	assert_true(confined_wants_cpu(busy));
	confined_end(busy);
	confined_end(idle);
}

TEST(a_confined_process_that_runs_on_is_killed_and_reaped)
{
	struct confined *confined = start(use_time, NULL);
	struct confined_end end;

	while (confined_cpu_ns(confined) < 20 * NS_PER_MS)
		usleep(1000);
	end = confined_end(confined);
	assert_int_equal(end.outcome, CONFINED_KILLED);
	assert_true(end.cpu_ns >= 10 * NS_PER_MS);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void *count_up(void *user)
{
	atomic_uint *count = user;
	void *block = malloc(1000);

	atomic_fetch_add(count, block ? 1 : 0);
	free(block);
	return NULL;
}

static void run_threads(struct channel *channel, void *user)
{
	atomic_uint count = 0;
	pthread_t threads[4];

	(void)user;
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		if (pthread_create(&threads[i], NULL, count_up, &count))
			abort();
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	answer(channel, count);
}

TEST(a_confined_process_may_use_threads)
{
	assert_int_equal(answer_of(run_threads, NULL), 4);
}

struct busy {
	atomic_bool stop;
	atomic_uint rounds;
};

static void *allocate_and_print(void *user)
{
	struct busy *busy = user;
	FILE *null = fopen("/dev/null", "w");

	while (!atomic_load(&busy->stop)) {
		char *text = xasprintf("%u", atomic_fetch_add(&busy->rounds, 1));

		fputs(text, null);
		free(text);
	}
	fclose(null);
	return NULL;
}

TEST(a_confined_process_can_be_started_while_other_threads_allocate)
{
	if (SANITIZED)
		RETURN_LACKING("an allocator that survives fork(2)");
	struct busy busy = {0};
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, allocate_and_print, &busy), 0);
	while (atomic_load(&busy.rounds) < 100)
		sched_yield();
	for (int i = 0; i < 20; i++)
		assert_int_equal(answer_of(run_threads, NULL), 4);
	atomic_store(&busy.stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void read_passed_file(struct channel *channel, void *user)
{
	struct channel_message message;
	struct stat status;
	const char *bytes;

	(void)user;
	if (channel_receive(channel, &message) != CHANNEL_DONE || fstat(message.fd, &status) < 0)
		abort();
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, message.fd, 0);
	if (bytes == MAP_FAILED)
		abort();
	message = (struct channel_message){
		.kind = 1, .bytes = bytes, .len = (size_t)status.st_size, .fd = message.fd};
	if (channel_send(channel, &message) != CHANNEL_DONE)
		abort();
}

static int file_with(const char *text)
{
	int fd = memfd_create("passed", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

TEST(a_confined_process_reads_files_that_are_passed_and_passes_them_back)
{
	struct confined *confined = start(read_passed_file, NULL);
	CLEANUP(close_fd) int fd = file_with("content");
	struct channel_message message = {.fd = fd};
	struct stat ours, theirs;

	assert_int_equal(channel_send(confined_channel(confined), &message), CHANNEL_DONE);
	assert_int_equal(await(confined, &message), CHANNEL_DONE);
	assert_int_equal(message.len, strlen("content"));
	assert_memory_equal(message.bytes, "content", message.len);
	assert_int_equal(fstat(fd, &ours), 0);
	assert_int_equal(fstat(message.fd, &theirs), 0);
	assert_int_equal(ours.st_ino, theirs.st_ino);
	confined_end(confined);
}

struct mapped {
	char *bytes;
	size_t len;
};

static void read_mapped(struct channel *channel, void *user)
{
	const struct mapped *mapped = user;
	struct channel_message message;
	uint32_t sum = 0;

	answer(channel, 0);
	if (channel_receive(channel, &message) != CHANNEL_DONE)
		abort();
	for (size_t i = 0; i < mapped->len; i++)
		sum += (unsigned char)((volatile char *)mapped->bytes)[i];
	answer(channel, sum);
}

TEST(a_file_that_is_cut_under_a_confined_process_reads_as_zeros)
{
	CLEANUP(close_fd) int fd = file_with("123");
	struct mapped mapped;
	struct channel_message message;
	struct confined *confined;
	struct sigaction before;

	mapped.len = (size_t)getpagesize();
	mapped.bytes = mapped_file_new(fd, mapped.len);
	sigaction(SIGBUS, NULL, &before);
	signals_survive_cut_files();
	confined = start(read_mapped, &mapped);
	assert_int_equal(await(confined, &message), CHANNEL_DONE);
	assert_int_equal(ftruncate(fd, 0), 0);
	answer(confined_channel(confined), 0);
	assert_int_equal(await(confined, &message), CHANNEL_DONE);
	assert_int_equal(message.kind, 0);
	assert_int_equal(end_of(confined).outcome, CONFINED_RETURNED);
	sigaction(SIGBUS, &before, NULL);
	mapped_file_free(mapped.bytes, mapped.len);
}

static void read_own_memory(struct channel *channel, void *user)
{
	char from = 'x', into = 0;
	struct iovec local = {&into, 1}, remote = {&from, 1};

	(void)user;
	answer(channel, process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 && into == 'x');
}

TEST(a_confined_process_may_read_its_own_memory_through_the_kernel)
{
	assert_int_equal(answer_of(read_own_memory, NULL), 1);
}

/* Starts a confined process, writes its pid to a pipe, and waits to be killed. */
static void start_and_wait(int report_fd)
{
	struct confined *confined = start(use_time, NULL);
	struct channel_message message;
	char byte = 'x';

	if (await(confined, &message) != CHANNEL_DONE || write(report_fd, &byte, 1) != 1)
		_exit(1);
	pause();
}

TEST(a_confined_process_dies_with_its_parent)
{
	int report[2], status;
	char byte;
	pid_t parent;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	assert_int_equal(pipe2(report, O_CLOEXEC), 0);
	parent = fork();
	if (parent == 0)
		start_and_wait(report[1]);
	assert_int_equal(read(report[0], &byte, 1), 1);
	kill(parent, SIGKILL);
	assert_int_equal(waitpid(parent, &status, 0), parent);
	/* This process is now the parent of the confined process. */
	assert_true(waitpid(-1, &status, 0) > 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
	close(report[0]), close(report[1]);
}

static void talk_nonsense(struct channel *channel, void *user)
{
	(void)user;
	if (write(channel_fd(channel), "x", 1) != 1)
		abort();
}

TEST(a_confined_process_that_talks_nonsense_is_found_out)
{
	struct confined *confined = start(talk_nonsense, NULL);
	struct channel_message message;

	assert_int_equal(await(confined, &message), CHANNEL_DAMAGED);
	confined_end(confined);
}

int main(void)
{
	if (!has_seccomp())
		return lacking_all("filters of system calls (seccomp)");
	return unit_tests_run();
}
