/*
 * Explains errors of perf_event_open(2): the reason and the fix.
 *
 * EACCES and EPERM have half a dozen reasons. The circumstances distinguish
 * them: the paranoid level, prof's capabilities, a seccomp filter, the owner of
 * the target, and whether it is dumpable (ptrace(2), "Ptrace access mode
 * checking"; "Dumpable" in prctl(2) and proc(5)).
 */
#ifndef PROF_PERF_REFUSAL_H
#define PROF_PERF_REFUSAL_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct event;

struct refusal {
	int number;		   /* errno of the call */
	const struct event *event; /* NULL for a dummy event */
	/* The target; 0 for prof itself, -1 for all processes. */
	pid_t tid;
	unsigned cpu;
};

/* The system state that refusal_explain() determines; tests set it. */
struct circumstances {
	int paranoid; /* /proc/sys/kernel/perf_event_paranoid */
	/* CAP_PERFMON or CAP_SYS_ADMIN in the initial user namespace. */
	bool privileged;
	bool seccomp;	 /* prof's system calls are filtered */
	bool no_proc;	 /* /proc is not mounted: the other members are unknown */
	bool other_user; /* the target runs under another user id */
	/* Root owns the target's files in /proc, although the target runs as
	 * prof's user. */
	bool undumpable;
	/* Prof may not inspect the target: its /proc/PID/exe cannot be read. */
	bool guarded;
};

/* Returns an error with the number of the refusal. */
MUST_CHECK struct error *refusal_explain(const struct refusal *refusal);

/* Like refusal_explain(), with given circumstances; a pure function. */
MUST_CHECK struct error *refusal_explain_in(const struct refusal *refusal,
					    const struct circumstances *circumstances);

/* Parses privileged and seccomp from the text of /proc/PID/status. Returns
 * false if they are missing. */
bool circumstances_from_status(const char *status, struct circumstances *ret);

/* Returns whether the text of /proc/PID/uid_map belongs to a user namespace
 * other than the initial one, whose capabilities perf ignores. */
bool maps_users(const char *uid_map);

#endif
