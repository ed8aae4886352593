#include "record/process_choice.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/globs.h"
#include "base/idmap.h"
#include "base/pids.h"
#include "proc/cgroup.h"
#include "proc/names.h"

#include <unistd.h>

struct chosen_processes {
	pid_t *items;
	size_t count, room;
	struct idmap seen;
};

static void process_choice_add(void *user, pid_t pid)
{
	struct chosen_processes *list = user;
	uint32_t *seen = idmap_put(&list->seen, (uint64_t)pid, 0);

	if (*seen != IDMAP_NONE)
		return;
	*seen = 0;
	if (pid == getpid())
		return;
	GROW(list->items, list->count, list->room);
	list->items[list->count++] = pid;
}

static void process_choice_add_named(const struct process_choice *choice,
				     struct chosen_processes *list)
{
	CLEANUP(names_cleanup) struct names *names = names_new("/proc");
	CLEANUP(close_dir) DIR *proc = opendir("/proc");

	for (pid_t pid; (pid = pids_next(proc));)
		if (globs_match(choice->names, choice->name_count, names_get(names, pid, pid)))
			process_choice_add(list, pid);
}

void process_choice_list(const struct process_choice *choice, pid_t **ret, size_t *ret_count)
{
	struct chosen_processes list = {0};

	for (size_t i = 0; i < choice->cgroup_count; i++)
		cgroup_processes(choice->cgroups[i], process_choice_add, &list);
	if (!choice->cgroup_count)
		process_choice_add_named(choice, &list);
	idmap_deinit(&list.seen);
	*ret = list.items;
	*ret_count = list.count;
}

bool process_choice_is_over(const struct process_choice *choice)
{
	for (size_t i = 0; i < choice->cgroup_count; i++)
		if (access(choice->cgroups[i], F_OK) == 0)
			return false;
	return choice->cgroup_count;
}
