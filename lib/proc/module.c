#include "proc/module.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/text.h"
#include "proc/file_table.h"
#include "proc/jitdump_format.h"
#include "proc/process_vdso.h"

#include <stdio.h>

/*
 * In the table of files: checked, and found to be a process's memory rather
 * than a program.
 */
#define NO_PROGRAM (IDMAP_NONE - 1)

/* How often prof tries to open a file. */
enum { ATTEMPTS = 16 };

/* Far more than the programs and libraries of any machine. */
enum { FILES_MAX = 16000 };

/*
 * Opening a file is cheap, but takes milliseconds on a busy machine if a helper
 * thread opens it.
 */
#define OPENING_PER_SECOND_NS (100 * NS_PER_MS)
/* A deferred file is opened when it gets a sample. Memory, such as a memfd, is
 * opened at once or never, so it has this many times as long. */
enum { OPENING_OF_MEMORY = 4 };

/*
 * Processes that write jitdumps or perf maps at the same time. Each needs a
 * descriptor.
 */
enum { JITDUMPS_MAX = 128 };

/*
 * The interval for searching a perf map. It doubles each time that there is
 * none, up to the maximum.
 */
#define MAP_INTERVAL_NS (200 * NS_PER_MS)
#define MAP_INTERVAL_MAX_NS (3200 * NS_PER_MS)

/*
 * Limits of the memory of modules with samples in processes of users other than
 * root and prof's own: for one user (at least 20,000 files), and for all.
 */
enum {
	USED_UNIT_BYTES = 64,
	USED_UNITS_MAX = (24 << 20) / USED_UNIT_BYTES,
	ALL_USED_UNITS_MAX = (64 << 20) / USED_UNIT_BYTES,
};

/* The limit for objects with JIT code, over all processes. */
enum { JIT_OBJECTS_BYTES_MAX = 128 << 20 };

/*
 * Files with the same build-id that are compared. More than this are an attack.
 */
enum { SAME_BUILD_ID_MAX = 64 };

struct module_entry {
	struct module module;
	unsigned attempts_left; /* 0 if opened, or known not to be an ELF file */
	bool is_used;		/* it has samples */
	/*
	 * Root of the processes with samples in it; -1 for prof's own. Valid if
	 * has_root is set.
	 */
	int root;
	bool has_root;		   /* `root` is known */
	uid_t user;		   /* for MODULE_JIT, as in jit_map_open() */
	pid_t own_pid;		   /* for MODULE_JIT, as in jit_map_open_below() */
	struct perf_map *perf_map; /* For the first MODULE_JIT of a process. NULL if not open. */
	uint64_t map_due_ns;	   /* when to search for it next */
	uint64_t map_interval_ns;  /* interval after that */
	uint32_t generation;	   /* for MODULE_JIT */
	/*
	 * Vaddr of the descriptor of JIT code, or 0 for none. Valid if
	 * has_searched_jit_list is set.
	 */
	uint64_t jit_list;
	bool has_searched_jit_list; /* `jit_list` is known */
	bool is_closed;		    /* closed to make room for others */
	bool is_untrusted;
	bool is_deleted;	/* according to the mapping */
	char *path, *problem;	/* owned strings of `module` */
	char *root_name;	/* Name of the file in `root`. NULL if it is the path. */
	struct mapping mapping; /* the first mapping */
	struct file_identity file;
	struct build_id build_id;
	module_id same_build_id; /* next module with this build-id, or IDMAP_NONE */
};

/* Open files, oldest first. Some may have been closed or used since. */
struct open_files {
	module_id *ids;
	size_t first, count, room;
	unsigned open;
};

struct modules {
	struct file_locator *locator;
	struct module_entry **entries;
	uint32_t count, room;
	module_id *unused; /* ids */
	uint32_t unused_count, unused_room;
	size_t text_bytes;
	struct file_table *files;
	struct idmap by_build_id; /* first module of a list */
	struct idmap by_file;	  /* by the identity of the opened file */
	struct idmap jits;	  /* by pid and generation */
	struct idmap others;	  /* by kind and path: modules that exist once */
	unsigned files_max;
	uint64_t opening_max_ns; /* per second */
	/*
	 * Start of the current second, and the time that opening files took in
	 * it.
	 */
	uint64_t second_ns, opening_ns;
	uint64_t missed_files;
	struct open_files own, untrusted;
	struct code_budget code_budget;
	unsigned jitdump_count, map_count;
	size_t jit_object_bytes; /* for objects with samples */
	struct vdso_images vdsos;
	/*
	 * Memory of modules with samples, in units, for each user but root and
	 * prof's.
	 */
	struct idmap used;
	uint64_t all_used;   /* the sum over `used` */
	bool has_other_time; /* samples do not use CLOCK_MONOTONIC */
};

