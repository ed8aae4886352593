#include "proc/memory.h"

#include <sys/uio.h>

/* Readable memory ends at a multiple of this. */
enum { PAGE_BYTES = 4096 };
/* Per system call; less than IOV_MAX. */
enum { PARTS_MAX = 128 };

static ssize_t read_once(pid_t tid, uint64_t address, void *into, size_t len)
{
	struct iovec to = {into, len};
	struct iovec from = {(void *)(uintptr_t)address, len}; /* NOLINT */

	return process_vm_readv(tid, &to, 1, &from, 1, 0);
}

size_t memory_read(pid_t tid, uint64_t address, void *into, size_t len)
{
	/*
	 * Set after a read of everything at once failed because a part is
	 * unreadable.
	 */
	bool by_page = false;
	size_t done = 0;

	while (done < len) {
		uint64_t at = address + done;
		size_t in_page = PAGE_BYTES - at % PAGE_BYTES, step = len - done;
		ssize_t copied;

		if (by_page && step > in_page)
			step = in_page;
		copied = read_once(tid, at, (char *)into + done, step);
		if (copied > 0)
			done += (size_t)copied;
		else if (by_page || step <= in_page)
			break;
		else
			by_page = true;
		if (copied > 0 && (size_t)copied < step && (at + (size_t)copied) % PAGE_BYTES == 0)
			break; /* the kernel copied up to an unreadable page */
	}
	return done;
}

/*
 * The kernel copies in order, up to the first part that it cannot read. Returns
 * the number of complete parts.
 */
static size_t proc_memory_read_some(pid_t tid, const struct memory_part *parts, size_t count)
{
	struct iovec to[PARTS_MAX] = {0}, from[PARTS_MAX] = {0};
	size_t done = 0;
	ssize_t copied;

	for (size_t i = 0; i < count; i++) {
		to[i] = (struct iovec){parts[i].into, parts[i].len};
		from[i] = (struct iovec){(void *)(uintptr_t)parts[i].address, /* NOLINT */
					 parts[i].len};
	}
	copied = process_vm_readv(tid, to, count, from, count, 0);
	while (done < count && copied >= (ssize_t)parts[done].len)
		copied -= (ssize_t)parts[done++].len;
	return done;
}

void memory_read_parts(pid_t tid, struct memory_part *parts, size_t count)
{
	size_t done = 0;

	while (done < count) {
		size_t step = count - done < PARTS_MAX ? count - done : PARTS_MAX;
		size_t copied = proc_memory_read_some(tid, parts + done, step);

		for (size_t i = 0; i < copied; i++)
			parts[done++].is_read = true;
		if (copied < step)
			parts[done++].is_read = false;
	}
}
