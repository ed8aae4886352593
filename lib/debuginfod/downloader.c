#include "debuginfod/downloader.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "debuginfod/cache.h"
#include "debuginfod/client.h"
#include "sandbox/connected.h"
#include "sandbox/landlock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* TLS of a fast download takes a second per GB; curl and its certificates a few MB. */
enum { CPU_SECONDS = 120, MEMORY_BYTES = 512 << 20, DESCRIPTORS_MAX = 256 };

/* How long downloaders may take to end of their own accord, and killed ones in the kernel. */
#define GRACE_NS (100 * NS_PER_MS)
#define KILL_NS NS_PER_SECOND
enum { LOOK_MS = 5 };

struct downloader {
	struct channel *channel;
	pid_t pid;
};

/*
 * Ends a wait of libdebuginfod, which then asks whether to go on (client.c): not if the channel is
 * closed.
 */
static void on_signal(int number)
{
	(void)number;
}

/* prof ends its downloaders by SIGTERM. */
static void take_sigterm(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t set;

	sigaction(SIGTERM, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static struct error *set_environment(const char *urls)
{
	/* Those would print. */
	unsetenv("DEBUGINFOD_VERBOSE");
	unsetenv("DEBUGINFOD_PROGRESS");
	if (urls && setenv("DEBUGINFOD_URLS", urls, 1) < 0)
		return error_errno(errno, "set DEBUGINFOD_URLS");
	return NULL;
}

static struct error *enter(const struct downloader_options *options, int channel, pid_t parent,
			   const struct confinement_memory *present, int *cache)
{
	struct error *err = connected_enter(&(struct connected){
		.channel = channel,
		.parent = parent,
		.caller = options->caller,
		.present = *present,
		.memory_bytes = MEMORY_BYTES,
		.file_bytes = DOWNLOAD_BYTES_MAX + CLIENT_MARGIN_BYTES,
		.cpu_seconds = CPU_SECONDS,
		.descriptors = DESCRIPTORS_MAX,
	});

	if (!err)
		err = set_environment(options->urls);
	if (err)
		return err;
	take_sigterm();
	*cache = cache_open();
	return landlock_write_below(*cache);
}

struct error *downloader_start(const struct downloader_options *options, struct downloader **ret)
{
	CLEANUP(channel_cleanup) struct channel *near = NULL, *far = NULL;
	struct confinement_memory present;
	struct error *err = confinement_measure(&present);
	pid_t parent = getpid(), pid;
	int cache;

	if (!err)
		err = channel_pair(&near, &far);
	if (err)
		return err;
	pid = fork();
	if (pid < 0)
		return error_errno(errno, "start a process");
	if (pid == 0) {
		if (!enter(options, channel_fd(far), parent, &present, &cache))
			client_serve(far, cache);
		_exit(0);
	}
	*ret = xmalloc(sizeof(**ret));
	**ret = (struct downloader){.channel = STEAL(near), .pid = pid};
	return NULL;
}

struct channel *downloader_channel(const struct downloader *downloader)
{
	return downloader->channel;
}

/* False: it still runs. */
static bool reap(struct downloader **downloader)
{
	if (!*downloader)
		return true;
	if (waitpid((*downloader)->pid, NULL, WNOHANG) == 0)
		return false;
	free(STEAL(*downloader));
	return true;
}

static bool reap_all(struct downloader **downloaders, size_t count, int number)
{
	bool is_done = true;

	for (size_t i = 0; i < count; i++) {
		if (reap(&downloaders[i]))
			continue;
		kill(downloaders[i]->pid, number);
		is_done = false;
	}
	return is_done;
}

/* Signals again and again: one that comes just before a wait does not end it. */
static bool signal_until_ended(struct downloader **downloaders, size_t count, int number,
			       uint64_t within_ns)
{
	uint64_t until_ns = clock_now_ns() + within_ns;

	while (!reap_all(downloaders, count, number)) {
		if (clock_now_ns() > until_ns)
			return false;
		poll(NULL, 0, LOOK_MS);
	}
	return true;
}

void downloaders_end(struct downloader **downloaders, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (downloaders[i])
			channel_free(STEAL(downloaders[i]->channel));
	if (signal_until_ended(downloaders, count, SIGTERM, GRACE_NS) ||
	    signal_until_ended(downloaders, count, SIGKILL, KILL_NS))
		return;
	/* In the kernel, on a file system that does not answer: left behind. */
	for (size_t i = 0; i < count; i++)
		free(STEAL(downloaders[i]));
}
