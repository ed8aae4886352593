#include "base/alloc.h"
#include "base/json.h"
#include "cmd/json_sum.h"
#include "cmd/report.h"

/* Raised when something that readers rely on changes its meaning or goes; not when something comes
 * along. */
#define SCHEMA "prof-report/1"

struct writer {
	const struct report *report;
	struct json json;
};

static const char *text_of(const struct writer *writer, string_id id)
{
	return profile_string(writer->report->profile, id);
}

static const char *kind_of(const struct writer *writer, uint32_t label)
{
	static const char *const kinds[] = {
		[PROFILE_MODULE_FILE] = "user",	      [PROFILE_MODULE_KERNEL] = "kernel",
		[PROFILE_MODULE_VDSO] = "vdso",	      [PROFILE_MODULE_JIT] = "jit",
		[PROFILE_MODULE_UNKNOWN] = "unknown", [PROFILE_MODULE_NONE] = "user",
		[PROFILE_MODULE_NOTE] = "note",
	};

	return kinds[labels_kind(&writer->report->view.labels, label)];
}

static void put_place(struct writer *writer, string_id file, uint32_t line)
{
	json_put_known(&writer->json, "file", text_of(writer, file));
	if (file && line)
		json_put_number(&writer->json, "line", line);
}

static const char *module_path(const struct writer *writer, uint32_t module)
{
	return text_of(writer, profile_get_module(writer->report->profile, module)->path);
}

static void put_function(struct writer *writer, uint32_t id)
{
	const struct label *label = &writer->report->view.labels.items[id];

	json_put_text(&writer->json, "name", label->name);
	json_put_known(&writer->json, "module", module_path(writer, label->module));
	put_place(writer, label->file, label->start_line);
	json_put_text(&writer->json, "kind", kind_of(writer, id));
	if (label->is_address)
		json_put_bool(&writer->json, "is_address", true);
}

static void put_thread(struct writer *writer, thread_id id, bool is_process)
{
	const struct profile_thread *thread = profile_get_thread(writer->report->profile, id);

	json_put_known(&writer->json, "process", text_of(writer, thread->process));
	if (is_process)
		return;
	if (thread->pid >= 0)
		json_put_number(&writer->json, "pid", (uint64_t)thread->pid);
	if (thread->tid >= 0)
		json_put_number(&writer->json, "tid", (uint64_t)thread->tid);
}

static void put_row(struct writer *writer, const struct top_row *row)
{
	enum top_key key = writer->report->options->by.key;

	json_begin_object(&writer->json);
	if (key == TOP_FUNCTION) {
		put_function(writer, row->label);
	} else {
		json_put_text(&writer->json, "name", row->name);
		if (key == TOP_PROCESS || key == TOP_THREAD)
			put_thread(writer, row->thread, key == TOP_PROCESS);
		else
			json_put_known(&writer->json, "module", module_path(writer, row->module));
		put_place(writer, row->file, row->line);
	}
	json_put_sum(&writer->json, "self", row->self);
	json_put_sum(&writer->json, "total", row->total);
	json_end_object(&writer->json);
}

static void put_rows(struct writer *writer)
{
	const struct report *report = writer->report;
	uint64_t left = report->options->limit ? report->options->limit : UINT64_MAX;

	json_key(&writer->json, "rows");
	json_begin_array(&writer->json);
	for (size_t i = 0; i < report->top.count && left; i++) {
		const struct top_row *row = &report->top.rows[i];

		if (report->chosen ? !report->chosen[row->label]
				   : row->total.weight < report->min_weight)
			continue;
		put_row(writer, row);
		left--;
	}
	json_end_array(&writer->json);
}

