#include "record/target_snapshot.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/descendants.h"
#include "base/pids.h"
#include "perf/threads.h"
#include "proc/process_links.h"
#include "record/targets.h"

#include <unistd.h>

void target_snapshot_main_program(struct pipeline *pipeline, pid_t pid)
{
	CLEANUP(free_ptr) char *links = process_links("/proc", pid);
	CLEANUP(free_ptr) char *link = xasprintf("%s/exe", links);
	char path[4096];
	ssize_t len = readlink(link, path, sizeof(path) - 1);

	if (len <= 0)
		return;
	path[len] = '\0';
	session_set_main_path(pipeline->session, path);
}

static void target_snapshot_add_threads(struct session *session, pid_t pid)
{
	CLEANUP(thread_list_deinit) struct thread_list threads = {0};

	/* The process may have exited already. */
	error_free(thread_list_add_process(&threads, pid));
	for (size_t i = 0; i < threads.count; i++)
		session_add_thread(session, pid, threads.items[i]);
}

void target_snapshot_process(struct pipeline *pipeline, struct raw_file *raw, pid_t pid)
{
	CLEANUP(free_ptr) char *maps = NULL;
	size_t len;

	target_snapshot_add_threads(pipeline->session, pid);
	maps = address_spaces_read_maps(pipeline->spaces, pid, clock_now_ns(), &len);
	raw_file_add_process(raw, pipeline->names, pid, bytes_of(maps, len));
}

void target_snapshot_all(struct pipeline *pipeline, struct raw_file *raw)
{
	CLEANUP(close_dir) DIR *proc = opendir("/proc");

	for (pid_t pid; (pid = pids_next(proc));)
		target_snapshot_process(pipeline, raw, pid);
}

/* Includes children that were forked after config->target.pids was listed. */
static void target_snapshot_add_children(const struct record_config *config,
					 struct pipeline *pipeline, struct raw_file *raw)
{
	CLEANUP(free_ptr) pid_t *children = NULL;
	size_t count;

	descendants_list(config->target.pids, config->target.pid_count, &children, &count);
	for (size_t i = 0; i < count; i++)
		target_snapshot_process(pipeline, raw, children[i]);
}

void target_snapshot(const struct record_config *config, struct pipeline *pipeline,
		     struct raw_file *raw)
{
	const pid_t main_process = targets_main_process(config);

	for (size_t i = 0; i < config->target.pid_count; i++)
		target_snapshot_process(pipeline, raw, process_of_thread(config->target.pids[i]));
	if (config->target.with_children)
		target_snapshot_add_children(config, pipeline, raw);
	for (size_t i = 0; i < config->target.tid_count; i++)
		target_snapshot_process(pipeline, raw, process_of_thread(config->target.tids[i]));
	if (config->target.commands_later)
		return;
	if (config->target.command)
		session_set_main_process(pipeline->session, config->target.command);
	else if (main_process)
		target_snapshot_main_program(pipeline, main_process);
	else if (!config->target.pid_count && !config->target.tid_count)
		target_snapshot_all(pipeline, raw);
}
