/*
 * All requests of one run of a symbolizer: one symbol request per module that
 * has frames without names, and the address of each of these frames.
 */
#ifndef PROF_SYMBOL_SYMBOL_REQUESTS_H
#define PROF_SYMBOL_SYMBOL_REQUESTS_H

#include "proc/address_spaces.h"
#include "profile/profile.h"
#include "symbol/symbol_request.h"

struct symbol_requests {
	struct symbol_request *items; /* by module, ascending */
	size_t count, room;
	frame_id begin, end;		     /* range of the profile's frames */
	struct symbol_request_place *places; /* by frame, starting with `begin`; private */
};

/*
 * Collects the profile's frames from `begin` to the last one. Modules have the
 * same numbers in the profile and in `spaces`. A frame with a return address is
 * looked up at its address - 1. with_lines: include frames of files that have a
 * name but no line.
 */
void symbol_requests_init(struct symbol_requests *requests, const struct profile *profile,
			  const struct address_spaces *spaces, frame_id begin, bool with_lines);
void symbol_requests_deinit(struct symbol_requests *requests);

/*
 * Returns NULL if the frame is not in any request. *address is an index into
 * the symbol request's addresses.
 */
struct symbol_request *symbol_requests_of_frame(const struct symbol_requests *requests,
						frame_id frame, uint32_t *address);

/*
 * Adds the lines to the frames in the order of the frames, so that ids do not
 * depend on the speed of the threads.
 */
void symbol_requests_give(struct symbol_requests *requests, struct profile *profile);

#endif
