#include "proc/space.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "proc/maps.h"
#include "proc/regions.h"

struct space {
	pid_t pid;
	struct regions regions;
	/* The fork that made it and the last one it did: for mappings that are heard of late. */
	pid_t parent;
	uint64_t born_ns;
	uint64_t last_child_ns;
};

struct spaces {
	char *proc; /* NULL: of a recording */
	struct modules *modules;
	struct space **spaces;
	uint32_t count, room;
	struct idmap by_pid; /* index into spaces */
	struct space *last;  /* of the last locate; NULL: none */
};

struct spaces *spaces_new(const char *proc)
{
	struct spaces *spaces = xcalloc(1, sizeof(*spaces));

	spaces->proc = xstrdup(proc);
	spaces->modules = modules_new(proc);
	return spaces;
}

struct spaces *spaces_new_recorded(const struct recorded_files *files)
{
	struct spaces *spaces = xcalloc(1, sizeof(*spaces));

	spaces->modules = modules_new_recorded(files);
	return spaces;
}

static void space_free(struct space *space)
{
	regions_deinit(&space->regions);
	free(space);
}

void spaces_free(struct spaces *spaces)
{
	if (!spaces)
		return;
	for (uint32_t i = 0; i < spaces->count; i++)
		space_free(spaces->spaces[i]);
	free(spaces->spaces);
	idmap_deinit(&spaces->by_pid);
	modules_free(spaces->modules);
	free(spaces->proc);
	free(spaces);
}

static struct space *find_space(const struct spaces *spaces, pid_t pid)
{
	uint32_t index = idmap_get(&spaces->by_pid, (uint64_t)pid, 0);

	return index != IDMAP_NONE ? spaces->spaces[index] : NULL;
}

static struct space *space_of(struct spaces *spaces, pid_t pid)
{
	struct space *space = find_space(spaces, pid);

	if (space)
		return space;
	space = xcalloc(1, sizeof(*space));
	space->pid = pid;
	*idmap_put(&spaces->by_pid, (uint64_t)pid, 0) = spaces->count;
	GROW(spaces->spaces, spaces->count, spaces->room);
	return spaces->spaces[spaces->count++] = space;
}

static struct region region_of(struct spaces *spaces, pid_t pid, uint64_t time_ns,
			       const struct mapping *mapping)
{
	struct region region = {
		.start = mapping->start,
		.end = mapping->end,
		.from_ns = time_ns,
		.module = modules_of_mapping(spaces->modules, pid, mapping),
	};

	switch (modules_get(spaces->modules, region.module)->kind) {
	case MODULE_FILE:
		region.offset = mapping->offset;
		break;
	case MODULE_VDSO:
		break;
	case MODULE_KERNEL:
	case MODULE_JIT:
	case MODULE_UNKNOWN:
		region.offset = mapping->start;
		break;
	}
	return region;
}

/* Children that were forked after a mapping was made, but before we heard of it, have it too. */
static void hand_down(struct spaces *spaces, const struct space *parent,
		      const struct region *region)
{
	for (uint32_t i = 0; i < spaces->count; i++) {
		struct space *child = spaces->spaces[i];

		if (child->parent == parent->pid && child->born_ns > region->from_ns)
			regions_inherit(&child->regions, &parent->regions, child->born_ns,
					region->start, region->end);
	}
}

void spaces_map(struct spaces *spaces, pid_t pid, uint64_t time_ns, const struct mapping *mapping)
{
	struct space *space = space_of(spaces, pid);
	struct region region;

	if (mapping->start >= mapping->end)
		return;
	region = region_of(spaces, pid, time_ns, mapping);
	regions_map(&space->regions, &region);
	if (space->last_child_ns > time_ns)
		hand_down(spaces, space, &region);
}

void spaces_fork(struct spaces *spaces, pid_t parent, pid_t child, uint64_t time_ns)
{
	struct space *from = space_of(spaces, parent);
	struct space *to = space_of(spaces, child);

	if (from == to)
		return;
	to->parent = parent;
	to->born_ns = time_ns;
	if (time_ns > from->last_child_ns)
		from->last_child_ns = time_ns;
	/* Of a parent we know nothing of there is nothing better to learn. */
	if (regions_empty(&from->regions))
		return;
	regions_clear(&to->regions, time_ns);
	regions_inherit(&to->regions, &from->regions, time_ns, 0, UINT64_MAX);
}

void spaces_exec(struct spaces *spaces, pid_t pid, uint64_t time_ns)
{
	regions_clear(&space_of(spaces, pid)->regions, time_ns);
}

void spaces_exit(struct spaces *spaces, pid_t pid, uint64_t time_ns)
{
	struct space *space = find_space(spaces, pid);

	if (space)
		regions_clear(&space->regions, time_ns);
}

void spaces_snapshot(struct spaces *spaces, pid_t pid, uint64_t time_ns)
{
	size_t len;
	CLEANUP(free_ptr) char *text = maps_load(spaces->proc, pid, &len);
	struct maps maps = {.rest = bytes_of(text, len)};
	struct space *space = space_of(spaces, pid);
	uint64_t from_ns = regions_empty(&space->regions) ? 0 : time_ns;
	struct mapping mapping;

	while (maps_next(&maps, &mapping))
		spaces_map(spaces, pid, from_ns, &mapping);
}

static void drop(struct spaces *spaces, uint32_t index)
{
	struct space *moved = spaces->spaces[--spaces->count];

	idmap_remove(&spaces->by_pid, (uint64_t)spaces->spaces[index]->pid, 0);
	if (moved != spaces->spaces[index])
		*idmap_put(&spaces->by_pid, (uint64_t)moved->pid, 0) = index;
	space_free(spaces->spaces[index]);
	spaces->spaces[index] = moved;
}

void spaces_forget(struct spaces *spaces, uint64_t before_ns)
{
	spaces->last = NULL;
	for (uint32_t i = spaces->count; i-- > 0;)
		if (regions_forget(&spaces->spaces[i]->regions, before_ns))
			drop(spaces, i);
}

bool spaces_locate(struct spaces *spaces, pid_t pid, uint64_t time_ns, uint64_t pc,
		   struct location *ret)
{
	const struct region *region = NULL;

	if (!spaces->last || spaces->last->pid != pid)
		spaces->last = find_space(spaces, pid);
	if (spaces->last)
		region = regions_find(&spaces->last->regions, time_ns, pc);
	if (!region) {
		*ret = (struct location){.module = modules_unknown(spaces->modules), .offset = pc};
		return false;
	}
	*ret = (struct location){
		.module = region->module,
		.offset = region->offset + (pc - region->start),
		.start = region->start,
		.end = region->end,
	};
	return true;
}

module_id spaces_kernel(struct spaces *spaces)
{
	return modules_kernel(spaces->modules);
}

uint32_t spaces_module_count(const struct spaces *spaces)
{
	return modules_count(spaces->modules);
}

const struct module *spaces_module(const struct spaces *spaces, module_id id)
{
	return modules_get(spaces->modules, id);
}
