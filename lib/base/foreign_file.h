/*
 * Opens files whose names come from others: from a process, an ELF file, a profile.
 *
 * As root, prof may open more than whoever wrote the name, who would then read it in a profile, and
 * opening itself can act: a watchdog is armed, a tape rewound, a FIFO's writer let go. Therefore:
 *
 * - A name is looked up and its file opened with the rights of the user who is responsible for it
 *   (setfsuid(2), without groups). The kernel refuses what that user could not read: behind
 *   symbolic and hard links, and in directories of others.
 * - A name can be confined to a directory, the root of a container: an absolute symbolic link leads
 *   to that root, ".." not out of it, and links of /proc nowhere (openat2(2)). Before Linux 5.6,
 *   symbolic links below such a root are refused.
 * - Only regular files are opened. That is known before: what is opened is the descriptor of a name
 *   that was looked up only (O_PATH). Where /proc is not mounted, the name is looked up again.
 * - A file with a lease (F_SETLEASE) is refused, not waited for.
 *
 * An ordinary user's prof has that user's rights only, whoever is responsible. Opening can take for
 * ever on a file system that does not answer: see timed_call.h.
 */
#ifndef PROF_BASE_FOREIGN_FILE_H
#define PROF_BASE_FOREIGN_FILE_H

#include "base/foreign_user.h"

#include <stdbool.h>

struct foreign_name {
	const char *root; /* the directory it is confined to; NULL: prof's own root */
	const char *path; /* below root: from there, with or without a "/"; else as for open(2) */
	uid_t user;	  /* who is responsible for the name */
	/* The file must belong to that user, to root or to prof's user. */
	bool must_be_owned;
	/*
	 * Root's own path: it is opened with the rights of whoever can decide where it leads
	 * (path_user.h). Others than root have no path of their own.
	 */
	bool distrusts_path;
	/* The last component must not be a symbolic link. */
	bool must_not_be_link;
	bool (*accepts)(int fd); /* NULL: any regular file */
};

/*
 * Returns a descriptor, or -1 with errno; EINVAL if it is not a regular file, EPERM if it belongs
 * to another user or is not accepted. Thread-safe; other threads keep their rights.
 */
int foreign_file_open(const struct foreign_name *name);

#endif
