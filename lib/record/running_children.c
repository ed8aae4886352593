#include "record/running_children.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/descendants.h"
#include "base/humanize.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

/* Thresholds for a message. */
enum { LEAST_MS = 10, RUNNING_CHILDREN_LEAST_SHARE = 100 };

struct running_child {
	pid_t pid;
	uint64_t start_cpu_ns;
};

/* Returns 0 if the process has ended. */
static uint64_t running_children_cpu_ns_of(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) < 0)
		return 0;
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

static void running_children_add(struct running_children *children, pid_t pid)
{
	children->items[children->count++] =
		(struct running_child){.pid = pid, .start_cpu_ns = running_children_cpu_ns_of(pid)};
}

void running_children_begin(struct running_children *children, const pid_t *pids, size_t count)
{
	CLEANUP(free_ptr) pid_t *descendants = NULL;
	size_t descendant_count;

	descendants_list(pids, count, &descendants, &descendant_count);
	children->items = xcalloc(count + descendant_count + 1, sizeof(*children->items));
	for (size_t i = 0; i < count; i++)
		running_children_add(children, pids[i]);
	children->target_count = children->count;
	for (size_t i = 0; i < descendant_count; i++)
		running_children_add(children, descendants[i]);
}

void running_children_deinit(struct running_children *children)
{
	free(children->items);
	*children = (struct running_children){0};
}

struct running_children_usage running_children_usage(const struct running_children *children)
{
	struct running_children_usage usage = {0};

	for (size_t i = 0; i < children->count; i++) {
		const struct running_child *child = &children->items[i];
		uint64_t cpu_ns = running_children_cpu_ns_of(child->pid);
		uint64_t used_ns = cpu_ns > child->start_cpu_ns ? cpu_ns - child->start_cpu_ns : 0;

		if (i < children->target_count) {
			usage.target_cpu_ns += used_ns;
		} else if (used_ns) {
			usage.cpu_ns += used_ns;
			usage.count++;
		}
	}
	return usage;
}

/* Returns a list such as "12,34". */
static char *list_text(const pid_t *pids, size_t count)
{
	char *text = xstrdup("");

	for (size_t i = 0; i < count; i++) {
		char *longer = xasprintf("%s%s%d", text, i ? "," : "", (int)pids[i]);

		free(text);
		text = longer;
	}
	return text;
}

char *running_children_text(const struct running_children_usage *usage, const pid_t *pids,
			    size_t count)
{
	CLEANUP(free_ptr) char *list = list_text(pids, count);
	bool is_one = usage->count == 1;

	if (usage->cpu_ns < LEAST_MS * NS_PER_MS ||
	    usage->cpu_ns < (usage->cpu_ns + usage->target_cpu_ns) / RUNNING_CHILDREN_LEAST_SHARE)
		return NULL;
	return xasprintf("%zu child process%s that existed before used %s of CPU time and %s not "
			 "sampled: use -p %s --children to sample %s, too",
			 usage->count, is_one ? "" : "es", humanize_time(usage->cpu_ns).text,
			 is_one ? "was" : "were", list, is_one ? "it" : "them");
}
