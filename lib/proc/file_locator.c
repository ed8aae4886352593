#include "proc/file_locator.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/timed_open.h"
#include "proc/jit_map.h"
#include "proc/maps.h"
#include "proc/process_links.h"
#include "proc/process_root.h"
#include "proc/process_vdso.h"
#include "proc/timed_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

/*
 * Containers whose roots stay open, so that debug files are found after their
 * processes have ended.
 */
enum { ROOTS_MAX = 64 };

/* The number of descriptors of a process that are searched. */
enum { DESCRIPTORS_MAX = 1024 };

struct kept_root {
	uint64_t device, inode;
	int fd;
};

struct file_locator {
	char *proc; /* NULL for a recording */
	char *symfs, *debug_dir, *cache_dir;
	uid_t writer; /* who wrote the recording; 0 if it is trusted */
	bool same_kernel;
	struct unpack_budget *unpack_budget; /* shared by all files that it has opened */
	struct timed_caller *caller;
	struct timed_caller *memory_reader; /* for vdsos */
	struct kept_root roots[ROOTS_MAX];
	unsigned root_count;
};

static char *file_locator_copy_of(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static char *usual_cache(void)
{
	const char *home = getenv("HOME");

	return home ? xasprintf("%s/.debug", home) : NULL;
}

static struct file_locator *locator_new(void)
{
	struct file_locator *locator = xcalloc(1, sizeof(*locator));

	locator->unpack_budget = xmalloc(sizeof(*locator->unpack_budget));
	unpack_budget_init(locator->unpack_budget);
	locator->caller = timed_caller_new();
	locator->memory_reader = timed_memory_caller_new();
	return locator;
}

struct file_locator *file_locator_new(const char *proc)
{
	struct file_locator *locator = locator_new();

	locator->proc = xstrdup(proc);
	locator->debug_dir = xstrdup(DEBUG_DIR);
	locator->same_kernel = true;
	return locator;
}

struct file_locator *file_locator_new_recorded(const struct recorded_files *files)
{
	struct file_locator *locator = locator_new();

	locator->symfs = file_locator_copy_of(files->symfs);
	locator->debug_dir = xstrdup(files->debug_dir ? files->debug_dir : DEBUG_DIR);
	locator->cache_dir = files->cache_dir ? xstrdup(files->cache_dir) : usual_cache();
	locator->writer = files->writer;
	locator->same_kernel = files->same_kernel;
	return locator;
}

void file_locator_free(struct file_locator *locator)
{
	if (!locator)
		return;
	free(locator->proc);
	free(locator->symfs);
	free(locator->debug_dir);
	free(locator->cache_dir);
	free(locator->unpack_budget);
	timed_caller_free(locator->caller);
	timed_caller_free(locator->memory_reader);
	while (locator->root_count)
		close(locator->roots[--locator->root_count].fd);
	free(locator);
}

void file_locator_set_debug_dir(struct file_locator *locator, const char *debug_dir)
{
	free(locator->debug_dir);
	locator->debug_dir = xstrdup(debug_dir);
}

void file_locator_bound(const struct file_locator *locator, struct elf_file *elf)
{
	elf_file_set_budget(elf, locator->unpack_budget);
}

bool file_locator_may_find_later(const struct file_locator *locator)
{
	return locator->proc;
}

/*
 * One candidate, and what was found there. It owns copies, because it can
 * outlive its locator.
 */
struct attempt {
	struct timed_call call;
	bool is_live;
	uid_t user;		/* as in struct untrusted_name */
	char *root, *name;	/* as in struct untrusted_name */
	char *path;		/* path of the ELF file */
	struct mapping mapping; /* without its path */
	bool same_device;
	struct located_file finding;
};

static struct error *another_file(const struct attempt *attempt)
{
	return error_new("%s%s is another file than the %s one", attempt->root ? attempt->root : "",
			 attempt->name, attempt->is_live ? "mapped" : "recorded");
}

static struct error *cannot_open(const struct attempt *attempt)
{
	const char *root = attempt->root ? attempt->root : "";

	if (errno == EINVAL)
		return error_new("%s%s is not a regular file", root, attempt->name);
	return error_errno(errno, "open %s%s", root, attempt->name);
}

static struct file_identity identify(int fd)
{
	struct statfs system;
	struct stat st;

	if (fstat(fd, &st) < 0 || fstatfs(fd, &system) < 0)
		return (struct file_identity){.is_shared = true};
	return (struct file_identity){
		.device = st.st_dev,
		.inode = st.st_ino,
		.size_bytes = (uint64_t)st.st_size,
		.modified_ns = (uint64_t)st.st_mtim.tv_sec * NS_PER_SECOND +
			       (uint64_t)st.st_mtim.tv_nsec,
		.owner = st.st_uid,
		.is_shared = st.st_mode & (S_IWGRP | S_IWOTH),
		.is_overlay = (uint32_t)system.f_type == OVERLAYFS_SUPER_MAGIC,
	};
}

/* Opens a file if it can be the mapped one. */
static struct error *open_same(struct attempt *attempt, int *ret)
{
	const struct mapping *mapping = &attempt->mapping;
	struct file_identity *file = &attempt->finding.identity;
	CLEANUP(close_fd)
	int fd = untrusted_file_open(&(struct untrusted_name){
		.root = attempt->root, .path = attempt->name, .user = attempt->user});

	if (fd < 0)
		return cannot_open(attempt);
	*file = identify(fd);
	if (attempt->is_live && !mapping->build_id.len && mapping->inode &&
	    file->inode != mapping->inode)
		return another_file(attempt);
	attempt->same_device = file->device ==
			       makedev(mapping->device_major, mapping->device_minor);
	*ret = steal_fd(&fd);
	return NULL;
}

/*
 * The kernel reserves the whole address range of a program by mapping its first
 * segment with that length.
 */
static bool is_start_of(const struct mapping *mapping, const struct elf_file *elf)
{
	unsigned count;
	const struct elf_file_segment *first = elf_file_segments(elf, &count);

	return count && first->executable && first->offset == mapping->offset;
}

static bool is_piece_of(const struct mapping *mapping, const struct elf_file *elf)
{
	uint64_t len = mapping->end - mapping->start;
	uint64_t first, last;

	if (is_start_of(mapping, elf))
		return true;
	return elf_file_offset_to_vaddr(elf, mapping->offset, &first) &&
	       elf_file_offset_to_vaddr(elf, mapping->offset + len - 1, &last) &&
	       last - first == len - 1;
}

/*
 * A data mapping can start inside a segment and be shorter, because mprotect(2)
 * splits mappings.
 */
static bool is_data_of(const struct mapping *mapping, const struct elf_file *elf)
{
	const uint64_t page = (uint64_t)getpagesize();
	unsigned count;
	const struct elf_file_segment *segments = elf_file_segments(elf, &count);

	for (unsigned i = 0; mapping->is_data && i < count; i++) {
		uint64_t head = segments[i].offset % page;
		uint64_t at = mapping->offset - (segments[i].offset - head);
		uint64_t left = (head + segments[i].file_bytes + page - 1) / page * page - at;

		if (at <= head + segments[i].file_bytes && mapping->end - mapping->start <= left)
			return true;
	}
	return false;
}

static bool file_locator_is_mapped(const struct attempt *attempt, const struct elf_file *elf)
{
	const struct mapping *mapping = &attempt->mapping;

	if (mapping->build_id.len)
		return build_id_equal(elf_file_build_id(elf), &mapping->build_id);
	if (attempt->is_live && (!mapping->inode || attempt->same_device))
		return true;
	return is_piece_of(mapping, elf) || is_data_of(mapping, elf);
}

static void run_attempt(struct timed_call *call)
{
	struct attempt *attempt = (struct attempt *)call;
	struct located_file *finding = &attempt->finding;
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
	int fd = -1;

	finding->error = open_same(attempt, &fd);
	if (finding->error)
		return;
	finding->error = elf_file_open(fd, attempt->path, &elf);
	if (finding->error)
		finding->no_elf = true;
	else if (file_locator_is_mapped(attempt, elf))
		finding->elf = STEAL(elf);
	else
		finding->error = another_file(attempt);
}

static void discard_attempt(struct timed_call *call)
{
	struct attempt *attempt = (struct attempt *)call;

	elf_file_free(attempt->finding.elf);
	error_free(attempt->finding.error);
	free(attempt->root);
	free(attempt->name);
	free(attempt->path);
	free(attempt);
}

/* The mapping whose file is searched, and how. */
struct file_locator_search {
	const struct file_locator *locator;
	const struct mapping *mapping;
	const char *path; /* path of the ELF file */
	uid_t opener;	  /* whose privileges to use; UNTRUSTED_USER_UNKNOWN for prof's own */
	uint64_t user;	  /* Who may be able to make the file system hang: see timed_call.h. */
};

/*
 * Takes ownership of root and name. A file that the kernel reports to be on a
 * disk is opened on this thread, because disks answer and a switch to another
 * thread is slower than opening.
 */
static struct located_file try_name(const struct file_locator_search *search, char *root,
				    char *name, bool is_on_disk)
{
	CLEANUP(free_ptr) char *shown = xasprintf("%s%s", root ? root : "", name);
	struct attempt *attempt = xcalloc(1, sizeof(*attempt));
	struct located_file finding;

	*attempt = (struct attempt){
		.call = {.run = run_attempt, .discard = discard_attempt, .place = search->user},
		.is_live = search->locator->proc,
		.user = search->opener,
		.root = root,
		.name = name,
		.path = xstrdup(search->path),
		.mapping = *search->mapping,
	};
	attempt->mapping.path = NULL;
	if (is_on_disk)
		run_attempt(&attempt->call);
	else if (!timed_caller_run(search->locator->caller, &attempt->call))
		return (struct located_file){
			.error = error_new("the file system of %s does not answer", shown)};
	finding = attempt->finding;
	if (finding.elf)
		elf_file_set_budget(finding.elf, search->locator->unpack_budget);
	attempt->finding = (struct located_file){0};
	discard_attempt(&attempt->call);
	return finding;
}

/*
 * Skips this if the file was already found, or is known not to be an ELF file.
 * Takes ownership of root and name.
 */
static void try_next(const struct file_locator_search *search, char *root, char *name,
		     bool is_on_disk, struct located_file *finding)
{
	if (!name || finding->elf || finding->no_elf) {
		free(root);
		free(name);
		return;
	}
	error_free(finding->error);
	*finding = try_name(search, root, name, is_on_disk);
}

/*
 * For root's processes, the device identifies who may be able to make a read
 * hang.
 */
static uint64_t file_locator_user_of(const char *proc, pid_t pid, const struct mapping *mapping)
{
	const uint64_t device = makedev(mapping->device_major, mapping->device_minor);
	CLEANUP(free_ptr) char *path = xasprintf("%s/%d", proc, (int)pid);
	struct stat st;

	return stat(path, &st) == 0 && st.st_uid ? st.st_uid : device << 32;
}

/*
 * Keeps the error of earlier attempts, because their names are more
 * informative. Takes ownership of name.
 */
static void try_link(const struct file_locator_search *search, char *name,
		     struct located_file *finding)
{
	struct located_file found;

	if (finding->elf || finding->no_elf) {
		free(name);
		return;
	}
	found = try_name(search, NULL, name, false);
	if (found.elf || found.no_elf) {
		error_free(finding->error);
		*finding = found;
	} else {
		error_free(found.error);
	}
}

/*
 * Returns whether a descriptor of a process refers to a deleted file with this
 * path.
 */
static bool is_link_to(int directory, const char *name, const char *path)
{
	static const char suffix[] = " (deleted)";
	char target[PATH_MAX];
	ssize_t len = readlinkat(directory, name, target, sizeof(target));
	size_t path_len = strlen(path), whole = path_len + sizeof(suffix) - 1;

	return len == (ssize_t)whole && memcmp(target, path, path_len) == 0 &&
	       memcmp(target + path_len, suffix, sizeof(suffix) - 1) == 0;
}

/* Tries deleted files and memfds that the process has open. */
static void try_descriptors(const struct file_locator_search *search, const char *links,
			    struct located_file *finding)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/fd", links);
	DIR *directory = finding->elf || finding->no_elf ? NULL : opendir(path);
	const struct dirent *entry = directory ? readdir(directory) : NULL;

	for (unsigned i = 0; entry && !finding->elf && i < DESCRIPTORS_MAX; i++) {
		if (is_link_to(dirfd(directory), entry->d_name, search->path))
			try_link(search, xasprintf("%s/%s", path, entry->d_name), finding);
		entry = readdir(directory);
	}
	if (directory)
		closedir(directory);
}

