#include "base/sched_attributes.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	SLICE_NS = 100000,
	RAISED_NICE = -10,
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

static bool get(struct attributes *ret)
{
	return syscall(SYS_sched_getattr, 0, ret, sizeof(*ret), 0) == 0 &&
	       ret->policy == SCHED_OTHER;
}

static void sched_attributes_set(struct attributes attributes)
{
	attributes.size = sizeof(attributes);
	attributes.flags = RESET_ON_FORK;
	syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void sched_request_short_slices(void)
{
	struct attributes attributes;

	if (!get(&attributes))
		return;
	attributes.runtime_ns = SLICE_NS;
	sched_attributes_set(attributes);
}

static void change_nice(int from, int to)
{
	struct attributes attributes;

	if (!get(&attributes) || attributes.nice != from)
		return;
	attributes.nice = to;
	sched_attributes_set(attributes);
}

void sched_raise_priority(void)
{
	change_nice(0, RAISED_NICE);
}

void sched_restore_priority(void)
{
	change_nice(RAISED_NICE, 0);
}
