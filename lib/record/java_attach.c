#include "record/java_attach.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/line_reader.h"
#include "unwind/vm_structs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Between two looks for the socket, and how much earlier than its parent the child gives up. */
#define POLL_NS (5 * NS_PER_MS)
#define MARGIN_NS (100 * NS_PER_MS)

enum {
	STATUS_LINE_BYTES = 512,
	STATUS_BYTES_MAX = 64 << 10,
	COMMAND_LINE_BYTES_MAX = 128 << 10,
	/* The thread is among the first twenty. */
	THREADS_MAX = 256,
	/* The answer to this command is a number and a newline. */
	ANSWER_BYTES_MAX = 64 << 10,
};

/* Protocol version, command, three arguments. */
static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0";

/* The machine as the child sees it. */
struct machine {
	pid_t pid;
	uint64_t deadline_ns;
	int pidfd;
	int root, tmp; /* directories, O_PATH */
	uid_t user;    /* effective … */
	gid_t group;
	pid_t own_pid; /* in its own namespace */
	bool catches_quit;
	bool is_stopped; /* by SIGSTOP or a debugger */
};

/* --- What the process is ---------------------------------------------------------------------- */

static FILE *open_proc(const struct machine *machine, const char *name)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/%s", (int)machine->pid, name);

	return fopen(path, "re");
}

static void take_status_line(struct machine *machine, const char *line)
{
	const char *last = strrchr(line, '\t');
	unsigned long long caught;
	unsigned id;
	char run_state;

	if (sscanf(line, "Uid:\t%*u\t%u", &id) == 1)
		machine->user = id;
	if (sscanf(line, "Gid:\t%*u\t%u", &id) == 1)
		machine->group = id;
	if (strncmp(line, "NSpid:", 6) == 0 && last)
		machine->own_pid = (pid_t)strtol(last, NULL, 10);
	if (sscanf(line, "SigCgt:\t%llx", &caught) == 1)
		machine->catches_quit = caught >> (SIGQUIT - 1) & 1;
	if (sscanf(line, "State:\t%c", &run_state) == 1)
		machine->is_stopped = run_state == 'T' || run_state == 't';
}

static bool read_status(struct machine *machine)
{
	CLEANUP(close_file) FILE *status = open_proc(machine, "status");
	CLEANUP(line_reader_deinit) struct line_reader lines = {0};

	if (!status)
		return false;
	machine->own_pid = machine->pid;
	line_reader_init(&lines, status, STATUS_LINE_BYTES, STATUS_BYTES_MAX);
	while (line_reader_next(&lines))
		take_status_line(machine, lines.line);
	return true;
}

static bool is_dispatcher(const struct machine *machine, const char *thread)
{
	/* As the kernel cuts it. */
	static const char name[] = "Signal Dispatch\n";
	CLEANUP(free_ptr) char *path = xasprintf("task/%s/comm", thread);
	CLEANUP(close_file) FILE *comm = open_proc(machine, path);
	char text[sizeof(name)];

	return comm && fgets(text, sizeof(text), comm) && strcmp(text, name) == 0;
}

/* HotSpot starts the thread if it handles signals. */
static bool has_dispatcher(const struct machine *machine)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/task", (int)machine->pid);
	DIR *threads = opendir(path);
	const struct dirent *thread = threads ? readdir(threads) : NULL;
	bool has = false;

	for (unsigned i = 0; thread && !has && i < THREADS_MAX; i++) {
		has = thread->d_name[0] != '.' && is_dispatcher(machine, thread->d_name);
		thread = readdir(threads);
	}
	if (threads)
		closedir(threads);
	return has;
}

/* The last word on it wins, as in the machine. */
static bool is_disabled(const struct machine *machine)
{
	static const char suffix[] = "DisableAttachMechanism";
	CLEANUP(close_file) FILE *file = open_proc(machine, "cmdline");
	CLEANUP(free_ptr) char *text = xcalloc(1, COMMAND_LINE_BYTES_MAX + 1);
	size_t len = file ? fread(text, 1, COMMAND_LINE_BYTES_MAX, file) : 0;
	bool is = false;

	for (size_t at = 0; at < len; at += strlen(text + at) + 1)
		if (strncmp(text + at, "-XX:", 4) == 0 && text[at + 4] &&
		    strcmp(text + at + 5, suffix) == 0)
			is = text[at + 4] == '+';
	return is;
}

/* Up to now: a process may execute another program, or become another user's. */
static enum java_answer check_handler(struct machine *machine)
{
	machine->catches_quit = false;
	if (is_disabled(machine))
		return JAVA_DISABLED;
	if (!has_dispatcher(machine) || !read_status(machine) || !machine->catches_quit ||
	    machine->user != geteuid())
		return JAVA_UNHANDLED;
	return machine->is_stopped ? JAVA_STOPPED : JAVA_ANSWERED;
}

/* --- Rights ----------------------------------------------------------------------------------- */

/* Also of root, and of a user whose prof has capabilities. */
static bool drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

	return syscall(SYS_capset, &header, none) == 0;
}

