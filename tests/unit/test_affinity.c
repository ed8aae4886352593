#include "base/affinity.h"

#include "unit_test.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

/* The linker replaces sched_getaffinity() by this (--wrap), for a machine with
 * this many CPUs. */
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *cpus);

static size_t machine_cpus;

int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *cpus)
{
	(void)pid;
	if (!machine_cpus || bytes * 8 < machine_cpus) {
		errno = machine_cpus ? EINVAL : EPERM;
		return -1;
	}
	memset(cpus, 0, bytes);
	for (size_t cpu = 0; cpu < machine_cpus; cpu += 2)
		CPU_SET_S(cpu, bytes, cpus);
	return 0;
}

TEST(the_cpus_that_may_be_used_are_counted)
{
	machine_cpus = 8;
	assert_int_equal(affinity_cpu_count(), 4);
}

TEST(a_machine_may_have_more_cpus_than_a_cpu_set_holds)
{
	machine_cpus = 8192;
	assert_int_equal(affinity_cpu_count(), 4096);
}

TEST(an_unknown_number_of_cpus_counts_as_one)
{
	machine_cpus = 0;
	assert_int_equal(affinity_cpu_count(), 1);
}