/* prof needs mappings for other things, too: libraries, threads, heaps. */
static unsigned default_files_max(void)
{
	CLEANUP(close_file) FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
	unsigned long max;

	if (!file || fscanf(file, "%lu", &max) != 1 || max / 4 > FILES_MAX)
		return FILES_MAX;
	return (unsigned)(max / 4);
}

static struct modules *modules_new_with(struct file_locator *locator)
{
	struct modules *modules = xcalloc(1, sizeof(*modules));

	modules->locator = locator;
	modules->files = file_table_new();
	modules->files_max = default_files_max();
	modules->opening_max_ns = OPENING_PER_SECOND_NS;
	return modules;
}

struct modules *modules_new(const char *proc)
{
	return modules_new_with(file_locator_new(proc));
}

struct modules *modules_new_recorded(const struct recorded_files *files)
{
	struct modules *modules = modules_new_with(file_locator_new_recorded(files));

	modules->has_other_time = !files->is_monotonic;
	return modules;
}

static void module_clear(struct module_entry *entry)
{
	elf_file_free(entry->module.elf);
	jitdump_free(entry->module.jitdump);
	perf_map_free(entry->perf_map);
	free(entry->path);
	free(entry->problem);
	free(entry->root_name);
	*entry = (struct module_entry){.module = {.kind = MODULE_UNKNOWN, .path = ""}};
}

void modules_free(struct modules *modules)
{
	if (!modules)
		return;
	for (uint32_t i = 0; i < modules->count; i++) {
		module_clear(modules->entries[i]);
		free(modules->entries[i]);
	}
	free(modules->entries);
	free(modules->unused);
	free(modules->own.ids);
	free(modules->untrusted.ids);
	file_locator_free(modules->locator);
	file_table_free(modules->files);
	idmap_deinit(&modules->by_build_id);
	idmap_deinit(&modules->by_file);
	idmap_deinit(&modules->jits);
	idmap_deinit(&modules->others);
	idmap_deinit(&modules->used);
	free(modules);
}

void modules_set_debug_dir(struct modules *modules, const char *debug_dir)
{
	file_locator_set_debug_dir(modules->locator, debug_dir);
}

void modules_set_files_max(struct modules *modules, unsigned max)
{
	modules->files_max = max;
}

void modules_set_opening_max(struct modules *modules, uint64_t max_ns)
{
	modules->opening_max_ns = max_ns;
}

uint64_t modules_missed_files(const struct modules *modules)
{
	return modules->missed_files;
}

struct debug_files modules_debug_files(const struct modules *modules, module_id id)
{
	const struct module_entry *entry = modules->entries[id];

	return file_locator_debug_files(modules->locator,
					entry->root_name ? entry->root_name : entry->path,
					entry->root, entry->file.owner, entry->is_untrusted);
}

/*
 * Returns the perf map of a process, or NULL if it is not open. It is opened at
 * the first sample of its JIT code.
 */
static const struct perf_map *perf_map_of(const struct modules *modules,
					  const struct module_entry *entry)
{
	module_id first = idmap_get(&modules->jits, (uint64_t)entry->module.pid, 0);

	return first == IDMAP_NONE ? NULL : modules->entries[first]->perf_map;
}

int modules_open_jit_map(const struct modules *modules, module_id id, const char *proc)
{
	const struct module_entry *entry = modules->entries[id];
	const struct perf_map *map = perf_map_of(modules, entry);
	int fd = -1;

	if (entry->root >= 0)
		fd = file_locator_open_jit_map_below(modules->locator, entry->root, entry->own_pid,
						     entry->user);
	if (fd < 0)
		fd = file_locator_open_jit_map(modules->locator, proc, entry->module.pid,
					       entry->user);
	/* Some programs remove their map when they exit. */
	return fd < 0 && map ? perf_map_open_again(map) : fd;
}

uint64_t modules_map_bytes(const struct modules *modules, module_id id)
{
	const struct module_entry *entry = modules->entries[id];
	const struct perf_map *map = perf_map_of(modules, entry);

	return entry->module.jitdump || !map ? UINT64_MAX : perf_map_bytes(map, entry->generation);
}

uint32_t modules_count(const struct modules *modules)
{
	return modules->count;
}

const struct module *modules_get(const struct modules *modules, module_id id)
{
	return &modules->entries[id]->module;
}

static module_id new_id(struct modules *modules)
{
	if (modules->unused_count)
		return modules->unused[--modules->unused_count];
	GROW(modules->entries, modules->count, modules->room);
	modules->entries[modules->count] = xcalloc(1, sizeof(struct module_entry));
	return modules->count++;
}

