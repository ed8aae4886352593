/*
 * What the parts of a cgroup's path name: containers of docker, podman, containerd, CRI-O,
 * Kubernetes, LXC and systemd-nspawn, and services, scopes and slices of systemd.
 *
 * Only the path is looked at, and no daemon is asked. So a container of docker, podman or
 * Kubernetes has its id, not the name that the user gave it. Any text may be parsed.
 * Source: the cgroup drivers of the engines; systemd's "Control Group APIs and Delegation".
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
	CGROUP_CONTAINER, /* a name: "web" of lxc.payload.web */
	CGROUP_ID,	  /* a container by its id: hexadecimal digits */
};

struct cgroup_name {
	enum cgroup_kind kind;
	char text[CGROUP_NAME_MAX];
	size_t end; /* of the path: the bytes up to the end of the part */
};

/* The next part that names something, from outside in; *at is 0 at first. */
bool cgroup_name_next(const char *path, size_t *at, struct cgroup_name *ret);

/* What a user would call the processes there: the innermost container, else the innermost service
 * or scope. An id is cut to the 12 digits that docker shows. False: the path names neither. */
bool cgroup_name_of(const char *path, struct cgroup_name *ret);

/* Whether the user means it: by the name, or by an id's first digits, of which there must be 4. */
bool cgroup_name_is(const struct cgroup_name *name, const char *wanted);

#endif
