#include "cmd/summary.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/humanize.h"
#include "cmd/shell_word.h"
#include "cmd/ui/message.h"
#include "profile/cpu_records.h"
#include "report/branches.h"
#include "report/memory_text.h"
#include "report/quality_text.h"
#include "report/rows.h"
#include "report/shorten.h"
#include "report/stat_text.h"
#include "report/waiting.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	HOTTEST = 10,
	SHARES_COLUMNS = 19,   /* what stands before a function's name */
	DEFAULT_COLUMNS = 120, /* where there is no terminal */
	LEAST_COLUMNS = 60,
	LOST_SHARE = 100,      /* of the samples that so many are lost is worth a word */
	UNNAMED_SHARE = 100,   /* a module matters when it leaves so much of the samples unnamed */
	PLACELESS_SHARE = 100, /* of the waiting time: if more has no stack, what helps is said */
};

/* Columns that a function's name may have. */
static size_t name_columns(void)
{
	unsigned columns = message_columns();

	if (!columns)
		columns = DEFAULT_COLUMNS;
	return (columns > LEAST_COLUMNS ? columns : LEAST_COLUMNS) - SHARES_COLUMNS;
}

/* Is another one of the rows that are shown called so? */
static bool has_namesake(const struct rows *rows, size_t row)
{
	for (size_t i = 0; i < rows->count && i < HOTTEST; i++)
		if (i != row && !strcmp(rows->items[i].name, rows->items[row].name))
			return true;
	return false;
}

/* To be freed; with its module where the name alone says too little. */
static char *distinct_name(const struct profile *profile, const struct rows *rows, size_t row)
{
	const struct profile_module *module = profile_get_module(profile, rows->items[row].module);
	const char *file = basename(profile_string(profile, module->path));
	size_t columns = name_columns();
	CLEANUP(free_ptr) char *name = NULL;

	if (!has_namesake(rows, row) || strlen(file) + strlen(" ()") > columns / 2)
		return shorten(rows->items[row].name, columns);
	name = shorten(rows->items[row].name, columns - strlen(file) - strlen(" ()"));
	return xasprintf("%s (%s)", name, file);
}

static void print_hottest(const struct profile *profile, event_id event)
{
	const char *name = profile_string(profile, profile_get_event(profile, event)->name);
	struct view view;
	struct rows rows;

	error_free(view_init_selected(
		&view, profile, &(struct view_options){.event = event, .names = NAMES_SHORT}));
	rows_init(&rows, &view, ROW_FUNCTION);
	if (rows.count)
		message_row("    self    total  %s",
			    profile_event_count(profile) > 1 ? name : "function");
	for (size_t i = 0; i < rows.count && i < HOTTEST && rows.items[i].self.weight; i++) {
		const struct row *row = &rows.items[i];
		CLEANUP(free_ptr) char *shown = distinct_name(profile, &rows, i);
		CLEANUP(free_ptr) char *reason = row_reason(&view, row);

		message_row("%8s %8s  %s%s%s",
			    humanize_share(row->self.weight, rows.all.weight).text,
			    humanize_share(row->total.weight, rows.all.weight).text, shown,
			    *reason ? "  " : "", reason);
	}
	rows_deinit(&rows);
	view_deinit(&view);
}

static const struct symbolize_problem *problem_of(const struct symbolize_outcome *naming,
						  uint32_t module)
{
	for (size_t i = 0; i < naming->problem_count; i++)
		if (naming->problems[i].module == module)
			return &naming->problems[i];
	return NULL;
}

/* A file that prof doctor can examine, for a shell; NULL: none is written. To be freed. */
static char *examinable_file(const struct summary *summary)
{
	for (size_t i = 0; i < summary->output_count; i++) {
		const struct output *output = &summary->outputs[i];
		bool has_records = !output->format->write;

		if (output->is_file && output->is_written &&
		    (has_records || output->format == &format_pprof))
			return shell_word(output->path);
	}
	return NULL;
}

/* share: " (12 % of the samples)", or nothing; more: what ends the line. */
static void print_problem(const struct summary *summary, const struct symbolize_problem *problem,
			  const char *share, const char *more)
{
	CLEANUP(free_ptr) char *file = problem->fact ? examinable_file(summary) : NULL;

	if (file)
		message("%s%s: prof doctor %s says what brings them%s", problem->fact, share, file,
			more);
	else
		message("%s%s%s", problem->text, share, more);
}

static void print_unnamed(const struct summary *summary, const struct unnamed_module *unnamed,
			  const char *more)
{
	const struct profile_module *module = profile_get_module(summary->profile, unnamed->module);
	const struct symbolize_problem *problem = problem_of(summary->naming, unnamed->module);
	uint64_t samples = summary->quality->counts.samples;
	struct humanized share = humanize_share(unnamed->samples, samples);
	CLEANUP(free_ptr) char *of_samples = xasprintf(" (%s of the samples)", share.text);

	if (problem)
		print_problem(summary, problem, samples ? of_samples : "", more);
	else
		message("%s of the samples are in functions of %s without a symbol%s", share.text,
			profile_string(summary->profile, module->path), more);
}

