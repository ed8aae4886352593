#include "proc/address_spaces.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/effort.h"
#include "base/idmap.h"
#include "base/text.h"
#include "base/time_share.h"
#include "proc/copied_text.h"
#include "proc/enclosed_memory.h"
#include "proc/jit_map.h"
#include "proc/kernel_map.h"
#include "proc/maps.h"
#include "proc/shedding.h"
#include "proc/timed_memory.h"
#include "proc/usage.h"

/*
 * munmap(2) is not reported, so a process may seem to have any number of
 * mappings. This is more than the kernel's default limit (vm.max_map_count).
 */
enum { SPACE_REGIONS_MAX = 64 << 10 };

/*
 * The limit for processes and their mappings. 20,000 processes with a hundred
 * mappings each need 101 MB if they share none. When it is exceeded, a quarter
 * is freed, so that this is rare.
 */
enum { SPACES_BYTES_MAX = 112 << 20, SPACES_BYTES_LEFT = SPACES_BYTES_MAX / 4 * 3 };

/*
 * The user of a process is only looked up if it has more mappings than this, or
 * children.
 */
enum { USER_REGIONS_MIN = 64 };

/*
 * The maximum number of children that inherit a mapping reported after their
 * fork. Usually there are one or two.
 */
enum { LATE_HEIRS_MAX = 1024 };

/*
 * Mappings that are searched for a file name. A program with a virtual machine
 * maps a few hundred.
 */
enum { FIND_FILE_MAX = 1024 };

/* The memory of modules is checked after this many mappings. */
enum { MAPS_UNTIL_BOUND = 4096 };

/*
 * Limits of the memory of modules. Those without samples and mappings are
 * searched each time the memory has doubled and grown by the first value.
 */
enum { MODULES_BYTES_FEW = 8 << 20, MODULES_BYTES_MAX = 96 << 20 };

/*
 * The check reads all mappings. So each time that they need this much more
 * memory, it comes one change later.
 */
enum { REGION_BYTES_PER_MAP = 8 << 10 };

/*
 * The limit for resident pages of the files. Each CFI entry is read once and
 * then cached, but the kernel maps 64 KB around a page that is touched.
 */
enum { RESIDENT_BYTES_MAX = 64 << 20 };

/* How long samples can follow the record of their process's end. */
#define ENDING_NS (100 * NS_PER_MS)

/* The time per second for comparing copied text with its files. */
#define COMPARING_MAX_NS (20 * NS_PER_MS)

struct space {
	pid_t pid;
	uid_t user; /* unless has_user is set: the parent's user, or unknown */
	bool has_user;
	struct regions regions;
	uint64_t version;		 /* see address_spaces_version() */
	uint64_t used_ns;		 /* time of its last change or sample */
	uint64_t ended_ns;		 /* time of its end, or 0 while it runs */
	module_id jitdump;		 /* jitdump of its JIT code, or IDMAP_NONE */
	bool uses_jitdump;		 /* it has samples in the jitdump */
	struct jit_objects *jit_objects; /* NULL before the first read */
	module_id program;		 /* The first file mapped since its exec, or MODULE_NONE. */
	/*
	 * The fork that created the process and its own last fork, for mappings
	 * that are reported late.
	 */
	pid_t parent;
	uint64_t born_ns;
	uint64_t last_child_ns;
};

struct address_spaces {
	char *proc; /* NULL for a recording */
	struct modules *modules;
	struct kernel_map *kernel;
	char *release;			 /* release of a recording's kernel; NULL if unknown */
	struct build_id kernel_build_id; /* build-id of a recording's kernel */
	struct space **spaces;
	uint32_t count, room;
	struct idmap by_pid; /* pid → index in `spaces` */
	struct space *last;  /* from the last lookup, or NULL */
	uint64_t versions;   /* number of changes of all processes */
	struct region_account account;
	size_t swept_bytes; /* memory of modules after the last address_spaces_sweep() */
	size_t maps_until_bound;
	/*
	 * Resident memory that remained when pages of modules were last
	 * released.
	 */
	uint64_t other_resident_bytes;
	struct timed_caller *memory_reader; /* for copied text */
	struct time_share comparing, reading;
};

/*
 * Returns the directory that contains proc/ and sys/, or NULL if it is unknown.
 * The caller frees it.
 */
static char *root_of(const char *proc)
{
	size_t len = strlen(proc), own = strlen("/proc");

	return len >= own && !strcmp(proc + len - own, "/proc") ? xstrndup(proc, len - own) : NULL;
}

