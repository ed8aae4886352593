/*
 * What a child gives up before it handles foreign bytes, step by step: for processes that are
 * confined entirely (confinement.h), and for those that need the network or files.
 *
 * Source: capabilities(7), getrlimit(2), prctl(2), close_range(2).
 */
#ifndef PROF_SANDBOX_PRIVILEGES_H
#define PROF_SANDBOX_PRIVILEGES_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

/* Closes all descriptors from `first` on but `fd`. */
void privileges_close_others(unsigned first, unsigned fd);
/* Lowers a limit (RLIMIT_…, its name for errors); an ordinary user cannot raise it again. */
MUST_CHECK struct error *privileges_limit(int resource, const char *name, uint64_t soft,
					  uint64_t hard);
/* Becomes a user with one group, if we are root and the kernel lets us. */
MUST_CHECK struct error *privileges_drop_user(uid_t uid, gid_t gid);
MUST_CHECK struct error *privileges_drop_capabilities(void);
/*
 * No new privileges, no dumps, and the end of the thread that has forked us is ours. After the user
 * has changed, which resets two of them.
 */
MUST_CHECK struct error *privileges_set_attributes(pid_t parent);

#endif
