#include "record/raw_file.h"

#include "base/alloc.h"
#include "base/pids.h"
#include "perf/tracepoint.h"
#include "perfdata/tracing_data.h"
#include "proc/kernel.h"
#include "proc/maps.h"

#include <string.h>
#include <sys/utsname.h>

void raw_file_deinit(struct raw_file *raw)
{
	perfdata_writer_free(raw->writer);
	free(raw->events);
	for (size_t i = 0; i < raw->event_count; i++)
		free(raw->names[i]);
	free(raw->names);
	*raw = (struct raw_file){0};
}

static struct record mapping_record(pid_t pid, const struct mapping *mapping, bool executable)
{
	return (struct record){
		.type = RECORD_MMAP,
		.pid = pid,
		.tid = pid,
		.mmap = {.start = mapping->start,
			 .length_bytes = mapping->end - mapping->start,
			 .offset = mapping->offset,
			 .device_major = mapping->device_major,
			 .device_minor = mapping->device_minor,
			 .inode = mapping->inode,
			 .executable = executable,
			 .path = mapping->path},
	};
}

/* Adds the kernel's mapping as perf does: its offset is the address of the
 * first symbol. */
static void raw_file_add_kernel(struct raw_file *raw)
{
	struct kernel_code code = kernel_code_here("");
	struct mapping mapping = {
		.start = code.start,
		.end = code.end,
		.offset = code.start,
		.path = "[kernel.kallsyms]_text",
	};
	struct record record = mapping_record(-1, &mapping, true);

	if (code.start && code.end)
		perfdata_writer_put(raw->writer, &record);
}

/* Returns the event's name as perf writes it. Each kind of CPU, and each
 * tracepoint that matches a pattern, is a separate event. */
static char *raw_file_name_of(const struct event *event, size_t variant)
{
	if (event->is_pattern)
		return xstrdup(event->variants[variant].pmu);
	return event->variant_count > 1 && !event->is_probe
		       ? xasprintf("%s/%s/", event->variants[variant].pmu, event->name)
		       : xstrdup(event->name);
}

/* Returns the tracepoint of a variant, or NULL if it is not a tracepoint. */
static const char *tracepoint_of(const struct event *event, size_t variant)
{
	return event->is_pattern ? event->variants[variant].pmu : event->tracepoint;
}

/* Reads the format of the tracepoint and truncates `name` to its subsystem.
 * Returns false if the format cannot be read any more. */
static bool raw_file_read_format(char *name, char **text)
{
	char *colon = strchr(name, ':');
	CLEANUP(free_ptr) char *path = NULL;
	struct error *err;
	bool is_read;

	*colon = '\0';
	path = xasprintf("%s/%s/format", name, colon + 1);
	err = tracepoint_read_text(path, NULL, text);
	is_read = !err;
	error_free(err);
	return is_read;
}

static char *raw_file_read_header(const char *name)
{
	char *text = NULL;

	error_free(tracepoint_read_text(name, NULL, &text));
	return text ? text : xstrdup("");
}

/* Writes the formats of tracepoints, which perf needs to decode their
 * fields. */
static void add_tracing_data(struct raw_file *raw, const struct opened_event *opened, size_t count,
			     const struct event *events)
{
	CLEANUP(free_ptr) struct tracing_format *formats = xcalloc(count, sizeof(*formats));
	CLEANUP(free_ptr) char **names = xcalloc(count, sizeof(*names));
	CLEANUP(free_ptr) char **texts = xcalloc(count, sizeof(*texts));
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		const char *name = tracepoint_of(&events[opened[i].event], opened[i].variant);

		if (!name)
			continue;
		names[used] = xstrdup(name);
		if (!raw_file_read_format(names[used], &texts[used])) {
			free(names[used]);
			continue;
		}
		formats[used] = (struct tracing_format){
			.subsystem = names[used],
			.text = bytes_of(texts[used], strlen(texts[used])),
		};
		used++;
	}
	if (used) {
		CLEANUP(free_ptr) char *page = raw_file_read_header("header_page");
		CLEANUP(free_ptr) char *header = raw_file_read_header("header_event");
		CLEANUP(free_ptr) char *section = NULL;
		size_t len;

		section = tracing_data_encode(page, header, formats, used, &len);
		perfdata_writer_set_tracing_data(raw->writer, bytes_of(section, len));
	}
	while (used--) {
		free(names[used]);
		free(texts[used]);
	}
}