static bool is_listed(const struct quality *quality, uint32_t module)
{
	for (size_t i = 0; i < quality->module_count; i++)
		if (quality->modules[i].module == module)
			return true;
	return false;
}

static bool matters(const struct summary *summary, const struct unnamed_module *unnamed)
{
	return summary->verbose ||
	       unnamed->samples * UNNAMED_SHARE >= summary->quality->counts.samples;
}

static size_t count_problems(const struct summary *summary)
{
	const struct quality *quality = summary->quality;
	const struct symbolize_outcome *naming = summary->naming;
	size_t count = 0;

	for (size_t i = 0; i < quality->module_count; i++)
		count += matters(summary, &quality->modules[i]);
	for (size_t i = 0; i < naming->problem_count; i++)
		count += !is_listed(quality, naming->problems[i].module);
	return count;
}

/* Modules that leave samples unnamed, the costliest first, then those that cost less than names.
 * Only the first one is shown, with the number of the others, unless all are asked for. */
static void print_problems(const struct summary *summary)
{
	const struct quality *quality = summary->quality;
	const struct symbolize_outcome *naming = summary->naming;
	size_t count = count_problems(summary), left = summary->verbose ? count : 1;
	CLEANUP(free_ptr)
	char *more = count > left ? xasprintf(", and %zu more: -v lists them", count - left)
				  : xstrdup("");

	for (size_t i = 0; left && i < quality->module_count; i++) {
		if (!matters(summary, &quality->modules[i]))
			continue;
		print_unnamed(summary, &quality->modules[i], more);
		left--;
	}
	for (size_t i = 0; left && i < naming->problem_count; i++) {
		if (is_listed(quality, naming->problems[i].module))
			continue;
		print_problem(summary, &naming->problems[i], "", more);
		left--;
	}
}

/* Unnamed frames are not reported as problems if symbolizing was cancelled. */
static void print_namelessness(const struct summary *summary)
{
	if (summary->naming->cancelled)
		message("symbolizing was cancelled: the rest is written as addresses");
	else
		print_problems(summary);
}

static bool records_memory(const struct profile *profile)
{
	event_id event;

	return memory_event_find(profile, MEMORY_ALLOC_SPACE, &event);
}

/* Of this program alone: getrusage(2) has the memory of whoever executed it in it, too. */
static uint64_t peak_bytes(void)
{
	CLEANUP(close_file) FILE *status = fopen("/proc/self/status", "re");
	unsigned long long kib = 0;
	char line[128];

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmHWM: %llu kB", &kib) == 1)
			break;
	return kib * 1024;
}

/* Neither sampled allocations nor looks at waiting threads are counted as samples. */
static char *cost_per_sample(const struct summary *summary, uint64_t samples)
{
	struct waiting_quality waiting;

	return samples && !records_memory(summary->profile) &&
			       !waiting_sums(summary->profile, &waiting)
		       ? xasprintf(" (%s per sample)",
				   humanize_time(summary->sampling_cpu_ns / samples).text)
		       : xstrdup("");
}

static void print_cost(const struct summary *summary)
{
	uint64_t samples = summary->quality->counts.samples;
	CLEANUP(free_ptr) char *each = cost_per_sample(summary, samples);
	uint64_t memory_bytes = peak_bytes();
	const struct worker_cost *workers = &summary->naming->worker_cost;

	if (workers->peak_bytes > memory_bytes)
		memory_bytes = workers->peak_bytes;
	message("prof used %s of CPU time to %s%s, %s to symbolize and write, "
		"and %s of memory",
		humanize_time(summary->sampling_cpu_ns).text, summary->reading ? "read" : "sample",
		each,
		humanize_time(clock_own_cpu_ns() - summary->sampling_cpu_ns + workers->cpu_ns).text,
		humanize_bytes(memory_bytes).text);
}

static void print_file(const struct output *output)
{
	CLEANUP(free_ptr) char *path = shell_word(output->path);
	const char *viewer = output->format->viewer, *file = strstr(viewer, "FILE");
	struct stat st;

	/* A pipe or a device has been read by now. */
	if (!output->is_file || !output->is_written || stat(output->path, &st) < 0)
		return;
	message("%s (%s); view it with: %.*s%s%s", output->path,
		humanize_bytes((uint64_t)st.st_size).text, (int)(file - viewer), viewer, path,
		file + strlen("FILE"));
}

void summary_print_files(const struct output *outputs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		print_file(&outputs[i]);
}

static void print_losses(const struct profile_quality *counts)
{
	const struct event_quality *memory =
		quality_of_event(counts, memory_event_name(MEMORY_ALLOC_SPACE));

	if (counts->lost && counts->lost * LOST_SHARE >= counts->samples)
		message("samples were lost because the ring buffer overflowed: lower -F, or raise "
			"-m");
	if (memory && memory->lost && memory->lost * LOST_SHARE >= memory->samples)
		message("sampled allocations were lost because they came faster than they could "
			"be read, so sums are too small: sample fewer with a larger --alloc=BYTES");
}

