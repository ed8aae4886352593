#include "proc/kernel_image.h"

#include "base/alloc.h"
#include "base/line_reader.h"
#include "base/read_all.h"
#include "base/text.h"
#include "base/timed_open.h"
#include "elf/file_origin.h"
#include "proc/kernel.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

enum { KERNEL_IMAGE_CANDIDATES_MAX = 48 };

/*
 * In modules.dep, a line contains the files of all modules that one depends on.
 */
enum { KERNEL_IMAGE_LINE_BYTES_MAX = 64 << 10, KERNEL_IMAGE_TEXT_BYTES_MAX = 16 << 20 };

enum { NOTE_BYTES_MAX = 4096 };

struct kernel_image_search {
	const struct kernel_image_query *query;
	const char *release; /* NULL if unknown */
	struct utsname system;
	struct build_id build_id;
	char *paths[KERNEL_IMAGE_CANDIDATES_MAX];
	size_t count;
	char *other; /* another file that was found instead, or NULL */
	struct build_id other_id;
};

static bool is_module(const struct kernel_range *range)
{
	return range->name[0];
}

static void kernel_image_search_deinit(struct kernel_image_search *search)
{
	for (size_t i = 0; i < search->count; i++)
		free(search->paths[i]);
	free(search->other);
}

/* Takes ownership of path. */
static void kernel_image_add(struct kernel_image_search *search, char *path)
{
	if (search->count < KERNEL_IMAGE_CANDIDATES_MAX)
		search->paths[search->count++] = path;
	else
		free(path);
}

/* --- The kernel's identity -------------------------------------------------------------------- */

static struct build_id module_build_id_here(const char *root, const char *name)
{
	CLEANUP(free_ptr)
	char *path = xasprintf("%s/sys/module/%s/notes/.note.gnu.build-id", root, name);
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	unsigned char notes[NOTE_BYTES_MAX];
	struct build_id id = {0};

	if (file)
		build_id_find(bytes_of(notes, fread(notes, 1, sizeof(notes), file)), 4, &id);
	return id;
}

static struct build_id build_id_of(const struct kernel_image_query *query)
{
	const struct kernel_range *range = query->range;

	if (range->build_id.len)
		return range->build_id;
	if (!is_module(range) && query->build_id.len)
		return query->build_id;
	if (!query->root)
		return (struct build_id){0};
	return is_module(range) ? module_build_id_here(query->root, range->name)
				: kernel_build_id_here(query->root);
}

/*
 * A recording is untrusted: a release that contains a slash could lead
 * anywhere.
 */
static const char *release_of(struct kernel_image_search *search)
{
	const char *release = search->query->release;

	if (!release && search->query->root && uname(&search->system) == 0)
		release = search->system.release;
	if (!release || !*release || strchr(release, '/') || text_begins(release, "."))
		return NULL;
	return release;
}

/* --- Candidates ------------------------------------------------------------------------------- */

static void kernel_image_add_by_build_id(struct kernel_image_search *search, const char *prefix)
{
	char hex[BUILD_ID_HEX_BYTES];

	build_id_hex(&search->build_id, hex);
	if (search->build_id.len > 1)
		kernel_image_add(search,
				 xasprintf("%s/.build-id/%.2s/%s.debug", prefix, hex, hex + 2));
}

/* `system` is the prefix of the system's files, and `debug` is DEBUG_DIR. */
static void add_kernels(struct kernel_image_search *search, const char *system, const char *debug)
{
	const char *release = search->release;

	kernel_image_add_by_build_id(search, debug);
	if (!release)
		return;
	kernel_image_add(search, xasprintf("%s/boot/vmlinux-%s", debug, release));
	kernel_image_add(search, xasprintf("%s/lib/modules/%s/vmlinux", debug, release));
	kernel_image_add(search, xasprintf("%s/boot/vmlinux-%s.debug", debug, release));
	kernel_image_add(search, xasprintf("%s/lib/modules/%s/vmlinux.debug", debug, release));
	kernel_image_add(search, xasprintf("%s/boot/vmlinux-%s", system, release));
	kernel_image_add(search, xasprintf("%s/lib/modules/%s/build/vmlinux", system, release));
	kernel_image_add(search, xasprintf("%s/lib/modules/%s/vmlinux", system, release));
}

/*
 * Returns whether a file such as "kernel/fs/nf-conntrack.ko.xz" is that of the
 * module nf_conntrack.
 */
