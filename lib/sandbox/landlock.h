/*
 * Landlock: takes rights to files, to the network and to other processes from this thread and what
 * it starts, for good. Does nothing on kernels without it (before 5.13, or not enabled), and what
 * the kernel knows of it on older ones. Source: landlock(7).
 */
#ifndef PROF_SANDBOX_LANDLOCK_H
#define PROF_SANDBOX_LANDLOCK_H

#include "base/error.h"

/* No file is opened, and no other process reached. */
MUST_CHECK struct error *landlock_allow_nothing(void);
/*
 * Files are changed and made below `directory` only (O_PATH; negative: nowhere), no program is
 * executed, and no process outside gets a signal or is traced. Reading files and connecting stay
 * as they were.
 */
MUST_CHECK struct error *landlock_write_below(int directory);

#endif