/* Tries the path in the process's root and in prof's. */
static void try_paths(const struct file_locator_search *search, pid_t pid, const char *links,
		      struct located_file *finding)
{
	char *inner = process_root_name(search->locator->proc, pid, search->path);
	bool is_other = strcmp(inner, search->path) != 0;

	try_next(search, xasprintf("%s/root", links), inner, false, finding);
	if (is_other)
		try_next(search, xasprintf("%s/root", links), xstrdup(search->path), false,
			 finding);
	try_next(search, NULL, xstrdup(search->path), false, finding);
}

static struct located_file find_live(const struct file_locator *locator, pid_t pid,
				     const struct mapping *mapping, const char *path, bool deleted)
{
	const bool is_on_disk = mapping->device_major;
	const struct file_locator_search search = {
		.locator = locator,
		.mapping = mapping,
		.path = path,
		.opener = UNTRUSTED_USER_UNKNOWN,
		.user = is_on_disk ? 0 : file_locator_user_of(locator->proc, pid, mapping),
	};
	CLEANUP(free_ptr) char *links = process_links(locator->proc, pid);
	CLEANUP(free_ptr) char *program = xasprintf("%s/exe", links);
	struct located_file finding = {0};

	if (deleted)
		try_next(&search, NULL, xstrdup(program), false, &finding);
	try_next(&search, NULL,
		 xasprintf("%s/%d/map_files/%jx-%jx", locator->proc, (int)pid,
			   (uintmax_t)mapping->start, (uintmax_t)mapping->end),
		 is_on_disk, &finding);
	/*
	 * By now, the path of a deleted file can belong to another file. Only a
	 * build-id can distinguish them.
	 */
	if (!deleted || mapping->build_id.len)
		try_paths(&search, pid, links, &finding);
	if (!deleted && (mapping->inode || mapping->build_id.len))
		try_link(&search, xstrdup(program), &finding);
	if (deleted)
		try_descriptors(&search, links, &finding);
	return finding;
}

