/* Where profiles are pushed to: PROTOCOL:URL, such as otlp:http://localhost:4318. */
#ifndef PROF_PUSH_TARGET_H
#define PROF_PUSH_TARGET_H

#include "push/protocol.h"

struct push_target {
	const struct push_protocol *protocol;
	char *url;  /* with the protocol's path; a user and password in it are for Basic */
	char *name; /* as it was given, without user and password: for people, and for files */
};

/* Fails if the text is not such a target. */
MUST_CHECK struct error *push_target_parse(const char *text, struct push_target *ret);
/* A zeroed one has nothing to free. */
void push_target_deinit(struct push_target *target);

/*
 * A text in which "user:password@" of URLs is left out: of a command line, for a profile. To be
 * freed.
 */
char *push_without_passwords(const char *text);

#endif
