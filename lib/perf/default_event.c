#include "perf/default_event.h"

#include "base/clock.h"
#include "perf/counter.h"

#include <errno.h>
#include <linux/perf_event.h>

/* Counts the cycles of prof itself for half a millisecond. Returns the count or
 * a negative errno. */
static int64_t count_own(const struct event *cycles)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = cycles->type,
		.config = cycles->config,
		.exclude_kernel = 1,
	};
	CLEANUP(counter_close) struct counter counter = {0};
	int number = counter_open(&counter, cycles, &attr, 0);
	uint64_t until_ns = clock_now_ns() + 500000;
	uint64_t count = 0;

	if (number)
		return -number;
	while (clock_now_ns() < until_ns)
		continue;
	return counter_read(&counter, &count) ? (int64_t)count : -EIO;
}

const char *event_why_not_cycles(int64_t cycles_counted)
{
	if (cycles_counted > 0)
		return NULL;
	switch (cycles_counted) {
	case 0:
		return "no hardware counter: cycles opens, but counts nothing";
	case -EBUSY:
		return "no hardware counter: another program uses it";
	case -EACCES:
	case -EPERM:
		return "no hardware counter: the kernel denies access to it";
	default:
		return "no hardware counter: this machine has none, like most virtual machines";
	}
}

void event_default(const struct pmus *pmus, struct event *ret, const char **reason)
{
	/* Cannot fail for a generic event. */
	error_free(event_parse("cycles", pmus, ret));
	*reason = event_why_not_cycles(count_own(ret));
	if (!*reason)
		return;
	event_deinit(ret);
	error_free(event_parse("cpu-clock", pmus, ret));
}
