#include "format/pprof_input.h"

#include "base/alloc.h"
#include "base/unpack.h"

#include <errno.h>
#include <stdint.h>

#define MAX_BYTES INT32_MAX

static struct error *input_error(int error)
{
	switch (error) {
	case EBADMSG:
		return error_new("it is damaged or cut off");
	case EFBIG:
		return error_new("it is larger than 2 GiB, the most that a pprof profile can be");
	default:
		return error_errno(error, "read");
	}
}

/* All that is left of a file; *ret to be freed. */
static struct error *read_all(FILE *in, char **ret, size_t *len)
{
	CLEANUP(free_ptr) char *data = NULL;
	size_t count = 0, room = 0;

	do {
		if (count == room) {
			room = room ? room * 2 : 1 << 16;
			data = xreallocarray(data, room, 1);
		}
		errno = 0;
		count += fread(data + count, 1, room - count, in);
	} while (count == room && count <= MAX_BYTES);
	if (ferror(in))
		return input_error(errno ? errno : EIO);
	if (count > MAX_BYTES)
		return input_error(EFBIG);
	*ret = STEAL(data);
	*len = count;
	return NULL;
}

static bool is_gzip(const char *data, size_t len)
{
	return len && (unsigned char)data[0] == 0x1f;
}

struct error *pprof_input(FILE *in, char **ret, size_t *len)
{
	CLEANUP(free_ptr) char *data = NULL;
	struct error *err = read_all(in, &data, len);
	int error;

	if (err)
		return err;
	if (!is_gzip(data, *len)) {
		*ret = STEAL(data);
		return NULL;
	}
	error = unpack_gzip(bytes_of(data, *len), MAX_BYTES, ret, len);
	return error ? input_error(error) : NULL;
}
