/*
 * Resolves the path of an output to a directory and a name, and checks what
 * exists there.
 *
 * Symbolic links are followed, in the path and at its end: an output replaces
 * the target of a link, which need not exist yet, and not the link. FIFOs and
 * devices are written to.
 *
 * In a shared directory another user could have created them, such as a link to
 * a device, or a FIFO that this user reads. They are used only if they are in
 * /dev, or if they belong to a trusted user (prof's user, root, under sudo the
 * calling user) and only trusted users could have created them. The path is
 * walked with descriptors, so that the object that was checked is the one that
 * is used: path_resolution(7), openat(2).
 */
#ifndef PROF_OUTPUT_PLACE_H
#define PROF_OUTPUT_PLACE_H

#include "base/error.h"

struct output_place {
	char *path; /* without symbolic links; for messages */
	/* A descriptor of this process that the path names, such as 1 for "-";
	 * else -1. */
	int descriptor;
	/* O_PATH descriptor of a FIFO, device or socket; else -1. */
	int special;

	/* Set for a regular file and for a name that does not exist yet. */
	int folder;	  /* O_PATH descriptor of its directory; else -1 */
	const char *name; /* name in the directory; points into path */
};

#define OUTPUT_PLACE_INIT                                                                          \
	{                                                                                          \
		.descriptor = -1, .special = -1, .folder = -1                                      \
	}

/* Returns the descriptor that a path names: "-", /dev/stdout, /dev/stderr,
 * /dev/fd/N, /proc/self/fd/N. Returns -1 for other paths. */
int output_descriptor(const char *path);

/* Fails for directories, for links, FIFOs and devices of untrusted users, and
 * for symbolic-link loops. */
MUST_CHECK struct error *output_place_find(const char *path, struct output_place *ret);
/*
 * Resolves the path of a directory. folder is that directory, and path and name
 * are NULL. If it does not exist yet, folder is its parent. Fails for anything
 * but a directory.
 */
MUST_CHECK struct error *output_place_find_directory(const char *path, struct output_place *ret);
void output_place_deinit(struct output_place *place);

#endif
