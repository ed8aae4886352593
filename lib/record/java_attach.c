#include "record/java_attach.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/forked_child.h"
#include "base/line_reader.h"
#include "base/text.h"
#include "base/trusted_user.h"
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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* POLL_NS is the interval between two checks for the socket. The child times
 * out MARGIN_NS earlier than its parent. */
#define POLL_NS (5 * NS_PER_MS)
#define MARGIN_NS (100 * NS_PER_MS)

enum {
	STATUS_LINE_BYTES = 512,
	STATUS_BYTES_MAX = 64 << 10,
	COMMAND_LINE_BYTES_MAX = 128 << 10,
	/* The thread is among the first twenty. */
	JAVA_ATTACH_THREADS_MAX = 256,
	/* The answer to this command is a number and a newline. */
	ANSWER_BYTES_MAX = 64 << 10,
};

/* Protocol version, command, three arguments. */
static const char perfmap_request[] = "1\0jcmd\0Compiler.perfmap\0\0";

/* The VM as the child sees it. */
struct java_attach_machine {
	pid_t pid;
	uint64_t deadline_ns;
	int pidfd;
	int root, tmp; /* directories, O_PATH */
	uid_t user;    /* effective ids */
	gid_t group;
	bool own_only; /* as in java_attach_start() */
	pid_t own_pid; /* pid in its own namespace */
	bool catches_quit;
	bool is_stopped; /* by SIGSTOP or a debugger */
};

/* ---- Checks of the process ---- */

static FILE *open_proc(const struct java_attach_machine *machine, const char *name)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/%s", (int)machine->pid, name);

	return fopen(path, "re");
}

static void take_status_line(struct java_attach_machine *machine, const char *line)
{
	const char *last = strrchr(line, '\t');
	unsigned long long caught;
	unsigned id;
	char run_state;

	if (sscanf(line, "Uid:\t%*u\t%u", &id) == 1)
		machine->user = id;
	if (sscanf(line, "Gid:\t%*u\t%u", &id) == 1)
		machine->group = id;
	if (text_begins(line, "NSpid:") && last)
		machine->own_pid = (pid_t)strtol(last, NULL, 10);
	if (sscanf(line, "SigCgt:\t%llx", &caught) == 1)
		machine->catches_quit = caught >> (SIGQUIT - 1) & 1;
	if (sscanf(line, "State:\t%c", &run_state) == 1)
		machine->is_stopped = run_state == 'T' || run_state == 't';
}

static bool read_status(struct java_attach_machine *machine)
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

static bool is_dispatcher(const struct java_attach_machine *machine, const char *thread)
{
	/* As truncated by the kernel. */
	static const char name[] = "Signal Dispatch\n";
	CLEANUP(free_ptr) char *path = xasprintf("task/%s/comm", thread);
	CLEANUP(close_file) FILE *comm = open_proc(machine, path);
	char text[sizeof(name)];

	return comm && fgets(text, sizeof(text), comm) && strcmp(text, name) == 0;
}

/* HotSpot starts this thread if it handles signals. */
static bool has_dispatcher(const struct java_attach_machine *machine)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/task", (int)machine->pid);
	DIR *threads = opendir(path);
	const struct dirent *thread = threads ? readdir(threads) : NULL;
	bool has = false;

	for (unsigned i = 0; thread && !has && i < JAVA_ATTACH_THREADS_MAX; i++) {
		has = thread->d_name[0] != '.' && is_dispatcher(machine, thread->d_name);
		thread = readdir(threads);
	}
	if (threads)
		closedir(threads);
	return has;
}

/* The last option wins, as in the VM. */
static bool is_disabled(const struct java_attach_machine *machine)
{
	static const char suffix[] = "DisableAttachMechanism";
	CLEANUP(close_file) FILE *file = open_proc(machine, "cmdline");
	CLEANUP(free_ptr) char *text = xcalloc(1, COMMAND_LINE_BYTES_MAX + 1);
	size_t len = file ? fread(text, 1, COMMAND_LINE_BYTES_MAX, file) : 0;
	bool is = false;

	for (size_t at = 0; at < len; at += strlen(text + at) + 1)
		if (text_begins(text + at, "-XX:") && text[at + 4] &&
		    strcmp(text + at + 5, suffix) == 0)
			is = text[at + 4] == '+';
	return is;
}

/* Checks again right before the signal, because a process may have executed
 * another program or changed its user. */
static enum java_answer check_handler(struct java_attach_machine *machine)
{
	machine->catches_quit = false;
	if (is_disabled(machine))
		return JAVA_DISABLED;
	if (!has_dispatcher(machine) || !read_status(machine) || !machine->catches_quit ||
	    machine->user != geteuid())
		return JAVA_UNHANDLED;
	return machine->is_stopped ? JAVA_STOPPED : JAVA_ANSWERED;
}

/* ---- Privileges ---- */

