#include "base/alloc.h"
#include "base/json.h"
#include "cmd/json_sum.h"
#include "cmd/report/report.h"
#include "report/quality_text.h"
#include "report/row_table.h"
#include "report/title.h"
#include "report/waiting.h"

/* Raised when a member changes its meaning or is removed, but not when one is
 * added. */
#define REPORT_SCHEMA "prof-report/1"

enum { IPC_DIGITS = 4 };

struct report_json_writer {
	const struct report *report;
	struct json json;
	bool counts_samples; /* for the event that is shown */
};

static const char *report_json_text_of(const struct report_json_writer *writer, string_id id)
{
	return profile_string(writer->report->profile, id);
}

static const char *report_json_kind_of(const struct report_json_writer *writer, uint32_t label)
{
	static const char *const kinds[] = {
		[PROFILE_MODULE_FILE] = "user",	      [PROFILE_MODULE_KERNEL] = "kernel",
		[PROFILE_MODULE_VDSO] = "vdso",	      [PROFILE_MODULE_JIT] = "jit",
		[PROFILE_MODULE_UNKNOWN] = "unknown", [PROFILE_MODULE_NONE] = "user",
		[PROFILE_MODULE_SYNTHETIC] = "note",  [PROFILE_MODULE_INTERPRETED] = "interpreted",
	};

	return kinds[display_labels_kind(&writer->report->view.labels, label)];
}

static void report_json_put_place(struct report_json_writer *writer, string_id file, uint32_t line)
{
	json_put_known(&writer->json, "file", report_json_text_of(writer, file));
	if (file && line)
		json_put_number(&writer->json, "line", line);
}

static const char *module_path(const struct report_json_writer *writer, uint32_t module)
{
	return report_json_text_of(writer,
				   profile_get_module(writer->report->profile, module)->path);
}

static void report_json_put_function(struct report_json_writer *writer, uint32_t id)
{
	const struct label *label = &writer->report->view.labels.items[id];

	json_put_text(&writer->json, "name", label->shown);
	json_put_known(&writer->json, "module", module_path(writer, label->module));
	report_json_put_place(writer, label->file, label->start_line);
	json_put_text(&writer->json, "kind", report_json_kind_of(writer, id));
	if (label->is_address)
		json_put_bool(&writer->json, "is_address", true);
}

static void report_json_put_thread(struct report_json_writer *writer, thread_id id, bool is_process)
{
	const struct profile_thread *thread = profile_get_thread(writer->report->profile, id);

	json_put_known(&writer->json, "process", report_json_text_of(writer, thread->process));
	if (is_process)
		return;
	if (thread->pid >= 0)
		json_put_number(&writer->json, "pid", (uint64_t)thread->pid);
	if (thread->tid >= 0)
		json_put_number(&writer->json, "tid", (uint64_t)thread->tid);
}

static void put_sums(struct report_json_writer *writer, struct sum self, struct sum total)
{
	json_put_sum(&writer->json, "self", self, writer->counts_samples);
	json_put_sum(&writer->json, "total", total, writer->counts_samples);
}

static void put_blocked_of(struct report_json_writer *writer, const char *name)
{
	const struct blocked_task *task = blocked_tasks_find(&writer->report->blocked, name);

	if (task)
		json_put_number(&writer->json, "blocked_ns", task->blocked_ns);
}

/* Writes bytes in use by age: {"10 ms to 100 ms": 1048576}. */
static void report_json_put_ages(struct report_json_writer *writer, const struct row *row)
{
	struct json *json = &writer->json;

	json_key(json, "ages");
	json_begin_object(json);
	for (unsigned age = 0; age < ALLOCATION_LIFETIMES; age++) {
		uint64_t bytes = leaks_bytes_of_age(&writer->report->leaks, row, age);

		if (bytes)
			json_put_number(json, allocation_lifetime_name(age), bytes);
	}
	json_end_object(json);
}

static void put_ipc_of(struct report_json_writer *writer, const struct row *row)
{
	double ipc;

	if (ipc_of_row(&writer->report->ipc, row, &ipc))
		json_put_real(&writer->json, "ipc", ipc, IPC_DIGITS);
}

static void report_json_put_row(struct report_json_writer *writer, const struct row *row)
{
	enum row_key key = writer->report->by.key;

	json_begin_object(&writer->json);
	if (key == ROW_FUNCTION) {
		report_json_put_function(writer, row->label);
	} else {
		json_put_text(&writer->json, "name",
			      key == ROW_LABEL && !*row->name ? "(none)" : row->name);
		if (key == ROW_PROCESS || key == ROW_THREAD)
			report_json_put_thread(writer, row->thread, key == ROW_PROCESS);
		else if (key != ROW_LABEL)
			json_put_known(&writer->json, "module", module_path(writer, row->module));
		report_json_put_place(writer, row->file, row->line);
	}
	put_sums(writer, row->self, row->total);
	if (writer->report->leaks.has_objects)
		json_put_number(&writer->json, "objects",
				leaks_objects(&writer->report->leaks, row));
	if (writer->report->leaks.has_ages)
		report_json_put_ages(writer, row);
	put_ipc_of(writer, row);
	if (writer->report->has_polls)
		json_put_number(&writer->json, "polls", report_polls(writer->report, row->name));
	if (writer->report->has_waiting)
		put_blocked_of(writer, row->name);
	if (row->reason != ROW_NO_LABEL) {
		json_put_text(&writer->json, "reason",
			      writer->report->view.labels.items[row->reason].name);
		json_put_number(&writer->json, "reason_weight", row->reason_weight);
	}
	json_end_object(&writer->json);
}