static module_id module_add(struct modules *modules, enum module_kind kind, const char *path,
			    size_t len)
{
	module_id id = new_id(modules);
	struct module_entry *entry = modules->entries[id];

	*entry = (struct module_entry){
		.path = xstrndup(path, len), .root = -1, .same_build_id = IDMAP_NONE};
	entry->module = (struct module){.kind = kind, .path = entry->path};
	modules->text_bytes += len;
	return id;
}

/* Takes ownership of err. */
static void set_problem(struct modules *modules, struct module_entry *entry, struct error *err)
{
	free(entry->problem);
	entry->module.problem = entry->problem = xstrdup(error_text(err));
	modules->text_bytes += strlen(entry->problem);
	error_free(err);
}

/*
 * Returns a module that exists once: the kernel, or one of its special mappings
 * in processes.
 */
static module_id the_one(struct modules *modules, enum module_kind kind, const char *path)
{
	size_t len = strlen(path);
	uint32_t *id = idmap_put(&modules->others, hash_bytes(path, len), kind);

	if (*id == IDMAP_NONE)
		*id = module_add(modules, kind, path, len);
	return *id;
}

static bool is_vdso(const struct module_entry *entry)
{
	return entry->module.kind == MODULE_VDSO && strcmp(entry->path, "[vdso]") == 0;
}

/* Returns the vdso, or a module without an ELF file. */
static module_id kernel_code_of(struct modules *modules, const struct mapping *mapping)
{
	module_id id = the_one(modules, MODULE_VDSO, mapping->path);
	struct module_entry *entry = modules->entries[id];
	struct located_file finding;

	if (entry->module.elf || entry->module.problem || !is_vdso(entry))
		return id;
	finding = file_locator_open_vdso(modules->locator, mapping);
	entry->module.elf = finding.elf;
	if (finding.error)
		set_problem(modules, entry, finding.error);
	return id;
}

static module_id add_vdso(struct modules *modules)
{
	return module_add(modules, MODULE_VDSO, "[vdso]", strlen("[vdso]"));
}

/* Returns the module without an ELF file. */
static module_id unread_vdso(struct modules *modules)
{
	uint32_t *id = idmap_put(&modules->others, 0, MODULE_VDSO);

	if (*id == IDMAP_NONE) {
		*id = add_vdso(modules);
		set_problem(modules, modules->entries[*id],
			    error_new("the [vdso] of a 32-bit process could not be read"));
	}
	return *id;
}

/* All processes with the same image share one module. */
static module_id vdso_of_process(struct modules *modules, pid_t pid, uid_t user,
				 const struct mapping *mapping)
{
	CLEANUP(elf_file_cleanup)
	struct elf_file *elf = file_locator_read_vdso(modules->locator, pid, user, mapping);
	struct module_entry *entry;
	module_id id;

	if (elf && vdso_images_find(&modules->vdsos, elf, &id))
		return id;
	if (!elf || !vdso_images_have_room(&modules->vdsos, elf))
		return unread_vdso(modules);
	id = add_vdso(modules);
	vdso_images_add(&modules->vdsos, elf, id);
	entry = modules->entries[id];
	entry->is_untrusted = elf_file_is_untrusted(elf);
	entry->module.elf = STEAL(elf);
	return id;
}

module_id modules_kernel(struct modules *modules)
{
	return the_one(modules, MODULE_KERNEL, "[kernel.kallsyms]");
}

module_id modules_kernel_module(struct modules *modules, const char *path)
{
	return the_one(modules, MODULE_KERNEL, path);
}

module_id modules_unknown(struct modules *modules)
{
	return the_one(modules, MODULE_UNKNOWN, "[unknown]");
}

module_id modules_script(struct modules *modules, const char *path)
{
	return the_one(modules, MODULE_SCRIPT, path);
}

static module_id generation_of(struct modules *modules, pid_t pid, uint32_t generation)
{
	static const char path[] = "[jit]";
	uint32_t *id = idmap_put(&modules->jits, (uint64_t)pid, generation);

	if (*id == IDMAP_NONE) {
		*id = module_add(modules, MODULE_JIT, path, sizeof(path) - 1);
		modules->entries[*id]->module.pid = pid;
		modules->entries[*id]->generation = generation;
		modules->entries[*id]->user = file_locator_user(modules->locator, pid);
		modules->entries[*id]->own_pid = file_locator_own_pid(modules->locator, pid);
	}
	return *id;
}

static module_id jit_of(struct modules *modules, pid_t pid)
{
	return generation_of(modules, pid, 0);
}

