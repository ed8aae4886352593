/*
 * Errors of perf_event_open(2): why it failed, and what to do.
 *
 * EACCES and EPERM have half a dozen reasons. The circumstances tell them apart: the paranoid
 * level, our capabilities, a seccomp filter, the owner of the target, whether it is dumpable
 * (ptrace(2), "Ptrace access mode checking"; "Dumpable" in prctl(2) and proc(5)).
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
	const struct event *event; /* NULL: a dummy event */
	pid_t tid;		   /* the target; 0: ourselves, -1: everyone */
	unsigned cpu;
};

/* What refusal_explain() finds out; tests set it. */
struct circumstances {
	int paranoid;	   /* /proc/sys/kernel/perf_event_paranoid */
	bool privileged;   /* CAP_PERFMON or CAP_SYS_ADMIN, in the first user namespace */
	bool seccomp;	   /* our system calls are filtered */
	bool foreign_user; /* the target runs under another user id */
	bool undumpable;   /* root owns the target's files in /proc, although its user is ours */
	bool guarded;	   /* we may not inspect the target: its /proc/PID/exe cannot be read */
};

/* The error's number is the refusal's. */
MUST_CHECK struct error *refusal_explain(const struct refusal *refusal);

/* The same with given circumstances; pure. */
MUST_CHECK struct error *refusal_explain_in(const struct refusal *refusal,
					    const struct circumstances *circumstances);

/* Takes privileged and seccomp from the text of /proc/PID/status; false if they are missing. */
bool circumstances_from_status(const char *status, struct circumstances *ret);

/* Whether the text of /proc/PID/uid_map is of a user namespace other than the first one: perf
 * ignores its capabilities. */
bool maps_users(const char *uid_map);

#endif