/* If less than this share is sampled, what would sample the rest is worth a word. */
#define LEAST_SAMPLED 0.95
/* If this share is sampled, what was counted is not. */
#define NEARLY_ALL 0.99

static bool is_of_waiting(const struct summary *summary)
{
	return quality_is_of_waiting(&summary->quality->counts);
}

static void print_counted(const struct summary *summary)
{
	double unsampled = 0;
	bool is_poor = quality_share(summary->quality, "unsampled", &unsampled) &&
		       1 - unsampled < LEAST_SAMPLED;

	for (event_id event = 0; event < profile_event_count(summary->profile); event++) {
		if (1 - unsampled >= NEARLY_ALL && !summary->verbose)
			break;

		CLEANUP(free_ptr) char *text = quality_counted_text(summary->profile, event);

		if (text)
			message("%s", text);
	}
	if (is_poor && summary->unsampled_hint)
		message("[not sampled] is %s", summary->unsampled_hint);
	else if (!summary->quality->counts.samples && !summary->explains_emptiness &&
		 !is_of_waiting(summary) && !memory_is_alone(summary->profile))
		message("no samples: nothing ran long enough on a CPU, or the event did not occur");
}

static void print_text(const char *text)
{
	if (text)
		message("%s", text);
}

/* Where the time of the threads went, and how surely that is known. */
static void print_waiting(const struct summary *summary)
{
	struct waiting_quality sums;
	CLEANUP(free_ptr) char *text = NULL;
	CLEANUP(free_ptr) char *places = NULL;
	CLEANUP(free_ptr) char *left_out = NULL;
	bool is_helped;

	if (!waiting_sums(summary->profile, &sums))
		return;
	text = waiting_text(&sums);
	places = waiting_places_text(&sums);
	left_out = waiting_left_out_text(&sums);
	/* Where looks are refused, more of them show no more. */
	is_helped = sums.proved_ns && sums.placeless_ns > sums.waiting_ns / PLACELESS_SHARE;
	print_text(text);
	if (places)
		message("%s%s", places,
			is_helped ? "; raise -F to look at waiting threads more often: then more "
				    "waits have a stack"
				  : "");
	print_text(left_out);
	if (sums.lost)
		message("%s records of context switches were lost because the ring buffer "
			"overflowed: raise -m",
			humanize_count(sums.lost).text);
}

static void print_memory(const struct profile *profile)
{
	CLEANUP(free_ptr) char *allocated = memory_allocated_text(profile);
	CLEANUP(free_ptr) char *inuse = memory_inuse_text(profile);

	if (allocated && inuse)
		message("allocated: %s; in use: %s (prof report --leaks)", allocated, inuse);
}

static void print_branches(const struct profile *profile)
{
	struct branch_counts branches = branch_counts_of(profile);
	const char *way = "prof report --branches";
	double mispredicted;

	if (branches.taken && branch_mispredicted(&branches, &mispredicted))
		message("%s taken branches, %.1f %% mispredicted (%s)",
			humanize_count(branches.taken).text, mispredicted * 100, way);
	else if (branches.taken)
		message("%s taken branches (%s)", humanize_count(branches.taken).text, way);
}

static void print_latency(const struct profile *profile)
{
	event_id event;
	struct sum sum;

	if (!cpu_record_find(profile, CPU_MEMORY_LATENCY, &event))
		return;
	sum = view_event_sum(profile, event);
	message("accesses to memory took %s cycles on average (prof report -e %s --by label:mem)",
		humanize_count(sum.weight / sum.samples).text, cpu_record_name(CPU_MEMORY_LATENCY));
}

/* Beside the bytes of the same allocations they say little. */
static bool counts_objects(const struct profile *profile, event_id event)
{
	enum memory_event which;

	return memory_event_of(profile, event, &which) &&
	       (which == MEMORY_ALLOC_OBJECTS || which == MEMORY_INUSE_OBJECTS);
}

static void print_stat(const struct profile *profile)
{
	CLEANUP(free_ptr) char *table = stat_table(profile_get_info(profile));

	for (char *rest = table, *line; (line = strsep(&rest, "\n"));)
		if (*line)
			message_row("%s", line);
}

void summary_print(const struct summary *summary)
{
	const struct profile *profile = summary->profile;
	const struct profile_quality *counts = &summary->quality->counts;
	CLEANUP(free_ptr) char *quality = quality_text(counts);
	CLEANUP(free_ptr) char *memory = quality_memory_text(counts);

	for (event_id event = 0; event < profile_event_count(profile); event++)
		if (!counts_objects(profile, event) && !cpu_record_is(profile, event))
			print_hottest(profile, event);
	if (!is_of_waiting(summary))
		message("%s", quality);
	if (counts->samples)
		print_text(memory);
	print_waiting(summary);
	print_memory(profile);
	print_branches(profile);
	print_latency(profile);
	print_stat(profile);
	print_counted(summary);
	print_losses(counts);
	print_namelessness(summary);
	if (counts->samples || records_memory(profile))
		print_cost(summary);
	summary_print_files(summary->outputs, summary->output_count);
}
