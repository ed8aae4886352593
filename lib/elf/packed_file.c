#include "elf/packed_file.h"

#include "base/alloc.h"
#include "base/mapped_file.h"
#include "base/unpack.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static bool packed_file_begins(struct bytes file, const char *magic, size_t len)
{
	return bytes_left(&file) > len && memcmp(file.at, magic, len) == 0;
}

static bool unpack_any(struct bytes file, void **ret, size_t *len)
{
	char *text;

	if (packed_file_begins(file,
			       "\xfd"
			       "7zXZ\0",
			       6))
		return unpack_xz(file, PACKED_FILE_BYTES_MAX, ret, len);
	if (packed_file_begins(file, "\x28\xb5\x2f\xfd", 4))
		return unpack_zstd_stream(file, PACKED_FILE_BYTES_MAX, ret, len);
	if (!packed_file_begins(file, "\x1f\x8b", 2) ||
	    unpack_gzip(file, PACKED_FILE_BYTES_MAX, &text, len) != 0)
		return false;
	*ret = text;
	return true;
}

/*
 * Returns a private copy, because decompression libraries do not support input
 * that changes. Returns NULL if there is not enough memory.
 */
static void *packed_file_copy_of(int fd, size_t len)
{
	void *mapped = mapped_file_new(fd, len), *copy = mapped ? malloc(len) : NULL;

	if (copy && !mapped_file_read(mapped, len, copy)) {
		free(copy);
		copy = NULL;
	}
	if (mapped)
		mapped_file_free(mapped, len);
	return copy;
}

struct error *packed_file_open(int fd, const char *name, struct elf_file **ret)
{
	CLEANUP(free_ptr) void *packed = NULL;
	CLEANUP(free_ptr) void *data = NULL;
	struct stat st;
	size_t len;

	if (fstat(fd, &st) < 0)
		return error_errno(errno, "stat %s", name);
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > PACKED_FILE_BYTES_MAX)
		return error_new("%s is not a compressed file", name);
	packed = packed_file_copy_of(fd, (size_t)st.st_size);
	if (!packed)
		return error_new("%s cannot be read", name);
	if (!unpack_any(bytes_of(packed, (size_t)st.st_size), &data, &len))
		return error_new("%s cannot be decompressed", name);
	return elf_file_from_memory(data, len, name, ret);
}