module_id modules_jit(struct modules *modules, pid_t pid)
{
	return jit_of(modules, pid);
}

/* Searches for the map at intervals, because it can appear at any time. */
static bool has_perf_map(struct modules *modules, struct module_entry *entry)
{
	uint64_t now_ns;

	if (entry->perf_map)
		return true;
	if (!file_locator_may_find_later(modules->locator) || entry->module.jitdump ||
	    modules->map_count >= JITDUMPS_MAX)
		return false;
	now_ns = clock_now_ns();
	if (now_ns < entry->map_due_ns)
		return false;
	if (!entry->map_interval_ns)
		entry->map_interval_ns = MAP_INTERVAL_NS;
	entry->map_due_ns = now_ns + entry->map_interval_ns;
	if (entry->map_interval_ns < MAP_INTERVAL_MAX_NS)
		entry->map_interval_ns *= 2;
	entry->perf_map = file_locator_open_perf_map(modules->locator, entry->module.pid,
						     &modules->code_budget);
	modules->map_count += entry->perf_map != NULL;
	return entry->perf_map;
}

module_id modules_jit_at(struct modules *modules, module_id first, uint64_t pc, uint64_t time_ns,
			 uint64_t *start, uint64_t *end)
{
	struct module_entry *entry = modules->entries[first];
	uint32_t generation;
	module_id id;

	*start = 0;
	*end = UINT64_MAX;
	if (!has_perf_map(modules, entry))
		return first;
	generation = perf_map_generation(entry->perf_map, pc, time_ns, start, end);
	id = generation ? generation_of(modules, entry->module.pid, generation) : first;
	modules->entries[id]->is_used = true;
	if (generation)
		modules->entries[id]->root = entry->root;
	return id;
}

/*
 * True for "[vsyscall]", but not for the kernel's names of ordinary memory:
 * [heap], [stack], [anon:name].
 */
static bool names_kernel_code(const char *path)
{
	return path[0] == '[' && !text_begins(path, "[heap") && !text_begins(path, "[stack") &&
	       !text_begins(path, "[anon");
}

/* --- Identical files -------------------------------------------------------------------------- */

static uint64_t build_id_key(const struct build_id *id)
{
	uint64_t head = 0;

	memcpy(&head, id->bytes, id->len < sizeof(head) ? id->len : sizeof(head));
	return hash_mix(head, hash_bytes(id->bytes, id->len));
}

static uint32_t file_subkey(const struct file_identity *file)
{
	uint64_t hash = hash_mix(file->device, file->modified_ns);

	return (uint32_t)hash_mix(hash, file->size_bytes);
}

static bool module_is_same_file(const struct file_identity *a, const struct file_identity *b)
{
	return a->inode && a->device == b->device && a->inode == b->inode &&
	       a->modified_ns == b->modified_ns && a->size_bytes == b->size_bytes;
}

/*
 * Returns whether only one user can have written both. The owner of an
 * untrusted file is whatever its server reports, and each container has its own
 * overlay.
 */
static bool have_same_writer(const struct module_entry *entry, const struct file_identity *file,
			     bool is_untrusted)
{
	const struct file_identity *known = &entry->file;

	return known->owner == file->owner && !known->is_shared && !file->is_shared &&
	       ((!entry->is_untrusted && !is_untrusted) || known->device == file->device ||
		(known->is_overlay && file->is_overlay));
}

/* A program that was overwritten in place is a different module. */
static bool module_has_changed(const struct module_entry *entry)
{
	return entry->module.elf && !entry->is_untrusted && elf_file_changed(entry->module.elf);
}

/* Returns IDMAP_NONE if there is none. */
static module_id module_find_same(const struct modules *modules, const struct file_identity *file,
				  const struct elf_file *elf)
{
	const struct build_id *build_id = elf_file_build_id(elf);
	module_id id = idmap_get(&modules->by_file, file->inode, file_subkey(file));

	if (id != IDMAP_NONE && module_is_same_file(&modules->entries[id]->file, file))
		return id;
	id = idmap_get(&modules->by_build_id, build_id_key(build_id), 0);
	for (unsigned i = 0; id != IDMAP_NONE && i < SAME_BUILD_ID_MAX; i++) {
		const struct module_entry *entry = modules->entries[id];

		if (build_id_equal(&entry->build_id, build_id) &&
		    have_same_writer(entry, file, elf_file_is_untrusted(elf)) &&
		    !module_has_changed(entry))
			return id;
		id = entry->same_build_id;
	}
	return IDMAP_NONE;
}

