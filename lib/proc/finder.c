#include "proc/finder.h"

#include "base/alloc.h"
#include "proc/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct finder {
	char *proc; /* NULL: it is about a recording */
	char *symfs, *debug_dir, *cache_dir;
	bool same_kernel;
};

static char *copy_of(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

struct finder *finder_new(const char *proc)
{
	struct finder *finder = xcalloc(1, sizeof(*finder));

	finder->proc = xstrdup(proc);
	finder->same_kernel = true;
	return finder;
}

struct finder *finder_new_recorded(const struct recorded_files *files)
{
	struct finder *finder = xcalloc(1, sizeof(*finder));

	finder->symfs = copy_of(files->symfs);
	finder->debug_dir = copy_of(files->debug_dir);
	finder->cache_dir = copy_of(files->cache_dir);
	finder->same_kernel = files->same_kernel;
	return finder;
}

void finder_free(struct finder *finder)
{
	if (!finder)
		return;
	free(finder->proc);
	free(finder->symfs);
	free(finder->debug_dir);
	free(finder->cache_dir);
	free(finder);
}

bool finder_may_find_later(const struct finder *finder)
{
	return finder->proc;
}

static struct error *another_file(const struct finder *finder, const char *name)
{
	if (finder->proc)
		return error_new("%s is another file than the mapped one", name);
	return error_new("%s is another file than the recorded one", name);
}

/*
 * A descriptor of name if it is a regular file and may be the mapped one. Looks before it opens:
 * a process may map files under any name in its own mount namespace, and opening a device of that
 * name in ours can do things.
 */
static struct error *open_same(const struct finder *finder, const char *name,
			       const struct mapping *mapping, int *ret, bool *same_device)
{
	CLEANUP(close_fd) int at = open(name, O_PATH | O_CLOEXEC);
	char again[32];
	struct stat st;

	if (at < 0 || fstat(at, &st) < 0)
		return error_errno(errno, "open %s", name);
	if (!S_ISREG(st.st_mode))
		return error_new("%s is no regular file", name);
	if (finder->proc && !mapping->build_id.len && mapping->inode && st.st_ino != mapping->inode)
		return another_file(finder, name);
	*same_device = st.st_dev == makedev(mapping->device_major, mapping->device_minor);
	snprintf(again, sizeof(again), "/proc/self/fd/%d", at);
	*ret = open(again, O_RDONLY | O_CLOEXEC);
	return *ret < 0 ? error_errno(errno, "open %s", name) : NULL;
}

/* The kernel reserves the place of a whole program by mapping its first segment as long as that. */
static bool is_start_of(const struct mapping *mapping, const struct image *image)
{
	unsigned count;
	const struct image_segment *first = image_segments(image, &count);

	return count && first->executable && first->offset == mapping->offset;
}

static bool is_piece_of(const struct mapping *mapping, const struct image *image)
{
	uint64_t len = mapping->end - mapping->start;
	uint64_t first, last;

	if (is_start_of(mapping, image))
		return true;
	return image_offset_to_vaddr(image, mapping->offset, &first) &&
	       image_offset_to_vaddr(image, mapping->offset + len - 1, &last) &&
	       last - first == len - 1;
}

static bool is_mapped(const struct finder *finder, const struct mapping *mapping,
		      const struct image *image, bool same_device)
{
	if (mapping->build_id.len)
		return build_id_equal(image_build_id(image), &mapping->build_id);
	if (finder->proc && (!mapping->inode || same_device))
		return true;
	return is_piece_of(mapping, image);
}

/* path: what the image is called; name: where it is opened. */
static struct finding try_name(const struct finder *finder, const char *name,
			       const struct mapping *mapping, const char *path)
{
	CLEANUP(image_cleanup) struct image *image = NULL;
	struct finding finding = {0};
	bool same_device = false;
	int fd = -1;

	finding.error = open_same(finder, name, mapping, &fd, &same_device);
	if (finding.error)
		return finding;
	finding.error = image_open(fd, path, &image);
	if (finding.error)
		finding.no_elf = true;
	else if (is_mapped(finder, mapping, image, same_device))
		finding.image = STEAL(image);
	else
		finding.error = another_file(finder, name);
	return finding;
}

/* Where to look, one after the other; NULL entries are passed over. */
enum { PLACES = 9 };

/* Frees the names. */
static struct finding try_places(const struct finder *finder, char *names[PLACES],
				 const struct mapping *mapping, const char *path)
{
	struct finding finding = {0};

	for (size_t i = 0; i < PLACES; i++) {
		CLEANUP(free_ptr) char *name = names[i];

		if (!name || finding.image || finding.no_elf)
			continue;
		error_free(finding.error);
		finding = try_name(finder, name, mapping, path);
	}
	return finding;
}

static struct finding find_live(const struct finder *finder, pid_t pid,
				const struct mapping *mapping, const char *path, bool deleted)
{
	char *names[PLACES] = {NULL};
	size_t count = 0;

	if (deleted)
		names[count++] = xasprintf("%s/%d/exe", finder->proc, (int)pid);
	names[count++] = xasprintf("%s/%d/map_files/%jx-%jx", finder->proc, (int)pid,
				   (uintmax_t)mapping->start, (uintmax_t)mapping->end);
	/* The name of a deleted file is another file's by now; only a build-id could tell. */
	if (!deleted || mapping->build_id.len) {
		names[count++] = xasprintf("%s/%d/root%s", finder->proc, (int)pid, path);
		names[count++] = xstrdup(path);
	}
	return try_places(finder, names, mapping, path);
}

/* DIR/.build-id/ab/cdef…; NULL without a folder. */
static char *by_build_id(const char *dir, const struct build_id *id, const char *behind)
{
	char hex[BUILD_ID_HEX_BYTES];

	if (!dir || id->len < 2)
		return NULL;
	build_id_hex(id, hex);
	return xasprintf("%s/.build-id/%.2s/%s%s", dir, hex, hex + 2, behind);
}

/* Where the file may be besides its own name, if it is known by its build-id. */
static struct finding find_by_build_id(const struct finder *finder, const struct mapping *mapping,
				       const char *path)
{
	const struct build_id *id = &mapping->build_id;
	char *names[PLACES] = {NULL};

	if (finder->symfs) {
		names[0] = xasprintf("%s%s", finder->symfs, strrchr(path, '/'));
		names[1] = by_build_id(finder->symfs, id, "");
		names[2] = by_build_id(finder->symfs, id, "/elf");
	}
	names[3] = by_build_id(finder->debug_dir, id, "");
	names[4] = by_build_id(finder->debug_dir, id, "/elf");
	names[5] = by_build_id(finder->cache_dir, id, "/elf");
	return try_places(finder, names, mapping, path);
}

/* When nothing is found, the error is about the place where the file should have been. */
static struct finding find_recorded(const struct finder *finder, const struct mapping *mapping,
				    const char *path, bool deleted)
{
	CLEANUP(free_ptr)
	char *name = xasprintf("%s%s", finder->symfs ? finder->symfs : "", path);
	struct finding finding = {0};
	struct finding elsewhere;

	if (!deleted || mapping->build_id.len)
		finding = try_name(finder, name, mapping, path);
	if (finding.image || !mapping->build_id.len)
		return finding;
	elsewhere = find_by_build_id(finder, mapping, path);
	/* It was an ELF file, whatever stands in its place now. */
	finding.no_elf = false;
	error_free(elsewhere.image ? finding.error : elsewhere.error);
	return elsewhere.image ? elsewhere : finding;
}

struct finding finder_open(const struct finder *finder, pid_t pid, const struct mapping *mapping,
			   const char *path, bool deleted)
{
	struct finding finding = finder->proc ? find_live(finder, pid, mapping, path, deleted)
					      : find_recorded(finder, mapping, path, deleted);

	if (!finding.image && !finding.error)
		finding.error = error_new("%s was deleted", path);
	else if (deleted)
		finding.error = error_wrap(finding.error, "%s was deleted", path);
	return finding;
}

/* Our own copy serves all processes of the same kernel. */
static struct error *open_own_vdso(struct image **ret)
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

struct finding finder_open_vdso(const struct finder *finder, const struct mapping *mapping)
{
	CLEANUP(image_cleanup) struct image *image = NULL;
	struct finding finding = {.error = open_own_vdso(&image)};
	const struct build_id *id = &mapping->build_id;
	bool same = finder->same_kernel;

	if (finding.error)
		return finding;
	if (id->len)
		same = build_id_equal(image_build_id(image), id);
	if (same)
		finding.image = STEAL(image);
	else
		finding.error = error_new("the recorded [vdso] is of another kernel");
	return finding;
}
