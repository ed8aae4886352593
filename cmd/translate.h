/*
 * prof convert of what is a profile already: nothing to unwind, nothing to name.
 */
#ifndef PROF_CMD_TRANSLATE_H
#define PROF_CMD_TRANSLATE_H

#include "cmd/delivery.h"

/*
 * The format that reads what is in a file or a pipe, by its first bytes, which stay there; NULL:
 * none does, or the bytes cannot be had without taking them.
 */
const struct format *translate_format(int fd);

/* Takes fd. The result is a status. */
int translate(int fd, const char *name, const struct format *format, struct outputs *outputs,
	      const struct delivery_options *options);

#endif
