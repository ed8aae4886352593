#include "base/read_all.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <errno.h>

int read_all(FILE *in, size_t max_bytes, char **ret, size_t *len)
{
	CLEANUP(free_ptr) char *to = NULL;
	size_t count = 0, room = 0;

	do {
		if (count == room) {
			room = room ? room * 2 : 1 << 16;
			to = xreallocarray(to, room, 1);
		}
		errno = 0;
		count += fread(to + count, 1, room - count, in);
	} while (count == room && count <= max_bytes);
	if (ferror(in))
		return errno ? errno : EIO;
	if (count > max_bytes)
		return EFBIG;
	*ret = STEAL(to);
	*len = count;
	return 0;
}
