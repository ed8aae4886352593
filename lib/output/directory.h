/*
 * A directory in which prof writes, lists and removes files.
 *
 * It is opened once. Its path is walked like that of an output (place.h):
 * symbolic links of untrusted users are refused. Afterwards all files are
 * accessed relative to its descriptor (openat(2), renameat(2), unlinkat(2)).
 * Other users who replace a component of the path, or the directory itself,
 * cannot redirect prof.
 *
 * A directory of another user, or one that others can write to, can contain
 * anything. Only regular files of trusted users (base/trusted_user.h) count as
 * files of the directory. If others can write to it, the files must also have
 * no other hard links, which could be links to any file. Other files are not
 * read, replaced or removed. Opening never blocks.
 */
#ifndef PROF_OUTPUT_DIRECTORY_H
#define PROF_OUTPUT_DIRECTORY_H

#include "output/file.h"

struct output_directory {
	char *path; /* for messages; NULL if none is open */
	int fd;
	bool is_shared; /* others can create files in it */
	bool takes_all; /* regular files of all users are its files */
};

/* If creates is set, creates a missing directory with mode 0700. Its parent
 * must exist. */
MUST_CHECK struct error *output_directory_open(const char *path, bool creates,
					       struct output_directory *ret);
/* Opens a directory only for reading, on behalf of a user who has chosen it.
 * Follows all symbolic links in the path, and accepts files of all users. */
MUST_CHECK struct error *output_directory_open_to_read(const char *path,
						       struct output_directory *ret);
/* A zeroed directory needs no close. */
void output_directory_close(struct output_directory *directory);

/* Calls visit for each regular file. is_ours is set if it is one of the
 * directory's files. */
typedef void output_directory_visit(void *user, const char *name, const struct stat *st,
				    bool is_ours);
MUST_CHECK struct error *output_directory_each(const struct output_directory *directory,
					       output_directory_visit *visit, void *user);

/*
 * Opens one of the directory's files for reading. Returns a descriptor, or -1
 * and errno: EINVAL if it is not a regular file, ELOOP if it is a symbolic
 * link, EPERM if it belongs to others.
 */
int output_directory_open_file(const struct output_directory *directory, const char *name,
			       struct stat *ret);
/* Removes the file with this name, whatever its type, except a directory. */
bool output_directory_remove(const struct output_directory *directory, const char *name);
/* Returns the place of a file in the directory, for output_file_create(). */
MUST_CHECK struct error *output_directory_place(const struct output_directory *directory,
						const char *name, struct output_place *ret);

#endif
