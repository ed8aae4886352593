/*
 * Elapsed time of a perf.data file (elapsed.h), from its context switches. It
 * has no snapshots of waiting threads: a moment in which no thread ran has the
 * frame [unknown].
 *
 * Without context switches the times are estimated: a thread runs from each of
 * its samples until the next one is due.
 */
#ifndef PROF_RECORD_ELAPSED_IMPORT_H
#define PROF_RECORD_ELAPSED_IMPORT_H

#include "perf/record.h"
#include "record/session.h"

struct elapsed_import;

struct elapsed_import_options {
	bool has_switches;  /* the file has context switches */
	uint64_t period_ns; /* between two samples of a thread that runs; if there are none */
};

/* Borrows the session. */
struct elapsed_import *elapsed_import_new(struct session *session,
					  const struct elapsed_import_options *options);
void elapsed_import_free(struct elapsed_import *import);

/* Takes the next record before the session does, and again after it. Both
 * accept NULL and then do nothing. */
void elapsed_import_feed(struct elapsed_import *import, const struct record *record);
void elapsed_import_feed_again(struct elapsed_import *import, const struct record *record);
/* All records were fed; the last one has this time. */
void elapsed_import_settle(struct elapsed_import *import, uint64_t last_ns);

#endif