static void remember_file(struct modules *modules, module_id id)
{
	struct module_entry *entry = modules->entries[id];

	if (entry->file.inode)
		*idmap_put(&modules->by_file, entry->file.inode, file_subkey(&entry->file)) = id;
	if (entry->build_id.len) {
		uint32_t *first = idmap_put(&modules->by_build_id, build_id_key(&entry->build_id),
					    0);

		entry->same_build_id = *first;
		*first = id;
	}
}

/* --- Open files ------------------------------------------------------------------------------- */

static struct open_files *list_of(struct modules *modules, const struct module_entry *entry)
{
	return entry->is_untrusted ? &modules->untrusted : &modules->own;
}

static void close_file_of(struct modules *modules, struct module_entry *entry)
{
	list_of(modules, entry)->open--;
	elf_file_free(STEAL(entry->module.elf));
	entry->is_closed = true;
	entry->module.problem = "too many files are mapped to keep all of them open";
}

static bool close_oldest(struct modules *modules, struct open_files *files)
{
	while (files->count) {
		struct module_entry *entry = modules->entries[files->ids[files->first]];

		files->first++;
		files->count--;
		if (!entry->module.elf || entry->is_used)
			continue;
		close_file_of(modules, entry);
		return true;
	}
	return false;
}

static void module_append(struct open_files *files, module_id id)
{
	if (files->first && files->first + files->count == files->room) {
		memmove(files->ids, files->ids + files->first, files->count * sizeof(*files->ids));
		files->first = 0;
	}
	GROW(files->ids, files->first + files->count, files->room);
	files->ids[files->first + files->count++] = id;
}

static bool module_make_room(struct modules *modules, bool for_untrusted)
{
	if (for_untrusted && modules->untrusted.open >= modules->files_max / 2)
		return close_oldest(modules, &modules->untrusted);
	if (modules->own.open + modules->untrusted.open < modules->files_max)
		return true;
	return close_oldest(modules, &modules->untrusted) || close_oldest(modules, &modules->own);
}

/* Takes ownership of the ELF file. */
static void set_file(struct modules *modules, module_id id, struct elf_file *elf)
{
	struct module_entry *entry = modules->entries[id];
	bool has_room = module_make_room(modules, entry->is_untrusted);

	entry->module.elf = elf;
	entry->module.problem = NULL;
	entry->attempts_left = 0;
	entry->is_closed = false;
	list_of(modules, entry)->open++;
	if (has_room)
		module_append(list_of(modules, entry), id);
	else
		close_file_of(modules, entry);
}

static void set_identity(struct modules *modules, module_id id, const struct located_file *finding)
{
	struct module_entry *entry = modules->entries[id];

	entry->file = finding->identity;
	entry->is_untrusted = elf_file_is_untrusted(finding->elf);
	entry->build_id = *elf_file_build_id(finding->elf);
	remember_file(modules, id);
}

/*
 * Takes ownership of the opened file, which can turn out to be a known module.
 */
static module_id module_add_file(struct modules *modules, const struct mapping *mapping,
				 const char *path, size_t path_len, bool deleted,
				 struct located_file *finding)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = finding->elf;
	module_id id = elf ? module_find_same(modules, &finding->identity, elf) : IDMAP_NONE;
	struct module_entry *entry;

	if (id != IDMAP_NONE) {
		if (modules->entries[id]->is_closed)
			set_file(modules, id, STEAL(elf));
		return id;
	}
	id = module_add(modules, MODULE_FILE, path, path_len);
	entry = modules->entries[id];
	entry->mapping = *mapping;
	entry->is_deleted = deleted;
	if (elf) {
		set_identity(modules, id, finding);
		set_file(modules, id, STEAL(elf));
	}
	if (finding->error)
		set_problem(modules, entry, STEAL(finding->error));
	if (!finding->elf && !finding->no_elf && file_locator_may_find_later(modules->locator)) {
		entry->attempts_left = ATTEMPTS - 1;
		modules->missed_files++;
	}
	return id;
}

/*
 * Returns whether files are mapped so fast that opening them would keep prof
 * from reading samples.
 */
static bool is_storm(struct modules *modules, const char *path)
{
	uint64_t now_ns = clock_now_ns(), max_ns = modules->opening_max_ns;

	if (mapping_is_of_memory(path))
		max_ns *= OPENING_OF_MEMORY;
	if (now_ns - modules->second_ns >= NS_PER_SECOND) {
		modules->second_ns = now_ns;
		modules->opening_ns = 0;
	}
	return file_locator_may_find_later(modules->locator) && modules->opening_ns > max_ns;
}