/* Flat, as deep trees are too much for many readers: a node comes after its parent. */
static void put_tree(struct writer *writer, const char *key, const struct outline *outline)
{
	json_key(&writer->json, key);
	json_begin_array(&writer->json);
	for (size_t i = 0; i < outline->count; i++) {
		const struct outline_node *node = &outline->nodes[i];

		json_begin_object(&writer->json);
		json_key(&writer->json, "parent");
		if (node->parent == OUTLINE_NO_PARENT)
			json_null(&writer->json);
		else
			json_number(&writer->json, node->parent);
		json_put_number(&writer->json, "depth", node->depth);
		put_function(writer, node->label);
		if (node->is_inlined)
			json_put_bool(&writer->json, "is_inlined", true);
		if (node->is_recursive)
			json_put_bool(&writer->json, "is_recursive", true);
		json_put_sum(&writer->json, "self", node->self);
		json_put_sum(&writer->json, "total", node->total);
		json_end_object(&writer->json);
	}
	json_end_array(&writer->json);
}

static void put_event(struct writer *writer, event_id id)
{
	const struct profile_event *event = profile_get_event(writer->report->profile, id);
	struct sum sum = view_event_sum(writer->report->profile, id);

	json_begin_object(&writer->json);
	json_put_text(&writer->json, "name", text_of(writer, event->name));
	json_put_text(&writer->json, "unit",
		      event->counts_ns ? "nanoseconds"
		      : event->unit    ? text_of(writer, event->unit)
				       : "count");
	json_put_number(&writer->json, "samples", sum.samples);
	json_put_number(&writer->json, "weight", sum.weight);
	json_end_object(&writer->json);
}

static void put_quality(struct writer *writer, const char *line)
{
	static const struct {
		const char *key, *what;
	} numbers[] = {{"samples", "samples"},
		       {"lost", "lost"},
		       {"truncated", "truncated"},
		       {"unnamed", "with unnamed frames"}};
	uint64_t number;

	json_key(&writer->json, "quality");
	json_begin_object(&writer->json);
	json_put_text(&writer->json, "text", line);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (quality_number(line, numbers[i].what, &number))
			json_put_number(&writer->json, numbers[i].key, number);
	json_end_object(&writer->json);
}

static void put_recording(struct writer *writer)
{
	const struct profile_info *info = profile_get_info(writer->report->profile);

	json_put_known(&writer->json, "command", info->command);
	json_put_known(&writer->json, "host", info->host);
	json_put_known(&writer->json, "kernel", info->kernel);
	if (info->start_unix_ns)
		json_put_number(&writer->json, "start_unix_ns", info->start_unix_ns);
	if (info->duration_ns)
		json_put_number(&writer->json, "duration_ns", info->duration_ns);
	if (*info->quality)
		put_quality(writer, info->quality);
}

static const char *word_of(enum top_key key)
{
	static const char *const words[] = {
		[TOP_FUNCTION] = "function", [TOP_FILE] = "file",	[TOP_LINE] = "line",
		[TOP_MODULE] = "module",     [TOP_PROCESS] = "process", [TOP_THREAD] = "thread",
	};

	return words[key];
}

void report_json(const struct report *report, FILE *out)
{
	struct writer writer = {.report = report, .json = json_to(out)};
	struct json *json = &writer.json;

	json_begin_object(json);
	json_put_text(json, "schema", SCHEMA);
	json_put_text(json, "file", report->path);
	put_recording(&writer);
	json_key(json, "events");
	json_begin_array(json);
	for (event_id i = 0; i < profile_event_count(report->profile); i++)
		put_event(&writer, i);
	json_end_array(json);
	json_put_text(
		json, "event",
		text_of(&writer, profile_get_event(report->profile, report->view.event)->name));
	json_put_sum(json, "all", report->view.stacks[STACK_EMPTY].total);
	json_put_text(json, "by", word_of(report->options->by.key));
	put_rows(&writer);
	if (!report->chosen && !report->options->no_tree)
		put_tree(&writer, "calls", &report->calls);
	if (report->options->callers)
		put_tree(&writer, "callers", &report->callers);
	if (report->options->callees)
		put_tree(&writer, "callees", &report->callees);
	json_end_object(json);
	fputc('\n', out);
}
