/*
 * prof annotate: what is asked for, what was found, and the ways to tell it.
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

void annotate_source(const struct annotation *annotation, const struct pen *pen);
void annotate_code(const struct annotation *annotation, const struct pen *pen);
/* The schema is in prof-annotate(1). */
void annotate_json(const struct annotation *annotation, FILE *out);

#endif
