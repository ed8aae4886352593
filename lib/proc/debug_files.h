/*
 * Lists candidates for the separate debug file (elf/debugfile.h) of a mapped
 * file, in this order:
 *
 * - by build-id: in ROOT/DEBUG_DIR; in DEBUG_DIR; with a symfs directory also
 *   in SYMFS/DEBUG_DIR and SYMFS
 * - by debug link: in ROOT, in the file's directory, its .debug/, and
 *   DEBUG_DIR/directory; then the same in SYMFS or, without one, in prof's own
 *   root; in SYMFS also DEBUG_DIR/directory
 * - by path: ROOT/path, path, SYMFS/path
 *
 * ROOT is the root of the processes that map the file, if they are in a
 * container with its own debug files.
 *
 * DEBUG_DIR and SYMFS come from the caller and are trusted. All other names
 * come from the file, and are opened with the privileges of its owner
 * (base/untrusted_file.h). The debug file must belong to that owner, to root or
 * to prof's user. If no other user can write to the file itself, no other user
 * may be able to write to its debug file (elf/file_origin.h).
 */
#ifndef PROF_PROC_DEBUG_FILES_H
#define PROF_PROC_DEBUG_FILES_H

#include "base/timed_open.h"
#include "elf/debugfile.h"

#include <sys/types.h>

/* The default directory of debug files. */
#define DEBUG_DIR "/usr/lib/debug"

/* All members are borrowed. */
struct debug_places {
	const char *symfs;     /* NULL if none */
	const char *debug_dir; /* NULL if none */
	struct timed_caller *caller;
};

struct debug_files {
	struct debug_places places;
	const char *path; /* path of the file, as mapped */
	/*
	 * Descriptor of the root of the processes that map the file; -1 means
	 * prof's own root.
	 */
	int root;
	uid_t owner;
	bool is_untrusted; /* see elf_file_is_untrusted() */
};

/*
 * Returns a copy that may outlive what the original borrows. It borrows the
 * other `caller`. Free it with debug_files_free().
 */
struct debug_files *debug_files_copy(const struct debug_files *files, struct timed_caller *caller);
void debug_files_free(struct debug_files *files);
DEFINE_CLEANUP(debug_files, debug_files_free)

/*
 * Returns an opener that is safe for hostile names and for several threads.
 * Borrows `files`.
 */
struct debugfile_opener debug_files_opener(struct debug_files *files);

#endif
