#include "base/sched_attributes.h"

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	SLICE_NS = 100000,
	RESET_ON_FORK = 1, /* SCHED_FLAG_RESET_ON_FORK */
};

/* struct sched_attr, which only newer C libraries have. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

void sched_request_short_slices(void)
{
	struct attributes attributes;

	if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) ||
	    attributes.policy != SCHED_OTHER)
		return;
	attributes.size = sizeof(attributes);
	attributes.flags = RESET_ON_FORK;
	attributes.runtime_ns = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &attributes, 0);
}