struct address_spaces *address_spaces_new(const char *proc)
{
	CLEANUP(free_ptr) char *root = root_of(proc);
	struct address_spaces *spaces = xcalloc(1, sizeof(*spaces));

	spaces->proc = xstrdup(proc);
	spaces->modules = modules_new(proc);
	spaces->memory_reader = timed_memory_caller_new();
	spaces->kernel = kernel_map_new(root, spaces->modules);
	return spaces;
}

struct address_spaces *address_spaces_new_recorded(const struct recorded_files *files)
{
	struct address_spaces *spaces = xcalloc(1, sizeof(*spaces));

	spaces->modules = modules_new_recorded(files);
	spaces->kernel = kernel_map_new(files->same_kernel ? "" : NULL, spaces->modules);
	spaces->release = files->release ? xstrdup(files->release) : NULL;
	spaces->kernel_build_id = files->kernel_build_id;
	return spaces;
}

static void space_free(struct space *space)
{
	jit_objects_free(space->jit_objects);
	regions_deinit(&space->regions);
	free(space);
}

void address_spaces_free(struct address_spaces *spaces)
{
	if (!spaces)
		return;
	for (uint32_t i = 0; i < spaces->count; i++)
		space_free(spaces->spaces[i]);
	free(spaces->spaces);
	idmap_deinit(&spaces->by_pid);
	kernel_map_free(spaces->kernel);
	modules_free(spaces->modules);
	timed_caller_free(spaces->memory_reader);
	free(spaces->release);
	free(spaces->proc);
	free(spaces);
}

/* Call this when the memory of the process is replaced. */
static void forget_jit_objects(struct space *space)
{
	jit_objects_free(STEAL(space->jit_objects));
}

static struct space *find_space(const struct address_spaces *spaces, pid_t pid)
{
	uint32_t index = idmap_get(&spaces->by_pid, (uint64_t)pid, 0);

	return index != IDMAP_NONE ? spaces->spaces[index] : NULL;
}

static struct space *new_space(struct address_spaces *spaces, pid_t pid, uid_t user)
{
	struct space *space = xcalloc(1, sizeof(*space));

	space->pid = pid;
	space->user = user;
	space->jitdump = IDMAP_NONE;
	space->program = MODULE_NONE;
	space->regions.account = &spaces->account;
	*idmap_put(&spaces->by_pid, (uint64_t)pid, 0) = spaces->count;
	GROW(spaces->spaces, spaces->count, spaces->room);
	return spaces->spaces[spaces->count++] = space;
}

static struct space *space_of(struct address_spaces *spaces, pid_t pid)
{
	struct space *space = find_space(spaces, pid);

	return space ? space : new_space(spaces, pid, UNTRUSTED_USER_UNKNOWN);
}

/* Reads the user from /proc unless it is known. An exec may change it. */
static void know_user(const struct address_spaces *spaces, struct space *space)
{
	uid_t user;

	if (space->has_user || !spaces->proc)
		return;
	space->has_user = true;
	user = process_user(spaces->proc, space->pid);
	if (user != UNTRUSTED_USER_UNKNOWN)
		space->user = user;
}

static struct region region_of(struct address_spaces *spaces, pid_t pid, uint64_t time_ns,
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
	case MODULE_SCRIPT:
		region.offset = mapping->start;
		break;
	}
	return region;
}

static void changed(struct address_spaces *spaces, struct space *space, uint64_t time_ns)
{
	size_t count = regions_count(&space->regions);

	if (count > SPACE_REGIONS_MAX) {
		regions_halve(&space->regions);
		regions_note_loss(&space->regions);
	}
	if (count > USER_REGIONS_MIN)
		know_user(spaces, space);
	space->version = ++spaces->versions;
	if (time_ns > space->used_ns)
		space->used_ns = time_ns;
	if (time_ns > space->ended_ns)
		space->ended_ns = 0;
}

/*
 * Also adds the mapping to children that were forked after it was made but
 * before it was reported.
 */
static void hand_down(struct address_spaces *spaces, struct space *parent,
		      const struct region *region)
{
	unsigned heirs = 0;

	if (!regions_spend(&parent->regions, spaces->count))
		return;
	for (uint32_t i = 0; i < spaces->count && heirs < LATE_HEIRS_MAX; i++) {
		struct space *child = spaces->spaces[i];

		if (child->parent != parent->pid || child->born_ns <= region->from_ns)
			continue;
		heirs++;
		regions_inherit(&child->regions, &parent->regions, child->born_ns, region->start,
				region->end);
		changed(spaces, child, 0);
	}
}

