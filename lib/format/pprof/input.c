#include "format/pprof/input.h"

#include "base/alloc.h"
#include "base/read_all.h"
#include "base/unpack.h"
#include "format/pprof/limits.h"

#include <errno.h>
#include <stdint.h>

#define MAX_BYTES INT32_MAX

static struct error *input_error(int error)
{
	switch (error) {
	case EBADMSG:
		return error_new("it is damaged or truncated");
	case EFBIG:
		return error_new("it is larger than 2 GiB, the limit of pprof profiles");
	default:
		return error_errno(error, "read");
	}
}

static bool is_gzip(const char *data, size_t len)
{
	return len && (unsigned char)data[0] == 0x1f;
}

static struct error *unpack_message(struct bytes from, struct pprof_input *ret)
{
	size_t max_bytes = PPROF_MESSAGE_BYTES + bytes_left(&from) * PPROF_MESSAGE_BYTES_PER_BYTE;
	int error = unpack_gzip(from, max_bytes < MAX_BYTES ? max_bytes : MAX_BYTES, &ret->data,
				&ret->len);

	if (error == EFBIG && max_bytes < MAX_BYTES)
		return error_new("it unpacks to more than %zu MB, too much for a file of its size",
				 max_bytes >> 20);
	return error ? input_error(error) : NULL;
}

struct error *pprof_input(FILE *in, struct pprof_input *ret)
{
	CLEANUP(free_ptr) char *data = NULL;
	size_t len;
	int error = read_all(in, MAX_BYTES, &data, &len);

	if (error)
		return input_error(error);
	*ret = (struct pprof_input){.len = len, .file_bytes = len};
	if (is_gzip(data, len))
		return unpack_message(bytes_of(data, len), ret);
	ret->data = STEAL(data);
	return NULL;
}

struct error *pprof_damaged(void)
{
	return error_new("it is damaged, truncated or not a pprof profile");
}
