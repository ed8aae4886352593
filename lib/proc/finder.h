/*
 * Finds the file that was mapped, and opens it.
 *
 * Live, while the process is there to show it:
 *	/proc/PID/exe			of a deleted file: if it is the program itself, anyone
 *					may read their own
 *	/proc/PID/map_files/START-END	the mapped file itself, even when it is deleted; needs
 *					CAP_CHECKPOINT_RESTORE or more
 *	/proc/PID/root/PATH		its name, in the mount namespace of the process
 *	PATH				its name, in ours
 * What is found must have the mapping's build-id; where that is unknown, its inode. The device must
 * agree too, or (btrfs and overlayfs tell mappings another device than stat(2)) the mapping must be
 * a piece of an executable segment.
 *
 * From a recording, in this order; those in brackets only where the build-id is known:
 *	SYMFS/PATH, [SYMFS/NAME, SYMFS by build-id,]	where a folder is named; else
 *	PATH
 *	[DEBUG_DIR by build-id, CACHE by build-id]
 * "by build-id" is .build-id/ab/cdef…, the file itself or a folder with `elf` in it, as perf keeps
 * it. What is found must have the mapping's build-id; where that is unknown, the mapping must be a
 * piece of an executable segment.
 *
 * Only regular files are ever opened.
 */
#ifndef PROF_PROC_FINDER_H
#define PROF_PROC_FINDER_H

#include "base/cleanup.h"
#include "proc/module.h"

struct finder;

/* proc: as in spaces_new(). */
struct finder *finder_new(const char *proc);
struct finder *finder_new_recorded(const struct recorded_files *files);
void finder_free(struct finder *finder);

/* What became of an attempt to open a file. */
struct finding {
	struct image *image; /* NULL: see error */
	struct error *error;
	bool no_elf; /* the right file, and nothing in it for us */
};

/* path: the mapping's, without " (deleted)", which `deleted` tells. */
struct finding finder_open(const struct finder *finder, pid_t pid, const struct mapping *mapping,
			   const char *path, bool deleted);
/* The vdso: ours, where it is the mapped one. */
struct finding finder_open_vdso(const struct finder *finder, const struct mapping *mapping);

/* Is it worth trying again when another process maps the same file? */
bool finder_may_find_later(const struct finder *finder);

#endif
