#include "format/pprof_input.h"

#include "base/alloc.h"
#include "base/read_all.h"
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

static bool is_gzip(const char *data, size_t len)
{
	return len && (unsigned char)data[0] == 0x1f;
}

struct error *pprof_input(FILE *in, char **ret, size_t *len)
{
	CLEANUP(free_ptr) char *data = NULL;
	int error = read_all(in, MAX_BYTES, &data, len);

	if (error)
		return input_error(error);
	if (!is_gzip(data, *len)) {
		*ret = STEAL(data);
		return NULL;
	}
	error = unpack_gzip(bytes_of(data, *len), MAX_BYTES, ret, len);
	return error ? input_error(error) : NULL;
}
