#include "record/cgroup_labels.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "proc/cgroup.h"
#include "proc/cgroup_name.h"

#include <stdlib.h>
#include <string.h>

enum {
	CGROUP_LABELS_PROCESSES_MAX = 64 << 10,
	ANCESTORS_MAX = 8,	   /* limit for reading ancestors instead of a process */
	PATHS_MAX_BYTES = 4 << 20, /* of distinct paths */
	STAYED_ENOUGH = 8,	   /* consecutive processes in the same cgroup as their parent */
	READ_ANYWAY = 17,	   /* one in this many processes is read in any case */
};

/* Processes younger than this need not be read. */
#define YOUNG_NS NS_PER_SECOND

struct process {
	pid_t parent;	   /* 0 if unknown */
	string_id path;	   /* valid if has_path; "" is the root */
	bool has_path;	   /* its file or that of its parent could be read at some time */
	bool is_read;	   /* its file was read after the fork or the last exec */
	uint64_t since_ns; /* time of the fork or the last exec */
};

struct cgroup_labels {
	char *proc;
	struct strtab *paths;
	uint8_t *stayed; /* by path: the last processes that were read there had not moved */
	size_t stayed_count, stayed_room;
	struct idmap numbers; /* pid → index */
	struct process *processes;
	size_t count, room;
	uint64_t now_ns; /* time of the last record */
};

struct cgroup_labels *cgroup_labels_new(const char *proc)
{
	struct cgroup_labels *labels = xcalloc(1, sizeof(*labels));

	labels->proc = xstrdup(proc);
	labels->paths = strtab_new();
	return labels;
}

void cgroup_labels_free(struct cgroup_labels *labels)
{
	if (!labels)
		return;
	idmap_deinit(&labels->numbers);
	free(labels->processes);
	free(labels->stayed);
	strtab_free(labels->paths);
	free(labels->proc);
	free(labels);
}

static void cgroup_labels_bound(struct cgroup_labels *labels)
{
	if (labels->count < CGROUP_LABELS_PROCESSES_MAX &&
	    strtab_memory_bytes(labels->paths) < PATHS_MAX_BYTES)
		return;
	idmap_deinit(&labels->numbers);
	labels->count = 0;
	labels->stayed_count = 0;
	strtab_free(labels->paths);
	labels->paths = strtab_new();
}

/* Valid until the next call. */
static struct process *process_of(struct cgroup_labels *labels, pid_t pid)
{
	uint32_t *number = idmap_put(&labels->numbers, (uint64_t)pid, 0);

	if (*number != IDMAP_NONE)
		return &labels->processes[*number];
	*number = (uint32_t)labels->count;
	GROW(labels->processes, labels->count, labels->room);
	labels->processes[labels->count] = (struct process){0};
	return &labels->processes[labels->count++];
}

void cgroup_labels_feed(struct cgroup_labels *labels, const struct record *record)
{
	struct process *process;

	labels->now_ns = record->time_ns;
	if (record->type == RECORD_FORK && record->pid != record->fork.parent_pid) {
		cgroup_labels_bound(labels);
		*process_of(labels, record->pid) = (struct process){
			.parent = record->fork.parent_pid, .since_ns = record->time_ns};
	} else if (record->type == RECORD_COMM && record->comm.exec) {
		cgroup_labels_bound(labels);
		process = process_of(labels, record->pid);
		process->is_read = false;
		process->since_ns = record->time_ns;
	}
}

/* Returns false if the process is gone. */
static bool cgroup_labels_read_path(struct cgroup_labels *labels, pid_t pid)
{
	CLEANUP(free_ptr) char *path = cgroup_of_process(labels->proc, pid);
	struct process *process;

	if (!path)
		return false;
	process = process_of(labels, pid);
	process->path = strcmp(path, "/") != 0 ? strtab_add(labels->paths, path) : 0;
	process->has_path = process->is_read = true;
	return true;
}

static uint8_t *stayed_in(struct cgroup_labels *labels, string_id path)
{
	while (labels->stayed_count <= path) {
		GROW(labels->stayed, labels->stayed_count, labels->stayed_room);
		labels->stayed[labels->stayed_count++] = 0;
	}
	return &labels->stayed[path];
}

static void cgroup_labels_note(struct cgroup_labels *labels, string_id former, string_id path)
{
	uint8_t *stayed = stayed_in(labels, former);

	if (former != path)
		*stayed = 0;
	else if (*stayed < STAYED_ENOUGH)
		++*stayed;
}

static bool need_not_be_read(struct cgroup_labels *labels, pid_t pid, string_id former)
{
	return labels->now_ns - process_of(labels, pid)->since_ns < YOUNG_NS &&
	       *stayed_in(labels, former) >= STAYED_ENOUGH && pid % READ_ANYWAY != 0;
}

/*
 * Finds the process's own path, else its previous path, else its parent's. An
 * ancestor that was never sampled may have moved, so it is read under the same
 * conditions. Returns false if the path is unknown.
 */
static bool cgroup_labels_find_path(struct cgroup_labels *labels, pid_t pid, unsigned ancestors,
				    string_id *ret, bool *is_final)
{
	const struct process process = *process_of(labels, pid);
	bool has_former = process.has_path;
	string_id former;

	*ret = process.path;
	*is_final = true;
	if (process.is_read)
		return true;
	if (!has_former && process.parent > 0 && ancestors)
		has_former = cgroup_labels_find_path(labels, process.parent, ancestors - 1, ret,
						     is_final);
	*is_final = !has_former || !need_not_be_read(labels, pid, *ret);
	if (!*is_final || !cgroup_labels_read_path(labels, pid))
		return has_former;
	former = *ret;
	*ret = process_of(labels, pid)->path;
	if (has_former)
		cgroup_labels_note(labels, former, *ret);
	return true;
}

uint32_t cgroup_labels_of(struct cgroup_labels *labels, pid_t pid, struct strtab *strings,
			  struct profile_label ret[CGROUP_LABELS_MAX], bool *is_final)
{
	struct cgroup_name name;
	const char *path;
	string_id id;

	cgroup_labels_bound(labels);
	cgroup_labels_find_path(labels, pid, ANCESTORS_MAX, &id, is_final);
	path = strtab_get(labels->paths, id);
	if (!*path)
		return 0;
	ret[0] = (struct profile_label){.key = strtab_add(strings, CGROUP_LABEL),
					.text = strtab_add(strings, path)};
	if (!cgroup_name_of(path, &name))
		return 1;
	ret[1] = (struct profile_label){.key = strtab_add(strings, CONTAINER_LABEL),
					.text = strtab_add(strings, name.text)};
	return 2;
}
