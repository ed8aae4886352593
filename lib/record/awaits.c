#include "record/awaits.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "base/pids.h"
#include "base/text.h"
#include "record/targets.h"
#include "tasks/watcher.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A task that was woken and is waiting for a worker to poll it. */
#define REASON_WANTED_WORKER "[wanted a worker]"

struct awaits {
	struct awaits_options options;
	struct task_watcher *watcher;
	struct idmap modules;	 /* modules of programs, by layout and process */
	struct session *session; /* set during awaits_settle() */
};

struct error *awaits_open(const struct awaits_options *options, struct awaits **ret)
{
	struct awaits *awaits;

	*ret = NULL;
	if (!options->config->waiting.records_awaits)
		return NULL;
#ifndef __x86_64__
	return error_new("awaits of tokio tasks can be recorded only on x86-64");
#endif
	awaits = xcalloc(1, sizeof(*awaits));
	awaits->options = *options;
	awaits->watcher = task_watcher_new();
	if (!awaits->watcher) {
		free(awaits);
		return error_new("cannot start the thread that reads tokio tasks");
	}
	*ret = awaits;
	return NULL;
}

void awaits_close(struct awaits *awaits)
{
	if (!awaits)
		return;
	task_watcher_free(awaits->watcher);
	idmap_deinit(&awaits->modules);
	free(awaits);
}

/* ---- The target ---- */

static void awaits_add_all_processes(struct awaits *awaits)
{
	CLEANUP(close_dir) DIR *proc = opendir("/proc");

	for (pid_t pid; (pid = pids_next(proc));)
		task_watcher_add(awaits->watcher, pid);
}

void awaits_add_target(struct awaits *awaits, bool has_executed)
{
	const struct record_config *config;

	if (!awaits)
		return;
	config = awaits->options.config;
	if (config->target.commands_later)
		return;
	if (config->target.command && has_executed)
		task_watcher_add(awaits->watcher, config->target.command);
	for (size_t i = 0; i < config->target.pid_count; i++)
		task_watcher_add(awaits->watcher, process_of_thread(config->target.pids[i]));
	for (size_t i = 0; i < config->target.tid_count; i++)
		task_watcher_add(awaits->watcher, process_of_thread(config->target.tids[i]));
	if (record_config_is_system(config))
		awaits_add_all_processes(awaits);
}

void awaits_add_process(struct awaits *awaits, pid_t pid)
{
	if (awaits)
		task_watcher_add(awaits->watcher, pid);
}

void awaits_resume(struct awaits *awaits)
{
	if (awaits)
		task_watcher_begin(awaits->watcher);
}

void awaits_pause(struct awaits *awaits)
{
	if (awaits)
		task_watcher_pause(awaits->watcher);
}

void awaits_feed(struct awaits *awaits, const struct record *record)
{
	bool is_process = record->type == RECORD_FORK && record->pid == record->tid;
	bool is_program = record->type == RECORD_COMM && record->comm.exec;

	if (awaits && (is_process || is_program))
		task_watcher_add(awaits->watcher, record->pid);
}

/* ---- Frames ---- */

/* Prefers the name of the function that runs the future, if there is one. */
static const char *awaits_name_of(const struct task_layout *layout, const struct layout_node *node)
{
	return task_layout_string(layout, node->function ? node->function : node->name);
}

/*
 * Returns the name of a frame. A closure that a coroutine awaits has no
 * function in the debug information, but its name starts with the coroutine's.
 */
static char *frame_name(const struct task_layout *layout, const struct layout_node *node,
			const struct layout_node *outer)
{
	const char *name = task_layout_string(layout, node->name);
	const char *before = outer ? task_layout_string(layout, outer->name) : "";

	if (node->function || !*before || !text_begins(name, before))
		return xstrdup(awaits_name_of(layout, node));
	return xasprintf("%s%s", awaits_name_of(layout, outer), name + strlen(before));
}

static struct profile_line awaits_line_of(struct profile *profile, const struct task_layout *layout,
					  const struct task_place *place,
					  const struct layout_node *outer)
{
	const struct layout_node *node = &layout->nodes[place->node];
	const struct layout_variant *variant = &layout->variants[place->variant];
	struct strtab *strings = profile_strings(profile);
	const char *linkage_name = task_layout_string(layout, node->linkage_name);
	CLEANUP(free_ptr) char *text = frame_name(layout, node, outer);
	/* An await in a macro that is defined in another file gets only the
	 * function's file, without a line. */
	bool is_here = variant->file == node->file;
	struct profile_function function = {
		.name = strtab_add(strings, text),
		.system_name = strtab_add(strings, *linkage_name ? linkage_name : text),
		.file = strtab_add(strings, task_layout_string(layout, node->file)),
		.start_line = node->line,
	};

	return (struct profile_line){
		.function = profile_function(profile, &function),
		.line = is_here ? variant->line : 0,
	};
}