static void report_json_put_rows(struct report_json_writer *writer)
{
	const struct report *report = writer->report;
	const struct row_table_options options = {
		.by = report->by,
		.order = report->options->by.order,
		.functions = report->chosen,
		.least_total = report->chosen ? 0 : report->min_weight,
		.limit = report->options->limit,
	};
	struct row_table table;

	row_table_init(&table, &report->view, &report->rows, &options);
	json_key(&writer->json, "rows");
	json_begin_array(&writer->json);
	for (size_t i = 0; i < table.count; i++)
		report_json_put_row(writer, row_table_row(&table, i));
	json_end_array(&writer->json);
	row_table_deinit(&table);
}

static void report_json_put_blocked(struct json *json, const struct blocked_task *task)
{
	json_begin_object(json);
	json_put_text(json, "task", task->name);
	json_put_number(json, "blocked_ns", task->blocked_ns);
	json_put_text(json, "reason", task->reason);
	json_put_number(json, "reason_ns", task->place_ns);
	if (task->call)
		json_put_text(json, "call", task->call);
	if (task->text)
		json_put_text(json, "text", task->text);
	json_end_object(json);
}

static void put_blocked_tasks(struct report_json_writer *writer)
{
	const struct blocked_tasks *blocked = &writer->report->blocked;

	if (!writer->report->has_waiting)
		return;
	json_key(&writer->json, "blocked");
	json_begin_array(&writer->json);
	for (size_t i = 0; i < blocked->count; i++)
		report_json_put_blocked(&writer->json, &blocked->items[i]);
	json_end_array(&writer->json);
}

static void put_latency(struct json *json, const struct latency_sums *sums)
{
	if (!sums->count)
		return;
	json_key(json, "latency");
	json_begin_array(json);
	for (unsigned i = sums->first; i <= sums->last; i++) {
		char name[LATENCY_NAME_BYTES];

		latency_class_name(i, name);
		json_begin_object(json);
		json_put_text(json, "class", name);
		json_put_number(json, "calls", sums->calls[i]);
		json_end_object(json);
	}
	json_end_array(json);
}

/* A flat list with parents before children: many JSON readers cannot read deep trees. */
static void report_json_put_tree(struct report_json_writer *writer, const char *key,
				 const struct pruned_tree *tree)
{
	json_key(&writer->json, key);
	json_begin_array(&writer->json);
	for (size_t i = 0; i < tree->count; i++) {
		const struct pruned_node *node = &tree->nodes[i];

		json_begin_object(&writer->json);
		json_key(&writer->json, "parent");
		if (node->parent == PRUNED_TREE_NO_PARENT)
			json_null(&writer->json);
		else
			json_number(&writer->json, node->parent);
		json_put_number(&writer->json, "depth", node->depth);
		report_json_put_function(writer, node->label);
		if (node->is_inlined)
			json_put_bool(&writer->json, "is_inlined", true);
		if (node->is_recursive)
			json_put_bool(&writer->json, "is_recursive", true);
		if (node->folded)
			json_put_number(&writer->json, "folded", node->folded);
		put_sums(writer, node->self, node->total);
		json_end_object(&writer->json);
	}
	json_end_array(&writer->json);
}

static void report_json_put_event(struct report_json_writer *writer, event_id id)
{
	const struct profile_event *event = profile_get_event(writer->report->profile, id);
	struct sum sum = view_event_sum(writer->report->profile, id);

	json_begin_object(&writer->json);
	json_put_text(&writer->json, "name", report_json_text_of(writer, event->name));
	json_put_text(&writer->json, "kind", value_kind_name(event->kind));
	json_put_text(&writer->json, "unit", profile_event_unit(writer->report->profile, id));
	if (profile_counts_samples(writer->report->profile, id))
		json_put_number(&writer->json, "samples", sum.samples);
	json_put_number(&writer->json, "weight", sum.weight);
	json_end_object(&writer->json);
}

static void report_json_put_counts(struct json *json, const struct quality_count *count,
				   const void *quality)
{
	for (; count->key; count++) {
		uint64_t value = quality_count_value(quality, count);

		if (value || !(count->flags & COUNT_UNKNOWN_IF_0))
			json_put_number(json, count->key, value);
	}
}

