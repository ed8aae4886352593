/*
 * Parses the target of an HTTP request, "/debug/pprof/profile?seconds=5&pid=3":
 * the requested page and what to record. It accepts any bytes. Source: RFC
 * 9112, 3.2.1; WHATWG URL, 5.1.
 */
#ifndef PROF_SERVE_REQUEST_TARGET_H
#define PROF_SERVE_REQUEST_TARGET_H

#include "base/error.h"
#include "format/format.h"

#include <stdint.h>

enum {
	SERVE_SECONDS_MAX = 300,
	SERVE_HZ_MAX = 1000,
	SERVE_COMM_MAX = 64,	 /* bytes of a pattern for process names */
	SERVE_CGROUP_MAX = 1024, /* bytes of a cgroup's path */
};

enum serve_route {
	SERVE_ROOT, /* "/" */
	SERVE_INDEX,
	SERVE_PROFILE,
	SERVE_FLAME, /* a recording, too */
	SERVE_CMDLINE,
	SERVE_SYMBOL,
	SERVE_METRICS,
	SERVE_HEALTH,
	SERVE_UNKNOWN_PROFILE, /* below /debug/pprof/ */
	SERVE_UNKNOWN,
};

enum serve_event { SERVE_CPU, SERVE_OFF_CPU, SERVE_ALLOC };

enum serve_scope {
	SERVE_EVERYTHING,
	SERVE_PID,
	SERVE_COMM,   /* processes whose name matches the pattern `name` */
	SERVE_CGROUP, /* `name` starts with "/" and has no component ".." */
};

/* The query of SERVE_ROOT, SERVE_PROFILE and SERVE_FLAME, or its defaults. */
struct serve_wish {
	unsigned seconds;
	unsigned hz; /* 0 means the default rate of the event */
	enum serve_event event;
	const struct format *format;
	enum serve_scope scope;
	int32_t pid;
	char name[SERVE_CGROUP_MAX + 1]; /* without control characters */
};

/*
 * Returns the names of the formats, separated by commas. The caller frees it.
 */
char *serve_format_names(void);

/* Every target has a route. */
enum serve_route serve_route_of(const char *target);
/* The text of an error is sent to the client. */
MUST_CHECK struct error *serve_wish_of(const char *target, struct serve_wish *ret);

#endif
