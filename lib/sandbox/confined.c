#include "sandbox/confined.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "sandbox/confinement.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* How long the kernel may take to end a process that was killed. */
enum { END_TIMEOUT_MS = 1000 };

/* What xmalloc() ends a process with; 0 is a function that has returned. */
enum { STATUS_OUT_OF_MEMORY = 1 };

struct confined {
	struct channel *channel;
	pid_t pid;
	int pidfd;
};

/* The first message says why the process cannot be confined, or nothing. */
static bool report(struct channel *channel, const struct error *err)
{
	const char *text = err ? error_text(err) : "";
	struct channel_message message = {.bytes = text, .len = strlen(text), .fd = -1};

	return channel_send(channel, &message) == CHANNEL_DONE && !err;
}

__attribute__((noreturn)) static void run(const struct confinement *confinement,
					  struct channel *channel, confined_main *main, void *user)
{
	if (report(channel, confinement_enter(confinement)))
		main(channel, user);
	_exit(0);
}

static struct error *await_report(struct channel *channel)
{
	struct pollfd ready = {.fd = channel_fd(channel), .events = POLLIN};
	struct channel_message message;

	while (poll(&ready, 1, -1) < 0 && errno == EINTR)
		continue;
	if (channel_receive(channel, &message) != CHANNEL_DONE)
		return error_new("it has ended");
	if (message.len)
		return error_new("%.*s", (int)message.len, (const char *)message.bytes);
	return NULL;
}

/* Forks; the child does not return. Other threads may hold locks of stdio, so it uses none. */
static struct error *start(struct confinement *confinement, struct channel *channel,
			   confined_main *main, void *user, pid_t *ret)
{
	struct error *err = confinement_measure(&confinement->present);

	if (err)
		return err;
	confinement->fd = channel_fd(channel);
	confinement->parent = getpid();
	*ret = fork();
	if (*ret == 0)
		run(confinement, channel, main, user);
	return *ret < 0 ? error_errno(errno, "start a process") : NULL;
}

/* Takes the channel. */
static struct error *await_start(pid_t pid, struct channel *channel, struct confined **ret)
{
	struct confined *confined = xmalloc(sizeof(*confined));
	struct error *err;

	*confined = (struct confined){
		.channel = channel, .pid = pid, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0)};
	err = confined->pidfd < 0 ? error_errno(errno, "open a process") : await_report(channel);
	if (err)
		confined_end(confined);
	else
		*ret = confined;
	return err;
}

struct error *confined_start(const struct confined_limits *limits, uid_t uid, confined_main *main,
			     void *user, struct confined **ret)
{
	struct confinement confinement = {.uid = uid,
					  .memory_bytes = limits->memory_bytes,
					  .cpu_seconds = limits->cpu_seconds};
	CLEANUP(channel_cleanup) struct channel *near = NULL, *far = NULL;
	struct error *err = channel_pair(&near, &far);
	pid_t pid;

	assert(uid != 0);
	if (!err)
		err = start(&confinement, far, main, user, &pid);
	/* Else the child's end would not show. */
	channel_free(STEAL(far));
	if (!err)
		err = await_start(pid, STEAL(near), ret);
	return error_wrap(err, "confine a process");
}

struct channel *confined_channel(const struct confined *confined)
{
	return confined->channel;
}

uint64_t confined_cpu_ns(const struct confined *confined)
{
	clockid_t clock;

	return clock_getcpuclockid(confined->pid, &clock) ? 0 : clock_read_ns(clock);
}

/* proc_pid_stat(5): the state follows the name in parentheses. */
static bool is_running(int tasks_fd, const char *tid)
{
	CLEANUP(close_fd) int dir = openat(tasks_fd, tid, O_PATH | O_CLOEXEC);
	CLEANUP(close_fd) int fd = dir < 0 ? -1 : openat(dir, "stat", O_RDONLY | O_CLOEXEC);
	char text[256];
	ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	const char *end;

	text[len > 0 ? len : 0] = '\0';
	end = strrchr(text, ')');
	return end && strncmp(end, ") R", 3) == 0;
}

bool confined_wants_cpu(const struct confined *confined)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/task", (int)confined->pid);
	CLEANUP(close_dir) DIR *tasks = opendir(path);
	const struct dirent *task;

	while (tasks && (task = readdir(tasks)))
		if (task->d_name[0] != '.' && is_running(dirfd(tasks), task->d_name))
			return true;
	return false;
}

bool confined_is_stopped(const struct confined *confined)
{
	siginfo_t info = {0};

	/* WNOWAIT: it is asked again. */
	return waitid(P_PID, (id_t)confined->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == confined->pid;
}

static struct confined_end end_of(int status, bool killed, const struct rusage *usage)
{
	struct confined_end end = {.outcome = CONFINED_CRASHED,
				   .cpu_ns = clock_ns_of(usage->ru_utime) +
					     clock_ns_of(usage->ru_stime),
				   .peak_bytes = (uint64_t)usage->ru_maxrss * 1024};

	if (WIFSIGNALED(status))
		end.signal = WTERMSIG(status);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		end.outcome = CONFINED_RETURNED;
	else if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_OUT_OF_MEMORY)
		end.outcome = CONFINED_OUT_OF_MEMORY;
	else if (end.signal == SIGXCPU)
		end.outcome = CONFINED_OUT_OF_TIME;
	else if (end.signal == SIGKILL && killed)
		end.outcome = CONFINED_KILLED;
	return end;
}

/* False: it has not ended within the time. */
static bool await_end(const struct confined *confined, int *status, struct rusage *usage)
{
	struct pollfd ended = {.fd = confined->pidfd, .events = POLLIN};

	while (poll(&ended, 1, END_TIMEOUT_MS) < 0 && errno == EINTR)
		continue;
	return wait4(confined->pid, status, WNOHANG, usage) == confined->pid;
}

struct confined_end confined_end(struct confined *confined)
{
	struct confined_end end = {.outcome = CONFINED_KILLED};
	struct rusage usage;
	int status;
	bool ended = wait4(confined->pid, &status, WNOHANG, &usage) == confined->pid;
	bool killed = !ended;

	if (!ended) {
		kill(confined->pid, SIGKILL);
		ended = await_end(confined, &status, &usage);
	}
	if (ended)
		end = end_of(status, killed, &usage);
	else
		end.cpu_ns = confined_cpu_ns(confined);
	close_fd(&confined->pidfd);
	channel_free(confined->channel);
	free(confined);
	return end;
}
