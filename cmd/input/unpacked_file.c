#include "cmd/input/unpacked_file.h"

#include "base/alloc.h"
#include "base/gzip.h"
#include "base/read_all.h"
#include "base/unpack.h"
#include "format/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { UNPACKED_FIRST_BYTES = 64 };

enum packing { PACKED_NOT, PACKED_GZIP, PACKED_XZ, PACKED_ZSTD };

static enum packing packing_of(const unsigned char *first, size_t len)
{
	if (len >= 2 && !memcmp(first, "\x1f\x8b", 2))
		return PACKED_GZIP;
	if (len >= 6 && !memcmp(first,
				"\xfd"
				"7zXZ",
				6))
		return PACKED_XZ;
	return len >= 4 && !memcmp(first, "\x28\xb5\x2f\xfd", 4) ? PACKED_ZSTD : PACKED_NOT;
}

static bool holds_pprof(struct bytes packed)
{
	CLEANUP(close_file)
	FILE *in = fmemopen((void *)(uintptr_t)packed.at, bytes_left(&packed), "r");
	CLEANUP(close_file) FILE *gzip = in ? gzip_reader(in, UNPACKED_FILE_BYTES) : NULL;
	unsigned char first[UNPACKED_FIRST_BYTES];
	size_t len = gzip ? fread(first, 1, sizeof(first), gzip) : 0;

	return !len || format_by_content(first, len) == &format_pprof;
}

static struct error *unpack_bytes(enum packing packing, struct bytes packed, void **ret,
				  size_t *len)
{
	size_t max = UNPACKED_FILE_BYTES + bytes_left(&packed) * UNPACKED_FILE_BYTES_PER_BYTE;
	char *text = NULL;
	bool is_unpacked;

	if (max > INT32_MAX)
		max = INT32_MAX;
	if (packing == PACKED_GZIP)
		is_unpacked = unpack_gzip(packed, max, &text, len) == 0;
	else if (packing == PACKED_XZ)
		is_unpacked = unpack_xz(packed, max, ret, len);
	else
		is_unpacked = unpack_zstd_stream(packed, max, ret, len);
	if (!is_unpacked)
		return error_hint(error_new("it cannot be unpacked: it is damaged, truncated or "
					    "unpacks to more than %zu MB",
					    max >> 20),
				  "unpack it with gzip -d, xz -d or zstd -d");
	if (text)
		*ret = text;
	return NULL;
}

static struct error *write_memory(const void *data, size_t len, int *ret)
{
	CLEANUP(close_fd) int fd = memfd_create("unpacked", MFD_CLOEXEC);

	for (size_t done = 0; fd >= 0 && done < len;) {
		ssize_t put = write(fd, (const char *)data + done, len - done);

		if (put < 0 && errno != EINTR)
			return error_errno(errno, "unpack it");
		done += put > 0 ? (size_t)put : 0;
	}
	if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return error_errno(errno, "unpack it");
	*ret = fd;
	fd = -1;
	return NULL;
}

/* Replaces fd by the data, with fd's modification time. */
static struct error *unpacked_file_replace(int *fd, struct bytes data)
{
	struct stat st;
	struct error *err;
	int memory = -1;

	err = write_memory(data.at, bytes_left(&data), &memory);
	if (err)
		return err;
	if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode))
		futimens(memory, (struct timespec[]){st.st_atim, st.st_mtim});
	close(*fd);
	*fd = memory;
	return NULL;
}

static struct error *read_packed(int fd, char **ret, size_t *len)
{
	CLEANUP(close_file) FILE *in = NULL;
	int copy = dup(fd), error;

	in = copy >= 0 ? fdopen(copy, "r") : NULL;
	error = in ? read_all(in, INT32_MAX, ret, len) : errno;
	return error ? error_errno(error, "read") : NULL;
}

struct error *unpacked_file(int *fd, const unsigned char *first, size_t first_len)
{
	enum packing packing = packing_of(first, first_len);
	CLEANUP(free_ptr) char *data = NULL;
	CLEANUP(free_ptr) void *unpacked = NULL;
	size_t len = 0;
	struct error *err;

	if (packing == PACKED_NOT)
		return NULL;
	err = read_packed(*fd, &data, &len);
	if (err)
		return err;
	if (packing == PACKED_GZIP && holds_pprof(bytes_of(data, len)))
		return unpacked_file_replace(fd, bytes_of(data, len));
	err = unpack_bytes(packing, bytes_of(data, len), &unpacked, &len);
	return err ? err : unpacked_file_replace(fd, bytes_of(unpacked, len));
}
