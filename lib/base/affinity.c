#include "base/affinity.h"

#include <errno.h>
#include <sched.h>

/* Far more than any kernel supports (CONFIG_NR_CPUS). */
enum { CPUS_MAX = 1 << 20 };

unsigned affinity_cpu_count(void)
{
	int error = EINVAL;
	unsigned count = 0;

	/*
	 * A cpu_set_t has 1,024 CPUs. The call fails if the kernel supports
	 * more.
	 */
	for (unsigned room = CPU_SETSIZE; error == EINVAL && room <= CPUS_MAX; room *= 2) {
		cpu_set_t *cpus = CPU_ALLOC(room);
		size_t bytes = CPU_ALLOC_SIZE(room);

		if (!cpus)
			break;
		error = sched_getaffinity(0, bytes, cpus) < 0 ? errno : 0;
		if (!error)
			count = (unsigned)CPU_COUNT_S(bytes, cpus);
		CPU_FREE(cpus);
	}
	return count ? count : 1;
}