static struct located_file module_open_file(struct modules *modules, pid_t pid,
					    const struct mapping *mapping, const char *path,
					    bool deleted)
{
	uint64_t begin_ns = clock_now_ns();
	struct located_file finding = file_locator_open(modules->locator, pid, mapping, path,
							deleted);

	modules->opening_ns += clock_now_ns() - begin_ns;
	return finding;
}

/* Adds a module whose file is opened only when it gets a sample. */
static module_id add_closed(struct modules *modules, const struct mapping *mapping,
			    const char *path, size_t path_len, bool deleted)
{
	module_id id = module_add(modules, MODULE_FILE, path, path_len);
	struct module_entry *entry = modules->entries[id];

	entry->mapping = *mapping;
	entry->is_deleted = deleted;
	entry->is_closed = true;
	entry->module.problem = "too many files were mapped to open all of them";
	return id;
}

static module_id module_new_file(struct modules *modules, pid_t pid, const struct mapping *mapping,
				 size_t path_len, bool deleted)
{
	CLEANUP(free_ptr) char *path = xstrndup(mapping->path, path_len);
	bool is_deferred = is_storm(modules, path);
	struct located_file finding = {0};
	module_id id;

	if (is_deferred && mapping_is_of_memory(path))
		return NO_PROGRAM;
	if (!is_deferred)
		finding = module_open_file(modules, pid, mapping, path, deleted);
	if (is_deferred) {
		id = add_closed(modules, mapping, path, path_len, deleted);
	} else if (!finding.elf && (mapping_is_of_memory(path) || (deleted && finding.no_elf))) {
		error_free(finding.error);
		id = NO_PROGRAM;
	} else {
		id = module_add_file(modules, mapping, path, path_len, deleted, &finding);
	}
	file_table_put(modules->files, mapping, bytes_of(path, path_len), id);
	return id;
}

/*
 * Opening can succeed later: the first process with the file may have ended
 * before it could be opened.
 */
static void retry(struct modules *modules, pid_t pid, const struct mapping *mapping, module_id id,
		  bool deleted)
{
	struct module_entry *entry = modules->entries[id];
	struct located_file finding;

	if (is_storm(modules, entry->module.path))
		return;
	finding = module_open_file(modules, pid, mapping, entry->module.path, deleted);
	entry->attempts_left--;
	error_free(finding.error);
	modules->missed_files += !finding.elf;
	if (!finding.elf)
		return;
	set_identity(modules, id, &finding);
	set_file(modules, id, finding.elf);
}

/* Returns the mapping of an entry's file in the process of `place`. */
static struct mapping mapping_of(const struct module_entry *entry, const struct mapping *place)
{
	struct mapping mapping = entry->mapping;

	mapping.start = place->start;
	mapping.end = place->end;
	mapping.offset = place->offset;
	mapping.path = entry->path;
	return mapping;
}

/*
 * Opens the file again. If the file was open before, it must be the same one.
 */
static void module_open_again(struct modules *modules, pid_t pid, const struct mapping *mapping,
			      module_id id)
{
	struct module_entry *entry = modules->entries[id];
	struct located_file finding;
	struct mapping now = mapping_of(entry, mapping);

	finding = module_open_file(modules, pid, &now, entry->path, entry->is_deleted);
	error_free(finding.error);
	if (finding.elf && !entry->file.inode)
		set_identity(modules, id, &finding);
	if (finding.elf && module_is_same_file(&finding.identity, &entry->file))
		set_file(modules, id, finding.elf);
	else
		elf_file_free(finding.elf);
}

/*
 * Also keeps the process's own name of the file, which may differ from prof's.
 */
static void keep_root(struct modules *modules, struct module_entry *entry, pid_t pid)
{
	entry->has_root = file_locator_keep_root(modules->locator, pid, &entry->root);
	if (entry->root >= 0)
		entry->root_name = file_locator_root_name(modules->locator, pid, entry->path);
}

/*
 * Returns the module of the file as it is now, or the old module if the file is
 * no longer a program.
 */
static module_id module_renew(struct modules *modules, pid_t pid, const struct mapping *mapping,
			      module_id id)
{
	const struct module_entry *entry = modules->entries[id];
	struct mapping now = mapping_of(entry, mapping);
	module_id new = module_new_file(modules, pid, &now, strlen(entry->path), entry->is_deleted);

	return new != NO_PROGRAM ? new : id;
}

/* Memory per module. */
enum { ENTRY_BYTES = sizeof(struct module_entry) + 3 * sizeof(struct idmap_entry) };

/* The name is in the table of files, too. */
static size_t bytes_of_entry(const struct module_entry *entry)
{
	return ENTRY_BYTES + 2 * strlen(entry->path) +
	       (entry->problem ? strlen(entry->problem) : 0);
}

