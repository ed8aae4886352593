#include "base/descendants.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/pids.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct process {
	pid_t pid, parent;
};

struct process_list {
	struct process *items;
	size_t count, room;
};

/* The name before the parent's id may contain any character. */
pid_t descendants_parent(const char *stat)
{
	const char *rest = strrchr(stat, ')');
	int parent = 0;

	return rest && sscanf(rest + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

pid_t descendants_parent_of(pid_t pid)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/stat", (int)pid);
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	char text[512] = "";
	size_t len = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[len] = '\0';
	return descendants_parent(text);
}

static void list_all(struct process_list *list)
{
	CLEANUP(close_dir) DIR *proc = opendir("/proc");

	for (pid_t pid; (pid = pids_next(proc));) {
		GROW(list->items, list->count, list->room);
		list->items[list->count++] = (struct process){.pid = pid,
							      .parent = descendants_parent_of(pid)};
	}
}

static bool descendants_has(const struct idmap *set, pid_t pid)
{
	return idmap_get(set, (uint64_t)pid, 0) != IDMAP_NONE;
}

static void descendants_put(struct idmap *set, pid_t pid)
{
	*idmap_put(set, (uint64_t)pid, 0) = 0;
}

/*
 * Appends the children of the set's processes to the list and the set. Returns
 * false if there are no more.
 */
static bool descendants_add_children(const struct process_list *all, struct idmap *family,
				     pid_t *list, size_t *count)
{
	size_t before = *count;

	for (size_t i = 0; i < all->count; i++) {
		const struct process *process = &all->items[i];

		if (process->pid == getpid() || !descendants_has(family, process->parent) ||
		    descendants_has(family, process->pid))
			continue;
		descendants_put(family, process->pid);
		list[(*count)++] = process->pid;
	}
	return *count > before;
}

void descendants_list(const pid_t *pids, size_t count, pid_t **ret, size_t *ret_count)
{
	struct process_list all = {0};
	struct idmap family = {0};

	list_all(&all);
	*ret = xcalloc(all.count + 1, sizeof(**ret));
	*ret_count = 0;
	for (size_t i = 0; i < count; i++)
		descendants_put(&family, pids[i]);
	while (descendants_add_children(&all, &family, *ret, ret_count))
		continue;
	idmap_deinit(&family);
	free(all.items);
}
