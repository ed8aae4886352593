#include "record/debug_fetcher.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/humanize.h"
#include "debuginfod/downloads.h"
#include "debuginfod/library.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define DEFAULT_LIMIT_NS (30 * NS_PER_SECOND)

/* Files that could not be downloaded, for a message: "libc.so.6 and 3
 * others". */
struct missing {
	char *first; /* NULL for none */
	size_t others;
	int error; /* errno of the first */
};

struct debug_fetcher {
	struct debug_fetcher_options options;
	uint64_t until_ns; /* 0 until the first download */

	/* Totals of all downloads so far. */
	uint64_t bytes, used_ns;
	size_t files;
	char *server;
	struct missing failed, late, cancelled;
	bool lacks_library;

	pthread_mutex_t mutex; /* protects the members below, which another thread reads */
	bool is_at_work;
	struct download_progress progress;
};

static bool debug_fetcher_is_blank(const char *text)
{
	return !text[strspn(text, " \t\n")];
}

bool debug_fetcher_has_servers(const struct symbol_options *symbols)
{
	const char *urls = symbols->debuginfod ? symbols->debuginfod : getenv("DEBUGINFOD_URLS");

	return urls && strcmp(urls, "no") != 0 && !debug_fetcher_is_blank(urls);
}

uint64_t debug_fetcher_limit_ns(const struct symbol_options *symbols)
{
	return symbols->debuginfod_ns ? symbols->debuginfod_ns : DEFAULT_LIMIT_NS;
}

struct debug_fetcher *debug_fetcher_new(const struct debug_fetcher_options *options)
{
	struct debug_fetcher *fetcher;

	if (!debug_fetcher_has_servers(&options->symbols))
		return NULL;
	fetcher = xcalloc(1, sizeof(*fetcher));
	fetcher->options = *options;
	pthread_mutex_init(&fetcher->mutex, NULL);
	return fetcher;
}

void debug_fetcher_free(struct debug_fetcher *fetcher)
{
	if (!fetcher)
		return;
	pthread_mutex_destroy(&fetcher->mutex);
	free(fetcher->failed.first);
	free(fetcher->late.first);
	free(fetcher->cancelled.first);
	free(fetcher->server);
	free(fetcher);
}

/* The files that one call downloads. */
struct batch {
	struct debug_fetcher *fetcher;
	const struct fetch_wish *wishes;
};

/* Reports the first running download, which is the costliest one. */
static void debug_fetcher_on_progress(void *user, const struct download *downloads, size_t count)
{
	const struct batch *batch = user;
	struct download_progress progress = {0};

	for (size_t i = 0; i < count; i++) {
		if (downloads[i].state == DOWNLOAD_WAITING)
			progress.others++;
		if (downloads[i].state != DOWNLOAD_RUNNING)
			continue;
		progress.others += progress.name != NULL;
		if (progress.name && (progress.bytes || !downloads[i].bytes))
			continue;
		progress.name = basename(batch->wishes[i].name);
		progress.bytes = downloads[i].bytes;
		progress.total_bytes = downloads[i].total_bytes;
	}
	pthread_mutex_lock(&batch->fetcher->mutex);
	batch->fetcher->progress = progress;
	pthread_mutex_unlock(&batch->fetcher->mutex);
}

static void set_at_work(struct debug_fetcher *fetcher, bool is_at_work)
{
	pthread_mutex_lock(&fetcher->mutex);
	fetcher->is_at_work = is_at_work;
	fetcher->progress = (struct download_progress){0};
	pthread_mutex_unlock(&fetcher->mutex);
}

static void add_missing(struct missing *missing, const char *path, int error)
{
	if (missing->first) {
		missing->others++;
		return;
	}
	missing->first = xstrdup(basename(path));
	missing->error = error;
}

/* Removes the path of the request from a URL such as
 * "http://host:8002/buildid/…/debuginfo". */
static char *server_of(const char *url)
{
	const char *end = strstr(url, "/buildid/");

	return end ? xstrndup(url, (size_t)(end - url)) : xstrdup(url);
}

static void count_download(struct debug_fetcher *fetcher, const struct download *download)
{
	if (download->is_from_cache)
		return;
	fetcher->files++;
	fetcher->bytes += download->bytes;
	if (!fetcher->server)
		fetcher->server = server_of(download->url);
}

static void debug_fetcher_take(struct debug_fetcher *fetcher, enum downloads_end end,
			       struct download *download, struct fetch_wish *wish)
{
	switch (download->state) {
	case DOWNLOAD_DONE:
		count_download(fetcher, download);
		wish->fd = steal_fd(&download->fd);
		wish->path = STEAL(download->path);
		break;
	case DOWNLOAD_FAILED:
		if (download->error != ENOENT && end != DOWNLOADS_NO_LIBRARY)
			add_missing(&fetcher->failed, wish->name, download->error);
		break;
	case DOWNLOAD_WAITING:
	case DOWNLOAD_RUNNING:
		if (end == DOWNLOADS_LATE)
			add_missing(&fetcher->late, wish->name, 0);
		if (end == DOWNLOADS_CANCELLED)
			add_missing(&fetcher->cancelled, wish->name, 0);
		break;
	}
	download_deinit(download);
}

