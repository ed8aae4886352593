/*
 * Which processes share a file of libprof-inside.so (file.h), as the kernel shows it.
 *
 * Records can name any process. One that runs the library maps the file, and is a target, or has
 * the user of a target, or descends from one: /proc/PID/maps, /proc/PID/status and /proc/PID/stat
 * show this. Nothing that records claim of another process is used, and the mappings of a process
 * are read only while it maps the file.
 *
 * A process that has ended, or whose mappings prof may not read, is unknown: the kernel gives
 * nothing of it away, so its records can claim nothing but what they contain.
 */
#ifndef PROF_INSIDE_MEMBERS_H
#define PROF_INSIDE_MEMBERS_H

#include "base/idmap.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum membership {
	MEMBERSHIP_UNKNOWN,
	MEMBERSHIP_STRANGER, /* it does not share the file */
	MEMBERSHIP_MEMBER,
};

struct members {
	uint32_t device_major, device_minor; /* of the file */
	uint64_t inode;			     /* 0: unknown, and there are no members */
	const pid_t *targets;		     /* borrowed; none: the children of this process */
	size_t target_count;
	uid_t *users;	     /* of the targets */
	struct idmap states; /* by pid: state and time */
};

void members_init(struct members *members, int fd, const pid_t *targets, size_t target_count);
void members_deinit(struct members *members);
/* Asks the kernel about a member once, and about others again after some milliseconds. */
enum membership members_check(struct members *members, pid_t pid, uint64_t now_ns);
/*
 * The text of /proc/PID/maps of a member, and its effective user; the caller frees it. Returns NULL
 * if the process is no member now. user: may be NULL.
 */
char *members_load_maps(const struct members *members, pid_t pid, size_t *len, uid_t *user);

#endif