static bool is_file_of(const char *file, size_t len, const char *name)
{
	const char *start = memrchr(file, '/', len);

	start = start ? start + 1 : file;
	for (; *name; name++, start++)
		if (start == file + len || (*start == '-' ? '_' : *start) != *name)
			return false;
	return (size_t)(file + len - start) >= 3 && text_begins(start, ".ko");
}

/* The caller frees the result. */
static char *without_suffix(const char *file, size_t len)
{
	const char *suffix = memmem(file, len, ".ko", 3);

	return xstrndup(file, (size_t)(suffix - file));
}

/*
 * Returns a module's file, relative to the directory and without its suffix.
 * The caller frees it.
 */
static char *module_file(const char *directory, const char *name)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/modules.dep", directory);
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	CLEANUP(line_reader_deinit) struct line_reader lines;

	line_reader_init(&lines, file, KERNEL_IMAGE_LINE_BYTES_MAX, KERNEL_IMAGE_TEXT_BYTES_MAX);
	while (file && line_reader_next(&lines)) {
		size_t len = strcspn(lines.line, ":");

		if (!is_file_of(lines.line, len, name) || strstr(lines.line, ".."))
			continue;
		return without_suffix(lines.line, len);
	}
	return NULL;
}

/*
 * Returns the recorded name, for example
 * "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz". The caller frees it.
 */
static char *recorded_file(const struct kernel_image_search *search)
{
	CLEANUP(free_ptr) char *directory = xasprintf("/lib/modules/%s/", search->release);
	const char *file = search->query->range->file;
	const char *start = file ? strstr(file, directory) : NULL;

	if (!start || strstr(file, ".."))
		return NULL;
	start += strlen(directory);
	return is_file_of(start, strlen(start), search->query->range->name)
		       ? without_suffix(start, strlen(start))
		       : NULL;
}

static void kernel_image_add_modules(struct kernel_image_search *search, const char *system,
				     const char *debug)
{
	static const char *const suffixes[] = {".ko.debug", ".ko", ".ko.zst", ".ko.xz", ".ko.gz"};
	const char *release = search->release;
	CLEANUP(free_ptr) char *directory = NULL;
	CLEANUP(free_ptr) char *file = NULL;

	kernel_image_add_by_build_id(search, debug);
	if (!release)
		return;
	directory = xasprintf("%s/lib/modules/%s", system, release);
	file = recorded_file(search);
	if (!file)
		file = module_file(directory, search->query->range->name);
	for (size_t i = 0; file && i < ARRAY_SIZE(suffixes); i++)
		kernel_image_add(search, xasprintf("%s/lib/modules/%s/%s%s", debug, release, file,
						   suffixes[i]));
	for (size_t i = 0; file && i < ARRAY_SIZE(suffixes); i++)
		kernel_image_add(search, xasprintf("%s/%s%s", directory, file, suffixes[i]));
}

static void add_below(struct kernel_image_search *search, const char *system, const char *debug)
{
	if (is_module(search->query->range))
		kernel_image_add_modules(search, system, debug);
	else
		add_kernels(search, system, debug);
}

static void kernel_image_add_all(struct kernel_image_search *search)
{
	const struct debug_places *places = &search->query->places;
	const char *debug = places->debug_dir ? places->debug_dir : DEBUG_DIR;

	if (places->symfs) {
		CLEANUP(free_ptr) char *inside = xasprintf("%s%s", places->symfs, debug);

		add_below(search, places->symfs, inside);
	}
	add_below(search, search->query->root ? search->query->root : "", debug);
}

/* --- Opening ---------------------------------------------------------------------------------- */

static int kernel_image_open_file(const struct kernel_image_search *search, const char *path)
{
	const struct untrusted_name name = {.path = path, .user = UNTRUSTED_USER_UNKNOWN};

	return timed_open(search->query->places.caller, &name, 1, 0, NULL);
}

/* Remembers the first file with another build-id for the message. */
static bool kernel_image_is_wanted(struct kernel_image_search *search, const struct elf_file *elf)
{
	if (build_id_equal(elf_file_build_id(elf), &search->build_id))
		return true;
	if (!search->other) {
		search->other = xstrdup(elf_file_name(elf));
		search->other_id = *elf_file_build_id(elf);
	}
	return false;
}

static bool kernel_image_is_packed(const char *path)
{
	size_t len = strlen(path);

	return len > 3 && strcmp(path + len - 3, ".ko") != 0 &&
	       (strcmp(path + len - 3, ".xz") == 0 || strcmp(path + len - 3, ".gz") == 0 ||
		strcmp(path + len - 3, "zst") == 0);
}