/* --- Bounding memory ------------------------------------------------------------------------- */

size_t address_spaces_bytes(const struct address_spaces *spaces)
{
	return spaces->account.bytes + spaces->count * sizeof(struct space) +
	       spaces->room * sizeof(*spaces->spaces) + idmap_memory_bytes(&spaces->by_pid);
}

static void note_mapped(void *user, const struct region *region)
{
	uint32_t *mappings = user;

	mappings[region->module]++;
}

/* Returns the number of mappings of each module. The caller frees it. */
static uint32_t *count_mappings(struct address_spaces *spaces)
{
	uint32_t *mappings = xcalloc(modules_count(spaces->modules), sizeof(*mappings));
	uint64_t stamp = ++spaces->account.stamp;

	for (uint32_t i = 0; i < spaces->count; i++) {
		const struct space *space = spaces->spaces[i];

		regions_visit(&space->regions, stamp, note_mapped, mappings);
		if (space->jitdump != IDMAP_NONE)
			mappings[space->jitdump]++;
		if (space->program != MODULE_NONE)
			mappings[space->program]++;
	}
	return mappings;
}

/* Forgets modules without samples and mappings. */
static void address_spaces_sweep(struct address_spaces *spaces)
{
	CLEANUP(free_ptr) uint32_t *mappings = count_mappings(spaces);

	modules_keep(spaces->modules, mappings);
	spaces->swept_bytes = modules_bytes(spaces->modules);
}

static void address_spaces_drop(struct address_spaces *spaces, uint32_t index)
{
	struct space *moved = spaces->spaces[--spaces->count];
	struct space *dropped = spaces->spaces[index];

	idmap_remove(&spaces->by_pid, (uint64_t)dropped->pid, 0);
	if (moved != dropped)
		*idmap_put(&spaces->by_pid, (uint64_t)moved->pid, 0) = index;
	spaces->spaces[index] = moved;
	space_free(dropped);
	spaces->last = NULL;
}

/* Removes the processes that have lost all mappings. */
static void drop_lost(struct address_spaces *spaces, const struct shed_process *processes,
		      uint32_t count)
{
	CLEANUP(free_ptr) bool *are_lost = xcalloc(count, sizeof(*are_lost));

	for (uint32_t i = 0; i < count; i++) {
		are_lost[processes[i].index] = processes[i].has_lost_all;
		spaces->spaces[processes[i].index]->version = ++spaces->versions;
	}
	/*
	 * Starts at the end, because the last process moves to the place of a
	 * dropped one.
	 */
	for (uint32_t i = count; i-- > 0;)
		if (are_lost[i])
			address_spaces_drop(spaces, i);
}

static void shed_to(struct address_spaces *spaces, size_t target, size_t own_bytes,
		    const struct region_measure *measure)
{
	const uint32_t count = spaces->count;
	CLEANUP(free_ptr)
	struct shed_process *processes = xcalloc(count, sizeof(*processes));

	for (uint32_t i = 0; i < count; i++) {
		struct space *space = spaces->spaces[i];

		processes[i] = (struct shed_process){
			.regions = &space->regions,
			.user = space->user,
			.used_ns = space->used_ns,
			.cost = regions_cost(&space->regions, measure) + own_bytes,
			.index = i,
		};
	}
	shed(processes, count, target, own_bytes);
	drop_lost(spaces, processes, count);
}

static void bound_regions(struct address_spaces *spaces)
{
	const struct region_measure bytes = {.stamp = ++spaces->account.stamp};
	size_t index_bytes = address_spaces_bytes(spaces) - spaces->account.bytes -
			     spaces->count * sizeof(struct space);

	shed_to(spaces, SPACES_BYTES_LEFT - index_bytes, sizeof(struct space), &bytes);
}

struct module_shares {
	const struct modules *modules;
	const uint32_t *mappings;
};

/*
 * Returns a mapping's part of the cost of its module, which is kept by all its
 * mappings if it has no samples.
 */
static size_t module_share(void *user, const struct region *region)
{
	const struct module_shares *shares = user;

	return modules_idle_bytes(shares->modules, region->module) /
	       shares->mappings[region->module];
}

/*
 * Modules with samples stay, so mappings are dropped only for the memory of the
 * others.
 */
