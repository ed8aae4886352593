/*
 * The secret that a client must send: the first line of a file. Source: RFC
 * 6750, 2.1; RFC 7617.
 */
#ifndef PROF_SERVE_TOKEN_H
#define PROF_SERVE_TOKEN_H

#include "base/error.h"

#include <stdbool.h>

struct token;

/*
 * Refuses what secret_file_read() refuses, and a token shorter than 16
 * characters.
 */
MUST_CHECK struct error *token_read(const char *path, struct token **ret);
/* Accepts NULL. */
void token_free(struct token *token);
DEFINE_CLEANUP(token, token_free)

/*
 * Returns whether the value of the header Authorization (NULL if there is none)
 * contains the token: "Bearer TOKEN", or "Basic" with the token as the password
 * of any user, for clients that support only http://USER:TOKEN@. The duration
 * does not depend on how much of the token is correct.
 */
bool token_is_in(const struct token *token, const char *authorization);

#endif
