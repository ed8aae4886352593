/*
 * Display labels: each distinct (function, module) of a profile once, for tables and graphs.
 * Several modules of one path are one module here.
 *
 * A frame has one label per line, outermost first: the function at the address, then the functions
 * inlined into it. The label of a frame without lines is the address of its function
 * (profile_frame_function_address()).
 */
#ifndef PROF_REPORT_DISPLAY_LABELS_H
#define PROF_REPORT_DISPLAY_LABELS_H

#include "base/arena.h"
#include "base/idmap.h"
#include "profile/profile.h"
#include "report/display_names.h"

struct label {
	const char *name;    /* a function's, or [module+0x1234]; full, but without generic
				arguments if the style is NAMES_NO_GENERICS */
	const char *shown;   /* what outputs show: the name in the style */
	uint32_t module;     /* the first of those of its path */
	string_id file;	     /* of the function; "" when unknown */
	uint32_t start_line; /* 0 when unknown */
	bool is_address;     /* the name is unknown */
};

/* One function at one place of a stack. */
struct labelled_line {
	uint32_t label;
	uint32_t line : 31; /* in its file; 0 when unknown */
	uint32_t is_inlined : 1;
	uint32_t folded; /* as profile_line's */
};

struct display_labels {
	const struct profile *profile;
	struct label *items; /* dense, in the order of the frames */
	uint32_t count;
	struct labelled_line *lines; /* those of all frames, outermost first … */
	uint32_t *first_line;	     /* … of frame i from here to first_line[i + 1] */
	struct arena names;
};

/* With full names. Borrows the profile, whose frames must not change. */
void display_labels_init(struct display_labels *labels, const struct profile *profile);
/* With names in a style. Without generics, the instances of a function are one label; closures of
 * one name that begin at different lines are several, if the style is not NAMES_FULL. */
void display_labels_init_named(struct display_labels *labels, const struct profile *profile,
			       enum name_style style);
void display_labels_deinit(struct display_labels *labels);

/* The name of a module in tables: its file name without the directory; "[kernel]". Borrowed from
 * the profile. */
const char *display_module_name(const struct profile *profile, uint32_t module);

/* The kind of the module that the label is in, for colours. */
enum profile_module_kind display_labels_kind(const struct display_labels *labels, uint32_t label);

/* The kind of code, for the legends of graphs. */
enum code_kind {
	CODE_USER,
	CODE_INLINED,
	CODE_KERNEL,
	CODE_JIT,
	CODE_INTERPRETED,
	CODE_NAMELESS,
	CODE_NOTE,
};
enum code_kind display_labels_code(const struct display_labels *labels, uint32_t label,
				   bool is_inlined);

#endif
