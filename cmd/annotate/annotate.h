/*
 * Annotates a function: its source lines and instructions with their samples.
 * Used by prof annotate, and by prof top, which prints an annotation at every
 * refresh.
 */
#ifndef PROF_CMD_ANNOTATE_ANNOTATE_H
#define PROF_CMD_ANNOTATE_ANNOTATE_H

#include "cmd/annotate/module_code.h"
#include "cmd/annotate/source_download.h"
#include "cmd/options/names_option.h"
#include "cmd/options/selection.h"
#include "cmd/ui/table.h"
#include "report/function_sums.h"

struct annotate_options {
	struct input_options input;
	struct pager_options pager;
	struct selection_options selection;
	struct names_option names;
	const char *path, *function;
	const char *source_dir;
	bool shows_code;
	bool intel_syntax;
	uint64_t context; /* lines of context around lines with samples */
	bool json;
	struct option_list ignored;
};

/* The code of one function in the module's symbol table. */
struct annotated_code {
	const struct listed_function *function;
	struct tally *sums; /* by instruction */
	frame_id *frames;   /* by instruction: a frame at it, valid if has_frame is set */
	bool *has_frame;    /* by instruction */
};

struct annotation {
	const struct annotate_options *options;
	const char *path;
	const struct profile *profile;
	struct view view;
	bool *chosen;	/* by label: the function and other instances of its source */
	uint32_t label; /* the hottest of the chosen labels */
	uint32_t instances;
	struct function_sums sums;
	struct module_code *code; /* NULL until the code is listed */
	/* the code of the function, if instructions are shown */
	struct annotated_code *pieces;
	size_t piece_count;
	struct source_downloads *downloads; /* NULL if sources are not downloaded */
};

/*
 * Lists the code of the function, unless the code is already listed, and adds
 * the sums to its instructions. The sums must be initialized. A function may
 * consist of several pieces of code.
 */
MUST_CHECK struct error *annotation_read_code(struct annotation *annotation);
/* Frees everything except the view and the code, which the caller owns. */
void annotation_deinit(struct annotation *annotation);

void annotate_source(const struct annotation *annotation, const struct table_writer *writer);
void annotate_code(const struct annotation *annotation, const struct table_writer *writer);
/* prof-annotate(1) describes the schema. */
void annotate_json(const struct annotation *annotation, FILE *out);

#endif
