#include "record/heap_import.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/read_all.h"
#include "base/search.h"
#include "heapfile/allocator_names.h"
#include "heapfile/heap_file.h"
#include "proc/maps.h"
#include "profile/memory_events.h"
#include "profile/tasks.h"
#include "record/local_pipeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The process of all mappings. Heap files do not contain the pid. */
#define PID ((pid_t)1)

enum {
	/* Distinct addresses. Programs have fewer call sites that lead to
	 * malloc(). */
	FRAMES_MAX = 4 << 20,
	/* Limit for the profile's memory: a constant, plus an amount per byte
	 * of text. */
	MEMORY_BYTES = 96 << 20,
	MEMORY_BYTES_PER_BYTE = 32,
};

struct heap_import {
	const struct import_options *options;
	char *data;
	struct bytes text;
	uint64_t written_unix_ns; /* when the heap file was written */
	struct heap_file file;
	struct pipeline pipeline;
	struct session_counts counts;
	event_id events[MEMORY_EVENTS];
	label_set_id labels;
	uint64_t *pcs; /* distinct addresses, sorted */
	frame_id *frames;
	bool *are_allocators; /* by address: it is in the allocator */
	size_t pc_count, pc_room;
	char *main_path; /* NULL if the file has no mappings */
};

static void heap_import_deinit(struct heap_import *import)
{
	pipeline_close(&import->pipeline);
	heap_file_deinit(&import->file);
	free(import->data);
	free(import->pcs);
	free(import->frames);
	free(import->are_allocators);
	free(import->main_path);
}

