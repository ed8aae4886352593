/*
 * A directory that prof writes files into, lists, and removes files from.
 *
 * It is opened once, and its path is walked as that of an output (place.h): links of others are
 * refused. From then on everything is named below its descriptor, so that others who exchange a
 * component of the path, or the directory itself, lead prof nowhere else: openat(2), renameat(2),
 * unlinkat(2).
 *
 * In a directory of another user, or one that others can write to, there can be anything. The files
 * of a directory are therefore regular files of trusted users (base/trusted_user.h); where others
 * can write, also without further hard links, which could be of any file. What is not one of them
 * is neither opened for its contents, nor replaced by name, nor removed. Opening never blocks.
 */
#ifndef PROF_OUTPUT_DIRECTORY_H
#define PROF_OUTPUT_DIRECTORY_H

#include "output/file.h"

struct output_directory {
	char *path; /* for people; NULL: none is open */
	int fd;
	bool is_shared; /* others can put files there */
	bool takes_all; /* regular files of all users are its files */
};

/* creates: the directory, with mode 0700, if it is missing; its parent must exist. */
MUST_CHECK struct error *output_directory_open(const char *path, bool creates,
					       struct output_directory *ret);
/* Only to read, which is the choice of the user: follows all links in the path, and takes the files
 * of all users. */
MUST_CHECK struct error *output_directory_open_to_read(const char *path,
						       struct output_directory *ret);
/* A zeroed one has nothing to free. */
void output_directory_close(struct output_directory *directory);

/* Calls visit with each regular file. is_ours: it is one of the directory's files. */
typedef void output_directory_visit(void *user, const char *name, const struct stat *st,
				    bool is_ours);
MUST_CHECK struct error *output_directory_each(const struct output_directory *directory,
					       output_directory_visit *visit, void *user);

/*
 * Opens one of the directory's files for reading. Returns a descriptor, or -1 with errno: EINVAL if
 * it is not a regular file, ELOOP if it is a link, EPERM if it is a file of others.
 */
int output_directory_open_file(const struct output_directory *directory, const char *name,
			       struct stat *ret);
/* Removes what has this name, unless it is a directory. */
bool output_directory_remove(const struct output_directory *directory, const char *name);
/* The place of a file in it, for output_file_create(). */
MUST_CHECK struct error *output_directory_place(const struct output_directory *directory,
						const char *name, struct output_place *ret);

#endif
