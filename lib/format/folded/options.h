/* The options of folded stacks. */
#ifndef PROF_FORMAT_FOLDED_OPTIONS_H
#define PROF_FORMAT_FOLDED_OPTIONS_H

#include <stdbool.h>

/*
 * WEIGHT_USUAL means samples, or nanoseconds if off-CPU time is shown, because
 * the number of waits is not informative. WEIGHT_NS is an error if the event
 * does not measure time.
 */
enum format_weight { WEIGHT_USUAL, WEIGHT_SAMPLES, WEIGHT_NS, WEIGHT_PERIOD };

struct folded_options {
	enum format_weight weight;
	bool show_pid; /* the first frame is NAME-PID */
	bool show_tid; /* the first frame is NAME-PID/TID */
	bool annotate; /* append _[k], _[i] or _[j] to names */
};

#endif
