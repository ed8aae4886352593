/*
 * Opens files whose names come from others: from a process, an ELF file, a
 * profile.
 *
 * As root, prof could open files that the user who supplied the name may not
 * read, and that user would then see their contents in a profile. Opening a
 * file can also have side effects: it arms a watchdog, rewinds a tape, or
 * unblocks the writer of a FIFO. Therefore:
 *
 * - A name is looked up, and its file opened, with the permissions of the user
 *   who is responsible for it (setfsuid(2), without groups). The kernel refuses
 *   what that user could not read: behind symbolic and hard links, and in other
 *   users' directories.
 * - A name can be confined to a directory, such as the root of a container. An
 *   absolute symbolic link then starts at that root, ".." does not leave it,
 *   and magic links of /proc are refused (openat2(2)). Before Linux 5.6,
 *   symbolic links below such a root are refused.
 * - Only regular files are opened. The type is checked before: the name is
 *   looked up with O_PATH, and the resulting descriptor is opened. If /proc is
 *   not mounted, the name is looked up again.
 * - A file with a lease (F_SETLEASE) is refused, so that prof does not wait for
 *   it.
 *
 * When an ordinary user runs prof, it has only that user's permissions,
 * regardless of who is responsible for the file. Opening can block forever on a
 * file system that does not respond: see timed_call.h.
 */
#ifndef PROF_BASE_UNTRUSTED_FILE_H
#define PROF_BASE_UNTRUSTED_FILE_H

#include "base/untrusted_user.h"

#include <stdbool.h>

struct untrusted_name {
	/* The directory that confines the name; NULL means prof's own root. */
	const char *root;
	/*
	 * Relative to root, with or without a leading "/"; without root, as for
	 * open(2).
	 */
	const char *path;
	uid_t user; /* the user who is responsible for the name */
	/* The file must belong to that user, to root or to prof's user. */
	bool must_be_owned;
	/*
	 * For root's own paths: opens the file with the permissions of the user
	 * who can decide where the path leads (path_user.h). Ignored for other
	 * users.
	 */
	bool distrusts_path;
	/* The last component must not be a symbolic link. */
	bool must_not_be_link;
	bool (*accepts)(int fd); /* NULL accepts any regular file */
};

/*
 * Returns a descriptor, or -1 with errno. EINVAL means that it is not a regular
 * file, EPERM that it belongs to another user or is not accepted. Thread-safe;
 * other threads keep their permissions.
 */
int untrusted_file_open(const struct untrusted_name *name);

#endif
