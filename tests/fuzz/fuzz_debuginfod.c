/* Fuzzes messages of a process that downloads. The first byte is the kind of
 * the message, the rest its contents. */
#include "debuginfod/client.h"

#include "base/alloc.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes from = bytes_of(data, size);
	uint64_t bytes, total_bytes;
	struct client_done done;

	if (bytes_u8(&from) == CLIENT_PROGRESS) {
		(void)!client_progress_read(from, &bytes, &total_bytes);
		return 0;
	}
	if (client_done_read(from, &done)) {
		assert(done.path);
		free(done.path);
		free(done.url);
	}
	return 0;
}
