#include "record/cgroup_labels.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/idmap.h"
#include "proc/cgroup.h"
#include "proc/cgroup_name.h"

#include <stdlib.h>
#include <string.h>

enum {
	PROCESSES_MAX = 64 << 10,
	ANCESTORS_MAX = 8,	   /* that are asked in place of a process that is gone */
	PATHS_MAX_BYTES = 4 << 20, /* of distinct paths */
};

struct process {
	pid_t parent;	/* 0: unknown */
	string_id path; /* "": unknown, or the root */
	bool is_read;	/* since it began, or executed a program */
};

struct cgroup_labels {
	char *proc;
	struct strtab *paths;
	struct idmap numbers; /* pid → index */
	struct process *processes;
	size_t count, room;
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
	strtab_free(labels->paths);
	free(labels->proc);
	free(labels);
}

static void bound(struct cgroup_labels *labels)
{
	if (labels->count < PROCESSES_MAX && strtab_memory_bytes(labels->paths) < PATHS_MAX_BYTES)
		return;
	idmap_deinit(&labels->numbers);
	labels->count = 0;
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
	if (record->type == RECORD_FORK && record->pid != record->fork.parent_pid) {
		bound(labels);
		*process_of(labels,
			    record->pid) = (struct process){.parent = record->fork.parent_pid};
	} else if (record->type == RECORD_COMM && record->comm.exec) {
		bound(labels);
		process_of(labels, record->pid)->is_read = false;
	}
}

static void set_path(struct cgroup_labels *labels, pid_t pid, string_id path)
{
	struct process *process = process_of(labels, pid);

	process->is_read = true;
	process->path = path;
}

/* False: it is gone. */
static bool read_path(struct cgroup_labels *labels, pid_t pid)
{
	CLEANUP(free_ptr) char *path = cgroup_of_process(labels->proc, pid);

	if (path)
		set_path(labels, pid, strcmp(path, "/") != 0 ? strtab_add(labels->paths, path) : 0);
	return path;
}

/* Its own, or that of the nearest ancestor that is known or still there. */
static string_id path_of(struct cgroup_labels *labels, pid_t pid)
{
	pid_t asked = pid;

	for (unsigned i = 0; i < ANCESTORS_MAX && pid > 0; i++) {
		bool is_known = process_of(labels, pid)->is_read || read_path(labels, pid);

		if (is_known || process_of(labels, pid)->path) {
			set_path(labels, asked, process_of(labels, pid)->path);
			break;
		}
		pid = process_of(labels, pid)->parent;
	}
	return process_of(labels, asked)->path;
}

uint32_t cgroup_labels_of(struct cgroup_labels *labels, pid_t pid, struct strtab *strings,
			  struct profile_label ret[CGROUP_LABELS_MAX])
{
	struct cgroup_name name;
	const char *path;

	bound(labels);
	path = strtab_get(labels->paths, path_of(labels, pid));
	if (!*path)
		return 0;
	ret[0] = (struct profile_label){.key = strtab_add(strings, "cgroup"),
					.text = strtab_add(strings, path)};
	if (!cgroup_name_of(path, &name))
		return 1;
	ret[1] = (struct profile_label){.key = strtab_add(strings, "container"),
					.text = strtab_add(strings, name.text)};
	return 2;
}
