#include "proc/memory.h"

#include <stdbool.h>
#include <sys/uio.h>

/* Memory ends at a page, of this size or a multiple of it. */
enum { PAGE_BYTES = 4096 };

static ssize_t read_once(pid_t tid, uint64_t address, void *into, size_t len)
{
	struct iovec to = {into, len};
	struct iovec from = {(void *)(uintptr_t)address, len}; /* NOLINT */

	return process_vm_readv(tid, &to, 1, &from, 1, 0);
}

size_t memory_read(pid_t tid, uint64_t address, void *into, size_t len)
{
	bool by_page = false; /* where all at once is refused, as it may be when a part cannot be */
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
	}
	return done;
}
