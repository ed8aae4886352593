/*
 * Why perf_event_open(2) said no, in words, with the one thing that helps.
 *
 * The kernel answers EACCES or EPERM for half a dozen different reasons; what tells them apart are
 * the circumstances: the paranoid level, our capabilities, a seccomp filter, whose process it is.
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
	const struct event *event; /* NULL: none of the user's, only a dummy */
	pid_t tid;		   /* whom; 0: ourselves, -1: everyone */
	unsigned cpu;
};

/* As refusal_explain() finds them; a test makes them up. */
struct circumstances {
	int paranoid;	   /* /proc/sys/kernel/perf_event_paranoid */
	bool privileged;   /* CAP_PERFMON or CAP_SYS_ADMIN, in the first user namespace */
	bool seccomp;	   /* a filter looks at our system calls */
	bool foreign_user; /* the target runs under another user id */
};

/* The error's number is the refusal's. */
MUST_CHECK struct error *refusal_explain(const struct refusal *refusal);

/* The same in given circumstances; pure. */
MUST_CHECK struct error *refusal_explain_in(const struct refusal *refusal,
					    const struct circumstances *circumstances);

/* Reads the two fields of a /proc/PID/status text that matter here; false when they are missing. */
bool circumstances_from_status(const char *status, struct circumstances *ret);

/* Does the text of a /proc/PID/uid_map show a user namespace of its own, whose capabilities are
 * none to perf? */
bool maps_users(const char *uid_map);

#endif