static void bound_modules(struct address_spaces *spaces)
{
	CLEANUP(free_ptr) uint32_t *mappings = count_mappings(spaces);
	struct module_shares shares = {.modules = spaces->modules, .mappings = mappings};
	const struct region_measure measure = {
		.stamp = ++spaces->account.stamp, .cost = module_share, .user = &shares};
	size_t idle = 0;

	for (module_id id = 0; id < modules_count(spaces->modules); id++)
		idle += modules_idle_bytes(spaces->modules, id);
	shed_to(spaces, idle / 2, 0, &measure);
	address_spaces_sweep(spaces);
}

/*
 * Reads all mappings, so it must be called rarely. May free any struct space.
 */
static void address_spaces_bound_memory(struct address_spaces *spaces)
{
	size_t modules = modules_bytes(spaces->modules);

	spaces->maps_until_bound = MAPS_UNTIL_BOUND + spaces->account.bytes / REGION_BYTES_PER_MAP;
	if (modules > 2 * spaces->swept_bytes + MODULES_BYTES_FEW ||
	    (modules > MODULES_BYTES_MAX && modules > spaces->swept_bytes + MODULES_BYTES_FEW))
		address_spaces_sweep(spaces);
	else
		modules = 0;
	if (modules && modules_bytes(spaces->modules) > MODULES_BYTES_MAX)
		bound_modules(spaces);
	if (address_spaces_bytes(spaces) > SPACES_BYTES_MAX)
		bound_regions(spaces);
}

/* Files other than modules are mapped and resident, too. */
static void bound_resident(struct address_spaces *spaces)
{
	if (usage_of_mapped_files() <= spaces->other_resident_bytes + RESIDENT_BYTES_MAX)
		return;
	modules_release_files(spaces->modules);
	spaces->other_resident_bytes = usage_of_mapped_files();
}

/* Call this only after the last use of any struct space in an operation. */
static void bound_if_needed(struct address_spaces *spaces)
{
	if (!spaces->maps_until_bound || address_spaces_bytes(spaces) > SPACES_BYTES_MAX)
		address_spaces_bound_memory(spaces);
}

static void address_spaces_map_module(struct address_spaces *spaces, struct space *space,
				      const struct region *region)
{
	const struct module *module = modules_get(spaces->modules, region->module);

	regions_map(&space->regions, region);
	if (module->jitdump) {
		space->jitdump = region->module;
		space->uses_jitdump = false;
	}
	if (space->program == MODULE_NONE && module->kind == MODULE_FILE)
		space->program = region->module;
}

static void add_region(struct address_spaces *spaces, pid_t pid, const struct region *region)
{
	struct space *space = space_of(spaces, pid);

	if (copied_text_may_be(spaces->modules, region))
		copied_text_map(spaces->modules, &space->regions, region, space->program);
	else
		address_spaces_map_module(spaces, space, region);
	changed(spaces, space, region->from_ns);
	if (space->last_child_ns > region->from_ns)
		hand_down(spaces, space, region);
	if (spaces->maps_until_bound)
		spaces->maps_until_bound--;
	bound_if_needed(spaces);
}

void address_spaces_map(struct address_spaces *spaces, pid_t pid, uint64_t time_ns,
			const struct mapping *mapping)
{
	struct region region;

	if (mapping->start >= mapping->end)
		return;
	region = region_of(spaces, pid, time_ns, mapping);
	add_region(spaces, pid, &region);
}

void address_spaces_fork(struct address_spaces *spaces, pid_t parent, pid_t child, uint64_t time_ns)
{
	struct space *from = space_of(spaces, parent);
	struct space *to = find_space(spaces, child);

	if (from == to)
		return;
	know_user(spaces, from);
	if (!to)
		to = new_space(spaces, child, from->user);
	to->user = from->user;
	to->has_user = from->has_user;
	to->parent = parent;
	to->born_ns = time_ns;
	forget_jit_objects(to);
	if (time_ns > from->last_child_ns)
		from->last_child_ns = time_ns;
	/* If the parent is unknown, there is nothing to inherit. */
	if (!regions_empty(&from->regions)) {
		regions_fork(&to->regions, &from->regions, time_ns);
		to->jitdump = from->jitdump;
		to->program = from->program;
	}
	changed(spaces, from, time_ns);
	changed(spaces, to, time_ns);
	bound_if_needed(spaces);
}

