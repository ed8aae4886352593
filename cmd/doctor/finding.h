/* What prof doctor has found out about one subject, and the list of it. */
#ifndef PROF_CMD_DOCTOR_FINDING_H
#define PROF_CMD_DOCTOR_FINDING_H

#include "base/cleanup.h"

#include <stddef.h>

enum finding_state {
	FINDING_OK,
	FINDING_LIMITED, /* profiles lack something … */
	FINDING_MISSING, /* … or there are none, or no names at all */
};

/* "ok", "limited" or "missing" */
const char *finding_state_name(enum finding_state state);

struct finding {
	const char *subject; /* static */
	enum finding_state state;
	char *what;    /* how it is */
	char *cost;    /* what that costs the user; NULL: nothing */
	char *command; /* the one command, or setting, that helps; NULL: none does */
};

struct findings {
	struct finding *items;
	size_t count, room;
};

/* Takes the texts. */
void findings_add(struct findings *findings, const struct finding *finding);
/* The worst first, else as they were added. */
void findings_sort(struct findings *findings);
void findings_deinit(struct findings *findings);

#endif