static void put_event_quality(struct json *json, const struct event_quality *quality)
{
	json_begin_object(json);
	json_put_text(json, "event", quality->event);
	report_json_put_counts(json, event_quality_counts, quality);
	if (quality->counted && !quality->sampled)
		json_put_number(json, "sampled", 0);
	json_end_object(json);
}

static void report_json_put_quality(struct report_json_writer *writer,
				    const struct profile_quality *quality)
{
	struct json *json = &writer->json;
	CLEANUP(free_ptr) char *text = quality_text(quality);

	json_key(json, "quality");
	json_begin_object(json);
	json_put_text(json, "text", text);
	report_json_put_counts(json, profile_quality_counts, quality);
	if (quality->event_count) {
		json_key(json, "events");
		json_begin_array(json);
		for (size_t i = 0; i < quality->event_count; i++)
			put_event_quality(json, &quality->events[i]);
		json_end_array(json);
	}
	json_end_object(json);
}

static void report_json_put_waiting(struct json *json, const struct profile *profile)
{
	struct waiting_quality sums;
	CLEANUP(free_ptr) char *text = NULL;

	if (!waiting_sums(profile, &sums))
		return;
	text = waiting_text(&sums);
	json_key(json, "waiting");
	json_begin_object(json);
	json_put_text(json, "text", text);
	report_json_put_counts(json, waiting_quality_counts, &sums);
	json_end_object(json);
}

/* Writes events that were counted in addition to the samples. */
static void report_json_put_stat(struct json *json, const struct stat_counts *stat)
{
	if (!stat_counts_exist(stat))
		return;
	json_key(json, "stat");
	json_begin_object(json);
	for (size_t i = 0; i < STAT_COUNTERS; i++)
		if (stat->is_known[i])
			json_put_number(json, stat_counter_names[i], stat->values[i]);
	json_end_object(json);
}

static void put_recording(struct report_json_writer *writer)
{
	const struct profile_info *info = profile_get_info(writer->report->profile);
	CLEANUP(free_ptr) char *title = title_of(writer->report->profile);

	json_put_known(&writer->json, "title", title);
	json_put_known(&writer->json, "command", info->command);
	json_put_known(&writer->json, "host", info->host);
	json_put_known(&writer->json, "kernel", info->kernel);
	json_put_known(&writer->json, "remarks", info->remarks);
	if (info->start_unix_ns)
		json_put_number(&writer->json, "start_unix_ns", info->start_unix_ns);
	if (info->duration_ns)
		json_put_number(&writer->json, "duration_ns", info->duration_ns);
	if (info->quality.is_known)
		report_json_put_quality(writer, &info->quality);
	report_json_put_waiting(&writer->json, writer->report->profile);
	report_json_put_stat(&writer->json, &info->quality.stat);
}

void report_json(const struct report *report, FILE *out)
{
	struct report_json_writer writer = {
		.report = report,
		.json = json_to(out),
		.counts_samples = profile_counts_samples(report->profile, report->view.event),
	};
	struct json *json = &writer.json;
	double ipc;

	json_begin_object(json);
	json_put_text(json, "schema", REPORT_SCHEMA);
	json_put_text(json, "file", report->path);
	if (report->options->input.logical == LOGICAL_YES)
		json_put_bool(json, "logical", true);
	put_recording(&writer);
	json_key(json, "events");
	json_begin_array(json);
	for (event_id i = 0; i < profile_event_count(report->profile); i++)
		report_json_put_event(&writer, i);
	json_end_array(json);
	json_put_text(
		json, "event",
		report_json_text_of(&writer,
				    profile_get_event(report->profile, report->view.event)->name));
	json_put_sum(json, "all", report->view.stacks[STACK_EMPTY].total, writer.counts_samples);
	if (report->options->branches) {
		report_branches_json(&report->branches, report_branches_shown(report),
				     &report->view, json);
		json_end_object(json);
		fputc('\n', out);
		return;
	}
	if (ipc_of_all(&report->ipc, &report->rows, &ipc))
		json_put_real(json, "ipc", ipc, IPC_DIGITS);
	if (report->leaks.has_allocated)
		json_put_number(json, "allocated", report->leaks.allocated);
	json_put_text(json, "by", report->by.key == ROW_LABEL ? "label" : row_by_name(&report->by));
	if (report->by.key == ROW_LABEL)
		json_put_text(json, "label", report->by.label);
	report_json_put_rows(&writer);
	put_blocked_tasks(&writer);
	put_latency(&writer.json, &report->latency);
	if (!report->chosen && !report->options->no_tree)
		report_json_put_tree(&writer, "calls", &report->calls);
	if (report->options->callers)
		report_json_put_tree(&writer, "callers", &report->callers);
	if (report->options->callees)
		report_json_put_tree(&writer, "callees", &report->callees);
	json_end_object(json);
	fputc('\n', out);
}
