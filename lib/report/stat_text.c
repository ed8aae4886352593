#include "report/stat_text.h"

#include "base/humanize.h"

#include <stdio.h>

enum { VALUE_COLUMNS = 14, NAME_COLUMNS = 16 };

static double ratio(const struct stat_counts *stat, enum stat_counter part, enum stat_counter of)
{
	if (!stat->is_known[part] || !stat->is_known[of] || !stat->values[of])
		return 0;
	return (double)stat->values[part] / (double)stat->values[of];
}

/* Writes the derived value of the counter, or nothing. */
static void put_meaning(FILE *out, const struct profile_info *info, enum stat_counter counter)
{
	const struct stat_counts *stat = &info->quality.stat;
	double per_second = ratio(stat, counter, STAT_TASK_CLOCK) * 1e9;
	double per_cycle = ratio(stat, STAT_INSTRUCTIONS, STAT_CYCLES);
	double missed = ratio(stat, STAT_BRANCH_MISSES, STAT_BRANCHES);

	if (counter == STAT_TASK_CLOCK && info->duration_ns)
		fprintf(out, "%.3g CPUs used",
			(double)stat->values[counter] / (double)info->duration_ns);
	else if (counter == STAT_CYCLES && per_second > 0)
		fprintf(out, "%.3g GHz", per_second / 1e9);
	else if (counter == STAT_INSTRUCTIONS && per_cycle > 0)
		fprintf(out, "%.2f per cycle", per_cycle);
	else if (counter == STAT_BRANCH_MISSES && missed > 0)
		fprintf(out, "%.2f %% of branches", missed * 100);
	else if (counter != STAT_TASK_CLOCK && per_second > 0)
		fprintf(out, "%s per second of CPU time",
			humanize_count((uint64_t)(per_second + 0.5)).text);
}

static struct humanized value_text(const struct stat_counts *stat, enum stat_counter counter)
{
	return counter == STAT_TASK_CLOCK ? humanize_time(stat->values[counter])
					  : humanize_count(stat->values[counter]);
}

static char *meaning_of(const struct profile_info *info, enum stat_counter counter)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	put_meaning(out, info, counter);
	fclose(out);
	return text;
}

static void stat_text_put_row(FILE *out, const struct profile_info *info, enum stat_counter counter)
{
	CLEANUP(free_ptr) char *meaning = meaning_of(info, counter);
	int columns = *meaning ? NAME_COLUMNS : 0;

	fprintf(out, "%*s  %-*s%s%s\n", VALUE_COLUMNS,
		value_text(&info->quality.stat, counter).text, columns, stat_counter_names[counter],
		*meaning ? "  " : "", meaning);
}

char *stat_table(const struct profile_info *info)
{
	const struct stat_counts *stat = &info->quality.stat;
	char *table = NULL;
	size_t len;
	FILE *out;

	if (!stat_counts_exist(stat))
		return NULL;
	out = open_memstream(&table, &len);
	for (enum stat_counter counter = 0; counter < STAT_COUNTERS; counter++)
		if (stat->is_known[counter])
			stat_text_put_row(out, info, counter);
	fclose(out);
	return table;
}

char *stat_line(const struct profile_info *info)
{
	static const struct {
		enum stat_counter counter;
		const char *words;
	} counts[] = {
		{STAT_CONTEXT_SWITCHES, "context switches"},
		{STAT_CPU_MIGRATIONS, "migrations"},
		{STAT_PAGE_FAULTS, "page faults"},
	};
	const struct stat_counts *stat = &info->quality.stat;
	double per_cycle = ratio(stat, STAT_INSTRUCTIONS, STAT_CYCLES);
	double missed = ratio(stat, STAT_BRANCH_MISSES, STAT_BRANCHES);
	const char *comma = "";
	char *line = NULL;
	size_t len;
	FILE *out;

	if (!stat_counts_exist(stat))
		return NULL;
	out = open_memstream(&line, &len);
	if (stat->is_known[STAT_TASK_CLOCK]) {
		put_meaning(out, info, STAT_TASK_CLOCK);
		comma = info->duration_ns ? ", " : "";
	}
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (!stat->is_known[counts[i].counter])
			continue;
		fprintf(out, "%s%s %s", comma, humanize_count(stat->values[counts[i].counter]).text,
			counts[i].words);
		comma = ", ";
	}
	if (per_cycle > 0)
		fprintf(out, "%s%.2f instructions per cycle", comma, per_cycle);
	if (missed > 0)
		fprintf(out, ", %.2f %% of branches mispredicted", missed * 100);
	fclose(out);
	return line;
}
