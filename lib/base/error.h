/*
 * What the world can make fail returns `struct error *`; NULL is success, results go through the
 * last `*ret` argument, which is written only on success.
 *
 * An error is one sentence without a full stop, wrapped once a layer with what we were doing, and
 * may carry a hint that says what the user can do:
 *
 *	if (fd < 0)
 *		return error_errno(errno, "open %s", path);
 *	err = elf_file_open(...);
 *	if (err)
 *		return error_wrap(err, "read the symbols of %s", path);
 *
 * prints as "read the symbols of /bin/x: open /bin/x: Permission denied". Only cmd/ prints.
 * Every error must be returned or freed.
 */
#ifndef PROF_BASE_ERROR_H
#define PROF_BASE_ERROR_H

#include "base/cleanup.h"

#define MUST_CHECK __attribute__((warn_unused_result))

struct error;

__attribute__((format(printf, 1, 2))) MUST_CHECK struct error *error_new(const char *fmt, ...);
/* "…: strerror(number)"; the number stays readable with error_number(). */
__attribute__((format(printf, 2, 3))) MUST_CHECK struct error *error_errno(int number,
									   const char *fmt, ...);
/* Takes err and prepends a context. NULL stays NULL. */
__attribute__((format(printf, 2, 3))) MUST_CHECK struct error *error_wrap(struct error *err,
									  const char *fmt, ...);
/* Takes err and adds a hint; an earlier hint stays, because it is more precise. */
__attribute__((format(printf, 2, 3))) MUST_CHECK struct error *error_hint(struct error *err,
									  const char *fmt, ...);

/* The whole chain in one line, borrowed. */
const char *error_text(const struct error *err);
/* NULL if there is none. */
const char *error_hint_text(const struct error *err);
/* The errno of the innermost error, or 0. */
int error_number(const struct error *err);

void error_free(struct error *err);
DEFINE_CLEANUP(error, error_free)

#endif
