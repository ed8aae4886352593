#include "elf/debugfile.h"

#include "base/alloc.h"
#include "base/gzip.h"
#include "base/unpack.h"

#include <fcntl.h>

/* Symbols of the largest programs take 10 MB or so. */
enum { INSIDE_BYTES_MAX = 128 << 20 };

/* NULL when there is no ELF file at path. Takes path. */
static struct image *open_candidate(char *path)
{
	CLEANUP(free_ptr) char *name = path;
	/* Not every name in a debug link is a file's: do not wait for a FIFO's writer. */
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct image *image = NULL;

	if (fd < 0)
		return NULL;
	error_free(image_open(fd, name, &image));
	return image;
}

static bool has_build_id(const struct image *image, const struct build_id *id)
{
	return id->len && build_id_equal(image_build_id(image), id);
}

/* debug_dir/.build-id/ab/cdef….debug */
static struct image *find_by_build_id(const struct build_id *id, const char *debug_dir)
{
	char hex[BUILD_ID_HEX_BYTES];
	CLEANUP(image_cleanup) struct image *found = NULL;

	if (id->len < 2)
		return NULL;
	build_id_hex(id, hex);
	found = open_candidate(xasprintf("%s/.build-id/%.2s/%s.debug", debug_dir, hex, hex + 2));
	return found && has_build_id(found, id) ? STEAL(found) : NULL;
}

/*
 * The same build-id proves it; the CRC, which reads the whole file, is asked only where one of the
 * two has none. A link may lead back to the stripped file itself, so there must be more in it.
 */
static bool is_debug_file_of(struct image *candidate, struct image *image, uint32_t crc)
{
	const struct build_id *id = image_build_id(image);
	struct bytes info = image_section(candidate, ".debug_info").data;
	struct bytes own_info = image_section(image, ".debug_info").data;
	struct bytes symbols = image_section(candidate, ".symtab").data;
	struct bytes own_symbols = image_section(image, ".symtab").data;

	if (bytes_left(&info) <= bytes_left(&own_info) &&
	    bytes_left(&symbols) <= bytes_left(&own_symbols))
		return false;
	if (id->len && image_build_id(candidate)->len)
		return has_build_id(candidate, id);
	return crc32_of(image_contents(candidate)) == crc;
}

/* The file name in .gnu_debuglink; NULL when there is none. It must not lead to another folder. */
static const char *debug_link(struct image *image, uint32_t *crc)
{
	struct bytes link = image_section(image, ".gnu_debuglink").data;
	const unsigned char *start = link.at;
	const char *file = bytes_cstr(&link);

	bytes_skip(&link, -(size_t)(link.at - start) % 4);
	*crc = bytes_u32(&link);
	return file && *file && !strchr(file, '/') && bytes_ok(&link) ? file : NULL;
}

static struct image *find_by_link(struct image *image, const char *path, const char *debug_dir)
{
	static const struct {
		bool below_debug_dir;
		const char *folder;
	} places[] = {{false, "/"}, {false, "/.debug/"}, {true, "/"}};
	const char *slash = strrchr(path, '/');
	uint32_t crc;
	const char *file = debug_link(image, &crc);

	for (size_t i = 0; slash && file && i < ARRAY_SIZE(places); i++) {
		char *name = xasprintf("%s%.*s%s%s", places[i].below_debug_dir ? debug_dir : "",
				       (int)(slash - path), path, places[i].folder, file);
		CLEANUP(image_cleanup) struct image *candidate = open_candidate(name);

		if (candidate && is_debug_file_of(candidate, image, crc))
			return STEAL(candidate);
	}
	return NULL;
}

struct image *debugfile_find(struct image *image, const char *path, const char *debug_dir)
{
	struct image *found = find_by_build_id(image_build_id(image), debug_dir);

	return found ? found : find_by_link(image, path, debug_dir);
}

struct image *debugfile_find_alt(struct image *debug, const char *debug_dir)
{
	struct bytes link = image_section(debug, ".gnu_debugaltlink").data;
	const char *file = bytes_cstr(&link);
	const char *dir = image_name(debug);
	const char *slash = strrchr(dir, '/');
	struct build_id id = {.len = (unsigned)bytes_left(&link)};
	CLEANUP(image_cleanup) struct image *found = NULL;

	if (!file || !*file || bytes_left(&link) == 0 || bytes_left(&link) > BUILD_ID_MAX)
		return NULL;
	memcpy(id.bytes, link.at, id.len);
	found = find_by_build_id(&id, debug_dir);
	if (found)
		return STEAL(found);
	/* A relative name starts at the folder of the file that names it. */
	if (*file == '/' || !slash)
		found = open_candidate(xstrdup(file));
	else
		found = open_candidate(xasprintf("%.*s/%s", (int)(slash - dir), dir, file));
	return found && has_build_id(found, &id) ? STEAL(found) : NULL;
}

struct image *debugfile_inside(struct image *image)
{
	struct bytes packed = image_section(image, ".gnu_debugdata").data;
	CLEANUP(free_ptr) void *data = NULL;
	struct image *found = NULL;
	size_t len;

	if (bytes_left(&packed) && unpack_xz(packed, INSIDE_BYTES_MAX, &data, &len))
		error_free(image_from_memory(data, len, image_name(image), &found));
	return found;
}
