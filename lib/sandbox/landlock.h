/*
 * Uses Landlock to irrevocably restrict this thread's access, and that of its
 * children, to files, the network and other processes. Does nothing on kernels
 * without Landlock (before 5.13, or disabled), and applies what older ones
 * support. Source: landlock(7).
 */
#ifndef PROF_SANDBOX_LANDLOCK_H
#define PROF_SANDBOX_LANDLOCK_H

#include "base/error.h"

/* Denies opening files and reaching other processes. */
MUST_CHECK struct error *landlock_allow_nothing(void);
/*
 * Denies changing and creating files outside `directory` (O_PATH; if negative,
 * everywhere), executing programs, and signalling or tracing processes outside.
 * Files can still be read and connections opened.
 */
MUST_CHECK struct error *landlock_write_below(int directory);

#endif