void address_spaces_exec(struct address_spaces *spaces, pid_t pid, uint64_t time_ns)
{
	struct space *space = space_of(spaces, pid);

	space->has_user = false;
	space->jitdump = IDMAP_NONE;
	forget_jit_objects(space);
	space->program = MODULE_NONE;
	regions_clear(&space->regions, time_ns);
	changed(spaces, space, time_ns);
	bound_if_needed(spaces);
}

void address_spaces_exit(struct address_spaces *spaces, pid_t pid, uint64_t time_ns)
{
	struct space *space = find_space(spaces, pid);
	bool is_used_again;

	if (!space)
		return;
	is_used_again = space->regions.changed_ns > time_ns;
	regions_clear(&space->regions, time_ns);
	changed(spaces, space, time_ns);
	if (!is_used_again)
		space->ended_ns = time_ns;
}

char *address_spaces_read_maps(struct address_spaces *spaces, pid_t pid, uint64_t time_ns,
			       size_t *len)
{
	struct effort before = effort_start();
	bool is_cut;
	char *text = maps_load_within(&spaces->reading, spaces->proc, pid, len, &is_cut);

	address_spaces_add_maps(spaces, pid, time_ns, bytes_of(text, *len));
	if (is_cut)
		regions_note_loss(&space_of(spaces, pid)->regions);
	time_share_spend(&spaces->reading, effort_ns(&before));
	return text;
}

void address_spaces_snapshot(struct address_spaces *spaces, pid_t pid, uint64_t time_ns)
{
	size_t len;

	free(address_spaces_read_maps(spaces, pid, time_ns, &len));
}

/* Finds text that was copied to memory before the process was known. */
static void map_all_enclosed(struct address_spaces *spaces, pid_t pid, struct bytes text)
{
	CLEANUP(free_ptr) struct enclosed_scan *scan = xcalloc(1, sizeof(*scan));
	struct space *space = space_of(spaces, pid);
	struct enclosed_memory enclosed;

	scan->maps.rest = text;
	scan->maps.data = true;
	while (enclosed_memory_next(scan, &enclosed))
		if (copied_text_map_enclosed(spaces->modules, &space->regions, pid, &enclosed))
			changed(spaces, space, 0);
}

/*
 * Returns whether a late mapping is already known at its time. Adding it would
 * be expensive and confirm nothing that matters.
 */
static bool address_spaces_is_known(struct address_spaces *spaces, pid_t pid,
				    const struct region *region)
{
	const struct space *space = find_space(spaces, pid);
	const struct region *known = NULL;

	if (space && region->from_ns < space->regions.changed_ns)
		known = regions_find(&space->regions, region->from_ns, region->start);
	if (!known || known->end < region->end)
		return false;
	if (known->is_copy)
		return copied_text_may_be(spaces->modules, region);
	return known->module == region->module &&
	       known->offset - known->start == region->offset - region->start;
}

void address_spaces_add_maps(struct address_spaces *spaces, pid_t pid, uint64_t time_ns,
			     struct bytes text)
{
	struct maps maps = {.rest = text};
	struct space *space = space_of(spaces, pid);
	uint64_t from_ns = regions_empty(&space->regions) ? 0 : time_ns;
	struct mapping mapping;
	bool has_memory = false;

	know_user(spaces, space);
	while (maps_next(&maps, &mapping)) {
		struct region region = region_of(spaces, pid, from_ns, &mapping);

		has_memory |= copied_text_may_be(spaces->modules, &region);
		if (!address_spaces_is_known(spaces, pid, &region))
			add_region(spaces, pid, &region);
	}
	if (has_memory)
		map_all_enclosed(spaces, pid, text);
}

void address_spaces_forget(struct address_spaces *spaces, uint64_t before_ns)
{
	spaces->last = NULL;
	for (uint32_t i = spaces->count; i-- > 0;) {
		struct space *space = spaces->spaces[i];

		if (regions_forget(&space->regions, before_ns))
			address_spaces_drop(spaces, i);
	}
	address_spaces_bound_memory(spaces);
	bound_resident(spaces);
}

uint64_t address_spaces_version(const struct address_spaces *spaces, pid_t pid)
{
	const struct space *space = spaces->last && spaces->last->pid == pid
					    ? spaces->last
					    : find_space(spaces, pid);

	return space ? space->version : 0;
}

/*
 * Returns whether a region that was assumed to be copied text is, as far as
 * this can be determined.
 */
