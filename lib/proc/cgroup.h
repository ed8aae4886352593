/*
 * Cgroups of this machine: of a process, and their directories. Both versions of cgroups, also side
 * by side. Source: cgroups(7), proc_pid_cgroup(5).
 */
#ifndef PROF_PROC_CGROUP_H
#define PROF_PROC_CGROUP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The path of the process's cgroup, from the root of its hierarchy: "/system.slice/cron.service".
 * Where hierarchies differ, the one that names a container, service or scope, else that of version
 * 2 or of the controller perf_event.
 * NULL: the process has ended. proc: "/proc". The caller frees it.
 */
char *cgroup_of_process(const char *proc, pid_t pid);

struct cgroup_directory {
	char *path; /* freed by cgroup_directory_deinit() */
	/* Its hierarchy is one whose cgroups perf_event_open(2) takes: that of version 2, or that
	 * of the controller perf_event. */
	bool takes_events;
};

/*
 * The directory of a cgroup: name is its path from the root of a hierarchy, with or without "/" in
 * front, or the path of the directory. A hierarchy that takes events is preferred. False: there is
 * no such cgroup.
 */
bool cgroup_find_directory(const char *proc, const char *name, struct cgroup_directory *ret);
void cgroup_directory_deinit(struct cgroup_directory *directory);

/* Calls back for each process of the cgroup and of its descendants. A process may come twice. */
void cgroup_processes(const char *directory, void (*found)(void *user, pid_t pid), void *user);

#endif
