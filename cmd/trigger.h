/*
 * Conditions of --trigger, which make the flight recorder write: "cpu>90%", "rss>2G", "load>8".
 *
 *	cpu	CPU time of the target per second, in percent of one CPU as top(1) shows it; if the
 *		target is the machine or CPUs, in percent of all CPUs
 *	rss	resident memory of the target's processes; of the machine, memory that is not
 *		available
 *	load	the machine's load average of the last minute
 *
 * They are looked at once per second. A trigger fires when its condition becomes true; again only
 * after it was false, and not before a time has passed.
 */
#ifndef PROF_CMD_TRIGGER_H
#define PROF_CMD_TRIGGER_H

#include "base/error.h"
#include "proc/usage.h"

#include <stdbool.h>

enum trigger_kind { TRIGGER_CPU, TRIGGER_RSS, TRIGGER_LOAD };

struct trigger {
	char *text; /* as it was given */
	enum trigger_kind kind;
	double limit;	  /* a share (0.9), bytes, or a load */
	bool was_met;	  /* since it fired last, the condition was never false */
	uint64_t rest_ns; /* it fires not before then */
};

struct triggers {
	struct trigger *items;
	size_t count, room;
};

/* What triggers are compared with. */
struct trigger_facts {
	double cpu; /* a share; NAN: unknown */
	double rss_bytes;
	double load;
};

/* Takes the argument of one --trigger. field: struct triggers. */
MUST_CHECK struct error *trigger_append(void *field, const char *argument);
void triggers_deinit(struct triggers *triggers);

/* Whether the trigger fires now. In the next rest_ns it will not again. */
bool trigger_fires(struct trigger *trigger, const struct trigger_facts *facts, uint64_t now_ns,
		   uint64_t rest_ns);
/* "cpu>90%: 97 %", to be freed. */
char *trigger_reason(const struct trigger *trigger, const struct trigger_facts *facts);

/* Reads facts from time to time. */
struct trigger_reader {
	const char *proc;  /* "/proc" */
	const pid_t *pids; /* of the target; borrowed */
	size_t pid_count;  /* 0: the machine */

	struct usage last;
	uint64_t last_ns; /* 0: nothing was read yet */
};

struct trigger_facts trigger_read(struct trigger_reader *reader, uint64_t now_ns);

#endif