static bool is_copied_text(struct address_spaces *spaces, const struct space *space,
			   const struct region *region, uint64_t pc)
{
	const struct copied_text_process process = {.caller = spaces->memory_reader,
						    .proc = spaces->proc,
						    .pid = space->pid,
						    .user = space->user};
	const struct elf_file *elf = modules_get(spaces->modules, region->module)->elf;
	enum copied_text answer = COPIED_TEXT_UNKNOWN;
	uint64_t begin_ns = clock_now_ns();

	if (spaces->proc && elf &&
	    time_share_is_left(&spaces->comparing, begin_ns, COMPARING_MAX_NS)) {
		answer = copied_text_compare(&process, elf, region, pc);
		time_share_spend(&spaces->comparing, clock_now_ns() - begin_ns);
	}
	return answer == COPIED_TEXT_SAME || (answer == COPIED_TEXT_UNKNOWN && region->is_certain);
}

/* Returns false if there is no memory for the module. */
static bool note_sample(struct address_spaces *spaces, struct space *space,
			const struct region *region, uint64_t pc)
{
	const struct mapping mapping = {
		.start = region->start, .end = region->end, .offset = region->offset};
	module_id module;

	know_user(spaces, space);
	if (region->is_copy && !is_copied_text(spaces, space, region, pc))
		regions_refute_copy(region, modules_jit(spaces->modules, space->pid));
	module = modules_use(spaces->modules, region->module, space->pid, space->user, &mapping);
	if (module == MODULE_NONE)
		regions_note_loss(&space->regions);
	else
		regions_note_sample(region, module);
	return module != MODULE_NONE;
}

/* Locates JIT code in the process's jitdump. */
static bool locate_in_jitdump(struct address_spaces *spaces, const struct region *region,
			      uint64_t time_ns, uint64_t pc, struct location *ret)
{
	const module_id id = spaces->last->jitdump;
	struct jitdump_place place;

	if (modules_get(spaces->modules, region->module)->kind != MODULE_JIT ||
	    !jitdump_locate(modules_get(spaces->modules, id)->jitdump, pc, time_ns, &place))
		return false;
	if (!spaces->last->uses_jitdump)
		modules_use(spaces->modules, id, spaces->last->pid, spaces->last->user,
			    &(struct mapping){.path = ""});
	spaces->last->uses_jitdump = true;
	*ret = (struct location){
		.module = id,
		.offset = place.offset,
		.start = place.start,
		.end = place.end,
	};
	return true;
}

/* Adds the list of registered objects of a file, if it has one. */
static bool find_jit_list(struct address_spaces *spaces, struct jit_objects *objects,
			  const struct region *region)
{
	const struct elf_file *elf = modules_get(spaces->modules, region->module)->elf;
	uint64_t list, vaddr;

	if (!modules_find_jit_list(spaces->modules, region->module, objects, &list))
		return false;
	if (list && elf && elf_file_offset_to_vaddr(elf, region->offset, &vaddr))
		jit_objects_add_list(objects, region->start + (list - vaddr));
	return true;
}

/* Searches only the first regions. */
static void find_jit_lists(struct address_spaces *spaces, struct jit_objects *objects,
			   const struct region_table *table)
{
	struct region_place place = {.part = 0};
	const struct region *region;

	for (unsigned i = 0; i < FIND_FILE_MAX && (region = region_table_next(table, &place)); i++)
		if (!find_jit_list(spaces, objects, region))
			return;
}

/* In live mode only. */
static struct jit_objects *jit_objects_of(struct address_spaces *spaces, struct space *space)
{
	const struct jit_objects_options options = {
		.caller = spaces->memory_reader,
		.budget = modules_code_budget(spaces->modules),
		.proc = spaces->proc,
		.pid = space->pid,
		.user = space->user,
	};

	if (!space->jit_objects)
		space->jit_objects = jit_objects_new(&options);
	if (jit_objects_may_search(space->jit_objects)) {
		find_jit_lists(spaces, space->jit_objects, space->regions.live);
		find_jit_lists(spaces, space->jit_objects, space->regions.base);
	}
	return space->jit_objects;
}