/* A signal cancels only the downloads. Symbolization continues with the files
 * that were downloaded. */
static void fetch(void *user, struct fetch_wish *wishes, size_t count)
{
	struct debug_fetcher *fetcher = user;
	const struct debug_fetcher_options *options = &fetcher->options;
	struct batch batch = {.fetcher = fetcher, .wishes = wishes};
	CLEANUP(free_ptr) struct download *downloads = xcalloc(count, sizeof(*downloads));
	uint64_t begun_ns = clock_now_ns();
	enum downloads_end end;

	if (fetcher->lacks_library || fetcher->cancelled.first)
		return;
	if (!fetcher->until_ns)
		fetcher->until_ns = begun_ns + debug_fetcher_limit_ns(&options->symbols);
	for (size_t i = 0; i < count; i++)
		downloads[i].build_id = wishes[i].build_id;
	set_at_work(fetcher, true);
	end = downloads_run(&(struct downloads_options){.urls = options->symbols.debuginfod,
							.caller = options->caller,
							.until_ns = fetcher->until_ns,
							.cancel = options->cancel,
							.progress = debug_fetcher_on_progress,
							.user = &batch},
			    downloads, count);
	set_at_work(fetcher, false);
	if (end == DOWNLOADS_CANCELLED)
		atomic_store(options->cancel, false);
	fetcher->lacks_library |= end == DOWNLOADS_NO_LIBRARY;
	fetcher->used_ns += clock_now_ns() - begun_ns;
	for (size_t i = 0; i < count; i++)
		debug_fetcher_take(fetcher, end, &downloads[i], &wishes[i]);
}

struct fetcher debug_fetcher_callbacks(struct debug_fetcher *fetcher)
{
	return fetcher ? (struct fetcher){.fetch = fetch, .user = fetcher} : (struct fetcher){0};
}

bool debug_fetcher_say_progress(struct debug_fetcher *fetcher, const struct listener *listener)
{
	struct download_progress progress;
	bool is_at_work;

	if (!fetcher)
		return false;
	pthread_mutex_lock(&fetcher->mutex);
	is_at_work = fetcher->is_at_work && fetcher->progress.name;
	progress = fetcher->progress;
	pthread_mutex_unlock(&fetcher->mutex);
	if (is_at_work && listener && listener->downloading)
		listener->downloading(listener->user, &progress);
	return is_at_work;
}

static char *debug_fetcher_names_of(const struct missing *missing)
{
	if (!missing->others)
		return xstrdup(missing->first);
	return xasprintf("%s and %zu other%s", missing->first, missing->others,
			 missing->others == 1 ? "" : "s");
}

static void report_missing(const struct debug_fetcher *fetcher, const struct listener *listener)
{
	uint64_t limit_ns = debug_fetcher_limit_ns(&fetcher->options.symbols);

	if (fetcher->late.first) {
		CLEANUP(free_ptr) char *names = debug_fetcher_names_of(&fetcher->late);

		listener_problem(listener,
				 "the debuginfod servers did not send the debug information of %s "
				 "within %s: continued without it (--debuginfod-time)",
				 names, humanize_time(limit_ns).text);
	}
	if (fetcher->cancelled.first) {
		CLEANUP(free_ptr) char *names = debug_fetcher_names_of(&fetcher->cancelled);

		listener_problem(listener,
				 "stopped downloading the debug information of %s: continued "
				 "without it",
				 names);
	}
	if (fetcher->failed.first) {
		CLEANUP(free_ptr) char *names = debug_fetcher_names_of(&fetcher->failed);

		listener_problem(listener,
				 "the debug information of %s could not be downloaded: %s", names,
				 strerror(fetcher->failed.error));
	}
}

void debug_fetcher_report(const struct debug_fetcher *fetcher, const struct listener *listener)
{
	if (!fetcher)
		return;
	if (fetcher->lacks_library)
		listener_problem(listener,
				 "the debuginfod servers were not asked for debug information: %s",
				 debuginfod_library_lack);
	if (fetcher->files)
		listener_notice(listener,
				"downloaded debug information: %zu file%s (%s) in %s from %s",
				fetcher->files, fetcher->files == 1 ? "" : "s",
				humanize_bytes(fetcher->bytes).text,
				humanize_time(fetcher->used_ns).text, fetcher->server);
	report_missing(fetcher, listener);
}
