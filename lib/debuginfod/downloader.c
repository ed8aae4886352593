#include "debuginfod/downloader.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/forked_child.h"
#include "debuginfod/cache.h"
#include "debuginfod/client.h"
#include "sandbox/connected.h"
#include "sandbox/landlock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* TLS takes about a second of CPU time per GB, and curl with its certificates a
 * few MB. */
enum { CPU_SECONDS = 120, MEMORY_BYTES = 512 << 20, DESCRIPTORS_MAX = 256 };

/* Time for downloaders to end on their own, and for the kernel to end killed
 * ones. */
#define GRACE_NS (100 * NS_PER_MS)
#define KILL_NS NS_PER_SECOND
enum { LOOK_MS = 5 };

struct downloader {
	struct channel *channel;
	pid_t pid;
};

/*
 * Interrupts a wait of libdebuginfod, which then calls client.c to ask whether
 * to continue. client.c ends the download if the channel is closed.
 */
static void downloader_on_signal(int number)
{
	(void)number;
}

/* prof ends its downloaders by SIGTERM. */
static void take_sigterm(void)
{
	struct sigaction action = {.sa_handler = downloader_on_signal};
	sigset_t set;

	sigaction(SIGTERM, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static struct error *downloader_set_environment(const char *urls)
{
	/* These would print messages. */
	unsetenv("DEBUGINFOD_VERBOSE");
	unsetenv("DEBUGINFOD_PROGRESS");
	if (urls && setenv("DEBUGINFOD_URLS", urls, 1) < 0)
		return error_errno(errno, "set DEBUGINFOD_URLS");
	return NULL;
}

/* The data that the new process needs. */
struct start {
	const char *urls;
	struct connected connected;
	struct channel *channel;
};

static struct error *downloader_enter(const struct start *start, int *cache)
{
	struct error *err = connected_enter(&start->connected);

	if (!err)
		err = downloader_set_environment(start->urls);
	if (err)
		return err;
	take_sigterm();
	*cache = cache_open();
	return landlock_write_below(*cache);
}

static int downloader_run(void *user)
{
	const struct start *start = user;
	int cache;

	if (!downloader_enter(start, &cache))
		client_serve(start->channel, cache);
	return 0;
}

struct error *downloader_start(const struct downloader_options *options, struct downloader **ret)
{
	CLEANUP(channel_cleanup) struct channel *near = NULL, *far = NULL;
	struct start start = {.urls = options->urls,
			      .connected = {
				      .parent = getpid(),
				      .caller = options->caller,
				      .memory_bytes = MEMORY_BYTES,
				      .file_bytes = DOWNLOAD_BYTES_MAX + CLIENT_MARGIN_BYTES,
				      .cpu_seconds = CPU_SECONDS,
				      .descriptors = DESCRIPTORS_MAX,
			      }};
	struct error *err = confinement_measure(&start.connected.present);
	pid_t pid;

	if (!err)
		err = channel_pair(&near, &far);
	if (err)
		return err;
	start.channel = far;
	start.connected.channel = channel_fd(far);
	err = forked_child_start(FORKED_CHILD_ENDS_WITH_THREAD, downloader_run, &start, &pid);
	if (err)
		return err;
	*ret = xmalloc(sizeof(**ret));
	**ret = (struct downloader){.channel = STEAL(near), .pid = pid};
	return NULL;
}

struct channel *downloader_channel(const struct downloader *downloader)
{
	return downloader->channel;
}

/* Returns false if it is still running. */
static bool downloader_reap(struct downloader **downloader)
{
	struct forked_child_end end;

	if (!*downloader)
		return true;
	if (!forked_child_wait_until((*downloader)->pid, 0, &end))
		return false;
	free(STEAL(*downloader));
	return true;
}

static bool reap_all(struct downloader **downloaders, size_t count, int number)
{
	bool is_done = true;

	for (size_t i = 0; i < count; i++) {
		if (downloader_reap(&downloaders[i]))
			continue;
		kill(downloaders[i]->pid, number);
		is_done = false;
	}
	return is_done;
}

/* Repeats the signal, because one that arrives just before a wait does not end
 * the wait. */
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
	/* Abandons downloaders that hang in the kernel on an unresponsive file
	 * system. */
	for (size_t i = 0; i < count; i++)
		free(STEAL(downloaders[i]));
}
