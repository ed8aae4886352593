#include "record/script_frames.h"

#include "base/alloc.h"
#include "base/idmap.h"

#include <stdlib.h>
#include <string.h>

/* No id has this value. */
#define HIDDEN_FRAME (IDMAP_NONE - 1)

struct script_frames {
	struct address_spaces *spaces;
	struct script_runtimes *runtimes;
	struct scripts *scripts;
	struct idmap known; /* (code, unit) → frame_id */

	/* The current stack. */
	const struct call_chain *chain;
	const struct script_stack *script;
	enum script_merge_result result;
	struct script_merge merge;
	unsigned part; /* number of parts that are not yet done */
	unsigned left; /* functions of the part that are not yet done */
};

struct script_frames *script_frames_new(struct address_spaces *spaces,
					struct script_runtimes *runtimes, struct scripts *scripts)
{
	struct script_frames *frames = xcalloc(1, sizeof(*frames));

	frames->spaces = spaces;
	frames->runtimes = runtimes;
	frames->scripts = scripts;
	return frames;
}

void script_frames_forget(struct script_frames *frames)
{
	idmap_deinit(&frames->known);
	frames->known = (struct idmap){0};
}

void script_frames_free(struct script_frames *frames)
{
	if (!frames)
		return;
	idmap_deinit(&frames->known);
	free(frames);
}

/* Goes on to the part before, of which no function is done. */
static void begin_part(struct script_frames *frames, unsigned count)
{
	const struct script_part *part = &frames->merge.parts[count ? count - 1 : 0];

	frames->part = count;
	frames->left = count ? part->end - part->first : 0;
}

bool script_frames_begin(struct script_frames *frames, const struct record *record,
			 const struct script_unwound *unwound, bool *is_unknown)
{
	const struct script_native native = {
		.runtimes = frames->runtimes,
		.unwinder = unwound->unwinder,
		.chain = unwound->chain,
		.is_whole = unwound->is_whole,
		.sp = unwound->sp,
		.stack = record->sample.stack,
	};

	frames->merge.count = 0;
	frames->result = SCRIPT_MERGE_NONE;
	begin_part(frames, 0);
	*is_unknown = false;
	script_runtimes_see(frames->runtimes, record, unwound->chain);
	if (!scripts_have_process(frames->scripts, record->pid))
		return false;
	frames->chain = unwound->chain;
	frames->script = record->sample.script;
	frames->result = script_merge(&native, frames->script, &frames->merge);
	begin_part(frames, frames->merge.count);
	*is_unknown = frames->result == SCRIPT_MERGE_UNKNOWN;
	return true;
}

bool script_frames_lacks(const struct script_frames *frames, unsigned i)
{
	return frames->result == SCRIPT_MERGE_UNKNOWN && frames->merge.loop == i;
}

/* Whether the i-th native frame is in code that a process has generated. */
static bool is_generated(const struct script_frames *frames, unsigned i)
{
	return address_spaces_module(frames->spaces, frames->chain->frames[i].module)->kind ==
	       MODULE_JIT;
}

/*
 * With -X perf, each call of the loop is made by code that is generated for the
 * function and has its name.
 */
bool script_frames_shows(const struct script_frames *frames, unsigned i, struct frame *ret)
{
	const struct script_merge *merge = &frames->merge;

	*ret = frames->chain->frames[i];
	for (unsigned part = frames->part; part-- > 0 && merge->parts[part].native + 1 >= i;) {
		if (merge->parts[part].native == i)
			*ret = script_runtimes_loop(frames->runtimes, ret);
		else if (merge->parts[part].native + 1 == i && is_generated(frames, i))
			return false;
	}
	return true;
}

static frame_id new_frame(struct script_frames *frames, struct profile *profile,
			  const struct script_place *place)
{
	struct strtab *strings = profile_strings(profile);
	CLEANUP(free_ptr) char *name = xasprintf("py::%s:%s", place->name, place->file);
	const struct profile_function function = {
		.name = strtab_add(strings, name),
		.system_name = strtab_add(strings, name),
		.file = strtab_add(strings, place->file),
		.start_line = place->first_line,
	};
	const struct profile_line line = {
		.function = profile_function(profile, &function),
		.line = place->line,
	};

	return profile_named_frame(profile, address_spaces_script(frames->spaces, "[python]"), 0,
				   &line, 1);
}

/*
 * Returns HIDDEN_FRAME for a frame that the interpreter adds for itself: that of
 * __init__ in "__init__", which clears up after a constructor.
 */
static frame_id script_frames_id(struct script_frames *frames, struct profile *profile,
				 const struct script_frame *frame)
{
	uint32_t *known = idmap_put(&frames->known, frame->code, (uint32_t)frame->unit);
	struct script_place place;

	if (*known != IDMAP_NONE)
		return *known;
	place = scripts_place(frames->scripts, frame->code, frame->unit);
	*known = strcmp(place.name, place.file) ? new_frame(frames, profile, &place) : HIDDEN_FRAME;
	return *known;
}

bool script_frames_next(struct script_frames *frames, struct profile *profile, unsigned i,
			frame_id *ret)
{
	/* Frames between were omitted. */
	while (frames->part && frames->merge.parts[frames->part - 1].native > i)
		begin_part(frames, frames->part - 1);
	while (frames->part && frames->merge.parts[frames->part - 1].native == i) {
		const struct script_part *part = &frames->merge.parts[frames->part - 1];

		while (frames->left) {
			*ret = script_frames_id(
				frames, profile,
				&frames->script->frames[part->first + --frames->left]);
			if (*ret != HIDDEN_FRAME)
				return true;
		}
		begin_part(frames, frames->part - 1);
	}
	return false;
}
