/*
 * Steps that drop privileges of a child before it handles untrusted bytes. Used
 * for fully confined processes (confinement.h) and for those that need the
 * network or files.
 *
 * Source: capabilities(7), getrlimit(2), prctl(2), close_range(2).
 */
#ifndef PROF_SANDBOX_PRIVILEGES_H
#define PROF_SANDBOX_PRIVILEGES_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

/* Closes all descriptors from `first` on, except `fd`. */
void privileges_close_others(unsigned first, unsigned fd);
/* Lowers a limit (RLIMIT_…; name is for errors). An unprivileged process cannot
 * raise it again. */
MUST_CHECK struct error *privileges_limit(int resource, const char *name, uint64_t soft,
					  uint64_t hard);
/* Becomes a user with one group, if prof is root and the kernel permits it. */
MUST_CHECK struct error *privileges_drop_user(uid_t uid, gid_t gid);
MUST_CHECK struct error *privileges_drop_capabilities(void);
/*
 * Sets no_new_privs, disables core dumps, and ends this process with the thread
 * that forked it. Must be called after the user was changed, because that
 * resets two of these attributes.
 */
MUST_CHECK struct error *privileges_set_attributes(pid_t parent);

#endif
