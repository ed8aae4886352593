#include "base/mapped_file.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * process_vm_readv() locks the address space for what it copies at once. A thread that loses its
 * CPU then would keep others from mapping files, the reader of the rings among them.
 */
enum { COPY_BYTES_MAX = 64 << 10 };

static size_t whole_blocks(size_t size_bytes)
{
	size_t mask = MAPPED_FILE_BLOCK_BYTES - 1;

	return (size_bytes + mask) & ~mask;
}

void *mapped_file_new(int fd, size_t size_bytes)
{
	const size_t block = MAPPED_FILE_BLOCK_BYTES, len = whole_blocks(size_bytes);
	unsigned char *reserved, *data;
	size_t before;

	if (size_bytes > SIZE_MAX / 2) {
		errno = EFBIG;
		return NULL;
	}
	/* One block more than needed; the ends that are not aligned are given back. */
	reserved = mmap(NULL, len + block, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			-1, 0);
	if (reserved == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)reserved & (block - 1);
	data = mmap(reserved + before, len, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
	if (data == MAP_FAILED) {
		munmap(reserved, len + block);
		return NULL;
	}
	if (before)
		munmap(reserved, before);
	munmap(data + len, block - before);
	return data;
}

void mapped_file_free(void *data, size_t size_bytes)
{
	munmap(data, whole_blocks(size_bytes));
}

/* Returns the number of bytes copied, or -1 where it is not permitted. */
static ssize_t copy(const unsigned char *from, size_t len, void *into)
{
	struct iovec local = {.iov_base = into, .iov_len = len};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)from, .iov_len = len};
	ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	return got < 0 && errno == EFAULT ? 0 : got;
}

bool mapped_file_read(const void *from, size_t len, void *into)
{
	const unsigned char *at = from;
	unsigned char *to = into;

	while (len) {
		size_t part = len < COPY_BYTES_MAX ? len : COPY_BYTES_MAX;
		ssize_t got = copy(at, part, to);

		if (got < 0)
			memcpy(to, at, part);
		else if ((size_t)got < part)
			return false;
		at += part;
		to += part;
		len -= part;
	}
	return true;
}

bool mapped_file_has(const void *data, size_t len)
{
	const uintptr_t page = (uintptr_t)getpagesize();
	uintptr_t start = (uintptr_t)data / page * page;
	unsigned char present[2] = {0};
	size_t span = (uintptr_t)data + len - start;

	if (span > sizeof(present) * page || mincore((void *)start, span, present) < 0)
		return false;
	return present[0] & 1 && (span <= page || present[1] & 1);
}