/* Modules with samples stay in memory, so those of other users have a limit. */
static bool may_use(struct modules *modules, size_t bytes, uid_t user)
{
	uint32_t units, *used;

	if (user == 0 || user == geteuid())
		return true;
	units = (uint32_t)(bytes / USED_UNIT_BYTES) + 1;
	used = idmap_put(&modules->used, user, 0);
	if (*used == IDMAP_NONE)
		*used = 0;
	if (modules->all_used + units > ALL_USED_UNITS_MAX ||
	    (user != UNTRUSTED_USER_UNKNOWN && *used + units > USED_UNITS_MAX))
		return false;
	*used += units;
	modules->all_used += units;
	return true;
}

module_id modules_use(struct modules *modules, module_id id, pid_t pid, uid_t user,
		      const struct mapping *mapping)
{
	struct module_entry *entry = modules->entries[id];

	if (!entry->is_used && !may_use(modules, bytes_of_entry(entry), user))
		return MODULE_NONE;
	if (is_vdso(modules->entries[id]) && process_vdso_is_other(mapping))
		id = vdso_of_process(modules, pid, user, mapping);
	if (module_has_changed(modules->entries[id]))
		id = module_renew(modules, pid, mapping, id);
	entry = modules->entries[id];
	entry->is_used = true;
	if (!entry->has_root)
		keep_root(modules, entry, pid);
	if (entry->is_closed)
		module_open_again(modules, pid, mapping, id);
	return id;
}

/* --- JIT code --------------------------------------------------------------------------------- */

struct code_budget *modules_code_budget(struct modules *modules)
{
	return &modules->code_budget;
}

bool modules_find_jit_list(struct modules *modules, module_id id, struct jit_objects *objects,
			   uint64_t *vaddr)
{
	struct module_entry *entry = modules->entries[id];

	if (entry->module.kind == MODULE_FILE && entry->module.elf && !entry->has_searched_jit_list)
		entry->has_searched_jit_list = jit_objects_search(objects, entry->module.elf,
								  &entry->jit_list);
	*vaddr = entry->jit_list;
	return entry->has_searched_jit_list || !entry->module.elf;
}

static size_t object_bytes(const struct elf_file *elf)
{
	struct bytes contents = elf_file_contents(elf);

	return bytes_left(&contents);
}

static bool has_room_for_object(struct modules *modules, const struct elf_file *elf, uid_t user)
{
	const size_t bytes = object_bytes(elf);

	return bytes <= JIT_OBJECTS_BYTES_MAX - modules->jit_object_bytes &&
	       may_use(modules, ENTRY_BYTES + bytes, user);
}

module_id modules_add_jit_object(struct modules *modules, pid_t pid, uid_t user,
				 struct elf_file *elf)
{
	static const char path[] = "[jit]";
	struct module_entry *entry;
	module_id id;

	if (!has_room_for_object(modules, elf, user))
		return MODULE_NONE;
	modules->jit_object_bytes += object_bytes(elf);
	file_locator_bound(modules->locator, elf);
	id = module_add(modules, MODULE_JIT, path, sizeof(path) - 1);
	entry = modules->entries[id];
	entry->module.pid = pid;
	entry->module.elf = elf;
	entry->is_used = true;
	entry->is_untrusted = elf_file_is_untrusted(elf);
	return id;
}

/* A JIT compiler announces its jitdump by mapping it. */
static module_id new_jitdump(struct modules *modules, pid_t pid, const struct mapping *mapping,
			     size_t path_len)
{
	CLEANUP(free_ptr) char *path = xstrndup(mapping->path, path_len);
	struct jitdump *jitdump = NULL;
	module_id id = NO_PROGRAM;

	if (modules->jitdump_count < JITDUMPS_MAX)
		jitdump = file_locator_open_jitdump(modules->locator, pid, mapping, path,
						    &modules->code_budget, modules->has_other_time);
	if (jitdump) {
		id = module_add(modules, MODULE_JIT, path, path_len);
		modules->entries[id]->module.pid = pid;
		modules->entries[id]->module.jitdump = jitdump;
		modules->entries[id]->user = file_locator_user(modules->locator, pid);
		modules->jitdump_count++;
	}
	file_table_put(modules->files, mapping, bytes_of(path, path_len), id);
	return id;
}

/*
 * A claimed mapping may come from a process that has ended. The perf map would
 * then be that of another process.
 */
static module_id module_memory_of(struct modules *modules, pid_t pid, const struct mapping *mapping)
{
	return mapping->is_claimed ? modules_unknown(modules) : jit_of(modules, pid);
}

