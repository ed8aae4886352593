#include "perf/cpus.h"

#include "base/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CPU_LIMIT = 65536 };

static bool cpus_parse_number(const char **at, unsigned *ret)
{
	char *end = NULL;
	unsigned long value = 0;

	if (!isdigit((unsigned char)**at))
		return false;
	value = strtoul(*at, &end, 10);
	if (value >= CPU_LIMIT)
		return false;
	*at = end;
	*ret = (unsigned)value;
	return true;
}

static bool cpus_parse_range(const char **at, bool *chosen)
{
	unsigned first = 0, last = 0;

	if (!cpus_parse_number(at, &first))
		return false;
	last = first;
	if (**at == '-') {
		++*at;
		if (!cpus_parse_number(at, &last) || last < first)
			return false;
	}
	for (unsigned cpu = first; cpu <= last; cpu++)
		chosen[cpu] = true;
	return true;
}

bool cpus_parse(const char *list, unsigned **ret, size_t *ret_count)
{
	CLEANUP(free_ptr) bool *chosen = xcalloc(CPU_LIMIT, sizeof(*chosen));
	unsigned *cpus = NULL;
	size_t count = 0, room = 0;

	do {
		if (!cpus_parse_range(&list, chosen))
			return false;
	} while (*list++ == ',');
	if (list[-1] != '\0' && list[-1] != '\n')
		return false;
	for (unsigned cpu = 0; cpu < CPU_LIMIT; cpu++) {
		if (!chosen[cpu])
			continue;
		GROW(cpus, count, room);
		cpus[count++] = cpu;
	}
	*ret = cpus;
	*ret_count = count;
	return true;
}

/* Returns the CPUs that prof itself may run on. */
static struct error *cpus_of_affinity(unsigned **ret, size_t *ret_count)
{
	size_t bytes = CPU_ALLOC_SIZE(CPU_LIMIT), count = 0, room = 0;
	CLEANUP(free_ptr) cpu_set_t *set = xcalloc(1, bytes);
	unsigned *cpus = NULL;

	if (sched_getaffinity(0, bytes, set) < 0)
		return error_errno(errno, "ask for the CPUs");
	for (unsigned cpu = 0; cpu < CPU_LIMIT; cpu++)
		if (CPU_ISSET_S(cpu, bytes, set)) {
			GROW(cpus, count, room);
			cpus[count++] = cpu;
		}
	*ret = cpus;
	*ret_count = count;
	return NULL;
}

struct error *cpus_online(unsigned **ret, size_t *ret_count)
{
	static const char path[] = "/sys/devices/system/cpu/online";
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	CLEANUP(free_ptr) char *line = NULL;
	size_t room = 0;

	if (!file && errno == ENOENT)
		return cpus_of_affinity(ret, ret_count);
	if (!file || getline(&line, &room, file) < 0)
		return error_errno(errno, "read %s", path);
	if (!cpus_parse(line, ret, ret_count))
		return error_new("%s is not a list of CPUs", path);
	return NULL;
}

static bool contains(const unsigned *cpus, size_t count, unsigned cpu)
{
	for (size_t i = 0; i < count; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

struct error *cpus_choose(const unsigned *wanted, size_t wanted_count, unsigned **ret,
			  size_t *ret_count)
{
	CLEANUP(free_ptr) unsigned *online = NULL;
	CLEANUP(free_ptr) unsigned *chosen = NULL;
	size_t online_count = 0, count = 0;
	struct error *err = cpus_online(&online, &online_count);

	if (err)
		return err;
	if (!wanted) {
		*ret = STEAL(online);
		*ret_count = online_count;
		return NULL;
	}
	chosen = xreallocarray(NULL, wanted_count, sizeof(*chosen));
	for (size_t i = 0; i < wanted_count; i++) {
		if (!contains(online, online_count, wanted[i]))
			return error_new("CPU %u is not online", wanted[i]);
		if (!contains(chosen, count, wanted[i]))
			chosen[count++] = wanted[i];
	}
	*ret = STEAL(chosen);
	*ret_count = count;
	return NULL;
}

size_t cpus_end(const unsigned *cpus, size_t count)
{
	size_t end = 0;

	for (size_t i = 0; i < count; i++)
		if (cpus[i] >= end)
			end = cpus[i] + 1;
	return end;
}

char *cpus_text(const unsigned *cpus, size_t count)
{
	char *text = xstrdup("");

	for (size_t i = 0; i < count; i++) {
		size_t first = i;
		char *longer;

		while (i + 1 < count && cpus[i + 1] == cpus[i] + 1)
			i++;
		longer = first == i ? xasprintf("%s%s%u", text, *text ? "," : "", cpus[i])
				    : xasprintf("%s%s%u-%u", text, *text ? "," : "", cpus[first],
						cpus[i]);
		free(text);
		text = longer;
	}
	return text;
}