/* Locates JIT code that its process has registered for debuggers. */
static bool locate_in_object(struct address_spaces *spaces, struct space *space, uint64_t time_ns,
			     uint64_t pc, struct location *ret)
{
	struct jit_objects *objects = spaces->proc ? jit_objects_of(spaces, space) : NULL;
	struct jit_object_place place;

	if (!objects || !jit_objects_locate(objects, pc, time_ns, &place))
		return false;
	if (place.object->module == MODULE_NONE && place.object->elf)
		place.object->module = modules_add_jit_object(spaces->modules, space->pid,
							      space->user, place.object->elf);
	if (place.object->module == MODULE_NONE)
		return false;
	place.object->elf = NULL;
	*ret = (struct location){
		.module = place.object->module,
		.offset = place.offset,
		.start = place.start,
		.end = place.end,
	};
	return true;
}

/* Locates other JIT code in its generation. */
static void locate_in_map(struct address_spaces *spaces, const struct region *region,
			  uint64_t time_ns, uint64_t pc, struct location *ret)
{
	*ret = (struct location){.offset = region->offset + (pc - region->start)};
	ret->module = modules_jit_at(spaces->modules, region->module, pc, time_ns, &ret->start,
				     &ret->end);
	if (ret->start < region->start)
		ret->start = ret->end ? region->start : 0;
	if (ret->end > region->end)
		ret->end = region->end;
	/* There may be registered objects around it. */
	if (spaces->last->jit_objects && jit_objects_has_lists(spaces->last->jit_objects))
		ret->start = ret->end = 0;
}

static struct location location_in(const struct region *region, uint64_t pc)
{
	return (struct location){
		.module = region->module,
		.offset = region->offset + (pc - region->start),
		.start = region->start,
		.end = region->end,
	};
}

/*
 * Returns the time whose mappings a sample needs. Shortly after its end, a
 * process has those that it had before. Later, its id may be that of another
 * process whose records were lost.
 */
static uint64_t time_in(const struct space *space, uint64_t time_ns)
{
	bool is_ending = space->ended_ns && time_ns >= space->ended_ns &&
			 time_ns - space->ended_ns < ENDING_NS;

	return is_ending ? space->ended_ns - 1 : time_ns;
}

bool address_spaces_locate(struct address_spaces *spaces, pid_t pid, uint64_t time_ns, uint64_t pc,
			   struct location *ret)
{
	const struct region *region = NULL;

	if (!spaces->last || spaces->last->pid != pid)
		spaces->last = find_space(spaces, pid);
	if (spaces->last) {
		spaces->last->used_ns = time_ns;
		time_ns = time_in(spaces->last, time_ns);
		region = regions_find(&spaces->last->regions, time_ns, pc);
	}
	if (!region || !(region->has_samples || note_sample(spaces, spaces->last, region, pc))) {
		*ret = (struct location){.module = modules_unknown(spaces->modules), .offset = pc};
		return false;
	}
	if (spaces->last->jitdump != IDMAP_NONE &&
	    locate_in_jitdump(spaces, region, time_ns, pc, ret))
		return true;
	if (modules_get(spaces->modules, region->module)->kind == MODULE_JIT) {
		if (locate_in_object(spaces, spaces->last, time_ns, pc, ret))
			return true;
		locate_in_map(spaces, region, time_ns, pc, ret);
		return true;
	}
	*ret = location_in(region, pc);
	return true;
}

bool address_spaces_locate_data(struct address_spaces *spaces, pid_t pid, uint64_t address,
				struct location *ret)
{
	const struct space *space = find_space(spaces, pid);
	/* Linkers place data after code, and the regions contain only code. */
	const struct region *code = space ? regions_before(&space->regions, address) : NULL;
	const struct module *module;
	uint64_t vaddr;

	if (!code)
		return false;
	module = modules_get(spaces->modules, code->module);
	if (!module->elf || !elf_file_offset_to_vaddr(module->elf, code->offset, &vaddr))
		return false;
	vaddr += address - code->start;
	*ret = (struct location){.module = code->module, .offset = LOCATION_DATA | vaddr};
	return elf_file_is_data(module->elf, vaddr);
}

/*
 * Returns the start of the lowest region of a file with this name among the
 * first ones, or UINT64_MAX.
 */
static uint64_t find_named(const struct modules *modules, const struct region_table *table,
			   const char *name)
{
	struct region_place place = {.part = 0};
	const struct region *region;

	for (unsigned i = 0; i < FIND_FILE_MAX && (region = region_table_next(table, &place));
	     i++) {
		const struct module *module = modules_get(modules, region->module);
		const char *slash = strrchr(module->path, '/');

		if (module->kind == MODULE_FILE && slash && strcmp(slash + 1, name) == 0)
			return region->start;
	}
	return UINT64_MAX;
}

