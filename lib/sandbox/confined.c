#include "sandbox/confined.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/forked_child.h"
#include "base/pids.h"
#include "base/thread_state.h"
#include "sandbox/confinement.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* Maximum time to wait for the kernel to end a killed process. */
#define END_TIMEOUT_NS NS_PER_SECOND

/* Exit status of xmalloc() failures. Status 0 means that the function has
 * returned. */
enum { STATUS_OUT_OF_MEMORY = 1 };

struct confined {
	struct channel *channel;
	pid_t pid;
};

/* The data that the new process needs. */
struct start {
	struct confinement confinement;
	struct channel *channel;
	confined_main *main;
	void *user;
};

/* The first message is empty, or an error if the process cannot be confined. */
static bool confined_report(struct channel *channel, const struct error *err)
{
	const char *text = err ? error_text(err) : "";
	struct channel_message message = {.bytes = text, .len = strlen(text), .fd = -1};

	return channel_send(channel, &message) == CHANNEL_DONE && !err;
}

static int confined_run(void *user)
{
	const struct start *start = user;

	if (confined_report(start->channel, confinement_enter(&start->confinement)))
		start->main(start->channel, start->user);
	return 0;
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

static struct error *fork_process(struct start *start, pid_t *ret)
{
	struct error *err = confinement_measure(&start->confinement.present);

	if (err)
		return err;
	start->confinement.fd = channel_fd(start->channel);
	start->confinement.parent = getpid();
	return forked_child_start(FORKED_CHILD_ENDS_WITH_THREAD, confined_run, start, ret);
}

/* Takes ownership of the channel. */
static struct error *await_start(pid_t pid, struct channel *channel, struct confined **ret)
{
	struct confined *confined = xmalloc(sizeof(*confined));
	struct error *err;

	*confined = (struct confined){.channel = channel, .pid = pid};
	err = await_report(channel);
	if (err)
		confined_end(confined);
	else
		*ret = confined;
	return err;
}

struct error *confined_start(const struct confined_limits *limits, uid_t uid, confined_main *main,
			     void *user, struct confined **ret)
{
	CLEANUP(channel_cleanup) struct channel *near = NULL, *far = NULL;
	struct error *err = channel_pair(&near, &far);
	struct start start = {
		.confinement = {.uid = uid,
				.memory_bytes = limits->memory_bytes,
				.cpu_seconds = limits->cpu_seconds},
		.channel = far,
		.main = main,
		.user = user,
	};
	pid_t pid;

	assert(uid != 0);
	if (!err)
		err = fork_process(&start, &pid);
	/* Otherwise the end of the child would not close the channel. */
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

bool confined_wants_cpu(const struct confined *confined)
{
	CLEANUP(free_ptr) char *tasks_path = xasprintf("/proc/%d/task", (int)confined->pid);
	CLEANUP(close_dir) DIR *tasks = opendir(tasks_path);

	for (pid_t tid; (tid = pids_next(tasks));) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/%d/stat", tasks_path, (int)tid);

		if (thread_state(path) == 'R')
			return true;
	}
	return false;
}

bool confined_is_stopped(const struct confined *confined)
{
	siginfo_t info = {0};

	/* WNOWAIT keeps the state for later calls. */
	return waitid(P_PID, (id_t)confined->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == confined->pid;
}

static struct confined_end confined_end_of(const struct forked_child_end *child, bool killed)
{
	struct confined_end end = {.outcome = CONFINED_CRASHED,
				   .cpu_ns = child->cpu_ns,
				   .peak_bytes = child->peak_bytes};
	int status = child->status;

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

/*
 * Waits for the kernel to end a killed process. A process that is only runnable,
 * because the machine is busy, will end.
 */
static bool await_kill(const struct confined *confined, struct forked_child_end *ret)
{
	while (!forked_child_wait_until(confined->pid, clock_now_ns() + END_TIMEOUT_NS, ret))
		if (!confined_wants_cpu(confined))
			return forked_child_wait_until(confined->pid, 0, ret);
	return true;
}

struct confined_end confined_end(struct confined *confined)
{
	struct confined_end end = {.outcome = CONFINED_KILLED};
	struct forked_child_end child;
	bool ended = forked_child_wait_until(confined->pid, 0, &child), killed = !ended;

	if (!ended) {
		kill(confined->pid, SIGKILL);
		ended = await_kill(confined, &child);
	}
	if (ended)
		end = confined_end_of(&child, killed);
	else
		end.cpu_ns = confined_cpu_ns(confined);
	channel_free(confined->channel);
	free(confined);
	return end;
}
