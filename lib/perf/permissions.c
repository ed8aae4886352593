#include "perf/permissions.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "perf/attr.h"
#include "perf/cpus.h"

/* Opens cpu-clock, which needs no counter. Returns 0 or an errno. */
static int permissions_try_to_open(pid_t tid, int cpu, bool in_kernel)
{
	const struct event event = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.frequency_hz = 1,
		.exclude_kernel = !in_kernel,
		.exclude_hypervisor = true,
	};
	struct attr_features features = {0};
	struct perf_event_attr attr;
	CLEANUP(close_fd) int fd = -1;

	attr_samples(&attr, &event, &features);
	fd = attr_open(&attr, tid, cpu);
	return fd < 0 ? -fd : 0;
}

static unsigned first_cpu(void)
{
	CLEANUP(free_ptr) unsigned *cpus = NULL;
	size_t count;
	struct error *err = cpus_online(&cpus, &count);

	error_free(err);
	return err ? 0 : cpus[0];
}

void permissions_probe(pid_t tid, struct permissions *ret)
{
	*ret = (struct permissions){
		.user = permissions_try_to_open(tid, -1, false),
		.kernel = permissions_try_to_open(tid, -1, true),
		.cpus = permissions_try_to_open(-1, (int)first_cpu(), true),
	};
}
