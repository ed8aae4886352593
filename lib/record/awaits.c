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

/* A task that was woken and that no worker has polled yet. */
#define REASON_WANTED_WORKER "[wanted a worker]"

struct awaits {
	struct awaits_options options;
	struct task_watcher *watcher;
	struct idmap modules;	 /* of programs, by layout and process */
	struct session *session; /* while it settles */
};

struct error *awaits_open(const struct awaits_options *options, struct awaits **ret)
{
	struct awaits *awaits;

	*ret = NULL;
	if (!options->config->records_awaits)
		return NULL;
#ifndef __x86_64__
	return error_new("where tasks wait can be recorded on x86-64 only");
#endif
	awaits = xcalloc(1, sizeof(*awaits));
	awaits->options = *options;
	awaits->watcher = task_watcher_new();
	if (!awaits->watcher) {
		free(awaits);
		return error_new("cannot start a thread that looks at tasks");
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

static void add_all_processes(struct awaits *awaits)
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
	if (config->commands_later)
		return;
	if (config->command && has_executed)
		task_watcher_add(awaits->watcher, config->command);
	for (size_t i = 0; i < config->pid_count; i++)
		task_watcher_add(awaits->watcher, process_of_thread(config->pids[i]));
	for (size_t i = 0; i < config->tid_count; i++)
		task_watcher_add(awaits->watcher, process_of_thread(config->tids[i]));
	if (!config->command && !config->pid_count && !config->tid_count)
		add_all_processes(awaits);
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

/* That of the function that runs the future, if there is one. */
static const char *name_of(const struct task_layout *layout, const struct layout_node *node)
{
	return task_layout_string(layout, node->function ? node->function : node->name);
}

/*
 * The name of a frame. A closure that a coroutine awaits has no function of its own in the debug
 * information; its name begins with the coroutine's.
 */
static char *frame_name(const struct task_layout *layout, const struct layout_node *node,
			const struct layout_node *outer)
{
	const char *name = task_layout_string(layout, node->name);
	const char *before = outer ? task_layout_string(layout, outer->name) : "";

	if (node->function || !*before || !text_begins(name, before))
		return xstrdup(name_of(layout, node));
	return xasprintf("%s%s", name_of(layout, outer), name + strlen(before));
}

static struct profile_line line_of(struct profile *profile, const struct task_layout *layout,
				   const struct task_place *place, const struct layout_node *outer)
{
	const struct layout_node *node = &layout->nodes[place->node];
	const struct layout_variant *variant = &layout->variants[place->variant];
	struct strtab *strings = profile_strings(profile);
	const char *linkage_name = task_layout_string(layout, node->linkage_name);
	CLEANUP(free_ptr) char *text = frame_name(layout, node, outer);
	/* An await in a macro of another file is where the function is, of which nothing else is
	 * known. */
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

/* False: the process has ended. */
static bool find_module(struct awaits *awaits, const struct task_wait_sum *sum, uint32_t *ret)
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

	if (!find_module(awaits, sum, &module))
		return;
	for (size_t i = 0; i < sum->count; i++) {
		const struct layout_node *outer = i ? &sum->layout->nodes[sum->places[i - 1].node]
						    : NULL;
		struct profile_line line = line_of(profile, sum->layout, &sum->places[i], outer);

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

/* Less than one in a hundred is not worth a word. */
static bool is_much(uint64_t count, uint64_t of)
{
	return count > of / 100;
}

static void tell_missing(struct awaits *awaits, const struct task_counts *tasks)
{
	const struct listener *listener = awaits->options.listener;
	uint64_t waiting = tasks->read + tasks->changed + tasks->unknown;

	if (is_much(tasks->unknown, waiting))
		listener_notice(listener,
				"await: %.1f %% of the looks at tasks found one whose type is not "
				"in the debug information",
				100.0 * (double)tasks->unknown / (double)waiting);
	if (is_much(tasks->changed, waiting))
		listener_notice(listener,
				"await: %.1f %% of the looks at tasks are missing, because tasks "
				"went on meanwhile",
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
				 "no tasks were found: no thread of the program has a runtime of "
				 "tokio, its memory may not be read (ptrace_scope), or its C "
				 "library is not glibc");
	else if (!counts.processes)
		listener_problem(awaits->options.listener,
				 "no tasks were found: the target ended before its program was "
				 "read, or does not use tokio");
	tell_missing(awaits, &counts.tasks);
	if (counts.hung)
		listener_problem(awaits->options.listener,
				 "await: process %d has been read for more than 5 s without an "
				 "end; the tasks of this time are missing, also those of other "
				 "processes",
				 counts.hung);
	if (counts.lost)
		listener_problem(awaits->options.listener,
				 "await: %" PRIu64
				 " waits at too many different places are missing",
				 counts.lost);
}