/* Takes the rights of the machine's user, for good. */
static enum java_answer become(const struct machine *machine)
{
	uid_t user = machine->user;
	gid_t group = machine->group;
	bool is_other = user != 0 || group != 0;

	if (geteuid() != 0 && geteuid() != user)
		return JAVA_FOREIGN;
	if (geteuid() == 0 && is_other &&
	    (setgroups(0, NULL) < 0 || setresgid(group, group, group) < 0 ||
	     setresuid(user, user, user) < 0))
		return JAVA_FAILED;
	return drop_capabilities() ? JAVA_ANSWERED : JAVA_FAILED;
}

/* The kernel forgets this when a process becomes another user's. */
static void end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(JAVA_FAILED);
}

/* --- Files below the machine's root ----------------------------------------------------------- */

static int open_below(int directory, const char *name, int flags, mode_t mode)
{
	const struct open_how how = {
		.flags = (uint64_t)flags | O_CLOEXEC,
		.mode = mode,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, directory, name, &how, sizeof(how));
}

static bool is_running(const struct machine *machine)
{
	struct pollfd end = {.fd = machine->pidfd, .events = POLLIN};

	return poll(&end, 1, 0) == 0;
}

/*
 * The root is opened before rights are given up, and before the user is read: a process can leave
 * the rights of root and then make itself a root, but not the other way round. That it still runs
 * says that all three are of one process.
 */
static enum java_answer open_machine(struct machine *machine)
{
	CLEANUP(free_ptr) char *root = xasprintf("/proc/%d/root", (int)machine->pid);
	enum java_answer answer;

	machine->pidfd = (int)syscall(SYS_pidfd_open, machine->pid, 0);
	if (machine->pidfd < 0)
		return errno == ESRCH ? JAVA_ENDED : JAVA_FAILED;
	machine->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!read_status(machine) || !is_running(machine))
		return JAVA_ENDED;
	if (machine->root < 0 && geteuid() != machine->user)
		return JAVA_FOREIGN;
	answer = become(machine);
	if (answer != JAVA_ANSWERED)
		return answer;
	machine->tmp = open_below(machine->root, "tmp", O_PATH | O_DIRECTORY, 0);
	return machine->tmp < 0 ? JAVA_FAILED : JAVA_ANSWERED;
}

static void own_name(const struct machine *machine, const char *prefix, char *into, size_t room)
{
	snprintf(into, room, "%s%d", prefix, (int)machine->own_pid);
}

/* False if there is no file that the machine believes, one of its user. is_made: remove it. */
static bool make_trigger(const struct machine *machine, bool *is_made)
{
	char name[64];
	CLEANUP(close_fd) int fd = -1;
	struct stat st;

	own_name(machine, ".attach_pid", name, sizeof(name));
	fd = open_below(machine->tmp, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	*is_made = fd >= 0;
	return *is_made || (fstatat(machine->tmp, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			    S_ISREG(st.st_mode) && st.st_uid == machine->user);
}

static void remove_trigger(const struct machine *machine)
{
	char name[64];

	own_name(machine, ".attach_pid", name, sizeof(name));
	unlinkat(machine->tmp, name, 0);
}

/* --- The conversation ------------------------------------------------------------------------- */

static bool is_over(const struct machine *machine)
{
	return clock_now_ns() >= machine->deadline_ns;
}

static void limit_time(const struct machine *machine, int fd)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t left_ns = machine->deadline_ns > now_ns ? machine->deadline_ns - now_ns
							 : NS_PER_MS;
	struct timeval left = {.tv_sec = (time_t)(left_ns / NS_PER_SECOND),
			       .tv_usec = (suseconds_t)(left_ns % NS_PER_SECOND / 1000)};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &left, sizeof(left));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &left, sizeof(left));
}

/* As the clients of the JDK demand. */
static bool is_own_socket(const struct machine *machine, int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == machine->user &&
	       !(st.st_mode & (S_IRWXG | S_IRWXO));
}

/* -1: there is no socket, or nobody listens. */
static int connect_socket(const struct machine *machine)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	CLEANUP(close_fd) int at = -1;
	CLEANUP(close_fd) int fd = -1;
	char name[64];

	own_name(machine, ".java_pid", name, sizeof(name));
	at = open_below(machine->tmp, name, O_PATH | O_NOFOLLOW, 0);
	if (at < 0 || !is_own_socket(machine, at))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	limit_time(machine, fd);
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", at);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return steal_fd(&fd);
}

/* The first line is the result: 0 if the command was run. The rest is read for the machine's sake.
 */
static enum java_answer read_answer(const struct machine *machine, int fd)
{
	char text[1024], first[2] = {0};
	size_t total = 0;
	ssize_t len;

	while (total < ANSWER_BYTES_MAX && !is_over(machine)) {
		len = recv(fd, text, sizeof(text), 0);
		if (len < 0)
			break;
		if (len == 0)
			return first[0] == '0' && first[1] == '\n' ? JAVA_ANSWERED : JAVA_REFUSED;
		for (size_t i = 0; i < (size_t)len && total + i < sizeof(first); i++)
			first[total + i] = text[i];
		total += (size_t)len;
	}
	return JAVA_SILENT;
}

