#include "base/effort.h"

#include "base/clock.h"

#include <sys/resource.h>

struct effort effort_start(void)
{
	struct rusage usage = {.ru_nvcsw = 0};

	getrusage(RUSAGE_THREAD, &usage);
	return (struct effort){.time_ns = clock_now_ns(),
			       .cpu_ns = clock_thread_cpu_ns(),
			       .sleeps = usage.ru_nvcsw};
}

uint64_t effort_ns(const struct effort *before)
{
	struct effort now = effort_start();

	return now.sleeps != before->sleeps ? now.time_ns - before->time_ns
					    : now.cpu_ns - before->cpu_ns;
}
