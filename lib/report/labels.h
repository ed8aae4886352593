/*
 * What stands in a picture or a table for a frame: each distinct (name, module) of a profile once,
 * whatever addresses and lines it was seen at. Files that were mapped twice are one module here.
 *
 * A frame has one label for each of its lines, outermost first: the function that is there, then
 * those inlined into it. A frame without lines is called by its address.
 */
#ifndef PROF_REPORT_LABELS_H
#define PROF_REPORT_LABELS_H

#include "base/arena.h"
#include "base/idmap.h"
#include "profile/profile.h"

struct label {
	const char *name;    /* a function's, or [module+0x1234]; borrowed */
	uint32_t module;     /* the first of those of its path */
	string_id file;	     /* of the function; "" when unknown */
	uint32_t start_line; /* 0 when unknown */
	bool is_address;     /* nobody knows a name */
};

/* One function at one place of a stack. */
struct labelled_line {
	uint32_t label;
	uint32_t line : 31; /* in its file; 0 when unknown */
	uint32_t is_inlined : 1;
};

struct labels {
	const struct profile *profile;
	struct label *items; /* dense, in the order of the frames */
	uint32_t count;
	struct labelled_line *lines; /* those of all frames, outermost first … */
	uint32_t *first_line;	     /* … of frame i from here to first_line[i + 1] */
	struct arena names;
};

/* Borrows the profile, whose frames must not change meanwhile. */
void labels_init(struct labels *labels, const struct profile *profile);
void labels_deinit(struct labels *labels);

/* What kind of code it is, for colours: of its module. */
enum profile_module_kind labels_kind(const struct labels *labels, uint32_t label);

/* The same, as pictures tell it in their legends. */
enum code_kind { CODE_USER, CODE_INLINED, CODE_KERNEL, CODE_JIT, CODE_NAMELESS, CODE_NOTE };
enum code_kind labels_code(const struct labels *labels, uint32_t label, bool is_inlined);

#endif
