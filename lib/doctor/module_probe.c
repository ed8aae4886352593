#include "doctor/module_probe.h"

#include "base/alloc.h"
#include "base/text.h"
#include "base/trusted_user.h"
#include "doctor/module_weights.h"
#include "proc/maps.h"
#include "proc/process_links.h"
#include "record/module_descriptions.h"

#include <stdlib.h>
#include <string.h>

/*
 * The pid of the recording that a profile's files are mapped in, and the
 * address where they start.
 */
enum { PROBE_PID = 1, PROBE_START = 1 << 20, PAGE_BYTES = 4096 };

struct probe {
	struct address_spaces *spaces;
	struct profile *asked; /* contains the frames to symbolize */
	struct symbolize_outcome outcome;
};

static void probe_deinit(struct probe *probe)
{
	symbolize_outcome_deinit(&probe->outcome);
	profile_free(probe->asked);
	address_spaces_free(probe->spaces);
}

static void module_probe_ask(struct probe *probe, const struct symbol_options *options,
			     const char *proc)
{
	symbolize(probe->asked, probe->spaces,
		  &(struct symbolize_options){
			  .proc = proc,
			  .symbols = *options,
			  .caller = sudo_caller(),
		  },
		  &probe->outcome);
}

static void set_debug_dir(struct probe *probe, const struct symbol_options *options)
{
	if (options->debug_dir)
		address_spaces_set_debug_dir(probe->spaces, options->debug_dir);
}

static struct listed_module *module_probe_add_module(struct module_list *list,
						     const struct module *module)
{
	char hex[BUILD_ID_HEX_BYTES] = "";

	if (module->elf)
		build_id_hex(elf_file_build_id(module->elf), hex);
	return module_list_add(list, described_kind(module->kind), module->path, hex);
}

/* Returns the row of a module, which may be new. */
static struct listed_module *module_probe_row_of(struct module_list *list, uint32_t *rows,
						 uint32_t id, const struct module *module)
{
	if (rows[id] == NO_ROW) {
		rows[id] = (uint32_t)list->count;
		return module_probe_add_module(list, module);
	}
	return &list->items[rows[id]];
}

/* rows: by module of the process. `count` is their number. */
static void list_mappings(struct probe *probe, pid_t pid, struct bytes text, uint32_t *rows,
			  uint32_t count, struct module_list *list)
{
	struct maps maps = {.rest = text};
	struct mapping mapping;
	struct location location;

	for (uint32_t id = 0; id < count; id++)
		rows[id] = NO_ROW;
	while (maps_next(&maps, &mapping)) {
		if (!address_spaces_locate(probe->spaces, pid, 0, mapping.start, &location) ||
		    location.module >= count)
			continue;
		module_probe_row_of(list, rows, location.module,
				    address_spaces_module(probe->spaces, location.module))
			->size_bytes += mapping.end - mapping.start;
		profile_frame(probe->asked, location.module, location.offset, false);
	}
}

/* Converts paths to those that the process itself uses after chroot(2). */
static void shorten_paths(pid_t pid, struct module_list *list)
{
	CLEANUP(free_ptr) char *links = process_links("/proc", pid);
	CLEANUP(free_ptr) char *link = xasprintf("%s/root", links);
	char root[MAPS_PATH_MAX];
	ssize_t len = readlink(link, root, sizeof(root) - 1);

	if (len <= 1)
		return;
	root[len] = '\0';
	for (size_t i = 0; i < list->count; i++) {
		char *path = list->items[i].path;

		if (text_begins(path, root) && path[len] == '/')
			memmove(path, path + len, strlen(path + len) + 1);
	}
}

void module_probe_process(pid_t pid, const struct symbol_options *options, struct module_list *ret)
{
	CLEANUP(probe_deinit)
	struct probe probe = {.spaces = address_spaces_new("/proc"), .asked = profile_new()};
	CLEANUP(free_ptr) uint32_t *rows = NULL;
	CLEANUP(free_ptr) char *text = NULL;
	uint32_t count;
	size_t len = 0;

	*ret = (struct module_list){0};
	set_debug_dir(&probe, options);
	text = maps_load("/proc", pid, &len);
	address_spaces_snapshot(probe.spaces, pid, 0);
	count = address_spaces_module_count(probe.spaces);
	rows = xcalloc(count, sizeof(*rows));
	list_mappings(&probe, pid, bytes_of(text, len), rows, count, ret);
	module_probe_ask(&probe, options, "/proc");
	for (uint32_t id = 0; id < count; id++)
		if (rows[id] != NO_ROW)
			listed_module_set_sources(&ret->items[rows[id]], &probe.outcome, id);
	shorten_paths(pid, ret);
}

/*
 * A profile's module as a recording would have mapped it: its segments one
 * after the other.
 */
struct placed_segment {
	uint32_t module;
	uint64_t offset, size_bytes, pc;
};

struct placement {
	struct placed_segment *items;
	size_t count, room;
	size_t *first; /* by module, followed by its other segments */
	uint64_t next_pc;
};

/*
 * Returns whether the segment consists of pages of the file. Profiles of other
 * programs are untrusted.
 */
static bool is_sane(const struct profile_segment *segment)
{
	return segment->size_bytes && segment->size_bytes < UINT64_C(1) << 40 &&
	       segment->offset < UINT64_C(1) << 40;
}