/* Returns DIR/.build-id/ab/cdef…, or NULL without a directory. */
static char *by_build_id(const char *dir, const struct build_id *id, const char *behind)
{
	char hex[BUILD_ID_HEX_BYTES];

	if (!dir || id->len < 2)
		return NULL;
	build_id_hex(id, hex);
	return xasprintf("%s/.build-id/%.2s/%s%s", dir, hex, hex + 2, behind);
}

/* Tries further candidates for a file with a known build-id. */
static struct located_file file_locator_find_by_build_id(const struct file_locator_search *search)
{
	const struct file_locator *locator = search->locator;
	const struct build_id *id = &search->mapping->build_id;
	struct located_file finding = {0};

	if (locator->symfs) {
		try_next(search, NULL,
			 xasprintf("%s%s", locator->symfs, strrchr(search->path, '/')), false,
			 &finding);
		try_next(search, NULL, by_build_id(locator->symfs, id, ""), false, &finding);
		try_next(search, NULL, by_build_id(locator->symfs, id, "/elf"), false, &finding);
	}
	try_next(search, NULL, by_build_id(locator->debug_dir, id, ""), false, &finding);
	try_next(search, NULL, by_build_id(locator->debug_dir, id, "/elf"), false, &finding);
	try_next(search, NULL, by_build_id(locator->cache_dir, id, "/elf"), false, &finding);
	return finding;
}

