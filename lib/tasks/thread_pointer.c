#include "tasks/thread_pointer.h"

#include "base/alloc.h"
#include "proc/memory.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__

/* offsets in struct pthread */
enum { SELF_BYTES = 16, TID_BYTES = 720, ROBUST_LIST_BYTES = 736 };

bool thread_pointer_find(pid_t tid, uint64_t *ret)
{
	uint64_t block = 0, self = 0;
	uint32_t own_tid = 0;
	void *robust_list = NULL;
	size_t len;
	uint64_t at;
	struct memory_part parts[3];

	if (syscall(SYS_get_robust_list, tid, &robust_list, &len) < 0 || !robust_list)
		return false;
	at = (uintptr_t)robust_list - ROBUST_LIST_BYTES;
	parts[0] = (struct memory_part){at, &block, sizeof(block), false};
	parts[1] = (struct memory_part){at + SELF_BYTES, &self, sizeof(self), false};
	parts[2] = (struct memory_part){at + TID_BYTES, &own_tid, sizeof(own_tid), false};
	memory_read_parts(tid, parts, ARRAY_SIZE(parts));
	*ret = at;
	/* The tid in memory may differ from `tid` in another PID namespace. */
	return parts[2].is_read && block == at && self == at && own_tid;
}

uint64_t thread_pointer_tls(uint64_t thread_pointer, uint64_t tls_bytes, uint64_t tls_alignment)
{
	return thread_pointer - ((tls_bytes + tls_alignment - 1) & ~(tls_alignment - 1));
}

#else

bool thread_pointer_find(pid_t tid, uint64_t *ret)
{
	(void)tid;
	*ret = 0;
	return false;
}

uint64_t thread_pointer_tls(uint64_t thread_pointer, uint64_t tls_bytes, uint64_t tls_alignment)
{
	(void)tls_bytes;
	(void)tls_alignment;
	return thread_pointer;
}

#endif
