/*
 * The consumers of a live recording's records other than the session: counters,
 * unsampled-time accounting, lost events, off-CPU time, tasks, calls and
 * memory.
 *
 * Each consumer is one row of the table in consumers.c, with a function per
 * moment of the recording. The recorder only announces moments; the rows are
 * called in the order of the table. To add a consumer, add a module, a row, and
 * a getter for its results (recorder.h).
 */
#ifndef PROF_RECORD_CONSUMERS_H
#define PROF_RECORD_CONSUMERS_H

#include "record/accounting.h"
#include "record/awaits.h"
#include "record/latencies.h"
#include "record/lost_execs.h"
#include "record/memory.h"
#include "record/stat_counting.h"
#include "record/waiting.h"

/*
 * Moments in the order of a recording. A rotation consists of SETTLES and
 * PROFILE_BEGINS. A renewal consists of SETTLES, SESSION_ENDS, SESSION_BEGINS
 * and PROFILE_BEGINS. A snapshot or checkpoint runs SETTLES in a forked child,
 * so the recording itself is not affected.
 */
enum moment_kind {
	SESSION_BEGINS,	 /* the session exists, with its events and an empty profile */
	RECORDING_OPENS, /* once, when the target is known */
	TARGET_BEGINS, /* the target's threads exist; repeated if a pause may have hidden changes */
	PROCESS_JOINS, /* a process with its threads joins the target */
	SAMPLING_RESUMES, /* sampling starts, or continues after a pause */
	BATCH_ENDS,	  /* all records up to complete_ns were fed */
	SAMPLING_IS_OFF,  /* sampling is disabled; records up to now are still to be read */
	SAMPLING_PAUSES,  /* all records before the pause were read */
	SAMPLING_STOPS, /* sampling is disabled for good; records up to now are still to be read */
	RECORDS_END,	/* all records were read */
	SETTLES,	/* the profile gets the results up to now_ns */
	PROFILE_BEGINS, /* after SETTLES: the session continues with an empty profile */
	SESSION_ENDS,	/* the session is freed, with its modules */
	RECORDING_CLOSES,
};

struct moment {
	enum moment_kind kind;
	uint64_t now_ns;
	uint64_t complete_ns; /* of BATCH_ENDS */
	pid_t pid;	      /* of PROCESS_JOINS */
	bool has_executed;    /* of TARGET_BEGINS: the command has executed its program */
	bool was_paused;      /* of RECORDS_END: part of the target's time was not sampled */
	bool profile_ends;    /* of SETTLES: nothing more is added to the profile */
	bool in_place;	      /* of SETTLES: the profile is shown while the recording adds to it */
	const struct profile *finished; /* of PROFILE_BEGINS: the previous profile; NULL if it
					   belongs to another session */
	uint64_t next_ns; /* set by BATCH_ENDS: the latest time to read the next batch; 0 for no
			     limit */
};

/* All pointers are borrowed. */
struct consumers_options {
	const struct record_config *config;
	const struct listener *listener;
	const struct sampling *sampling;
	struct recording_source *source;
	struct pipeline *pipeline;
	struct loop *loop;
	loop_callback *step; /* called when there is something to read */
	void *user;
};

/* Initialize it with zeros except for the options; it then has no consumers. */
struct consumers {
	struct consumers_options options;
	struct accounting accounting;
	struct lost_execs lost_execs;
	bool watches_execs; /* events are opened on tasks, not on whole CPUs */
	struct stat_counting stat;
	struct waiting *waiting;     /* NULL if off-CPU time is not recorded */
	struct awaits *awaits;	     /* NULL if awaits are not recorded */
	struct latencies *latencies; /* NULL if no event measures calls */
	struct memory *memory;	     /* NULL if memory is not recorded */
};

/* Announces a moment to all consumers. Stops at the first error; the consumers
 * can be closed then. */
MUST_CHECK struct error *consumers_at(struct consumers *consumers, struct moment *moment);
/* Like consumers_at(), for a moment at which no consumer can fail. */
void consumers_tell(struct consumers *consumers, struct moment moment);

/* Shows a record to the consumers that need all records, including samples that
 * are omitted. */
void consumers_see(struct consumers *consumers, const struct record *record);
/* Feeds a record before the session gets it. Returns true if a consumer has
 * taken the record; it must not be passed on then. */
bool consumers_feed(struct consumers *consumers, struct record *record);
/* Feeds a record after the session has taken it. */
void consumers_feed_again(struct consumers *consumers, const struct record *record);

#endif
