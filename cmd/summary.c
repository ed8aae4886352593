#include "cmd/summary.h"

#include "base/alloc.h"
#include "cmd/figure.h"
#include "cmd/message.h"
#include "report/shorten.h"
#include "report/top.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum {
	HOTTEST = 10,
	SHARES_COLUMNS = 19,   /* what stands before a function's name */
	DEFAULT_COLUMNS = 120, /* where there is no terminal */
	LEAST_COLUMNS = 60,
	PROBLEMS_SHOWN = 3,
	LOST_SHARE = 100,    /* of the samples that so many are lost is worth a word */
	UNNAMED_SHARE = 100, /* a module matters when it leaves so much of the samples unnamed */
};

static uint64_t ns_of(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

uint64_t summary_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
}

/* Columns that a function's name may have. */
static size_t name_columns(void)
{
	unsigned columns = message_columns();

	if (!columns)
		columns = DEFAULT_COLUMNS;
	return (columns > LEAST_COLUMNS ? columns : LEAST_COLUMNS) - SHARES_COLUMNS;
}

/* Is another one of the rows that are shown called so? */
static bool has_namesake(const struct top *top, size_t row)
{
	for (size_t i = 0; i < top->count && i < HOTTEST; i++)
		if (i != row && !strcmp(top->rows[i].name, top->rows[row].name))
			return true;
	return false;
}

/* To be freed; with its module where the name alone says too little. */
static char *row_name(const struct profile *profile, const struct top *top, size_t row)
{
	const struct profile_module *module = profile_get_module(profile, top->rows[row].module);
	const char *file = basename(profile_string(profile, module->path));
	size_t columns = name_columns();
	CLEANUP(free_ptr) char *name = NULL;

	if (!has_namesake(top, row) || strlen(file) + strlen(" ()") > columns / 2)
		return shorten(top->rows[row].name, columns);
	name = shorten(top->rows[row].name, columns - strlen(file) - strlen(" ()"));
	return xasprintf("%s (%s)", name, file);
}

static void print_hottest(const struct profile *profile, event_id event)
{
	const char *name = profile_string(profile, profile_get_event(profile, event)->name);
	struct view view;
	struct top top;

	view_init(&view, profile, event);
	top_init(&top, &view, TOP_FUNCTION);
	if (top.count)
		message_row("    self    total  %s",
			    profile_event_count(profile) > 1 ? name : "function");
	for (size_t i = 0; i < top.count && i < HOTTEST && top.rows[i].self.weight; i++) {
		const struct top_row *row = &top.rows[i];
		CLEANUP(free_ptr) char *shown = row_name(profile, &top, i);

		message_row("%8s %8s  %s", figure_share(row->self.weight, top.all.weight).text,
			    figure_share(row->total.weight, top.all.weight).text, shown);
	}
	top_deinit(&top);
	view_deinit(&view);
}

static const char *problem_of(const struct symbolize_outcome *naming, uint32_t module)
{
	for (size_t i = 0; i < naming->problem_count; i++)
		if (naming->problems[i].module == module)
			return naming->problems[i].text;
	return NULL;
}

static void print_unnamed(const struct summary *summary, const struct unnamed_module *unnamed)
{
	const struct profile_module *module = profile_get_module(summary->profile, unnamed->module);
	const char *problem = problem_of(summary->naming, unnamed->module);
	struct figure share = figure_share(unnamed->samples, summary->quality->counts.samples);

	if (problem)
		message("%s (%s of the samples)", problem, share.text);
	else
		message("%s of the samples have addresses of %s that nothing names", share.text,
			profile_string(summary->profile, module->path));
}

static bool is_listed(const struct quality *quality, uint32_t module)
{
	for (size_t i = 0; i < quality->module_count; i++)
		if (quality->modules[i].module == module)
			return true;
	return false;
}

/* Modules that leave samples unnamed, the costliest first, then those that cost less than names. */
static void print_problems(const struct summary *summary)
{
	const struct quality *quality = summary->quality;
	const struct symbolize_outcome *naming = summary->naming;
	size_t left = summary->verbose ? SIZE_MAX : PROBLEMS_SHOWN;
	size_t hidden = 0;

	for (size_t i = 0; i < quality->module_count; i++) {
		bool matters = quality->modules[i].samples * UNNAMED_SHARE >=
			       quality->counts.samples;

		if (left && (matters || summary->verbose)) {
			print_unnamed(summary, &quality->modules[i]);
			left--;
		} else if (matters) {
			hidden++;
		}
	}
	for (size_t i = 0; i < naming->problem_count; i++) {
		if (is_listed(quality, naming->problems[i].module))
			continue;
		if (left) {
			message("%s", naming->problems[i].text);
			left--;
		} else {
			hidden++;
		}
	}
	if (hidden)
		message("and %zu more: -v lists them", hidden);
}

/* What has no name because naming was cut short is nobody's fault. */
static void print_namelessness(const struct summary *summary)
{
	if (summary->naming->cancelled)
		message("naming was cut short: what it had not reached is written as addresses");
	else
		print_problems(summary);
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

static void print_cost(const struct summary *summary)
{
	uint64_t samples = summary->quality->counts.samples;

	message("prof itself took %s of CPU time to %s (%s a sample), %s to name and write, "
		"and %s of memory",
		figure_time(summary->sampling_cpu_ns).text, summary->reading ? "read" : "sample",
		figure_time(summary->sampling_cpu_ns / samples).text,
		figure_time(summary_cpu_ns() - summary->sampling_cpu_ns).text,
		figure_bytes(peak_bytes()).text);
}

/* As a shell takes it for one word. */
static char *quoted(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=./:,@%";
	char *text = NULL;
	size_t len;
	FILE *out;

	if (path[strspn(path, plain)] == '\0')
		return xstrdup(path);
	out = open_memstream(&text, &len);
	fputc('\'', out);
	for (; *path; path++) {
		if (*path == '\'')
			fputs("'\\'", out);
		fputc(*path, out);
	}
	fputc('\'', out);
	fclose(out);
	return text;
}

static void print_file(const struct output *output)
{
	CLEANUP(free_ptr) char *path = quoted(output->path);
	const char *viewer = output->format->viewer, *file = strstr(viewer, "FILE");
	struct stat st;

	/* A pipe or a device has been read by now. */
	if (!output->is_file || !output->is_written || stat(output->path, &st) < 0)
		return;
	message("%s (%s); to look at it: %.*s%s%s", output->path,
		figure_bytes((uint64_t)st.st_size).text, (int)(file - viewer), viewer, path,
		file + strlen("FILE"));
}

void summary_print_files(const struct output *outputs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		print_file(&outputs[i]);
}

static void print_losses(const struct session_counts *counts)
{
	if (counts->lost && counts->lost * LOST_SHARE >= counts->samples)
		message("what was lost came faster than it could be read: lower -F, or raise -m");
	else if (!counts->samples)
		message("no sample was taken: nothing ran on a CPU for long enough, or the event "
			"never happened");
}

void summary_print(const struct summary *summary)
{
	const struct profile *profile = summary->profile;

	for (event_id event = 0; event < profile_event_count(profile); event++)
		print_hottest(profile, event);
	message("%s", profile_get_info(profile)->quality);
	print_losses(&summary->quality->counts);
	print_namelessness(summary);
	if (summary->quality->counts.samples)
		print_cost(summary);
	summary_print_files(summary->outputs, summary->output_count);
}
