#include "proc/module.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "proc/finder.h"

/* In the table of files: looked into, and it is a process's own memory rather than a program. */
#define NO_PROGRAM (IDMAP_NONE - 1)

/* How often a file that cannot be opened is tried. */
enum { ATTEMPTS = 16 };

struct entry {
	struct module module;
	unsigned attempts_left; /* 0: opened, or known not to be an ELF file */
};

struct modules {
	struct finder *finder;
	struct arena arena; /* entries and problems */
	struct strtab *paths;
	struct entry **entries;
	uint32_t count, room;
	struct idmap by_build_id;
	struct idmap by_inode;
	struct idmap by_path;
	struct idmap jits;   /* by pid */
	struct idmap others; /* by kind and path: what there is one of */
};

static struct modules *modules_new_with(struct finder *finder)
{
	struct modules *modules = xcalloc(1, sizeof(*modules));

	modules->finder = finder;
	modules->paths = strtab_new();
	return modules;
}

struct modules *modules_new(const char *proc)
{
	return modules_new_with(finder_new(proc));
}

struct modules *modules_new_recorded(const struct recorded_files *files)
{
	return modules_new_with(finder_new_recorded(files));
}

void modules_free(struct modules *modules)
{
	if (!modules)
		return;
	for (uint32_t i = 0; i < modules->count; i++)
		image_free(modules->entries[i]->module.image);
	free(modules->entries);
	finder_free(modules->finder);
	strtab_free(modules->paths);
	arena_deinit(&modules->arena);
	idmap_deinit(&modules->by_build_id);
	idmap_deinit(&modules->by_inode);
	idmap_deinit(&modules->by_path);
	idmap_deinit(&modules->jits);
	idmap_deinit(&modules->others);
	free(modules);
}

uint32_t modules_count(const struct modules *modules)
{
	return modules->count;
}

const struct module *modules_get(const struct modules *modules, module_id id)
{
	return &modules->entries[id]->module;
}

static struct entry *add(struct modules *modules, enum module_kind kind, string_id path)
{
	struct entry *entry = arena_alloc(&modules->arena, sizeof(*entry));

	*entry = (struct entry){
		.module = {.kind = kind, .path = strtab_get(modules->paths, path)},
	};
	GROW(modules->entries, modules->count, modules->room);
	modules->entries[modules->count++] = entry;
	return entry;
}

/* Takes err. */
static void set_problem(struct modules *modules, struct entry *entry, struct error *err)
{
	const char *text = error_text(err);

	entry->module.problem = arena_strndup(&modules->arena, text, strlen(text));
	error_free(err);
}

/* What there is one of: the kernel, parts of it in a process. */
static module_id the_one(struct modules *modules, enum module_kind kind, const char *path)
{
	string_id name = strtab_add(modules->paths, path);
	uint32_t *id = idmap_put(&modules->others, name, kind);

	if (*id == IDMAP_NONE) {
		*id = modules->count;
		add(modules, kind, name);
	}
	return *id;
}

/* The vdso, and what has no image. */
static module_id kernel_code_of(struct modules *modules, const struct mapping *mapping)
{
	module_id id = the_one(modules, MODULE_VDSO, mapping->path);
	struct entry *entry = modules->entries[id];
	struct finding finding;

	if (entry->module.image || entry->module.problem || strcmp(mapping->path, "[vdso]") != 0)
		return id;
	finding = finder_open_vdso(modules->finder, mapping);
	entry->module.image = finding.image;
	if (finding.error)
		set_problem(modules, entry, finding.error);
	return id;
}

module_id modules_kernel(struct modules *modules)
{
	return the_one(modules, MODULE_KERNEL, "[kernel.kallsyms]");
}

module_id modules_unknown(struct modules *modules)
{
	return the_one(modules, MODULE_UNKNOWN, "[unknown]");
}

static module_id jit_of(struct modules *modules, pid_t pid)
{
	uint32_t *id = idmap_put(&modules->jits, (uint64_t)pid, 0);

	if (*id == IDMAP_NONE) {
		*id = modules->count;
		add(modules, MODULE_JIT, strtab_add(modules->paths, "[jit]"))->module.pid = pid;
	}
	return *id;
}

static bool starts_with(const char *str, const char *prefix)
{
	return strncmp(str, prefix, strlen(prefix)) == 0;
}