static void place(struct placement *placement, uint32_t module,
		  const struct profile_segment *segment)
{
	uint64_t in_page = segment->offset % PAGE_BYTES;
	uint64_t size = in_page + segment->size_bytes + PAGE_BYTES - 1;

	GROW(placement->items, placement->count, placement->room);
	placement->items[placement->count++] = (struct placed_segment){
		.module = module,
		.offset = segment->offset - in_page,
		.size_bytes = size - size % PAGE_BYTES,
		.pc = placement->next_pc,
	};
	placement->next_pc += size + PAGE_BYTES;
	placement->next_pc -= placement->next_pc % PAGE_BYTES;
}

static void module_probe_map_module(struct probe *probe, struct placement *placement,
				    const struct profile *profile, uint32_t id)
{
	const struct profile_module *module = profile_get_module(profile, id);
	struct build_id build_id;

	build_id_from_hex(profile_string(profile, module->build_id), &build_id);
	placement->first[id] = placement->count;
	for (unsigned i = 0; i < module->segment_count; i++) {
		const struct placed_segment *placed;

		if (!is_sane(&module->segments[i]))
			continue;
		place(placement, id, &module->segments[i]);
		placed = &placement->items[placement->count - 1];
		address_spaces_map(probe->spaces, PROBE_PID, 0,
				   &(struct mapping){
					   .start = placed->pc,
					   .end = placed->pc + placed->size_bytes,
					   .offset = placed->offset,
					   .build_id = build_id,
					   .path = profile_string(profile, module->path),
				   });
	}
}

static bool find_pc(const struct placement *placement, uint32_t module, uint64_t offset,
		    uint64_t *ret)
{
	for (size_t i = placement->first[module];
	     i < placement->count && placement->items[i].module == module; i++) {
		const struct placed_segment *placed = &placement->items[i];

		if (offset < placed->offset || offset - placed->offset >= placed->size_bytes)
			continue;
		*ret = placed->pc + (offset - placed->offset);
		return true;
	}
	return false;
}

#define NOT_ASKED UINT32_MAX

/*
 * The frames to symbolize: a frame of the profile for each frame of
 * probe->asked.
 */
struct module_probe_questions {
	frame_id *items;
	size_t count, room;
	uint32_t *modules; /* by module of the profile: its module in probe->spaces */
};

static void ask_about_frames(struct probe *probe, const struct placement *placement,
			     const struct profile *profile,
			     struct module_probe_questions *questions)
{
	for (frame_id id = 0; id < profile_frame_count(profile); id++) {
		struct profile_frame frame = profile_get_frame(profile, id);
		struct location location;
		uint64_t pc;

		if (frame.module >= profile_module_count(profile) ||
		    !find_pc(placement, frame.module, frame.offset, &pc) ||
		    !address_spaces_locate(probe->spaces, PROBE_PID, 0, pc, &location))
			continue;
		questions->modules[frame.module] = location.module;
		if (profile_frame(probe->asked, location.module, location.offset,
				  frame.is_return_address) < questions->count)
			continue;
		GROW(questions->items, questions->count, questions->room);
		questions->items[questions->count++] = id;
	}
}

static bool module_probe_lacks_something(const struct profile_frame *frame)
{
	return !frame->line_count || !frame->lines[0].line;
}

/*
 * Compares whether a frame now has a symbol or a line that the profile lacks.
 */
static void compare_frames(const struct probe *probe, const struct profile *profile,
			   const struct module_probe_questions *questions, const uint32_t *rows,
			   struct module_list *list)
{
	for (size_t i = 0; i < questions->count; i++) {
		struct profile_frame then = profile_get_frame(profile, questions->items[i]);
		struct profile_frame now = profile_get_frame(probe->asked, (frame_id)i);

		if (rows[then.module] != NO_ROW && module_probe_lacks_something(&then) &&
		    now.line_count && (!then.line_count || now.lines[0].line))
			list->items[rows[then.module]].is_complete = true;
	}
}

void module_probe_profile(const struct profile *profile, const uint32_t *rows, const char *symfs,
			  const struct symbol_options *symbols, struct module_list *list)
{
	const struct recorded_files files = {
		.symfs = symfs,
		.debug_dir = symbols->debug_dir,
		.writer = profile_writer(profile),
	};
	CLEANUP(probe_deinit)
	struct probe probe = {.spaces = address_spaces_new_recorded(&files),
			      .asked = profile_new()};
	uint32_t count = profile_module_count(profile);
	struct placement placement = {.next_pc = PROBE_START,
				      .first = xcalloc(count, sizeof(*placement.first))};
	struct module_probe_questions questions = {
		.modules = xreallocarray(NULL, count + 1, sizeof(*questions.modules))};

	for (uint32_t id = 0; id < count; id++) {
		questions.modules[id] = NOT_ASKED;
		placement.first[id] = SIZE_MAX;
		if (rows[id] != NO_ROW && list->items[rows[id]].kind == PROFILE_MODULE_FILE)
			module_probe_map_module(&probe, &placement, profile, id);
	}
	ask_about_frames(&probe, &placement, profile, &questions);
	module_probe_ask(&probe, symbols, NULL);
	compare_frames(&probe, profile, &questions, rows, list);
	for (uint32_t id = 0; id < count; id++)
		if (questions.modules[id] != NOT_ASKED)
			listed_module_set_sources(&list->items[rows[id]], &probe.outcome,
						  questions.modules[id]);
	free(questions.items);
	free(questions.modules);
	free(placement.items);
	free(placement.first);
}
