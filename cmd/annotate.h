/*
 * An annotated function: its source lines and instructions with their samples. For prof annotate,
 * and for prof top, which prints it at every refresh.
 */
#ifndef PROF_CMD_ANNOTATE_H
#define PROF_CMD_ANNOTATE_H

#include "cmd/module_code.h"
#include "cmd/names_option.h"
#include "cmd/selection.h"
#include "cmd/source_download.h"
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
	uint64_t context; /* lines around those with samples */
	bool json;
	struct option_list ignored;
};

/* One function of the module's symbol table. */
struct annotated_code {
	const struct listed_function *function;
	struct tally *sums; /* by instruction */
	frame_id *frames;   /* by instruction: a frame at it … */
	bool *has_frame;    /* … if there is one */
};

struct annotation {
	const struct annotate_options *options;
	const char *path;
	const struct profile *profile;
	struct view view;
	bool *chosen;	/* by label: the function and other instances of its source */
	uint32_t label; /* the hottest of them */
	uint32_t instances;
	struct function_sums sums;
	struct module_code *code;      /* NULL: not listed yet */
	struct annotated_code *pieces; /* the code of the function; if instructions are shown */
	size_t piece_count;
	struct source_downloads *downloads; /* NULL: sources of this machine alone */
};

/*
 * Lists the code of the function, unless the code is already listed, and adds the sums to its
 * instructions; the sums must be initialized. A function may consist of several pieces of code.
 */
MUST_CHECK struct error *annotation_read_code(struct annotation *annotation);
/* Frees everything but the view and the code, which are the caller's. */
void annotation_deinit(struct annotation *annotation);

void annotate_source(const struct annotation *annotation, const struct table_writer *writer);
void annotate_code(const struct annotation *annotation, const struct table_writer *writer);
/* prof-annotate(1) describes the schema. */
void annotate_json(const struct annotation *annotation, FILE *out);

#endif
