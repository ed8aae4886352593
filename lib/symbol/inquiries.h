/*
 * What one run of a symbolizer asks: an inquiry per module that has frames without names, and the
 * address that each of these frames is.
 */
#ifndef PROF_SYMBOL_INQUIRIES_H
#define PROF_SYMBOL_INQUIRIES_H

#include "proc/address_spaces.h"
#include "profile/profile.h"
#include "symbol/inquiry.h"

struct inquiries {
	struct inquiry *items; /* by module, ascending */
	size_t count, room;
	frame_id begin, end;	      /* frames of the profile … */
	struct inquiry_place *places; /* … by frame, from `begin` on; private */
};

/*
 * Of the profile's frames from `begin` on. Module N of the profile is module N of spaces. A
 * caller's frame is looked up at its address - 1. with_lines: also frames of files that have a
 * name, but no line.
 */
void inquiries_init(struct inquiries *inquiries, const struct profile *profile,
		    const struct address_spaces *spaces, frame_id begin, bool with_lines);
void inquiries_deinit(struct inquiries *inquiries);

/* NULL: nothing is asked about the frame. address: an index of the inquiry's addresses. */
struct inquiry *inquiries_of_frame(const struct inquiries *inquiries, frame_id frame,
				   uint32_t *address);

/* Gives the frames their lines: in their order, so that ids do not depend on the threads' speed. */
void inquiries_give(struct inquiries *inquiries, struct profile *profile);

#endif
