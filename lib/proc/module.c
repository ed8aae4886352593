#include "proc/module.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "proc/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* In the table of files: looked into, and it is a process's own memory rather than a program. */
#define NO_PROGRAM (IDMAP_NONE - 1)

/* How often a file that cannot be opened is tried. */
enum { ATTEMPTS = 16 };

struct entry {
	struct module module;
	unsigned attempts_left; /* 0: opened, or known not to be an ELF file */
};

struct modules {
	char *proc;
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

/* What became of an attempt to open a file. */
struct attempt {
	struct image *image; /* NULL: see error */
	struct error *error;
	bool no_elf; /* the right file, and nothing in it for us */
};

struct modules *modules_new(const char *proc)
{
	struct modules *modules = xcalloc(1, sizeof(*modules));

	modules->proc = xstrdup(proc);
	modules->paths = strtab_new();
	return modules;
}

void modules_free(struct modules *modules)
{
	if (!modules)
		return;
	for (uint32_t i = 0; i < modules->count; i++)
		image_free(modules->entries[i]->module.image);
	free(modules->entries);
	free(modules->proc);
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

/* Our own copy serves all processes: they run the same kernel. */
static struct error *open_vdso(struct image **ret)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	size_t len;
	CLEANUP(free_ptr) char *text = maps_load("/proc", getpid(), &len);
	struct maps maps = {.rest = bytes_of(text, len)};
	struct mapping mapping;

	while (maps_next(&maps, &mapping))
		if (mapping.start == start)
			return image_from_memory((const void *)(uintptr_t)start,
						 mapping.end - start, "[vdso]", ret);
	return error_new("prof itself runs without a vdso");
}

/* What there is one of: the kernel, the vdso, other parts of the kernel in a process. */
static module_id the_one(struct modules *modules, enum module_kind kind, const char *path)
{
	string_id name = strtab_add(modules->paths, path);
	uint32_t *id = idmap_put(&modules->others, name, kind);
	struct entry *entry;

	if (*id != IDMAP_NONE)
		return *id;
	*id = modules->count;
	entry = add(modules, kind, name);
	if (kind == MODULE_VDSO && strcmp(path, "[vdso]") == 0) {
		struct error *err = open_vdso(&entry->module.image);

		if (err)
			set_problem(modules, entry, err);
	}
	return modules->count - 1;
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

static struct error *another_file(const char *name)
{
	return error_new("%s is another file than the mapped one", name);
}

/*
 * A descriptor of name if it is a regular file and may be the mapped one. Looks before it opens:
 * a process may map files under any name in its own mount namespace, and opening a device of that
 * name in ours can do things.
 */
static struct error *open_same(const char *name, const struct mapping *mapping, int *ret,
			       bool *same_device)
{
	CLEANUP(close_fd) int at = open(name, O_PATH | O_CLOEXEC);
	char again[32];
	struct stat st;

	if (at < 0 || fstat(at, &st) < 0)
		return error_errno(errno, "open %s", name);
	if (!S_ISREG(st.st_mode))
		return error_new("%s is no regular file", name);
	if (!mapping->build_id.len && mapping->inode && st.st_ino != mapping->inode)
		return another_file(name);
	*same_device = st.st_dev == makedev(mapping->device_major, mapping->device_minor);
	snprintf(again, sizeof(again), "/proc/self/fd/%d", at);
	*ret = open(again, O_RDONLY | O_CLOEXEC);
	return *ret < 0 ? error_errno(errno, "open %s", name) : NULL;
}

static bool is_piece_of(const struct mapping *mapping, const struct image *image)
{
	uint64_t len = mapping->end - mapping->start;
	uint64_t first, last;

	return image_offset_to_vaddr(image, mapping->offset, &first) &&
	       image_offset_to_vaddr(image, mapping->offset + len - 1, &last) &&
	       last - first == len - 1;
}

/* path: what the image is called; name: where it is opened. */
static struct attempt try_name(const char *name, const struct mapping *mapping, const char *path)
{
	CLEANUP(image_cleanup) struct image *image = NULL;
	struct attempt attempt = {0};
	bool same_device = false;
	bool same;
	int fd = -1;

	attempt.error = open_same(name, mapping, &fd, &same_device);
	if (attempt.error)
		return attempt;
	attempt.error = image_open(fd, path, &image);
	if (attempt.error) {
		attempt.no_elf = true;
		return attempt;
	}
	if (mapping->build_id.len)
		same = build_id_equal(image_build_id(image), &mapping->build_id);
	else
		same = !mapping->inode || same_device || is_piece_of(mapping, image);
	if (same)
		attempt.image = STEAL(image);
	else
		attempt.error = another_file(name);
	return attempt;
}

static struct attempt open_file(const struct modules *modules, pid_t pid,
				const struct mapping *mapping, const char *path, bool deleted)
{
	char *names[] = {
		xasprintf("%s/%d/exe", modules->proc, (int)pid),
		xasprintf("%s/%d/map_files/%jx-%jx", modules->proc, (int)pid,
			  (uintmax_t)mapping->start, (uintmax_t)mapping->end),
		xasprintf("%s/%d/root%s", modules->proc, (int)pid, path),
		xstrdup(path),
	};
	/* The name of a deleted file is another file's by now; only a build-id could tell. */
	size_t first = deleted ? 0 : 1;
	size_t last = deleted && !mapping->build_id.len ? 2 : ARRAY_SIZE(names);
	struct attempt attempt = {0};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (i >= first && i < last && !attempt.image && !attempt.no_elf) {
			error_free(attempt.error);
			attempt = try_name(names[i], mapping, path);
		}
		free(names[i]);
	}
	if (deleted)
		attempt.error = error_wrap(attempt.error, "%s was deleted", path);
	return attempt;
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

/* Takes what the attempt brought; the image may turn out to be a module that we have already. */
static module_id add_file(struct modules *modules, string_id path, struct attempt *attempt)
{
	CLEANUP(image_cleanup) struct image *image = STEAL(attempt->image);
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
	if (attempt->error)
		set_problem(modules, entry, STEAL(attempt->error));
	if (!entry->module.image && !attempt->no_elf)
		entry->attempts_left = ATTEMPTS - 1;
	return id;
}

static module_id new_file(struct modules *modules, pid_t pid, const struct mapping *mapping,
			  string_id path, bool deleted)
{
	const char *name = strtab_get(modules->paths, path);
	struct attempt attempt = open_file(modules, pid, mapping, name, deleted);
	uint32_t id;

	if (!attempt.image && (names_shared_memory(name) || (deleted && attempt.no_elf))) {
		error_free(attempt.error);
		id = NO_PROGRAM;
	} else {
		id = add_file(modules, path, &attempt);
	}
	remember_file(modules, mapping, path, id);
	return id;
}

/* The process that was seen first may have been gone before its file could be opened. */
static void retry(struct modules *modules, pid_t pid, const struct mapping *mapping,
		  struct entry *entry, bool deleted)
{
	struct attempt attempt = open_file(modules, pid, mapping, entry->module.path, deleted);

	entry->attempts_left--;
	error_free(attempt.error);
	if (!attempt.image)
		return;
	entry->module.image = attempt.image;
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
		return the_one(modules, MODULE_VDSO, path);
	if (path[0] == '/' && !starts_with(path, "//anon"))
		return file_of(modules, pid, mapping);
	return jit_of(modules, pid);
}
