/*
 * The findings of prof doctor, one per subject.
 */
#ifndef PROF_DOCTOR_FINDING_H
#define PROF_DOCTOR_FINDING_H

#include "base/cleanup.h"

#include <stddef.h>

enum finding_state {
	FINDING_OK,
	FINDING_LIMITED, /* profiles are incomplete */
	FINDING_MISSING, /* there are no profiles, or no symbols at all */
};

/* Returns "ok", "limited" or "missing". */
const char *finding_state_name(enum finding_state state);

struct finding {
	const char *subject; /* static */
	enum finding_state state;
	char *what;    /* the current state */
	char *cost;    /* the effect on the user; NULL means none */
	char *command; /* the command, or setting, that helps; NULL if none does */
	char *fix;     /* the line of sh(1) that root runs to change the machine; NULL for none */
};

struct findings {
	struct finding *items;
	size_t count, room;
};

/* Takes ownership of the texts. */
void findings_add(struct findings *findings, const struct finding *finding);
/* Sorts the worst first; equal ones keep their order. */
void findings_sort(struct findings *findings);
void findings_deinit(struct findings *findings);

#endif