static uint64_t heap_import_ns_of(struct timespec time)
{
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

static struct error *heap_import_read_text(struct heap_import *import, int fd)
{
	struct stat st;
	FILE *in = fdopen(fd, "r");
	size_t len = 0;
	int status;

	if (!in) {
		close(fd);
		return error_errno(errno, "read");
	}
	import->written_unix_ns = clock_unix_ns();
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		import->written_unix_ns = heap_import_ns_of(st.st_mtim);
	status = read_all(in, HEAP_FILE_BYTES_MAX, &import->data, &len);
	fclose(in);
	if (status == EFBIG)
		return error_new("it is larger than %d MB", HEAP_FILE_BYTES_MAX >> 20);
	if (status)
		return error_errno(status, "read");
	import->text = bytes_of(import->data, len);
	return NULL;
}

static int heap_import_by_value(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void sort_pcs(struct heap_import *import)
{
	if (import->pc_count)
		qsort(import->pcs, import->pc_count, sizeof(*import->pcs), heap_import_by_value);
	import->frames = xcalloc(import->pc_count, sizeof(*import->frames));
	import->are_allocators = xcalloc(import->pc_count, sizeof(*import->are_allocators));
}

static struct error *collect_pcs(struct heap_import *import)
{
	CLEANUP(idmap_deinit) struct idmap known = {0};
	struct heap_file_stack stack;
	bool got;

	for (;;) {
		struct error *err = heap_file_next(&import->file, &stack, &got);

		if (err || !got)
			return err;
		for (size_t i = 0; i < stack.depth; i++) {
			uint32_t *seen = idmap_put(&known, stack.pcs[i], 0);

			if (*seen != IDMAP_NONE)
				continue;
			*seen = 0;
			if (import->pc_count == FRAMES_MAX)
				return error_new("it has more than %d addresses", FRAMES_MAX);
			GROW(import->pcs, import->pc_count, import->pc_room);
			import->pcs[import->pc_count++] = stack.pcs[i];
		}
	}
}

/* Whether a mapping contains an address of a stack. Includes a call that ends
 * at the end of the mapping. */
static bool is_used(const struct heap_import *import, const struct mapping *mapping)
{
	size_t first = search_first(import->pcs, import->pc_count, mapping->start + 1);

	return first < import->pc_count && import->pcs[first] <= mapping->end;
}

/* Adds only the mappings that are used, because opening a file takes time, and
 * an untrusted text can list any number of files. */
static void add_mappings(struct heap_import *import)
{
	struct maps maps = {.rest = import->file.maps};
	struct mapping mapping;

	while (maps_next(&maps, &mapping)) {
		if (!import->main_path && mapping.path[0] == '/')
			import->main_path = xstrdup(mapping.path);
		if (is_used(import, &mapping))
			address_spaces_map(import->pipeline.spaces, PID, 0, &mapping);
	}
	if (import->main_path)
		session_set_main_path(import->pipeline.session, import->main_path);
	else
		listener_problem(import->options->listener,
				 "it lists no mappings, so its addresses cannot be symbolized");
}

static void heap_import_add_frames(struct heap_import *import)
{
	for (size_t i = 0; i < import->pc_count; i++) {
		struct location location;
		uint64_t pc = import->pcs[i];

		address_spaces_locate(import->pipeline.spaces, PID, 0, pc ? pc - 1 : 0, &location);
		import->frames[i] = profile_frame(import->pipeline.profile, location.module,
						  location.offset + (pc ? 1 : 0), true);
	}
}

static void heap_import_add_events(struct heap_import *import)
{
	static const enum memory_event order[MEMORY_EVENTS] = {
		MEMORY_INUSE_SPACE, MEMORY_ALLOC_OBJECTS, MEMORY_ALLOC_SPACE, MEMORY_INUSE_OBJECTS};
	struct profile *profile = import->pipeline.profile;

	for (unsigned i = 0; i < MEMORY_EVENTS; i++) {
		enum memory_event which = order[i];
		struct profile_event event = memory_event_make(profile, which);

		if ((which == MEMORY_ALLOC_OBJECTS || which == MEMORY_ALLOC_SPACE) &&
		    !import->file.has_allocated)
			continue;
		event.period = import->file.period_bytes;
		import->events[which] = profile_add_event(profile, &event);
	}
}

/* Checks the function itself, not the functions that are inlined into it. */
static bool is_allocator(const struct profile *profile, frame_id id)
{
	struct profile_frame frame = profile_get_frame(profile, id);
	const struct profile_module *module = profile_get_module(profile, frame.module);
	const struct profile_function *function;

	if (module->path && is_allocator_library(profile_string(profile, module->path)))
		return true;
	if (!frame.line_count)
		return false;
	function = profile_get_function(profile, frame.lines[frame.line_count - 1].function);
	return is_allocator_function(profile_string(profile, function->name));
}

static void find_allocators(struct heap_import *import)
{
	for (size_t i = 0; i < import->pc_count; i++)
		import->are_allocators[i] = is_allocator(import->pipeline.profile,
							 import->frames[i]);
}

static size_t heap_import_index_of(const struct heap_import *import, uint64_t pc)
{
	return search_first(import->pcs, import->pc_count, pc);
}

/* Returns the index of the first frame that belongs to the program. The root
 * always remains. */
static size_t leaf_of(const struct heap_import *import, const struct heap_file_stack *stack)
{
	for (size_t i = stack->depth; i-- > 1;)
		if (import->are_allocators[heap_import_index_of(import, stack->pcs[i - 1])])
			return i;
	return 0;
}

static stack_id add_stack(struct heap_import *import, const struct heap_file_stack *stack)
{
	struct profile *profile = import->pipeline.profile;
	size_t leaf = leaf_of(import, stack);
	stack_id id = STACK_EMPTY;

	if (stack->is_cut)
		id = profile_push(profile, id, profile_synthetic_frame(profile, "[truncated]"));
	for (size_t i = stack->depth; i-- > leaf;)
		id = profile_push(profile, id,
				  import->frames[heap_import_index_of(import, stack->pcs[i])]);
	return id;
}

static void add_value(struct heap_import *import, stack_id stack, enum memory_event event,
		      uint64_t samples, uint64_t weight)
{
	if (!weight)
		return;
	profile_add_samples(import->pipeline.profile, import->labels, stack, import->events[event],
			    samples, weight);
	import->counts.quality.samples += samples;
}

static void heap_import_add_values(struct heap_import *import, const struct heap_file_stack *values)
{
	const struct heap_file_counts *inuse = &values->inuse, *allocated = &values->allocated;
	stack_id stack = add_stack(import, values);

	import->counts.quality.truncated += values->is_cut;
	add_value(import, stack, MEMORY_INUSE_SPACE, inuse->samples, inuse->bytes);
	add_value(import, stack, MEMORY_INUSE_OBJECTS, inuse->samples, inuse->objects);
	if (!import->file.has_allocated)
		return;
	add_value(import, stack, MEMORY_ALLOC_SPACE, allocated->samples, allocated->bytes);
	add_value(import, stack, MEMORY_ALLOC_OBJECTS, allocated->samples, allocated->objects);
}

static struct error *heap_import_add_stacks(struct heap_import *import)
{
	uint64_t memory_max = MEMORY_BYTES + MEMORY_BYTES_PER_BYTE * bytes_left(&import->text);
	struct heap_file_stack stack;
	bool got;

	heap_file_rewind(&import->file, import->text);
	for (;;) {
		struct error *err = heap_file_next(&import->file, &stack, &got);

		if (err || !got)
			return err;
		heap_import_add_values(import, &stack);
		if (profile_memory_bytes(import->pipeline.profile) > memory_max)
			return error_new("it needs more than %" PRIu64
					 " MB of memory, too much for a file of its size",
					 memory_max >> 20);
	}
}

/* Mainly detects programs that were rebuilt. */
static bool is_newer(const struct heap_import *import, const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && heap_import_ns_of(st.st_mtim) > import->written_unix_ns;
}

/* stat() cannot block here: the file system responded when the file was
 * opened. */
static void report_newer_files(const struct heap_import *import)
{
	const struct address_spaces *spaces = import->pipeline.spaces;

	for (module_id id = 0; id < address_spaces_module_count(spaces); id++) {
		const struct module *module = address_spaces_module(spaces, id);

		if (module->kind == MODULE_FILE && module->elf && is_newer(import, module->path))
			listener_problem(import->options->listener,
					 "%s is newer than the heap file: its functions may be "
					 "wrong",
					 module->path);
	}
}

static void heap_import_add_labels(struct heap_import *import)
{
	const char *path = import->main_path ? import->main_path : "[unknown]";

	import->labels = profile_thread_labels(import->pipeline.profile, -1, -1, basename(path),
					       "");
}

/* The quality remains unknown, because the file does not contain the number of
 * lost samples. */
static void heap_import_set_info(const struct heap_import *import)
{
	struct profile *profile = import->pipeline.profile;

	profile_set_info(profile, &(struct profile_info){
					  .start_unix_ns = import->written_unix_ns,
					  .command = import->options->command,
					  .host = "",
					  .kernel = "",
				  });
}

struct error *import_heap_file(int fd, const struct import_options *options,
			       struct import_result *ret)
{
	CLEANUP(heap_import_deinit) struct heap_import import = {.options = options};
	struct error *err = heap_import_read_text(&import, fd);

	if (!err)
		err = heap_file_open(import.text, &import.file);
	if (!err)
		err = collect_pcs(&import);
	if (err)
		return err;
	sort_pcs(&import);
	local_pipeline_open(&import.pipeline, options);
	heap_import_add_events(&import);
	add_mappings(&import);
	heap_import_add_frames(&import);
	report_newer_files(&import);
	ret->reading_cpu_ns = clock_own_cpu_ns();
	local_pipeline_symbolize(&import.pipeline, options, &ret->finalized.symbolized);
	find_allocators(&import);
	heap_import_add_labels(&import);
	err = heap_import_add_stacks(&import);
	if (err) {
		finalize_result_deinit(&ret->finalized);
		ret->finalized = (struct finalize_result){0};
		return err;
	}
	tasks_label(import.pipeline.profile);
	quality_init(&ret->finalized.quality, import.pipeline.profile, &import.counts, NULL);
	heap_import_set_info(&import);
	ret->profile = STEAL(import.pipeline.profile);
	return NULL;
}
