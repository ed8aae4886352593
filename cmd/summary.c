#include "cmd/summary.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/humanize.h"
#include "base/shell_word.h"
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
	SHARES_COLUMNS = 19,	       /* width of the columns before a function's name */
	SUMMARY_DEFAULT_COLUMNS = 120, /* without a terminal */
	SUMMARY_LEAST_COLUMNS = 60,
	LOST_SHARE = 100, /* lost samples are reported from this fraction (1/N) on */
	/* a module is reported if this fraction (1/N) of the samples is
	 * unsymbolized because of it */
	UNNAMED_SHARE = 100,
	/* the hint about waits without a stack is printed if more than this
	 * fraction (1/N) of the off-CPU time has none */
	PLACELESS_SHARE = 100,
};

/* Returns the maximum width of a function's name. */
static size_t summary_name_columns(void)
{
	unsigned columns = message_columns();

	if (!columns)
		columns = SUMMARY_DEFAULT_COLUMNS;
	return (columns > SUMMARY_LEAST_COLUMNS ? columns : SUMMARY_LEAST_COLUMNS) - SHARES_COLUMNS;
}

/* Returns true if another shown row has the same name. */
static bool has_namesake(const struct rows *rows, size_t row)
{
	for (size_t i = 0; i < rows->count && i < HOTTEST; i++)
		if (i != row && !strcmp(rows->items[i].name, rows->items[row].name))
			return true;
	return false;
}

/* Returns the name, with its module if the name is ambiguous. The caller frees
 * it. */
static char *distinct_name(const struct profile *profile, const struct rows *rows, size_t row)
{
	const struct profile_module *module = profile_get_module(profile, rows->items[row].module);
	const char *file = basename(profile_string(profile, module->path));
	size_t columns = summary_name_columns();
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

/* Returns the name of a file that prof doctor can examine, quoted for a shell,
 * or NULL if none is written. The caller frees it. */
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

/* share is " (12 % of the samples)" or "". more is the end of the line. */
static void print_problem(const struct summary *summary, const struct symbolize_problem *problem,
			  const char *share, const char *more)
{
	CLEANUP(free_ptr) char *file = problem->fact ? examinable_file(summary) : NULL;

	if (file)
		message("%s%s%s; to fix this, run: prof doctor %s", problem->fact, share, more,
			file);
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

static bool summary_is_listed(const struct quality *quality, uint32_t module)
{
	for (size_t i = 0; i < quality->module_count; i++)
		if (quality->modules[i].module == module)
			return true;
	return false;
}

/* The line of a runtime without names is enough for the code that it has compiled. */
static bool summary_is_of_runtime(const struct summary *summary, uint32_t module)
{
	return summary->runtimes &&
	       profile_get_module(summary->profile, module)->kind == PROFILE_MODULE_JIT;
}

static bool summary_matters(const struct summary *summary, const struct unnamed_module *unnamed)
{
	return !summary_is_of_runtime(summary, unnamed->module) &&
	       (summary->verbose ||
		unnamed->samples * UNNAMED_SHARE >= summary->quality->counts.samples);
}

/* Whether it costs less than names. */
static bool is_minor(const struct summary *summary, const struct symbolize_problem *problem)
{
	return !summary_is_listed(summary->quality, problem->module) &&
	       !summary_is_of_runtime(summary, problem->module);
}

static size_t count_problems(const struct summary *summary)
{
	const struct quality *quality = summary->quality;
	const struct symbolize_outcome *naming = summary->naming;
	size_t count = 0;

	for (size_t i = 0; i < quality->module_count; i++)
		count += summary_matters(summary, &quality->modules[i]);
	for (size_t i = 0; i < naming->problem_count; i++)
		count += is_minor(summary, &naming->problems[i]);
	return count;
}

/*
 * Prints the modules that leave samples unsymbolized, the most expensive first,
 * then modules with smaller problems. Only the first one is printed, with the
 * number of the others, unless the user wants all.
 */
static void summary_print_problems(const struct summary *summary)
{
	const struct quality *quality = summary->quality;
	const struct symbolize_outcome *naming = summary->naming;
	size_t count = count_problems(summary), left = summary->verbose ? count : 1;
	CLEANUP(free_ptr)
	char *more = count > left ? xasprintf(", and %zu more: -v lists them", count - left)
				  : xstrdup("");

	for (size_t i = 0; left && i < quality->module_count; i++) {
		if (!summary_matters(summary, &quality->modules[i]))
			continue;
		print_unnamed(summary, &quality->modules[i], more);
		left--;
	}
	for (size_t i = 0; left && i < naming->problem_count; i++) {
		if (!is_minor(summary, &naming->problems[i]))
			continue;
		print_problem(summary, &naming->problems[i], "", more);
		left--;
	}
}

/* If symbolization was cancelled, unsymbolized frames are not reported as
 * problems. */
static void print_namelessness(const struct summary *summary)
{
	if (summary->naming->cancelled)
		message("symbolizing was cancelled: the rest is written as addresses");
	else
		summary_print_problems(summary);
}

static void print_runtimes(const struct summary *summary)
{
	for (const char *line = summary->runtimes; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		message("%.*s", (int)strcspn(line, "\n"), line);
	}
}

static bool records_memory(const struct profile *profile)
{
	event_id event;

	return memory_event_find(profile, MEMORY_ALLOC_SPACE, &event);
}

/* Returns the peak memory of this program. getrusage(2) would include the
 * memory of the program that executed prof. */
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

/* Sampled allocations and snapshots of waiting threads are not counted as
 * samples. */
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

	/* The output is a pipe or a device and was consumed. */
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

/* If less than this share was sampled, the summary prints what would sample the
 * rest. */
#define LEAST_SAMPLED 0.95
/* If this share was sampled, the number of counted events is not printed. */
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

static void summary_print_text(const char *text)
{
	if (text)
		message("%s", text);
}

/* Prints where the time of the threads went, and how reliable that is. */
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
	/* If snapshots are refused, a higher rate does not help. */
	is_helped = sums.proved_ns && sums.placeless_ns > sums.waiting_ns / PLACELESS_SHARE;
	summary_print_text(text);
	if (places)
		message("%s%s", places,
			is_helped ? "; raise -F to poll waiting threads more often, so that more "
				    "waits have a stack"
				  : "");
	summary_print_text(left_out);
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

/* Returns true for numbers of objects, which add little to the bytes of the
 * same allocations. */
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
		summary_print_text(memory);
	print_waiting(summary);
	print_memory(profile);
	print_branches(profile);
	print_latency(profile);
	print_stat(profile);
	print_counted(summary);
	print_losses(counts);
	print_runtimes(summary);
	print_namelessness(summary);
	if (counts->samples || records_memory(profile))
		print_cost(summary);
	summary_print_files(summary->outputs, summary->output_count);
}