bool address_spaces_find_file(struct address_spaces *spaces, pid_t pid, uint64_t time_ns,
			      const char *name, struct location *ret)
{
	const struct space *space = find_space(spaces, pid);
	uint64_t start = UINT64_MAX, in_base;

	if (space) {
		start = find_named(spaces->modules, space->regions.live, name);
		in_base = find_named(spaces->modules, space->regions.base, name);
		if (in_base < start)
			start = in_base;
	}
	return start != UINT64_MAX && address_spaces_locate(spaces, pid, time_ns, start, ret);
}

void address_spaces_read_jitdumps(struct address_spaces *spaces)
{
	for (module_id id = 0; id < modules_count(spaces->modules); id++) {
		struct jitdump *jitdump = modules_get(spaces->modules, id)->jitdump;

		if (jitdump)
			jitdump_read_on(jitdump);
	}
}

bool address_spaces_settle(struct address_spaces *spaces, module_id id, uint64_t offset,
			   struct location *ret)
{
	const struct module *module = modules_get(spaces->modules, id);

	if (!module->jitdump || !(offset & JITDUMP_OPEN))
		return false;
	*ret = (struct location){.module = id};
	if (!jitdump_settle(module->jitdump, offset, &ret->offset))
		ret->module = modules_jit(spaces->modules, module->pid);
	return true;
}

module_id address_spaces_kernel(struct address_spaces *spaces)
{
	return modules_kernel(spaces->modules);
}

module_id address_spaces_script(struct address_spaces *spaces, const char *path)
{
	return modules_script(spaces->modules, path);
}

module_id address_spaces_kernel_at(struct address_spaces *spaces, uint64_t pc)
{
	return kernel_map_find(spaces->kernel, pc);
}

void address_spaces_map_kernel(struct address_spaces *spaces, const struct mapping *mapping)
{
	kernel_map_add(spaces->kernel, mapping);
}

void address_spaces_name_kernel_code(struct address_spaces *spaces, uint64_t start, uint64_t len,
				     const char *name)
{
	kernel_map_add_symbol(spaces->kernel, start, len, name);
}

const char *address_spaces_kernel_symbol(const struct address_spaces *spaces, uint64_t pc)
{
	return kernel_map_symbol(spaces->kernel, pc);
}

struct error *address_spaces_open_kernel_image(const struct address_spaces *spaces, module_id id,
					       struct kernel_image *ret)
{
	const struct kernel_image_query query = {
		.range = kernel_map_range(spaces->kernel, id),
		.root = kernel_map_root(spaces->kernel),
		.release = spaces->release,
		.build_id = spaces->kernel_build_id,
		.places = modules_debug_files(spaces->modules, id).places,
	};

	if (!query.range)
		return error_hint(error_new("the address of the kernel's code is unknown"),
				  kernel_map_root(spaces->kernel)
					  ? "run as root, or: sudo sysctl kernel.kptr_restrict=0"
					  : NULL);
	return kernel_image_open(&query, ret);
}

void address_spaces_set_files_max(struct address_spaces *spaces, unsigned max)
{
	modules_set_files_max(spaces->modules, max);
}

void address_spaces_set_opening_max(struct address_spaces *spaces, uint64_t max_ns)
{
	modules_set_opening_max(spaces->modules, max_ns);
}

uint64_t address_spaces_missed_files(const struct address_spaces *spaces)
{
	return modules_missed_files(spaces->modules);
}

uint64_t address_spaces_lossy_processes(const struct address_spaces *spaces)
{
	return spaces->account.lost_processes;
}

void address_spaces_set_debug_dir(struct address_spaces *spaces, const char *debug_dir)
{
	modules_set_debug_dir(spaces->modules, debug_dir);
}

struct debug_files address_spaces_debug_files(const struct address_spaces *spaces, module_id id)
{
	return modules_debug_files(spaces->modules, id);
}

int address_spaces_open_jit_map(const struct address_spaces *spaces, module_id id, const char *proc)
{
	return modules_open_jit_map(spaces->modules, id, proc);
}

uint64_t address_spaces_map_bytes(const struct address_spaces *spaces, module_id id)
{
	return modules_map_bytes(spaces->modules, id);
}

uint32_t address_spaces_module_count(const struct address_spaces *spaces)
{
	return modules_count(spaces->modules);
}

const struct module *address_spaces_module(const struct address_spaces *spaces, module_id id)
{
	return modules_get(spaces->modules, id);
}
