/*
 * Determines which processes share a file of libprof-inside.so (file.h),
 * according to the kernel.
 *
 * Records are untrusted and can name any process. A process that runs the
 * library maps the file and is a target, has the same user as a target, or
 * descends from one. /proc/PID/maps, /proc/PID/status and /proc/PID/stat show
 * this. Records about any other process are ignored. The mappings of a process
 * are read only while it maps the file.
 *
 * A process is unknown if it has ended or prof may not read its mappings. Its
 * records are accepted, because prof adds no information from the kernel to
 * them.
 */
#ifndef PROF_INSIDE_MEMBERS_H
#define PROF_INSIDE_MEMBERS_H

#include "base/idmap.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum membership {
	MEMBERSHIP_UNKNOWN,
	MEMBERSHIP_STRANGER, /* does not share the file */
	MEMBERSHIP_MEMBER,
};

struct members {
	uint32_t device_major, device_minor; /* of the file */
	uint64_t inode;			     /* 0 if unknown; then there are no members */
	/* Borrowed; if empty, the children of this process are the targets. */
	const pid_t *targets;
	size_t target_count;
	uid_t *users;	     /* users of the targets */
	struct idmap states; /* state and time, by pid */
};

void members_init(struct members *members, int fd, const pid_t *targets, size_t target_count);
void members_deinit(struct members *members);
/*
 * Returns the membership of a process. A member is looked up once, others again
 * after some milliseconds. `has_begun` means that the record is a process
 * start, after which a process that was not a member is looked up again,
 * because a process does not map the file between execve() and the start of its
 * program. If it ends before the next lookup, it is never a member.
 */
enum membership members_check(struct members *members, pid_t pid, bool has_begun, uint64_t now_ns);
/*
 * Returns the text of /proc/PID/maps of a member, and its effective user in
 * *user, which may be NULL. Returns NULL if the process is not a member now.
 * The caller frees the text.
 */
char *members_load_maps(const struct members *members, pid_t pid, size_t *len, uid_t *user);

#endif