/* Names the kernel gives to memory that is shared, but has never been a file. */
static bool names_shared_memory(const char *path)
{
	static const char *const prefixes[] = {"/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (starts_with(path, prefixes[i]))
			return true;
	return false;
}

/* "[vsyscall]", but not the kernel's names for ordinary memory: [heap], [stack], [anon:name]. */
static bool names_kernel_code(const char *path)
{
	return path[0] == '[' && !starts_with(path, "[heap") && !starts_with(path, "[stack") &&
	       !starts_with(path, "[anon");
}

static uint32_t build_id_get(const struct modules *modules, const struct build_id *id)
{
	uint64_t head = 0;

	memcpy(&head, id->bytes, id->len < sizeof(head) ? id->len : sizeof(head));
	return idmap_get(&modules->by_build_id, head, hash_bytes(id->bytes, id->len));
}

static void build_id_put(struct modules *modules, const struct build_id *id, module_id module)
{
	uint64_t head = 0;

	memcpy(&head, id->bytes, id->len < sizeof(head) ? id->len : sizeof(head));
	*idmap_put(&modules->by_build_id, head, hash_bytes(id->bytes, id->len)) = module;
}

static uint32_t inode_subkey(const struct mapping *mapping, string_id path)
{
	uint64_t device = (uint64_t)mapping->device_major << 32 | mapping->device_minor;

	return (uint32_t)hash_mix(device, path);
}

/* IDMAP_NONE: a file that is not known yet. */
static uint32_t known_file(const struct modules *modules, const struct mapping *mapping,
			   string_id path)
{
	if (mapping->build_id.len)
		return build_id_get(modules, &mapping->build_id);
	if (mapping->inode)
		return idmap_get(&modules->by_inode, mapping->inode, inode_subkey(mapping, path));
	return idmap_get(&modules->by_path, path, 0);
}

static void remember_file(struct modules *modules, const struct mapping *mapping, string_id path,
			  uint32_t id)
{
	if (mapping->build_id.len)
		build_id_put(modules, &mapping->build_id, id);
	else if (mapping->inode)
		*idmap_put(&modules->by_inode, mapping->inode, inode_subkey(mapping, path)) = id;
	else
		*idmap_put(&modules->by_path, path, 0) = id;
}

/* Takes what was found; the image may turn out to be a module that we have already. */
static module_id add_file(struct modules *modules, string_id path, struct finding *finding)
{
	CLEANUP(image_cleanup) struct image *image = STEAL(finding->image);
	const struct build_id *build_id = image ? image_build_id(image) : NULL;
	module_id id = modules->count;
	struct entry *entry;

	if (build_id && build_id->len) {
		module_id known = build_id_get(modules, build_id);

		if (known < modules->count)
			return known;
		build_id_put(modules, build_id, id);
	}
	entry = add(modules, MODULE_FILE, path);
	entry->module.image = STEAL(image);
	if (finding->error)
		set_problem(modules, entry, STEAL(finding->error));
	if (!entry->module.image && !finding->no_elf && finder_may_find_later(modules->finder))
		entry->attempts_left = ATTEMPTS - 1;
	return id;
}

static module_id new_file(struct modules *modules, pid_t pid, const struct mapping *mapping,
			  string_id path, bool deleted)
{
	const char *name = strtab_get(modules->paths, path);
	struct finding finding = finder_open(modules->finder, pid, mapping, name, deleted);
	uint32_t id;

	if (!finding.image && (names_shared_memory(name) || (deleted && finding.no_elf))) {
		error_free(finding.error);
		id = NO_PROGRAM;
	} else {
		id = add_file(modules, path, &finding);
	}
	remember_file(modules, mapping, path, id);
	return id;
}

/* The process that was seen first may have been gone before its file could be opened. */
static void retry(struct modules *modules, pid_t pid, const struct mapping *mapping,
		  struct entry *entry, bool deleted)
{
	struct finding finding = finder_open(modules->finder, pid, mapping, entry->module.path,
					     deleted);

	entry->attempts_left--;
	error_free(finding.error);
	if (!finding.image)
		return;
	entry->module.image = finding.image;
	entry->module.problem = NULL;
	entry->attempts_left = 0;
}

static module_id file_of(struct modules *modules, pid_t pid, const struct mapping *mapping)
{
	static const char suffix[] = " (deleted)";
	size_t len = strlen(mapping->path);
	size_t suffix_len = sizeof(suffix) - 1;
	bool deleted = len > suffix_len && strcmp(mapping->path + len - suffix_len, suffix) == 0;
	string_id path = strtab_add_len(modules->paths, mapping->path,
					deleted ? len - suffix_len : len);
	uint32_t id = known_file(modules, mapping, path);

	if (id == IDMAP_NONE)
		id = new_file(modules, pid, mapping, path, deleted);
	else if (id != NO_PROGRAM && modules->entries[id]->attempts_left)
		retry(modules, pid, mapping, modules->entries[id], deleted);
	return id == NO_PROGRAM ? jit_of(modules, pid) : id;
}

module_id modules_of_mapping(struct modules *modules, pid_t pid, const struct mapping *mapping)
{
	const char *path = mapping->path;

	if (names_kernel_code(path))
		return kernel_code_of(modules, mapping);
	if (path[0] == '/' && !starts_with(path, "//anon"))
		return file_of(modules, pid, mapping);
	return jit_of(modules, pid);
}
