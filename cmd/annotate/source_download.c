#include "cmd/annotate/source_download.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/humanize.h"
#include "base/trusted_user.h"
#include "cmd/ui/message.h"
#include "debuginfod/downloads.h"
#include "debuginfod/library.h"
#include "record/debug_fetcher.h"

#include <errno.h>
#include <string.h>

static void source_download_print_progress(void *user, const struct download *downloads,
					   size_t count)
{
	(void)user, (void)count;
	message_progress("downloading %s", downloads[0].source);
}

static void source_download_report(struct source_downloads *downloads, enum downloads_end end,
				   const struct download *download)
{
	const char *path = download->source;

	downloads->has_failed = true;
	if (end == DOWNLOADS_NO_LIBRARY)
		message("the debuginfod servers were not asked for %s: %s", path,
			debuginfod_library_lack);
	else if (end == DOWNLOADS_LATE)
		message("the debuginfod servers did not send %s within %s (--debuginfod-time)",
			path, humanize_time(debug_fetcher_limit_ns(downloads->symbols)).text);
	else if (download->state == DOWNLOAD_FAILED && download->error != ENOENT)
		message("%s could not be downloaded: %s", path, strerror(download->error));
	else
		downloads->has_failed = false;
}

int source_download(struct source_downloads *downloads, const char *build_id, const char *path)
{
	struct download download = {.source = path};
	struct downloads_options options = {.urls = downloads->symbols->debuginfod,
					    .caller = sudo_caller(),
					    .progress = source_download_print_progress};
	enum downloads_end end;
	int fd;

	if (downloads->has_failed || *path != '/' ||
	    !debug_fetcher_has_servers(downloads->symbols) ||
	    !build_id_from_hex(build_id, &download.build_id))
		return -1;
	if (!downloads->until_ns)
		downloads->until_ns = clock_now_ns() + debug_fetcher_limit_ns(downloads->symbols);
	options.until_ns = downloads->until_ns;
	end = downloads_run(&options, &download, 1);
	message_progress_end();
	source_download_report(downloads, end, &download);
	fd = steal_fd(&download.fd);
	download_deinit(&download);
	return fd;
}
