#include "base/mapped_file.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * process_vm_readv() locks the address space while it copies. A larger copy by
 * a preempted thread would keep other threads from mapping files, among them
 * the reader of the ring buffers.
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
	/* One block more than needed. The unaligned ends are unmapped. */
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

bool mapped_file_read_parts(const struct mapped_file_part *parts, size_t count)
{
	struct iovec local[MAPPED_FILE_PARTS_MAX], remote[MAPPED_FILE_PARTS_MAX];
	size_t len = 0;
	ssize_t got;

	for (size_t i = 0; i < count; i++) {
		local[i] = (struct iovec){.iov_base = parts[i].into, .iov_len = parts[i].len};
		remote[i] = (struct iovec){.iov_base = (void *)(uintptr_t)parts[i].from,
					   .iov_len = parts[i].len};
		len += parts[i].len;
	}
	got = process_vm_readv(getpid(), local, count, remote, count, 0);
	if (got >= 0 || errno == EFAULT)
		return got == (ssize_t)len;
	for (size_t i = 0; i < count; i++)
		memcpy(parts[i].into, parts[i].from, parts[i].len);
	return true;
}

bool mapped_file_read(const void *from, size_t len, void *into)
{
	struct mapped_file_part part = {.from = from, .into = into};

	for (size_t done = 0; done < len; done += part.len) {
		part.from = (const unsigned char *)from + done;
		part.into = (unsigned char *)into + done;
		part.len = len - done < COPY_BYTES_MAX ? len - done : COPY_BYTES_MAX;
		if (!mapped_file_read_parts(&part, 1))
			return false;
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
