/*
 * The place of an output: the directory and the name that a path leads to, and what exists there.
 *
 * Symbolic links are followed, in the path and at its end: an output replaces the target of a link,
 * which need not exist yet, not the link. FIFOs and devices are written into.
 *
 * In a shared directory another user could have made them: a link to a device, a FIFO that he
 * reads. They are used only if they lie in /dev, or if they belong to a trusted user (ourselves,
 * root, under sudo the calling user) and only trusted users could have put them there. The path is
 * walked by descriptors, so that what was checked is what is used: path_resolution(7), openat(2).
 */
#ifndef PROF_OUTPUT_PLACE_H
#define PROF_OUTPUT_PLACE_H

#include "base/error.h"

struct output_place {
	char *path; /* without symbolic links; for people */
	/* A descriptor of this process that the path names, such as 1 for "-"; or -1. */
	int descriptor;
	/* O_PATH descriptor of a FIFO, device or socket; -1: none. */
	int special;

	/* Of a regular file, or of nothing yet. */
	int folder;	  /* O_PATH descriptor of its directory; else -1 */
	const char *name; /* in the directory; points into path */
};

#define OUTPUT_PLACE_INIT                                                                          \
	{                                                                                          \
		.descriptor = -1, .special = -1, .folder = -1                                      \
	}

/*
 * The descriptor that a path names: "-", /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N. -1
 * for other paths.
 */
int output_descriptor(const char *path);

/* Fails on directories, on links, FIFOs and devices of others, and on loops. */
MUST_CHECK struct error *output_place_find(const char *path, struct output_place *ret);
/*
 * Of a directory: folder is that directory, and path and name are NULL; if it does not exist yet,
 * folder is its parent. Fails on anything but a directory.
 */
MUST_CHECK struct error *output_place_find_directory(const char *path, struct output_place *ret);
void output_place_deinit(struct output_place *place);

#endif
