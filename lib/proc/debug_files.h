/*
 * Candidates for the separate debug files (elf/debugfile.h) of a mapped file, in this order:
 *
 * by build-id: in ROOT/DEBUG_DIR; in DEBUG_DIR; with a symfs directory also in SYMFS/DEBUG_DIR and
 * SYMFS
 *
 * by link: in ROOT, the file's directory, its .debug/, and DEBUG_DIR/directory; the same in SYMFS,
 * or, without one, in prof's own root; in SYMFS also DEBUG_DIR/directory
 *
 * by path: ROOT/path, path, SYMFS/path
 *
 * ROOT is that of the processes that map the file if they are in a container, which has its own
 * debug files.
 *
 * DEBUG_DIR and SYMFS are the caller's, who may say what he likes. All other names are the file's,
 * and looked up with the rights of its owner (base/foreign_file.h). What they lead to must belong
 * to that owner, to root or to prof's user, and if nobody else may write to the file itself,
 * nobody else may write to its debug file (elf/file_origin.h).
 */
#ifndef PROF_PROC_DEBUG_FILES_H
#define PROF_PROC_DEBUG_FILES_H

#include "base/timed_open.h"
#include "elf/debugfile.h"

#include <sys/types.h>

/* Borrowed. */
struct debug_places {
	const char *symfs;     /* NULL: none */
	const char *debug_dir; /* NULL: none */
	struct timed_caller *caller;
};

struct debug_files {
	struct debug_places places;
	const char *path; /* the file's, as mapped */
	int root;	  /* descriptor of the root of the processes that map it; -1: prof's own */
	uid_t owner;
	bool is_foreign; /* as elf_file_is_foreign() */
};

/*
 * A copy that can outlive what the original borrows; to be freed. caller: another one, borrowed.
 */
struct debug_files *debug_files_copy(const struct debug_files *files, struct timed_caller *caller);
void debug_files_free(struct debug_files *files);
DEFINE_CLEANUP(debug_files, debug_files_free)

/* Answers hostile questions, also of several threads. Borrows files. */
struct debugfile_opener debug_files_opener(struct debug_files *files);

#endif