/* Root needs this, and so does a user whose prof has capabilities. */
static bool drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

	return syscall(SYS_capset, &header, none) == 0;
}

/* Changes permanently to the privileges of the VM's user. */
static enum java_answer java_attach_become(const struct java_attach_machine *machine)
{
	uid_t user = machine->user;
	gid_t group = machine->group;
	bool is_other = user != 0 || group != 0;

	if ((geteuid() != 0 || machine->own_only) && geteuid() != user &&
	    (geteuid() != 0 || sudo_caller() != user))
		return JAVA_UNTRUSTED;
	if (geteuid() == 0 && is_other &&
	    (setgroups(0, NULL) < 0 || setresgid(group, group, group) < 0 ||
	     setresuid(user, user, user) < 0))
		return JAVA_FAILED;
	return drop_capabilities() ? JAVA_ANSWERED : JAVA_FAILED;
}

/* ---- Files below the VM's root ---- */

static int java_attach_open_below(int directory, const char *name, int flags, mode_t mode)
{
	const struct open_how how = {
		.flags = (uint64_t)flags | O_CLOEXEC,
		.mode = mode,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, directory, name, &how, sizeof(how));
}

static bool java_attach_is_running(const struct java_attach_machine *machine)
{
	struct pollfd end = {.fd = machine->pidfd, .events = POLLIN};

	return poll(&end, 1, 0) == 0;
}

/*
 * The root directory is opened before privileges are dropped, and before the
 * user ids are read. A process can give up root privileges and then change its
 * root directory, but not in the opposite order. The process still runs at the
 * end, so all three belong to the same process.
 */
static enum java_answer open_machine(struct java_attach_machine *machine)
{
	CLEANUP(free_ptr) char *root = xasprintf("/proc/%d/root", (int)machine->pid);
	enum java_answer answer;

	machine->pidfd = (int)syscall(SYS_pidfd_open, machine->pid, 0);
	if (machine->pidfd < 0)
		return errno == ESRCH ? JAVA_ENDED : JAVA_FAILED;
	machine->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!read_status(machine) || !java_attach_is_running(machine))
		return JAVA_ENDED;
	if (machine->root < 0 && geteuid() != machine->user)
		return JAVA_UNTRUSTED;
	answer = java_attach_become(machine);
	if (answer != JAVA_ANSWERED)
		return answer;
	machine->tmp = java_attach_open_below(machine->root, "tmp", O_PATH | O_DIRECTORY, 0);
	return machine->tmp < 0 ? JAVA_FAILED : JAVA_ANSWERED;
}

static void java_attach_own_name(const struct java_attach_machine *machine, const char *prefix,
				 char *into, size_t room)
{
	snprintf(into, room, "%s%d", prefix, (int)machine->own_pid);
}

/* Returns false if there is no file that the VM accepts: it must belong to the
 * VM's user. Sets *is_made if the file must be removed. */
static bool make_trigger(const struct java_attach_machine *machine, bool *is_made)
{
	char name[64];
	CLEANUP(close_fd) int fd = -1;
	struct stat st;

	java_attach_own_name(machine, ".attach_pid", name, sizeof(name));
	fd = java_attach_open_below(machine->tmp, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
				    0600);
	*is_made = fd >= 0;
	return *is_made || (fstatat(machine->tmp, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			    S_ISREG(st.st_mode) && st.st_uid == machine->user);
}

static void remove_trigger(const struct java_attach_machine *machine)
{
	char name[64];

	java_attach_own_name(machine, ".attach_pid", name, sizeof(name));
	unlinkat(machine->tmp, name, 0);
}

/* ---- The protocol ---- */

static bool java_attach_is_over(const struct java_attach_machine *machine)
{
	return clock_now_ns() >= machine->deadline_ns;
}

static void limit_time(const struct java_attach_machine *machine, int fd)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t left_ns = machine->deadline_ns > now_ns ? machine->deadline_ns - now_ns
							 : NS_PER_MS;
	struct timeval left = {.tv_sec = (time_t)(left_ns / NS_PER_SECOND),
			       .tv_usec = (suseconds_t)(left_ns % NS_PER_SECOND / 1000)};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &left, sizeof(left));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &left, sizeof(left));
}

/* The JDK's clients make the same checks. */
static bool is_own_socket(const struct java_attach_machine *machine, int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == machine->user &&
	       !(st.st_mode & (S_IRWXG | S_IRWXO));
}

/* Returns -1 if there is no socket or if nothing listens on it. */
static int connect_socket(const struct java_attach_machine *machine)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	CLEANUP(close_fd) int at = -1;
	CLEANUP(close_fd) int fd = -1;
	char name[64];

	java_attach_own_name(machine, ".java_pid", name, sizeof(name));
	at = java_attach_open_below(machine->tmp, name, O_PATH | O_NOFOLLOW, 0);
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

/* The first line is the result: 0 if the command was run. The rest is read so
 * that the VM can finish. */