/* Samples that only provide the return address of a call are not hits. */
static bool is_only_followed(const struct event *event, bool is_other_end)
{
	return event->follows_calls && is_other_end;
}

static bool raw_file_is_written(const struct opened_event *opened, const struct event *event)
{
	return opened->is_open &&
	       !(opened->variant < event->variant_count &&
		 is_only_followed(event, event->variants[opened->variant].is_other_end));
}

void raw_file_begin(struct raw_file *raw, int fd, const struct sampler *sampler,
		    const struct event *events)
{
	size_t count;
	const struct opened_event *opened = sampler_opened(sampler, &count);

	raw->sampled = events;
	raw->events = xcalloc(count, sizeof(*raw->events));
	raw->names = xcalloc(count, sizeof(*raw->names));
	for (size_t i = 0; i < count; i++) {
		if (!raw_file_is_written(&opened[i], &events[opened[i].event]))
			continue;
		raw->names[raw->event_count] = raw_file_name_of(&events[opened[i].event],
								opened[i].variant);
		raw->events[raw->event_count] = (struct written_event){
			.name = raw->names[raw->event_count],
			.attr = bytes_of(&opened[i].attr, sizeof(opened[i].attr)),
			.ids = bytes_of(opened[i].ids, opened[i].id_count * sizeof(uint64_t)),
		};
		raw->event_count++;
	}
	raw->writer = perfdata_writer_new(fd, raw->events, raw->event_count);
	add_tracing_data(raw, opened, count, events);
	raw_file_add_kernel(raw);
}

static void raw_file_add_thread(struct raw_file *raw, struct names *names, pid_t pid, pid_t tid)
{
	struct record record = {.type = RECORD_COMM, .pid = pid, .tid = tid};

	record.comm.name = names_get(names, pid, tid);
	perfdata_writer_put(raw->writer, &record);
}

static void raw_file_add_threads(struct raw_file *raw, struct names *names, pid_t pid)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/task", (int)pid);
	CLEANUP(close_dir) DIR *tasks = opendir(path);

	for (pid_t tid; (tid = pids_next(tasks));)
		raw_file_add_thread(raw, names, pid, tid);
}

void raw_file_add_process(struct raw_file *raw, struct names *names, pid_t pid, struct bytes text)
{
	struct maps maps = {.rest = text, .data = true};
	struct mapping mapping;

	if (!raw->writer)
		return;
	raw_file_add_threads(raw, names, pid);
	while (maps_next(&maps, &mapping)) {
		struct record record = mapping_record(pid, &mapping, maps.executable);

		perfdata_writer_put(raw->writer, &record);
	}
}

/* perf does not request records of context switches, only prof does. */
static bool is_of_switches(const struct record *record)
{
	return record->type == RECORD_SWITCH ||
	       (record->type == RECORD_LOST && record->lost.what == LOST_SWITCHES);
}

void raw_file_put(struct raw_file *raw, const struct record *record)
{
	if (!raw->writer || is_of_switches(record) ||
	    (record->type == RECORD_SAMPLE &&
	     is_only_followed(&raw->sampled[record->sample.event], record->sample.is_other_end)))
		return;
	perfdata_writer_put(raw->writer, record);
}

void raw_file_end_round(struct raw_file *raw)
{
	if (raw->writer)
		perfdata_writer_end_round(raw->writer);
}

void raw_file_flush(struct raw_file *raw)
{
	if (raw->writer)
		perfdata_writer_flush(raw->writer);
}

static void add_build_ids(struct raw_file *raw, const struct address_spaces *spaces)
{
	for (module_id id = 0; id < address_spaces_module_count(spaces); id++) {
		const struct module *module = address_spaces_module(spaces, id);
		const struct build_id *build_id = module->elf ? elf_file_build_id(module->elf)
							      : NULL;

		if (build_id)
			perfdata_writer_add_build_id(raw->writer, module->path, build_id->bytes,
						     build_id->len);
	}
}

struct error *raw_file_end(struct raw_file *raw, const struct address_spaces *spaces,
			   const char *command)
{
	CLEANUP(free_ptr) char *words = xstrdup(command);
	struct perfdata_info info = {.command = words};
	struct utsname system;

	if (!raw->writer)
		return NULL;
	uname(&system);
	info.host = system.nodename;
	info.kernel_release = system.release;
	info.machine = system.machine;
	add_build_ids(raw, spaces);
	return perfdata_writer_finish(raw->writer, &info);
}