/* Returns false if the process has ended. */
static bool awaits_find_module(struct awaits *awaits, const struct task_wait_sum *sum,
			       uint32_t *ret)
{
	uint64_t key = (uintptr_t)sum->layout;
	uint32_t *known = idmap_put(&awaits->modules, key, (uint32_t)sum->pid);

	if (*known == IDMAP_NONE && !session_module(awaits->session, sum->pid, sum->code, known)) {
		idmap_remove(&awaits->modules, key, (uint32_t)sum->pid);
		return false;
	}
	*ret = *known;
	return true;
}

static void add_sum(void *user, const struct task_wait_sum *sum)
{
	struct awaits *awaits = user;
	struct profile *profile = session_profile(awaits->session);
	event_id event = session_events(awaits->session)[awaits->options.event];
	label_set_id labels = session_labels(awaits->session, sum->pid, sum->pid);
	stack_id stack = STACK_EMPTY;
	uint32_t module;

	if (!awaits_find_module(awaits, sum, &module))
		return;
	for (size_t i = 0; i < sum->count; i++) {
		const struct layout_node *outer = i ? &sum->layout->nodes[sum->places[i - 1].node]
						    : NULL;
		struct profile_line line = awaits_line_of(profile, sum->layout, &sum->places[i],
							  outer);

		stack = profile_push(profile, stack,
				     profile_named_frame(profile, module, 0, &line, 1));
	}
	if (sum->is_ready)
		stack = profile_push(profile, stack,
				     profile_synthetic_frame(profile, REASON_WANTED_WORKER));
	profile_add_samples(profile, labels, stack, event, sum->looks, sum->wait_ns);
}

void awaits_settle(struct awaits *awaits, struct session *session)
{
	if (!awaits)
		return;
	awaits->session = session;
	task_watcher_take(awaits->watcher, add_sum, awaits);
	awaits->session = NULL;
}

void awaits_forget_modules(struct awaits *awaits)
{
	if (!awaits)
		return;
	idmap_deinit(&awaits->modules);
	awaits->modules = (struct idmap){0};
}

/* ---- What is missing ---- */

/* Shares below 1 % are not reported. */
static bool is_much(uint64_t count, uint64_t of)
{
	return count > of / 100;
}

static void awaits_tell_missing(struct awaits *awaits, const struct task_counts *tasks)
{
	const struct listener *listener = awaits->options.listener;
	uint64_t waiting = tasks->read + tasks->changed + tasks->unknown;

	if (is_much(tasks->unknown, waiting))
		listener_notice(listener,
				"await: %.1f %% of the task snapshots were discarded because the "
				"type of the task is not in the debug information",
				100.0 * (double)tasks->unknown / (double)waiting);
	if (is_much(tasks->changed, waiting))
		listener_notice(listener,
				"await: %.1f %% of the task snapshots were discarded because the "
				"task ran during the read",
				100.0 * (double)tasks->changed / (double)waiting);
}

void awaits_tell(struct awaits *awaits)
{
	struct task_watcher_counts counts;
	CLEANUP(free_ptr) char *problem = NULL;

	if (!awaits)
		return;
	counts = task_watcher_counts(awaits->watcher);
	problem = task_watcher_problem(awaits->watcher);
	if (!counts.processes && problem)
		listener_problem(awaits->options.listener, "no tasks were found: %s", problem);
	else if (!counts.processes && counts.lacks_lists)
		listener_problem(awaits->options.listener,
				 "no tasks were found: no thread of the program has a tokio "
				 "runtime, its memory cannot be read (ptrace_scope), or its C "
				 "library is not glibc");
	else if (!counts.processes)
		listener_problem(awaits->options.listener,
				 "no tasks were found: the target ended before its program was "
				 "read, or does not use tokio");
	awaits_tell_missing(awaits, &counts.tasks);
	if (counts.hung)
		listener_problem(awaits->options.listener,
				 "await: reading process %d has not finished after 5 s; the tasks "
				 "of all processes in this time are missing",
				 counts.hung);
	if (counts.lost)
		listener_problem(awaits->options.listener,
				 "await: %" PRIu64
				 " waits are missing: the limit of distinct stacks was reached",
				 counts.lost);
}