static enum java_answer read_answer(const struct java_attach_machine *machine, int fd)
{
	char text[1024], first[2] = {0};
	size_t total = 0;
	ssize_t len;

	while (total < ANSWER_BYTES_MAX && !java_attach_is_over(machine)) {
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

static enum java_answer talk(const struct java_attach_machine *machine, int fd)
{
	if (send(fd, perfmap_request, sizeof(perfmap_request), MSG_NOSIGNAL) !=
	    (ssize_t)sizeof(perfmap_request))
		return JAVA_SILENT;
	return read_answer(machine, fd);
}

/* Waits until the VM listens. */
static int await_socket(const struct java_attach_machine *machine)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	int fd = -1;

	while (fd < 0 && !java_attach_is_over(machine) && java_attach_is_running(machine)) {
		nanosleep(&pause, NULL);
		fd = connect_socket(machine);
	}
	return fd;
}

/* Makes the VM open its socket. */
static int trigger(struct java_attach_machine *machine, enum java_answer *answer)
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

static enum java_answer java_attach_ask(struct java_attach_machine *machine, pid_t parent,
					struct elf_file *libjvm)
{
	CLEANUP(close_fd) int fd = -1;
	struct vm_symbols symbols;
	enum java_answer answer = open_machine(machine);

	if (answer != JAVA_ANSWERED)
		return answer;
	if (!forked_child_end_with(parent))
		return JAVA_FAILED;
	if (!vm_symbols_find(libjvm, &symbols))
		return JAVA_NO_JVM;
	fd = connect_socket(machine);
	if (fd < 0 && java_attach_is_over(machine))
		return JAVA_SILENT;
	if (fd < 0)
		fd = trigger(machine, &answer);
	return fd < 0 ? answer : talk(machine, fd);
}

/* ---- In the parent ---- */

/*
 * A reader of prof's output must not wait for a child that hangs, and the child
 * must not keep descriptors that prof has opened. Before Linux 5.9 only the
 * standard streams are closed.
 */
static void leave_files(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			close(fd);
	syscall(SYS_close_range, STDERR_FILENO + 1, UINT_MAX, 0);
}

struct start {
	pid_t parent;
	const struct java_attach *attach;
	struct elf_file *libjvm;
	bool own_only;
};

static int run_child(void *user)
{
	const struct start *start = user;
	struct java_attach_machine machine = {
		.pid = start->attach->pid,
		.deadline_ns = start->attach->deadline_ns - MARGIN_NS,
		.pidfd = -1,
		.root = -1,
		.tmp = -1,
		.user = (uid_t)-1,
		.group = (gid_t)-1,
		.own_only = start->own_only,
	};

	leave_files();
	return (int)java_attach_ask(&machine, start->parent, start->libjvm);
}

struct java_attach java_attach_start(pid_t pid, struct elf_file *libjvm, bool own_only,
				     uint64_t deadline_ns)
{
	struct java_attach attach = {.pid = pid, .deadline_ns = deadline_ns};
	struct start start = {getpid(), &attach, libjvm, own_only};
	CLEANUP(error_cleanup)
	struct error *err = forked_child_start(FORKED_CHILD_ENDS_WITH_THREAD, run_child, &start,
					       &attach.child);

	if (err)
		attach.child = 0;
	return attach;
}

/* A child that hangs in the kernel ends when it can, and init reaps it. */
enum java_answer java_attach_wait(struct java_attach *attach)
{
	pid_t child = attach->child;
	struct forked_child_end end;
	bool ended = child && forked_child_wait_until(child, attach->deadline_ns, &end);

	attach->child = 0;
	if (!child)
		return JAVA_FAILED;
	if (!ended) {
		kill(child, SIGKILL);
		forked_child_wait_until(child, attach->deadline_ns + MARGIN_NS, &end);
		return JAVA_SILENT;
	}
	return WIFEXITED(end.status) && WEXITSTATUS(end.status) <= JAVA_FAILED
		       ? (enum java_answer)WEXITSTATUS(end.status)
		       : JAVA_FAILED;
}

const char *java_answer_reason(enum java_answer answer)
{
	static const char *const reasons[] = {
		[JAVA_ANSWERED] = "has listed its code",
		[JAVA_ENDED] = "has ended",
		[JAVA_UNTRUSTED] = "belongs to another user",
		[JAVA_NO_JVM] = "is not a HotSpot virtual machine",
		[JAVA_UNHANDLED] = "does not handle SIGQUIT like a HotSpot virtual machine",
		[JAVA_DISABLED] = "was started with -XX:+DisableAttachMechanism",
		[JAVA_STOPPED] = "is stopped",
		[JAVA_SILENT] = "does not answer",
		[JAVA_REFUSED] = "cannot list its code: JDK 17 and later can",
		[JAVA_FAILED] = "cannot be asked: this needs Linux 5.6 and a writable /tmp",
	};

	return reasons[answer];
}
