/*
 * Finds the cgroup of a process, and the directories and processes of cgroups.
 * Supports both versions of cgroups, also in parallel. Source: cgroups(7),
 * proc_pid_cgroup(5).
 */
#ifndef PROF_PROC_CGROUP_H
#define PROF_PROC_CGROUP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Returns the path of the process's cgroup from the root of its hierarchy:
 * "/system.slice/cron.service". If hierarchies differ, prefers the one that
 * names a container, service or scope, and then version 2 or the perf_event
 * controller. Returns NULL if the process has ended. `proc` is "/proc". The
 * caller frees the path.
 */
char *cgroup_of_process(const char *proc, pid_t pid);

struct cgroup_directory {
	char *path; /* freed by cgroup_directory_deinit() */
	/*
	 * perf_event_open(2) accepts its cgroups. This is true of version 2 and
	 * of the perf_event controller.
	 */
	bool takes_events;
};

/*
 * Finds the directory of a cgroup. `name` is its path from the root of a
 * hierarchy, with or without a leading "/", or the path of the directory.
 * Prefers a hierarchy that takes events. Returns false if there is no such
 * cgroup.
 */
bool cgroup_find_directory(const char *proc, const char *name, struct cgroup_directory *ret);
void cgroup_directory_deinit(struct cgroup_directory *directory);

/*
 * Calls `found` for each process of the cgroup and its descendants, possibly
 * more than once.
 */
void cgroup_processes(const char *directory, void (*found)(void *user, pid_t pid), void *user);

#endif
