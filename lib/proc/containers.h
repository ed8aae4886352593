/*
 * Finds cgroups of running processes by what users call them: a container's id or name, a service,
 * or the path.
 */
#ifndef PROF_PROC_CONTAINERS_H
#define PROF_PROC_CONTAINERS_H

#include "base/error.h"

/*
 * The path of the cgroup that `wanted` names (cgroup_name.h), from the root of its hierarchy; the
 * caller frees it. NULL: no process is in one. Several are an error that lists them. proc: "/proc".
 */
MUST_CHECK struct error *container_find(const char *proc, const char *wanted, char **ret);

/* The errors for a name, or a path, that no process has; their hints have the nearest one. */
MUST_CHECK struct error *container_missing(const char *proc, const char *wanted);
MUST_CHECK struct error *cgroup_missing(const char *proc, const char *wanted);

#endif
