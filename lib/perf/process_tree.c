#include "perf/process_tree.h"

#include "base/alloc.h"
#include "base/globs.h"
#include "perf/pid_filter.h"

#include <stdlib.h>

/* A command that has not called exec yet. */
struct process_tree_pending {
	pid_t pid;
	uint64_t since_ns;
};

struct process_tree {
	struct process_tree_pending *pending;
	size_t pending_count, pending_room;
	char *const *globs; /* globs for process names */
	size_t glob_count;
	struct pid_set *members;
	/* Processes outside the tree that were sampled; owned by the filter, if
	 * there is one. */
	struct pid_set *strangers;
	struct pid_filter *filter;
	/* The members that the kernel tracks itself, in no order; may be
	 * NULL. */
	struct pid_set *kept;
};

struct process_tree *process_tree_new(void)
{
	struct process_tree *tree = xcalloc(1, sizeof(*tree));

	tree->members = xcalloc(1, sizeof(*tree->members));
	tree->strangers = xcalloc(1, sizeof(*tree->strangers));
	return tree;
}

void process_tree_free(struct process_tree *tree)
{
	if (!tree)
		return;
	if (tree->filter)
		pid_filter_free(tree->filter);
	else
		free(tree->strangers);
	free(tree->pending);
	free(tree->members);
	free(tree);
}

/* Keeps the samples of the process and of its future children. */
static void process_tree_keep(struct process_tree *tree, pid_t pid)
{
	if (tree->kept && pid_set_may_have(pid))
		atomic_fetch_or(&tree->kept->words[pid / PIDS_PER_WORD],
				UINT64_C(1) << pid % PIDS_PER_WORD);
}

bool process_tree_begin_filter(struct process_tree *tree, bool has_probes,
			       const struct bpf_code *next)
{
	tree->filter = pid_filter_new(next);
	if (!tree->filter)
		return false;
	free(tree->strangers);
	tree->strangers = pid_filter_dropped(tree->filter);
	/* The kernel's filter cannot match names. */
	if (has_probes && !tree->glob_count)
		tree->kept = pid_filter_keep(tree->filter);
	for (size_t i = 0; tree->kept && i < ARRAY_SIZE(tree->members->words); i++)
		atomic_fetch_or(&tree->kept->words[i], tree->members->words[i]);
	for (size_t i = 0; i < tree->pending_count; i++)
		process_tree_keep(tree, tree->pending[i].pid);
	return true;
}

bool process_tree_filter_event(const struct process_tree *tree, int fd, bool is_probe)
{
	return pid_filter_attach(tree->filter, fd, is_probe);
}

static void process_tree_begin(struct process_tree *tree, pid_t pid, bool is_member)
{
	pid_set_put(tree->members, pid, is_member);
	pid_set_put(tree->strangers, pid, false);
}

void process_tree_add_command(struct process_tree *tree, pid_t command, uint64_t since_ns)
{
	GROW(tree->pending, tree->pending_count, tree->pending_room);
	tree->pending[tree->pending_count++] = (struct process_tree_pending){.pid = command,
									     .since_ns = since_ns};
	process_tree_keep(tree, command);
	pid_set_put(tree->strangers, command, false);
}

void process_tree_add_process(struct process_tree *tree, pid_t pid)
{
	process_tree_keep(tree, pid);
	process_tree_begin(tree, pid, true);
}

void process_tree_admit_names(struct process_tree *tree, char *const *globs, size_t count)
{
	tree->globs = globs;
	tree->glob_count = count;
}

static struct process_tree_pending *process_tree_find_pending(const struct process_tree *tree,
							      pid_t pid)
{
	for (size_t i = 0; i < tree->pending_count; i++)
		if (tree->pending[i].pid == pid)
			return &tree->pending[i];
	return NULL;
}

static void forget_pending(struct process_tree *tree, struct process_tree_pending *pending)
{
	*pending = tree->pending[--tree->pending_count];
}

/* Handles the exec of a command. */
static void note_exec(struct process_tree *tree, const struct record *record)
{
	struct process_tree_pending *pending = process_tree_find_pending(tree, record->pid);

	if (!pending || record->time_ns < pending->since_ns)
		return;
	forget_pending(tree, pending);
	process_tree_begin(tree, record->pid, true);
}

/* A process has the name of its first thread. */
static void process_tree_note_name(struct process_tree *tree, const struct record *record)
{
	if (record->pid == record->tid &&
	    globs_match(tree->globs, tree->glob_count, record->comm.name))
		process_tree_begin(tree, record->pid, true);
}

static void note_fork(struct process_tree *tree, const struct record *record)
{
	struct process_tree_pending *pending = process_tree_find_pending(tree, record->pid);

	/* The command has exited without an exec, and its pid was reused. */
	if (pending && record->time_ns > pending->since_ns)
		forget_pending(tree, pending);
	process_tree_begin(tree, record->pid, pid_set_has(tree->members, record->fork.parent_pid));
}

bool process_tree_knows_as_stranger(const struct process_tree *tree, pid_t pid)
{
	return pid_set_has(tree->strangers, pid);
}

bool process_tree_takes(struct process_tree *tree, const struct record *record)
{
	bool is_member;

	if (record->type == RECORD_LOST || record->type == RECORD_THROTTLE)
		return true;
	if (record->type == RECORD_FORK && record->pid != record->fork.parent_pid)
		note_fork(tree, record);
	else if (record->type == RECORD_COMM && record->comm.exec)
		note_exec(tree, record);
	if (record->type == RECORD_COMM)
		process_tree_note_name(tree, record);
	is_member = pid_set_has(tree->members, record->pid);
	/* A pending command must not be dropped: it is sampled from its exec
	 * on, but the record of the exec is read slightly later. */
	if (record->type == RECORD_SAMPLE && !is_member &&
	    !process_tree_find_pending(tree, record->pid))
		pid_set_put(tree->strangers, record->pid, true);
	return is_member;
}
