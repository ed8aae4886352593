#include "cmd/raw_output.h"

#include "base/alloc.h"
#include "proc/kernel.h"
#include "proc/maps.h"

#include <ctype.h>
#include <dirent.h>
#include <string.h>
#include <sys/utsname.h>

struct error *raw_output_find(struct raw_output *raw, struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->count; i++) {
		struct output *output = &outputs->items[i];

		if (output->format != &format_perfdata)
			continue;
		if (raw->output)
			return error_new("%s and %s would be the same: one perf.data is enough",
					 raw->output->path, output->path);
		if (!output->is_file)
			return error_hint(error_new("%s: perf.data is written into a file only",
						    output->path),
					  "name a file that ends in .data");
		raw->output = output;
	}
	return NULL;
}

void raw_output_deinit(struct raw_output *raw)
{
	perfdata_writer_free(raw->writer);
	free(raw->events);
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

/* As perf tells where the kernel is: by the address of a symbol, in the place of an offset. */
static void add_kernel(struct raw_output *raw)
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

struct error *raw_output_begin(struct raw_output *raw, const struct sampler *sampler,
			       const struct event *events, size_t event_count)
{
	struct error *err;
	int fd;

	if (!raw->output)
		return NULL;
	err = output_begin(raw->output, &fd);
	if (err)
		return err;
	raw->events = xcalloc(event_count, sizeof(*raw->events));
	for (unsigned i = 0; i < event_count; i++)
		raw->events[i] = (struct written_event){.name = events[i].name,
							.attr = sampler_attr(sampler, i)};
	raw->writer = perfdata_writer_new(fd, raw->events, event_count, sampler_layout(sampler));
	add_kernel(raw);
	return NULL;
}

static void add_thread(struct raw_output *raw, struct names *names, pid_t pid, pid_t tid)
{
	struct record record = {.type = RECORD_COMM, .pid = pid, .tid = tid};

	record.comm.name = names_get(names, pid, tid);
	perfdata_writer_put(raw->writer, &record);
}

static void add_threads(struct raw_output *raw, struct names *names, pid_t pid)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	struct dirent *entry;

	while (tasks && (entry = readdir(tasks)))
		if (isdigit((unsigned char)entry->d_name[0]))
			add_thread(raw, names, pid, (pid_t)atoi(entry->d_name));
	if (tasks)
		closedir(tasks);
}

void raw_output_add_process(struct raw_output *raw, struct names *names, pid_t pid)
{
	size_t len;
	CLEANUP(free_ptr) char *text = NULL;
	struct mapping mapping;
	struct maps maps;

	if (!raw->writer)
		return;
	add_threads(raw, names, pid);
	text = maps_load("/proc", pid, &len);
	maps = (struct maps){.rest = bytes_of(text, len), .data = true};
	while (maps_next(&maps, &mapping)) {
		struct record record = mapping_record(pid, &mapping, maps.executable);

		perfdata_writer_put(raw->writer, &record);
	}
}

void raw_output_put(struct raw_output *raw, const struct record *record)
{
	if (raw->writer)
		perfdata_writer_put(raw->writer, record);
}

void raw_output_end_round(struct raw_output *raw)
{
	if (raw->writer)
		perfdata_writer_end_round(raw->writer);
}

static void add_build_ids(struct raw_output *raw, const struct spaces *spaces)
{
	for (module_id id = 0; id < spaces_module_count(spaces); id++) {
		const struct module *module = spaces_module(spaces, id);
		const struct build_id *build_id = module->image ? image_build_id(module->image)
								: NULL;

		if (build_id)
			perfdata_writer_add_build_id(raw->writer, module->path, build_id->bytes,
						     build_id->len);
	}
}

struct error *raw_output_end(struct raw_output *raw, const struct spaces *spaces,
			     const char *command)
{
	CLEANUP(free_ptr) char *words = xstrdup(command);
	struct perfdata_info info = {.command = words};
	struct utsname system;
	struct error *err;

	if (!raw->writer)
		return NULL;
	uname(&system);
	info.host = system.nodename;
	info.kernel_release = system.release;
	info.machine = system.machine;
	add_build_ids(raw, spaces);
	err = perfdata_writer_finish(raw->writer, &info);
	return output_end(raw->output, err);
}
