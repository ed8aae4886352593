/*
 * Functions that can fail for external reasons return `struct error *`. NULL is
 * success. Results go through the last argument, `*ret`, which is written only
 * on success.
 *
 * An error is one sentence without a full stop. Each layer adds what it was
 * doing. A hint tells the user what to do:
 *
 *	if (fd < 0)
 *	return error_errno(errno, "open %s", path);
 *	err = elf_file_open(...);
 *	if (err)
 *	return error_wrap(err, "read the symbols of %s", path);
 *
 * prints as "read the symbols of /bin/x: open /bin/x: Permission denied". Only
 * cmd/ prints errors. Every error must be returned or freed.
 */
#ifndef PROF_BASE_ERROR_H
#define PROF_BASE_ERROR_H

#include "base/cleanup.h"

#include <stdbool.h>

#define MUST_CHECK __attribute__((warn_unused_result))

struct error;

__attribute__((format(printf, 1, 2))) MUST_CHECK struct error *error_new(const char *fmt, ...);
/* Returns "…: strerror(number)". error_number() returns the number. */
__attribute__((format(printf, 2, 3))) MUST_CHECK struct error *error_errno(int number,
									   const char *fmt, ...);
/* Takes ownership of err and prepends a context. NULL stays NULL. */
__attribute__((format(printf, 2, 3))) MUST_CHECK struct error *error_wrap(struct error *err,
									  const char *fmt, ...);
/*
 * Takes ownership of err and adds a hint. An existing hint stays, because it is
 * more precise.
 */
__attribute__((format(printf, 2, 3))) MUST_CHECK struct error *error_hint(struct error *err,
									  const char *fmt, ...);
/*
 * Takes ownership of err and marks it as an error in the command line, which
 * has its own exit status.
 */
MUST_CHECK struct error *error_usage(struct error *err);

/* Returns the whole chain in one line, borrowed. */
const char *error_text(const struct error *err);
/* Returns NULL if there is none. */
const char *error_hint_text(const struct error *err);
/* Returns the errno of the innermost error, or 0. */
int error_number(const struct error *err);
bool error_is_usage(const struct error *err);

void error_free(struct error *err);
DEFINE_CLEANUP(error, error_free)

#endif
