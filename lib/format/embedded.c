#include "format/embedded.h"

#include "base/cleanup.h"
#include "base/unpack.h"

#include <errno.h>

/* No file is larger. */
enum { EMBEDDED_BYTES_MAX = 1 << 20 };

int embedded_write(struct bytes packed, FILE *out)
{
	CLEANUP(free_ptr) char *text = NULL;
	size_t len;
	int error = unpack_gzip(packed, EMBEDDED_BYTES_MAX, &text, &len);

	if (!error && fwrite(text, 1, len, out) != len)
		error = errno;
	return error;
}