static enum java_answer talk(const struct machine *machine, int fd)
{
	if (send(fd, request, sizeof(request), MSG_NOSIGNAL) != (ssize_t)sizeof(request))
		return JAVA_SILENT;
	return read_answer(machine, fd);
}

/* Until the machine listens. */
static int await_socket(const struct machine *machine)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	int fd = -1;

	while (fd < 0 && !is_over(machine) && is_running(machine)) {
		nanosleep(&pause, NULL);
		fd = connect_socket(machine);
	}
	return fd;
}

/* Lets the machine open its socket. */
static int trigger(struct machine *machine, enum java_answer *answer)
{
	bool is_made;
	int fd = -1;

	*answer = check_handler(machine);
	if (*answer != JAVA_ANSWERED)
		return -1;
	if (!make_trigger(machine, &is_made)) {
		*answer = JAVA_FAILED;
		return -1;
	}
	if (syscall(SYS_pidfd_send_signal, machine->pidfd, SIGQUIT, NULL, 0) == 0)
		fd = await_socket(machine);
	if (is_made)
		remove_trigger(machine);
	*answer = JAVA_SILENT;
	return fd;
}

static enum java_answer ask(struct machine *machine, pid_t parent, struct elf_file *libjvm)
{
	CLEANUP(close_fd) int fd = -1;
	struct vm_symbols symbols;
	enum java_answer answer = open_machine(machine);

	if (answer != JAVA_ANSWERED)
		return answer;
	end_with(parent);
	if (!vm_symbols_find(libjvm, &symbols))
		return JAVA_NO_JVM;
	fd = connect_socket(machine);
	if (fd < 0 && is_over(machine))
		return JAVA_SILENT;
	if (fd < 0)
		fd = trigger(machine, &answer);
	return fd < 0 ? answer : talk(machine, fd);
}

/* --- The parent's side ------------------------------------------------------------------------ */

/*
 * What reads prof's output must not wait for a child that hangs, and no rights of prof's stay open.
 * Linux before 5.9 closes the standard streams only.
 */
static void leave_files(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			close(fd);
	syscall(SYS_close_range, STDERR_FILENO + 1, UINT_MAX, 0);
}

__attribute__((noreturn)) static void run_child(pid_t parent, const struct java_attach *attach,
						struct elf_file *libjvm)
{
	struct machine machine = {
		.pid = attach->pid,
		.deadline_ns = attach->deadline_ns - MARGIN_NS,
		.pidfd = -1,
		.root = -1,
		.tmp = -1,
		.user = (uid_t)-1,
		.group = (gid_t)-1,
	};

	leave_files();
	end_with(parent);
	_exit((int)ask(&machine, parent, libjvm));
}

struct java_attach java_attach_start(pid_t pid, struct elf_file *libjvm, uint64_t deadline_ns)
{
	struct java_attach attach = {.pid = pid, .deadline_ns = deadline_ns};
	pid_t parent = getpid();
	pid_t child = fork();

	if (child == 0)
		run_child(parent, &attach, libjvm);
	attach.child = child < 0 ? 0 : child;
	return attach;
}

static bool await_end(pid_t child, uint64_t until_ns, int *status)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	pid_t ended = waitpid(child, status, WNOHANG);

	while (ended == 0 && clock_now_ns() < until_ns) {
		nanosleep(&pause, NULL);
		ended = waitpid(child, status, WNOHANG);
	}
	return ended == child;
}

/* A child that hangs in the kernel ends when it can; init waits for it. */
enum java_answer java_attach_wait(struct java_attach *attach)
{
	pid_t child = attach->child;
	int status = 0;
	bool ended = child && await_end(child, attach->deadline_ns, &status);

	attach->child = 0;
	if (!child)
		return JAVA_FAILED;
	if (!ended) {
		kill(child, SIGKILL);
		await_end(child, attach->deadline_ns + MARGIN_NS, &status);
		return JAVA_SILENT;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) <= JAVA_FAILED
		       ? (enum java_answer)WEXITSTATUS(status)
		       : JAVA_FAILED;
}

const char *java_answer_reason(enum java_answer answer)
{
	static const char *const reasons[] = {
		[JAVA_ANSWERED] = "has listed its code",
		[JAVA_ENDED] = "has ended",
		[JAVA_FOREIGN] = "belongs to another user",
		[JAVA_NO_JVM] = "is not a HotSpot virtual machine",
		[JAVA_UNHANDLED] = "does not handle SIGQUIT as a virtual machine does",
		[JAVA_DISABLED] = "was started with -XX:+DisableAttachMechanism",
		[JAVA_STOPPED] = "is stopped",
		[JAVA_SILENT] = "does not answer",
		[JAVA_REFUSED] = "cannot list its code: JDK 17 and later can",
		[JAVA_FAILED] = "cannot be asked: needs Linux 5.6 and a /tmp it can write to",
	};

	return reasons[answer];
}