static void kernel_image_take(struct kernel_image *image, struct elf_file *elf, FILE *packed,
			      const char *path)
{
	elf_file_free(image->elf);
	close_file(&image->packed);
	free(image->path);
	image->elf = elf;
	image->packed = packed;
	image->path = xstrdup(path);
}

/* Returns true if no better file is possible. */
static bool try_file(struct kernel_image_search *search, const char *path,
		     struct kernel_image *image)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
	int fd = kernel_image_open_file(search, path);
	bool has_dwarf;

	if (fd < 0)
		return false;
	if (kernel_image_is_packed(path)) {
		FILE *packed = image->packed ? NULL : fdopen(fd, "r");

		if (packed)
			kernel_image_take(image, NULL, packed, path);
		else
			close(fd);
		return false;
	}
	error_free(elf_file_open(fd, path, &elf));
	if (!elf || !kernel_image_is_wanted(search, elf))
		return false;
	has_dwarf = elf_file_has_section(elf, ".debug_info");
	/* A compressed file may have debug information. */
	if (has_dwarf || (!image->elf && !image->packed))
		kernel_image_take(image, STEAL(elf), NULL, path);
	return has_dwarf;
}

/* --- Load addresses --------------------------------------------------------------------------- */

static void add_anchor(struct kernel_image *image, const char *name, uint64_t pc)
{
	struct kernel_anchor *anchor = &image->anchors[image->anchor_count];

	if (image->anchor_count == KERNEL_ANCHORS_MAX || !pc ||
	    strlen(name) >= sizeof(anchor->name))
		return;
	image->anchor_count++;
	strcpy(anchor->name, name);
	anchor->pc = pc;
}

/* Reads a section's file, for example "0xffffffffc0a1b000". */
static uint64_t section_address(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char text[32] = "";
	const char *at = text;
	uint64_t address;

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0 || !text_hex(&at, &address))
		address = 0;
	close(fd);
	return address;
}

/* Adds sections with code: .text, .text.unlikely, .init.text, .noinstr.text. */
static void add_sections(struct kernel_image *image, const char *root, const char *name)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/sys/module/%s/sections", root, name);
	DIR *directory = opendir(path);

	for (struct dirent *entry; directory && (entry = readdir(directory));)
		if (strstr(entry->d_name, "text"))
			add_anchor(image, entry->d_name,
				   section_address(dirfd(directory), entry->d_name));
	if (directory)
		closedir(directory);
}

static void find_anchors(const struct kernel_image_query *query, struct kernel_image *image)
{
	const struct kernel_range *range = query->range;

	if (!is_module(range)) {
		add_anchor(image, range->symbol, range->symbol_address);
		return;
	}
	if (query->root)
		add_sections(image, query->root, range->name);
	/*
	 * The kernel places sections with code first, and linkers place .text
	 * before the others.
	 */
	if (!image->anchor_count)
		add_anchor(image, ".text", range->start);
}

/* --- Finding and opening the image ------------------------------------------------------------ */

static struct error *describe_failure(const struct kernel_image_search *search)
{
	const char *name = search->query->range->name;
	const char *what = *name ? name : "the kernel";
	char wanted[BUILD_ID_HEX_BYTES], found[BUILD_ID_HEX_BYTES];

	if (!search->build_id.len)
		return error_new("the build-id of %s is unknown", what);
	build_id_hex(&search->build_id, wanted);
	if (search->other) {
		build_id_hex(&search->other_id, found);
		return error_new("%s is of another build: its build-id is %s, but %s has %s",
				 search->other, *found ? found : "missing", what, wanted);
	}
	return error_hint(error_new("no %s%s with the build-id %s was found for %s",
				    *name ? name : "vmlinux", *name ? ".ko" : "", wanted,
				    search->release ? search->release : "its release"),
			  "install the debug symbols of the kernel");
}

struct error *kernel_image_open(const struct kernel_image_query *query, struct kernel_image *ret)
{
	CLEANUP(kernel_image_search_deinit) struct kernel_image_search search = {.query = query};

	search.build_id = build_id_of(query);
	search.release = release_of(&search);
	if (search.build_id.len)
		kernel_image_add_all(&search);
	for (size_t i = 0; i < search.count; i++)
		if (try_file(&search, search.paths[i], ret))
			break;
	if (!ret->path)
		return describe_failure(&search);
	ret->is_module = is_module(query->range);
	if (ret->packed)
		ret->build_id = search.build_id;
	find_anchors(query, ret);
	return NULL;
}

void kernel_image_deinit(struct kernel_image *image)
{
	elf_file_free(image->elf);
	close_file(&image->packed);
	free(image->path);
	*image = (struct kernel_image){0};
}
