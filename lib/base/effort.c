#include "base/effort.h"

#include "base/clock.h"

#include <sys/resource.h>

struct effort effort_begin(void)
{
	struct rusage usage = {.ru_nvcsw = 0};

	getrusage(RUSAGE_THREAD, &usage);
	return (struct effort){.time_ns = clock_now_ns(),
			       .cpu_ns = clock_thread_cpu_ns(),
			       .sleeps = usage.ru_nvcsw};
}

uint64_t effort_ns(const struct effort *begin)
{
	struct effort now = effort_begin();

	return now.sleeps != begin->sleeps ? now.time_ns - begin->time_ns
					   : now.cpu_ns - begin->cpu_ns;
}
