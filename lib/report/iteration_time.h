/*
 * Reads the time per iteration that criterion has measured for a benchmark from
 * its file estimates.json. It is the estimate that criterion prints: the slope
 * of time over iterations, or the mean if each sample had the same number of
 * iterations. Source: criterion 0.5 to 0.8, src/estimate.rs.
 */
#ifndef PROF_REPORT_ITERATION_TIME_H
#define PROF_REPORT_ITERATION_TIME_H

#include <stdbool.h>
#include <stddef.h>

struct iteration_time {
	double ns;    /* more than 0 */
	double error; /* its standard error within the run, as a share of it */
};

/* Accepts any text. Returns false if it is not such a file. */
bool iteration_time_read(const char *text, size_t len, struct iteration_time *ret);

#endif
