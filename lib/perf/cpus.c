#include "perf/cpus.h"

#include "base/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CPU_LIMIT = 65536 };

static bool parse_number(const char **at, unsigned *ret)
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

static bool parse_range(const char **at, bool *chosen)
{
	unsigned first = 0, last = 0;

	if (!parse_number(at, &first))
		return false;
	last = first;
	if (**at == '-') {
		++*at;
		if (!parse_number(at, &last) || last < first)
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
		if (!parse_range(&list, chosen))
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

struct error *cpus_online(unsigned **ret, size_t *ret_count)
{
	static const char path[] = "/sys/devices/system/cpu/online";
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	CLEANUP(free_ptr) char *line = NULL;
	size_t room = 0;

	if (!file || getline(&line, &room, file) < 0)
		return error_errno(errno, "read %s", path);
	if (!cpus_parse(line, ret, ret_count))
		return error_new("%s holds no list of CPUs", path);
	return NULL;
}