static uid_t writer_of(const struct file_locator *locator)
{
	return locator->writer ? locator->writer : UNTRUSTED_USER_UNKNOWN;
}

/* If no file is found, the error is that of the file's own path. */
static struct located_file find_recorded(const struct file_locator *locator,
					 const struct mapping *mapping, const char *path,
					 bool deleted)
{
	const char *symfs = locator->symfs ? locator->symfs : "";
	struct file_locator_search search = {
		.locator = locator,
		.mapping = mapping,
		.path = path,
		.opener = writer_of(locator),
	};
	struct located_file finding = {0};
	struct located_file elsewhere;

	if (!deleted || mapping->build_id.len)
		try_next(&search, NULL, xasprintf("%s%s", symfs, path), false, &finding);
	if (finding.elf || !mapping->build_id.len)
		return finding;
	/*
	 * These are in the caller's directories, under names that do not come
	 * from the recording.
	 */
	search.opener = UNTRUSTED_USER_UNKNOWN;
	elsewhere = file_locator_find_by_build_id(&search);
	/*
	 * The mapped file was an ELF file, even if something else replaced it.
	 */
	finding.no_elf = false;
	error_free(elsewhere.elf ? finding.error : elsewhere.error);
	return elsewhere.elf ? elsewhere : finding;
}

