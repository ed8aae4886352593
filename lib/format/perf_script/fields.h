/*
 * The options of the text format of perf script: the fields of perf script -F.
 * Source: perf-script(1).
 */
#ifndef PROF_FORMAT_PERF_SCRIPT_FIELDS_H
#define PROF_FORMAT_PERF_SCRIPT_FIELDS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum script_field {
	SCRIPT_COMM = 1 << 0,
	SCRIPT_PID = 1 << 1,
	SCRIPT_TID = 1 << 2,
	SCRIPT_CPU = 1 << 3,
	SCRIPT_TIME = 1 << 4,
	SCRIPT_PERIOD = 1 << 5,
	SCRIPT_EVENT = 1 << 6,
	SCRIPT_IP = 1 << 7,
	SCRIPT_SYM = 1 << 8,
	SCRIPT_DSO = 1 << 9,
	SCRIPT_SRCLINE = 1 << 10,
	/* Fields of perf that profiles do not contain, such as addr. */
	SCRIPT_OTHERS = 1 << 11,
};

/* The fields without -F, like perf. */
#define SCRIPT_DEFAULT_FIELDS                                                                      \
	(SCRIPT_COMM | SCRIPT_TID | SCRIPT_CPU | SCRIPT_TIME | SCRIPT_PERIOD | SCRIPT_EVENT |      \
	 SCRIPT_IP | SCRIPT_SYM | SCRIPT_DSO)

struct perf_script_options {
	/*
	 * enum script_field. If it is not 0, the comm is the name of the
	 * thread, like in perf. 0 means the fields that readers need, with the
	 * name of the process.
	 */
	uint32_t fields;
	bool no_inlines; /* only the functions that contain the inlined ones */
};

/*
 * Replaces the fields with a list "comm,tid,ip,sym", or adds and removes some,
 * "+pid,-time". Fails for an unknown field, or if sym, dso or srcline lack the
 * ip.
 */
MUST_CHECK struct error *script_fields_parse(const char *list, uint32_t *fields);

#endif
