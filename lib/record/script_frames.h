/*
 * The functions of a script as frames of the profile, for one stack after the
 * other.
 */
#ifndef PROF_RECORD_SCRIPT_FRAMES_H
#define PROF_RECORD_SCRIPT_FRAMES_H

#include "profile/profile.h"
#include "record/script_merge.h"

struct script_frames;

/* A stack that was unwound. */
struct script_unwound {
	const struct unwinder *unwinder;
	const struct call_chain *chain;
	bool is_whole;
	uint64_t sp; /* stack pointer of the sample */
};

/* All are borrowed. */
struct script_frames *script_frames_new(struct address_spaces *spaces,
					struct script_runtimes *runtimes, struct scripts *scripts);
void script_frames_free(struct script_frames *frames);

/* The ids of the profile have changed. */
void script_frames_forget(struct script_frames *frames);

/*
 * Begins a stack that was unwound. Returns whether its process has an
 * interpreter. *is_unknown: the functions of the script could not be read.
 */
bool script_frames_begin(struct script_frames *frames, const struct record *record,
			 const struct script_unwound *unwound, bool *is_unknown);
/* Whether the functions are unknown that the i-th native frame calls. */
bool script_frames_lacks(const struct script_frames *frames, unsigned i);
/* Whether the i-th native frame is shown, and how. */
bool script_frames_shows(const struct script_frames *frames, unsigned i, struct frame *ret);
/*
 * Returns the next function that the i-th native frame calls, outermost first.
 * Native frames are asked from the root inwards, those that were not unwound
 * first (i is the count of the others). Returns false if there are no more.
 */
bool script_frames_next(struct script_frames *frames, struct profile *profile, unsigned i,
			frame_id *ret);

#endif