/*
 * Searches by name only, because the links in /proc refer to what the process
 * has really mapped.
 */
static struct located_file find_claimed(const struct file_locator *locator, pid_t pid,
					const struct mapping *mapping, const char *path,
					bool deleted)
{
	const struct file_locator_search search = {
		.locator = locator,
		.mapping = mapping,
		.path = path,
		.opener = mapping->claimant,
		.user = mapping->claimant,
	};
	CLEANUP(free_ptr) char *links = process_links(locator->proc, pid);
	struct located_file finding = {0};

	if (!mapping->inode)
		return (struct located_file){.error = error_new("%s has no inode", path)};
	if (!deleted)
		try_paths(&search, pid, links, &finding);
	return finding;
}

static struct located_file file_locator_find(const struct file_locator *locator, pid_t pid,
					     const struct mapping *mapping, const char *path,
					     bool deleted)
{
	if (!locator->proc)
		return find_recorded(locator, mapping, path, deleted);
	return mapping->is_claimed ? find_claimed(locator, pid, mapping, path, deleted)
				   : find_live(locator, pid, mapping, path, deleted);
}

struct located_file file_locator_open(const struct file_locator *locator, pid_t pid,
				      const struct mapping *mapping, const char *path, bool deleted)
{
	struct located_file finding = file_locator_find(locator, pid, mapping, path, deleted);

	if (!finding.elf && !finding.error)
		finding.error = error_new("%s was deleted", path);
	else if (deleted)
		finding.error = error_wrap(finding.error, "%s was deleted", path);
	return finding;
}

/* All processes of the same kernel can use prof's own copy. */
static struct error *open_own_vdso(struct elf_file **ret)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	size_t len;
	CLEANUP(free_ptr) char *text = maps_load("/proc", getpid(), &len);
	struct maps maps = {.rest = bytes_of(text, len)};
	struct mapping mapping;

	while (maps_next(&maps, &mapping))
		if (mapping.start == start)
			return elf_file_from_memory((const void *)(uintptr_t)start,
						    mapping.end - start, "[vdso]", ret);
	return error_new("prof itself runs without a vdso");
}

struct located_file file_locator_open_vdso(const struct file_locator *locator,
					   const struct mapping *mapping)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
	struct located_file finding = {.error = open_own_vdso(&elf)};
	const struct build_id *id = &mapping->build_id;
	bool same = locator->same_kernel;

	if (finding.error)
		return finding;
	if (id->len)
		same = build_id_equal(elf_file_build_id(elf), id);
	if (same)
		finding.elf = STEAL(elf);
	else
		finding.error = error_new("the recorded [vdso] is of another kernel");
	return finding;
}

struct elf_file *file_locator_read_vdso(const struct file_locator *locator, pid_t pid, uid_t user,
					const struct mapping *mapping)
{
	struct elf_file *elf = NULL;

	if (locator->proc)
		elf = process_vdso_read(locator->memory_reader, locator->proc, pid, user, mapping);
	if (elf)
		elf_file_set_budget(elf, locator->unpack_budget);
	return elf;
}

struct debug_files file_locator_debug_files(const struct file_locator *locator, const char *path,
					    int root, uid_t owner, bool is_untrusted)
{
	return (struct debug_files){
		.places = {.symfs = locator->symfs,
			   .debug_dir = locator->debug_dir,
			   .caller = locator->caller},
		.path = path,
		.root = root,
		.owner = owner,
		.is_untrusted = is_untrusted,
	};
}

/*
 * Gets what is known of a file without a request to its file system, which may
 * not answer.
 */
static bool stat_at_once(int fd, const char *path, struct kept_root *ret)
{
	struct statx st;

	if (statx(fd, path, AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &st) < 0)
		return false;
	ret->device = makedev(st.stx_dev_major, st.stx_dev_minor);
	ret->inode = st.stx_ino;
	return true;
}

static bool is_same_root(const struct kept_root *a, const struct kept_root *b)
{
	return a->device == b->device && a->inode == b->inode;
}

