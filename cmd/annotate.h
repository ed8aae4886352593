/*
 * A function line by line: what is asked for, what was found, and the ways to tell it. For prof
 * annotate, and for prof top, where it is told again and again.
 */
#ifndef PROF_CMD_ANNOTATE_H
#define PROF_CMD_ANNOTATE_H

#include "cmd/code.h"
#include "cmd/pen.h"
#include "report/listing.h"

#include "elf/disassembly.h"

struct annotate_options {
	struct input_options input;
	struct screen_options screen;
	struct selection_options selection;
	const char *path, *function;
	const char *source_dir;
	bool shows_code;
	bool intel_syntax;
	uint64_t context; /* lines around those that have samples */
	bool json;
	struct option_list passed_over;
};

/* One function of the module's symbol table, disassembled. */
struct annotated_code {
	struct symbol symbol;
	struct disassembly disassembly;
	struct tally *sums; /* by instruction */
	frame_id *frames;   /* by instruction: one there … */
	bool *has_frame;    /* … if there is */
};

struct annotation {
	const struct annotate_options *options;
	const char *path;
	const struct profile *profile;
	struct view view;
	bool *chosen;	/* by label: the function, and other instances of the same source */
	uint32_t label; /* the hottest of them */
	uint32_t instances;
	struct listing listing;
	struct code code;
	struct annotated_code *pieces; /* the function's; where code is shown */
	size_t piece_count;
};

/*
 * The instructions with their sums, once the listing is there; a function may be several pieces of
 * code: of the same name, or cloned. Opens the code where that has not been done.
 */
MUST_CHECK struct error *annotation_read_code(struct annotation *annotation);
/* What belongs to it; the view and the code are the caller's. */
void annotation_deinit(struct annotation *annotation);

void annotate_source(const struct annotation *annotation, const struct pen *pen);
void annotate_code(const struct annotation *annotation, const struct pen *pen);
/* The schema is in prof-annotate(1). */
void annotate_json(const struct annotation *annotation, FILE *out);

#endif
