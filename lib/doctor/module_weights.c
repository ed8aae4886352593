#include "doctor/module_weights.h"

#include "base/alloc.h"
#include "base/idmap.h"

#include <stdlib.h>

static bool module_weights_is_code(enum profile_module_kind kind)
{
	return kind != PROFILE_MODULE_NONE && kind != PROFILE_MODULE_SYNTHETIC &&
	       kind != PROFILE_MODULE_INTERPRETED;
}

/* JIT code of all processes is one row. */
static uint32_t *module_weights_make_rows(const struct profile *profile, struct module_list *list)
{
	uint32_t count = profile_module_count(profile);
	uint32_t *rows = xcalloc(count, sizeof(*rows));
	struct idmap by_name = {0};

	for (uint32_t id = 0; id < count; id++) {
		const struct profile_module *module = profile_get_module(profile, id);
		uint32_t *row;

		rows[id] = NO_ROW;
		if (!module_weights_is_code(module->kind))
			continue;
		row = idmap_put(&by_name, (uint64_t)module->path << 32 | module->build_id,
				module->kind);
		if (*row == IDMAP_NONE) {
			*row = (uint32_t)list->count;
			module_list_add(list, module->kind, profile_string(profile, module->path),
					profile_string(profile, module->build_id));
		}
		rows[id] = *row;
	}
	idmap_deinit(&by_name);
	return rows;
}

/*
 * Returns for each stack its samples and those of all stacks below it in the
 * trie. The caller frees the result.
 */
static uint64_t *samples_through(const struct profile *profile)
{
	const struct profile_stacks stacks = profile_stacks(profile);
	const struct profile_samples samples = profile_samples(profile);
	uint64_t *through = xcalloc(stacks.count, sizeof(*through));

	for (uint64_t i = 0; i < samples.count; i++)
		through[samples.items[i].stack] += samples.items[i].samples;
	for (stack_id id = stacks.count; id-- > 1;)
		through[stacks.items[id].parent] += through[id];
	return through;
}

/* Properties of a frame. */
enum { OF_MODULE = 1, UNNAMED = 2, LINELESS = 4 };

struct module_weights_scan {
	const struct profile *profile;
	const uint32_t *rows;
};

static uint32_t module_weights_row_of(const struct module_weights_scan *scan,
				      const struct profile_frame *frame)
{
	return frame->module < profile_module_count(scan->profile) ? scan->rows[frame->module]
								   : NO_ROW;
}

static unsigned properties_of(const struct profile_frame *frame)
{
	if (!frame->line_count)
		return OF_MODULE | UNNAMED;
	return frame->lines[0].line ? OF_MODULE : OF_MODULE | LINELESS;
}

/* The trie as lists of children, to walk it from the root on. */
struct children {
	stack_id *first, *next; /* by stack; STACK_EMPTY if none */
};

static void children_init(struct children *children, const struct profile_stacks *stacks)
{
	children->first = xcalloc(stacks->count, sizeof(*children->first));
	children->next = xcalloc(stacks->count, sizeof(*children->next));
	for (stack_id id = stacks->count; id-- > 1;) {
		stack_id parent = stacks->items[id].parent;

		children->next[id] = children->first[parent];
		children->first[parent] = id;
	}
}

static void children_deinit(struct children *children)
{
	free(children->first);
	free(children->next);
}

/*
 * The number of frames on the path from the root that have each property, by
 * row, and in any row.
 */
struct way {
	struct row_way {
		uint32_t frames, unnamed, lineless;
	} * rows;
	uint32_t unnamed;
};

/* The first frame of a path with a property counts the samples below it. */
static void module_weights_enter(struct way *way, uint32_t row, unsigned properties,
				 uint64_t samples, struct module_list *list)
{
	struct row_way *of_row = &way->rows[row];
	struct listed_module *module = &list->items[row];

	module->samples += of_row->frames++ ? 0 : samples;
	if (properties & LINELESS)
		module->lineless += of_row->lineless++ ? 0 : samples;
	if (properties & UNNAMED) {
		module->unnamed += of_row->unnamed++ ? 0 : samples;
		list->unnamed += way->unnamed++ ? 0 : samples;
	}
}

static void module_weights_leave(struct way *way, uint32_t row, unsigned properties)
{
	struct row_way *of_row = &way->rows[row];

	of_row->frames--;
	of_row->lineless -= properties & LINELESS ? 1 : 0;
	of_row->unnamed -= properties & UNNAMED ? 1 : 0;
	way->unnamed -= properties & UNNAMED ? 1 : 0;
}

static void module_weights_visit(const struct module_weights_scan *scan, stack_id id,
				 struct way *way, bool enters, const uint64_t *samples,
				 struct module_list *list)
{
	const struct profile_stacks stacks = profile_stacks(scan->profile);
	struct profile_frame frame = profile_get_frame(scan->profile, stacks.items[id].frame);
	uint32_t row = module_weights_row_of(scan, &frame);

	if (row == NO_ROW)
		return;
	if (enters)
		module_weights_enter(way, row, properties_of(&frame), samples[id], list);
	else
		module_weights_leave(way, row, properties_of(&frame));
}

/* Takes time linear in the trie, however deep it is. */
static void module_weights_walk(const struct module_weights_scan *scan, const uint64_t *samples,
				struct module_list *list)
{
	const struct profile_stacks stacks = profile_stacks(scan->profile);
	struct way way = {.rows = xcalloc(list->count, sizeof(*way.rows))};
	struct children children;
	stack_id id;

	children_init(&children, &stacks);
	id = children.first[STACK_EMPTY];
	while (id != STACK_EMPTY) {
		module_weights_visit(scan, id, &way, true, samples, list);
		if (children.first[id] != STACK_EMPTY) {
			id = children.first[id];
			continue;
		}
		module_weights_visit(scan, id, &way, false, samples, list);
		while (children.next[id] == STACK_EMPTY &&
		       (id = stacks.items[id].parent) != STACK_EMPTY)
			module_weights_visit(scan, id, &way, false, samples, list);
		id = children.next[id];
	}
	children_deinit(&children);
	free(way.rows);
}

static void add_placeless(const struct module_weights_scan *scan, struct module_list *list)
{
	const struct profile_stacks stacks = profile_stacks(scan->profile);
	const struct profile_samples samples = profile_samples(scan->profile);

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		struct profile_frame frame = profile_get_frame(scan->profile,
							       stacks.items[sample->stack].frame);
		uint32_t row = module_weights_row_of(scan, &frame);

		if (row != NO_ROW && properties_of(&frame) & LINELESS)
			list->items[row].placeless += sample->samples;
	}
}

uint32_t *module_weights(const struct profile *profile, struct module_list *ret)
{
	CLEANUP(free_ptr) uint64_t *samples = samples_through(profile);
	struct module_weights_scan scan = {.profile = profile};
	uint32_t *rows;

	*ret = (struct module_list){0};
	scan.rows = rows = module_weights_make_rows(profile, ret);
	ret->samples = samples[STACK_EMPTY];
	module_weights_walk(&scan, samples, ret);
	add_placeless(&scan, ret);
	return rows;
}
