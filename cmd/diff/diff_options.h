/*
 * The options of prof diff.
 */
#ifndef PROF_CMD_DIFF_DIFF_OPTIONS_H
#define PROF_CMD_DIFF_DIFF_OPTIONS_H

#include "cmd/input/input.h"
#include "cmd/options/fail_condition.h"
#include "cmd/options/names_option.h"
#include "cmd/ui/pager.h"

#include <stdbool.h>
#include <stdint.h>

/* As in diff(1) and grep(1): 1 if a condition holds, 2 if something failed or
 * cannot be judged. */
enum { STATUS_CONDITION = 1, STATUS_TROUBLE = 2 };

enum normalize {
	NORMALIZE_AUTO,
	NORMALIZE_TIME,
	NORMALIZE_SHARE,
	NORMALIZE_SAMPLES,
	NORMALIZE_ITERATION
};

struct diff_command_options {
	struct input_options input;
	struct pager_options pager;
	struct names_option names;
	struct option_list outputs;
	const char *event;
	struct option_list labels; /* conditions for all files */
	/* conditions for the files of one side */
	struct option_list old_labels, new_labels;
	const char *by_label; /* NULL if functions are compared */
	enum normalize normalize;
	double confidence, noise;
	struct fail_conditions conditions;
	uint64_t rows;
	bool json, markdown, quiet;
};

#endif
