/*
 * Conditions of --trigger, which make the flight recorder write: "cpu>90%",
 * "rss>2G", "load>8".
 *
 *	cpu	CPU time of the target per second, in percent of one CPU as in top(1);
 *		if the target is the machine or CPUs, in percent of all CPUs
 *	rss	resident memory of the target's processes; for the machine, memory
 *		that is not available
 *	load	the machine's load average of the last minute
 *
 * They are checked once per second. A trigger fires when its condition becomes
 * true. It fires again only after the condition was false, and not before a
 * minimum time has passed.
 */
#ifndef PROF_CMD_RECORD_TRIGGER_H
#define PROF_CMD_RECORD_TRIGGER_H

#include "base/error.h"
#include "proc/usage.h"

#include <stdbool.h>

enum trigger_kind { TRIGGER_CPU, TRIGGER_RSS, TRIGGER_LOAD };

struct trigger {
	char *text; /* as given */
	enum trigger_kind kind;
	double limit;	  /* a share (0.9), bytes or a load average */
	bool was_met;	  /* the condition has held since the trigger fired last */
	uint64_t rest_ns; /* does not fire before this time */
};

struct triggers {
	struct trigger *items;
	size_t count, room;
};

/* The values that triggers are compared with. */
struct trigger_facts {
	double cpu; /* a share; NAN if unknown */
	double rss_bytes;
	double load;
};

/* Takes the argument of one --trigger. field: struct triggers. */
MUST_CHECK struct error *trigger_append(void *field, const char *argument);
void triggers_deinit(struct triggers *triggers);

/* Returns true if the trigger fires now. It does not fire again within rest_ns. */
bool trigger_fires(struct trigger *trigger, const struct trigger_facts *facts, uint64_t now_ns,
		   uint64_t rest_ns);
/* Returns "cpu>90%: 97 %". The caller frees it. */
char *trigger_reason(const struct trigger *trigger, const struct trigger_facts *facts);

/* Reads the facts periodically. */
struct trigger_reader {
	const char *proc;  /* "/proc" */
	const pid_t *pids; /* of the target; borrowed */
	size_t pid_count;  /* 0 for the machine */

	struct usage last;
	uint64_t last_ns; /* 0 before the first read */
};

struct trigger_facts trigger_read(struct trigger_reader *reader, uint64_t now_ns);

#endif
