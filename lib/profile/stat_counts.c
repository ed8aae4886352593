#include "profile/stat_counts.h"

#include "base/alloc.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char stat_counts_mark[] = "prof: stat ";

const char *const stat_counter_names[STAT_COUNTERS] = {
	[STAT_TASK_CLOCK] = "task-clock",
	[STAT_CONTEXT_SWITCHES] = "context-switches",
	[STAT_CPU_MIGRATIONS] = "cpu-migrations",
	[STAT_PAGE_FAULTS] = "page-faults",
	[STAT_CYCLES] = "cycles",
	[STAT_INSTRUCTIONS] = "instructions",
	[STAT_BRANCHES] = "branches",
	[STAT_BRANCH_MISSES] = "branch-misses",
};

bool stat_counts_exist(const struct stat_counts *counts)
{
	for (size_t i = 0; i < STAT_COUNTERS; i++)
		if (counts->is_known[i])
			return true;
	return false;
}

char *stat_counts_encode(const struct stat_counts *counts)
{
	const char *before = stat_counts_mark;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < STAT_COUNTERS; i++) {
		if (!counts->is_known[i])
			continue;
		fprintf(out, "%s%s=%" PRIu64, before, stat_counter_names[i], counts->values[i]);
		before = " ";
	}
	fclose(out);
	return text;
}

static void stat_counts_take(const char *name, size_t len, uint64_t value,
			     struct stat_counts *counts)
{
	for (size_t i = 0; i < STAT_COUNTERS; i++) {
		if (strlen(stat_counter_names[i]) != len ||
		    strncmp(stat_counter_names[i], name, len) != 0)
			continue;
		counts->values[i] = value;
		counts->is_known[i] = true;
	}
}

/* Parses "page-faults=345" and the space after it. */
static bool stat_counts_take_pair(const char **at, struct stat_counts *counts)
{
	size_t len = strcspn(*at, "= ");
	const char *number = *at + len + 1;
	uint64_t value;
	char *end;

	if (!len || (*at)[len] != '=' || !isdigit((unsigned char)*number))
		return false;
	errno = 0;
	value = strtoull(number, &end, 10);
	if (errno || (*end && *end != ' '))
		return false;
	stat_counts_take(*at, len, value, counts);
	*at = end + (*end == ' ');
	return true;
}

bool stat_counts_decode(const char *text, struct stat_counts *ret)
{
	struct stat_counts counts = {0};

	if (!text_begins(text, stat_counts_mark))
		return false;
	for (text += strlen(stat_counts_mark); *text;)
		if (!stat_counts_take_pair(&text, &counts))
			return false;
	*ret = counts;
	return true;
}
