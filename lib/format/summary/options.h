/*
 * The options of the summary in Markdown.
 */
#ifndef PROF_FORMAT_SUMMARY_OPTIONS_H
#define PROF_FORMAT_SUMMARY_OPTIONS_H

#include <stdint.h>

struct view_options; /* report/view.h */

enum { SUMMARY_LINES = 100, SUMMARY_LEAST_LINES = 20 };

struct summary_options {
	uint64_t lines;	  /* the maximum; 0 for SUMMARY_LINES */
	const char *path; /* of the profile, for commands; NULL if it is not in a file */
	/* The samples to summarize, except the event; NULL means all. */
	const struct view_options *selection;
};

#endif
