#include "cmd/summary.h"

#include "base/alloc.h"
#include "cmd/message.h"
#include "report/top.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { HOTTEST = 10, PROBLEMS_SHOWN = 3 };

/* Is there a frame without a name in the stack? By stack_id; parents come before their children. */
static bool *find_unnamed(const struct profile *profile)
{
	uint32_t count = profile_stack_count(profile);
	bool *unnamed = xcalloc(count, sizeof(*unnamed));

	for (stack_id id = 1; id < count; id++) {
		struct profile_stack stack = profile_get_stack(profile, id);

		unnamed[id] = unnamed[stack.parent] ||
			      !profile_get_frame(profile, stack.frame).line_count;
	}
	return unnamed;
}

static uint64_t count_unnamed(const struct profile *profile)
{
	CLEANUP(free_ptr) bool *unnamed = find_unnamed(profile);
	uint64_t samples = 0;

	for (uint64_t i = 0; i < profile_cell_count(profile); i++) {
		const struct profile_cell *cell = profile_get_cell(profile, i);

		if (unnamed[cell->stack])
			samples += cell->samples;
	}
	return samples;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

char *summary_quality(const struct profile *profile, const struct session_counts *counts)
{
	uint64_t unnamed = count_unnamed(profile);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, "%" PRIu64 " samples, %" PRIu64 " lost", counts->samples, counts->lost);
	if (counts->throttled)
		fprintf(out, ", throttled %" PRIu64 " times", counts->throttled);
	fprintf(out, ", %" PRIu64 " truncated (%.1f %%)", counts->truncated,
		percent(counts->truncated, counts->samples));
	fprintf(out, ", %" PRIu64 " with nameless frames (%.1f %%)", unnamed,
		percent(unnamed, counts->samples));
	if (counts->compat)
		fprintf(out, ", %" PRIu64 " of 32-bit processes (leaf only)", counts->compat);
	fclose(out);
	return text;
}

static void print_hottest(const struct profile *profile)
{
	struct top top;

	top_init(&top, profile, 0);
	if (top.count)
		message_row("    self   total  function");
	for (size_t i = 0; i < top.count && i < HOTTEST && top.rows[i].self; i++)
		message_row("%6.1f %% %5.1f %%  %s", percent(top.rows[i].self, top.weight),
			    percent(top.rows[i].total, top.weight), top.rows[i].name);
	top_deinit(&top);
}

static void print_problems(const struct summary *summary)
{
	const struct symbolize_outcome *naming = summary->naming;
	size_t shown = naming->problem_count;

	if (!summary->verbose && shown > PROBLEMS_SHOWN)
		shown = PROBLEMS_SHOWN;
	for (size_t i = 0; i < shown; i++)
		message("%s", naming->problems[i].text);
	if (shown < naming->problem_count)
		message("%zu more modules lack names: -v lists them",
			naming->problem_count - shown);
	if (naming->cancelled)
		message("naming was cut short: what it had not reached is written as addresses");
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void print_cost(const struct session_counts *counts)
{
	struct rusage usage;
	double cpu_s;

	getrusage(RUSAGE_SELF, &usage);
	cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
	message("%.2f s of CPU time for it (%.1f us a sample), %ld MB of memory", cpu_s,
		counts->samples ? cpu_s * 1e6 / (double)counts->samples : 0,
		usage.ru_maxrss / 1024);
}

static void print_files(const struct summary *summary)
{
	for (size_t i = 0; i < summary->output_count; i++) {
		const struct output *output = &summary->outputs[i];

		if (output_is_stdout(output))
			continue;
		if (output->format == &format_pprof)
			message("%s is written; open it: go tool pprof -http=: %s", output->path,
				output->path);
		else
			message("%s is written; draw it: inferno-flamegraph %s > flame.svg",
				output->path, output->path);
	}
}

void summary_print(const struct summary *summary)
{
	print_hottest(summary->profile);
	message("%s", profile_get_info(summary->profile)->quality);
	if (!summary->counts->samples)
		message("no sample: nothing ran on a CPU long enough, or the event never happened");
	print_problems(summary);
	print_cost(summary->counts);
	print_files(summary);
}
