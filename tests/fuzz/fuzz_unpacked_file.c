/* Fuzzes compressed files. The decompressed size is bounded, and no descriptor
 * remains open after a failure. */
#include "cmd/input/unpacked_file.h"

#include "base/alloc.h"
#include "cmd/input/unknown_file.h"
#include "replay.h"

#include <assert.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t first = size < 64 ? size : 64;
	CLEANUP(close_fd) int fd = memfd_create("packed", MFD_CLOEXEC);
	struct error *err;
	struct stat status;

	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
	err = unpacked_file(&fd, data, first);
#if !defined(HAVE_LZMA) || !defined(HAVE_ZSTD)
	if (err && replay_skip)
		replay_skip();
#endif
	note_number("fails", err != NULL);
	if (!err) {
		assert(fstat(fd, &status) == 0);
		assert((uint64_t)status.st_size <=
		       UNPACKED_FILE_BYTES + (uint64_t)UNPACKED_FILE_BYTES_PER_BYTE * size);
		note_number("bytes", (uint64_t)status.st_size);
	}
	error_free(err);
	err = unknown_file(data, first);
	note_text("named", err ? error_text(err) : NULL);
	error_free(err);
	return 0;
}
