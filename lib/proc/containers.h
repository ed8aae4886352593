/*
 * Finds the cgroup of running processes by the name that users know: a
 * container's id or name, a service, or the path.
 */
#ifndef PROF_PROC_CONTAINERS_H
#define PROF_PROC_CONTAINERS_H

#include "base/error.h"

/*
 * Sets *ret to the path of the cgroup that `wanted` names (cgroup_name.h), from
 * the root of its hierarchy, or to NULL if no process is in one. The caller
 * frees it. Fails if several match, and lists them. `proc` is "/proc".
 */
MUST_CHECK struct error *container_find(const char *proc, const char *wanted, char **ret);

/*
 * Return the errors for a name and for a path without processes, with the most
 * similar one as a hint.
 */
MUST_CHECK struct error *container_missing(const char *proc, const char *wanted);
MUST_CHECK struct error *cgroup_missing(const char *proc, const char *wanted);

#endif
