/*
 * The target of a push: PROTOCOL:URL, such as otlp:http://localhost:4318.
 */
#ifndef PROF_PUSH_TARGET_H
#define PROF_PUSH_TARGET_H

#include "push/protocol.h"

struct push_target {
	const struct push_protocol *protocol;
	char *url;  /* with the protocol's path; a user and password in it are for Basic
		       authentication */
	char *name; /* as given, without user and password; for messages and file names */
};

/* Fails if the text is not a valid target. */
MUST_CHECK struct error *push_target_parse(const char *text, struct push_target *ret);
/* A zeroed target needs no deinit. */
void push_target_deinit(struct push_target *target);

/* Removes "user:password@" from the URLs in a text, such as a command line for
 * a profile. The caller frees the result. */
char *push_without_passwords(const char *text);

#endif
