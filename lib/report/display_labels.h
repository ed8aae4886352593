/*
 * Display labels: each distinct (function, module) of a profile, for tables and
 * graphs. Modules with the same path are one module here.
 *
 * A frame has one label per line, outermost first: the function at the address,
 * then the functions inlined into it. The label of a frame without lines is the
 * address of its function (profile_frame_function_address()).
 */
#ifndef PROF_REPORT_DISPLAY_LABELS_H
#define PROF_REPORT_DISPLAY_LABELS_H

#include "base/arena.h"
#include "base/idmap.h"
#include "profile/profile.h"
#include "report/display_names.h"

struct label {
	/*
	 * The full name of a function, without generic arguments if the style
	 * is NAMES_NO_GENERICS, or [module+0x1234].
	 */
	const char *name;
	const char *shown;   /* the name in the style of outputs */
	uint32_t module;     /* the first module with its path */
	string_id file;	     /* of the function; "" if unknown */
	uint32_t start_line; /* 0 if unknown */
	bool is_address;     /* the name is unknown */
};

/* One function at one position of a stack. */
struct labelled_line {
	uint32_t label;
	uint32_t line : 31; /* in its file; 0 if unknown */
	uint32_t is_inlined : 1;
	uint32_t folded; /* see profile_line.folded */
};

struct display_labels {
	const struct profile *profile;
	struct label *items; /* dense, in the order of the frames */
	uint32_t count;
	struct labelled_line *lines; /* the lines of all frames, outermost first */
	/*
	 * Frame i has the lines from first_line[i] to before first_line[i + 1].
	 */
	uint32_t *first_line;
	struct arena names;
};

/*
 * Initializes labels with full names. Borrows the profile, whose frames must
 * not change.
 */
void display_labels_init(struct display_labels *labels, const struct profile *profile);
/*
 * Initializes labels with names in a style. Without generics, all
 * instantiations of a function have one label. Unless the style is NAMES_FULL,
 * closures with the same name that start at different lines have different
 * labels.
 */
void display_labels_init_named(struct display_labels *labels, const struct profile *profile,
			       enum name_style style);
void display_labels_deinit(struct display_labels *labels);

/*
 * Returns the name of a module in tables: its file name without the directory,
 * or "[kernel]". It is borrowed from the profile.
 */
const char *display_module_name(const struct profile *profile, uint32_t module);

/* Returns the kind of the label's module, for colours. */
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
/* Returns whether the label stands for unsampled weight (profile/unsampled.h). */
bool display_labels_is_unsampled(const struct display_labels *labels, uint32_t label);

#endif
