/*
 * Extracts names from a cgroup's path: containers of docker, podman,
 * containerd, CRI-O, Kubernetes, LXC and systemd-nspawn, and services, scopes
 * and slices of systemd.
 *
 * Uses only the path and asks no daemon. So containers of docker, podman and
 * Kubernetes have their id, not the name that the user gave them. Accepts any
 * text. Source: the cgroup drivers of the engines; systemd's "Control Group
 * APIs and Delegation".
 */
#ifndef PROF_PROC_CGROUP_NAME_H
#define PROF_PROC_CGROUP_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* NAME_MAX of Linux, and a NUL. */
enum { CGROUP_NAME_MAX = 256 };

enum cgroup_kind {
	CGROUP_SLICE,	  /* "system.slice" */
	CGROUP_UNIT,	  /* "nginx.service", "session-3.scope" */
	CGROUP_CONTAINER, /* a container by name: "web" in lxc.payload.web */
	CGROUP_ID,	  /* a container by id: hexadecimal digits */
};

struct cgroup_name {
	enum cgroup_kind kind;
	char text[CGROUP_NAME_MAX];
	size_t end; /* offset in the path of the end of this part */
};

/*
 * Returns the next part of the path that contains a name, from the outermost
 * inward. *at starts at 0.
 */
bool cgroup_name_next(const char *path, size_t *at, struct cgroup_name *ret);

/*
 * Returns the best name for the cgroup's processes: the innermost container, or
 * else the innermost service or scope. Ids are truncated to the 12 digits that
 * docker shows. Returns false if the path contains neither.
 */
bool cgroup_name_of(const char *path, struct cgroup_name *ret);

/*
 * Returns whether `wanted` is this name, or a prefix of the id with at least 4
 * digits.
 */
bool cgroup_name_is(const struct cgroup_name *name, const char *wanted);

#endif