/* Takes ownership of the descriptor. */
static bool file_locator_keep(struct file_locator *locator, struct kept_root root, int *ret)
{
	CLEANUP(close_fd) int fd = root.fd;

	for (unsigned i = 0; i < locator->root_count; i++) {
		if (!is_same_root(&root, &locator->roots[i]))
			continue;
		*ret = locator->roots[i].fd;
		return true;
	}
	if (locator->root_count == ROOTS_MAX)
		return false;
	locator->roots[locator->root_count++] = root;
	*ret = steal_fd(&fd);
	return true;
}

bool file_locator_keep_root(struct file_locator *locator, pid_t pid, int *ret)
{
	CLEANUP(free_ptr) char *links = locator->proc ? process_links(locator->proc, pid) : NULL;
	CLEANUP(free_ptr) char *path = links ? xasprintf("%s/root", links) : NULL;
	CLEANUP(close_fd) int fd = path ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	struct kept_root root = {.fd = fd}, own;

	*ret = -1;
	if (!path)
		return true;
	if (fd < 0 || !stat_at_once(fd, "", &root) || !stat_at_once(AT_FDCWD, "/", &own))
		return false;
	if (is_same_root(&root, &own))
		return true;
	root.fd = steal_fd(&fd);
	return file_locator_keep(locator, root, ret);
}

char *file_locator_root_name(const struct file_locator *locator, pid_t pid, const char *path)
{
	return process_root_name(locator->proc, pid, path);
}

uid_t file_locator_user(const struct file_locator *locator, pid_t pid)
{
	return locator->proc ? process_user(locator->proc, pid) : UNTRUSTED_USER_UNKNOWN;
}

pid_t file_locator_own_pid(const struct file_locator *locator, pid_t pid)
{
	return locator->proc ? process_own_pid(locator->proc, pid) : pid;
}

int file_locator_open_jit_map_below(const struct file_locator *locator, int root, pid_t own_pid,
				    uid_t user)
{
	return jit_map_open_below(locator->caller, root, own_pid, user);
}

int file_locator_open_jit_map(const struct file_locator *locator, const char *proc, pid_t pid,
			      uid_t last_user)
{
	return jit_map_open(locator->caller, proc, pid, last_user);
}

static int open_recorded(const struct file_locator *locator, const char *path)
{
	CLEANUP(free_ptr)
	char *name = xasprintf("%s%s", locator->symfs ? locator->symfs : "", path);
	const struct untrusted_name names[] = {{.path = name, .user = writer_of(locator)}};

	return timed_open(locator->caller, names, ARRAY_SIZE(names), 0, NULL);
}

/* A process that has ended may have left another file under this name. */
static bool is_mapped_file(int fd, const struct mapping *mapping)
{
	struct stat st;

	return !mapping->inode || (fstat(fd, &st) == 0 && st.st_ino == mapping->inode);
}

struct jitdump *file_locator_open_jitdump(const struct file_locator *locator, pid_t pid,
					  const struct mapping *mapping, const char *path,
					  struct code_budget *budget, bool has_other_time)
{
	CLEANUP(free_ptr)
	char *process = locator->proc ? xasprintf("%s/%d", locator->proc, (int)pid) : NULL;
	const struct jitdump_options options = {
		.caller = locator->caller,
		.time_offset_ns = process ? clock_offset_ns(process) : 0,
		.budget = budget,
		.place = locator->proc ? process_user(locator->proc, pid) : 0,
		.is_complete = !locator->proc,
		.has_other_time = has_other_time,
	};
	CLEANUP(free_ptr)
	char *name = locator->proc ? process_root_name(locator->proc, pid, path) : NULL;
	CLEANUP(close_fd)
	int fd = locator->proc ? jit_dump_open(locator->caller, locator->proc, pid, name)
			       : open_recorded(locator, path);

	if (fd < 0 || (locator->proc && !is_mapped_file(fd, mapping)))
		return NULL;
	return jitdump_new(steal_fd(&fd), &options);
}

struct perf_map *file_locator_open_perf_map(const struct file_locator *locator, pid_t pid,
					    struct code_budget *budget)
{
	uid_t user = process_user(locator->proc, pid);
	int fd = jit_map_open(locator->caller, locator->proc, pid, user);

	return fd < 0 ? NULL : perf_map_new(fd, locator->caller, budget, user);
}