static module_id module_file_of(struct modules *modules, pid_t pid, const struct mapping *mapping)
{
	static const char suffix[] = " (deleted)";
	size_t len = strlen(mapping->path);
	size_t suffix_len = sizeof(suffix) - 1;
	bool deleted = len > suffix_len && strcmp(mapping->path + len - suffix_len, suffix) == 0;
	size_t path_len = deleted ? len - suffix_len : len;
	module_id id = file_table_get(modules->files, mapping, bytes_of(mapping->path, path_len));

	if (id == NO_PROGRAM)
		return module_memory_of(modules, pid, mapping);
	if (id == IDMAP_NONE && !mapping->is_claimed &&
	    jitdump_is_named(bytes_of(mapping->path, path_len)))
		id = new_jitdump(modules, pid, mapping, path_len);
	else if (id == IDMAP_NONE)
		id = module_new_file(modules, pid, mapping, path_len, deleted);
	else if (modules->entries[id]->attempts_left)
		retry(modules, pid, mapping, id, deleted);
	return id == NO_PROGRAM ? module_memory_of(modules, pid, mapping) : id;
}

module_id modules_of_mapping(struct modules *modules, pid_t pid, const struct mapping *mapping)
{
	const char *path = mapping->path;

	if (names_kernel_code(path))
		return kernel_code_of(modules, mapping);
	if (path[0] == '/' && !text_begins(path, "//anon"))
		return module_file_of(modules, pid, mapping);
	return module_memory_of(modules, pid, mapping);
}

/* --- Forgetting ------------------------------------------------------------------------------ */

static bool module_is_kept(const struct module_entry *entry, bool is_mapped)
{
	return is_mapped || entry->is_used ||
	       (entry->module.kind != MODULE_FILE && entry->module.kind != MODULE_JIT);
}

static void keep_open(struct open_files *files, const bool *kept)
{
	size_t count = 0;

	for (size_t i = 0; i < files->count; i++)
		if (kept[files->ids[files->first + i]])
			files->ids[count++] = files->ids[files->first + i];
	files->first = 0;
	files->count = count;
}

static void module_forget(struct modules *modules, module_id id)
{
	struct module_entry *entry = modules->entries[id];

	modules->text_bytes -= strlen(entry->path) + (entry->problem ? strlen(entry->problem) : 0);
	if (entry->module.elf)
		list_of(modules, entry)->open--;
	if (entry->module.jitdump)
		modules->jitdump_count--;
	if (entry->perf_map)
		modules->map_count--;
	module_clear(entry);
	GROW(modules->unused, modules->unused_count, modules->unused_room);
	modules->unused[modules->unused_count++] = id;
}

/* Rebuilds the indexes that contain forgotten modules. */
static void index_again(struct modules *modules)
{
	idmap_deinit(&modules->by_build_id);
	idmap_deinit(&modules->by_file);
	idmap_deinit(&modules->jits);
	for (module_id id = 0; id < modules->count; id++) {
		const struct module_entry *entry = modules->entries[id];

		if (entry->module.kind == MODULE_FILE)
			remember_file(modules, id);
		else if (entry->module.kind == MODULE_JIT && !entry->module.jitdump &&
			 !entry->module.elf)
			*idmap_put(&modules->jits, (uint64_t)entry->module.pid,
				   entry->generation) = id;
	}
}

void modules_keep(struct modules *modules, const uint32_t *mappings)
{
	CLEANUP(free_ptr) bool *kept = xcalloc(modules->count, sizeof(*kept));

	for (module_id id = 0; id < modules->count; id++)
		kept[id] = modules->entries[id]->path &&
			   module_is_kept(modules->entries[id], mappings[id]);
	keep_open(&modules->own, kept);
	keep_open(&modules->untrusted, kept);
	file_table_keep(modules->files, kept, modules->count);
	for (module_id id = 0; id < modules->count; id++)
		if (modules->entries[id]->path && !kept[id])
			module_forget(modules, id);
	index_again(modules);
}

void modules_release_files(const struct modules *modules)
{
	for (module_id id = 0; id < modules->count; id++)
		if (modules->entries[id]->module.elf)
			elf_file_release_all(modules->entries[id]->module.elf);
}

size_t modules_idle_bytes(const struct modules *modules, module_id id)
{
	const struct module_entry *entry = modules->entries[id];

	if (!entry->path || module_is_kept(entry, false))
		return 0;
	return bytes_of_entry(entry);
}

size_t modules_bytes(const struct modules *modules)
{
	return (modules->count - modules->unused_count) * ENTRY_BYTES + modules->text_bytes +
	       file_table_bytes(modules->files);
}
