/*
 * The memory file that prof shares with libprof-inside.so (layout.h). prof
 * creates it before it starts a program, or opens the file of a program that
 * `prof inside` started.
 */
#ifndef PROF_INSIDE_FILE_H
#define PROF_INSIDE_FILE_H

#include "base/error.h"
#include "inside/layout.h"

#include <stdbool.h>
#include <sys/types.h>

struct inside_file {
	int fd;
	struct inside_control *control;
	/* INSIDE_FILE_BYTES of shared memory, which may change at any time. */
	unsigned char *mapped;
	int claim_fd; /* holds the claim; -1 if not claimed */
};

/* Creates a file with recording disabled. */
MUST_CHECK struct error *inside_file_make(struct inside_file *ret);
/*
 * Opens the file of a process that runs the library. The error states why there
 * is none, with a hint. Its number is ENOENT if the process does not run the
 * library at all.
 */
MUST_CHECK struct error *inside_file_find(pid_t pid, struct inside_file *ret);
void inside_file_close(struct inside_file *file);

/*
 * Claims the file, because only one prof may read it at a time. The claim ends
 * with the process. Returns false if another prof holds it.
 */
bool inside_file_claim(struct inside_file *file);

/*
 * Moves the descriptor to a high number that programs and shells do not use.
 * Call this before a fork() whose child calls inside_file_lead(), so that
 * `owner` has the descriptor under the same number.
 */
void inside_file_raise(struct inside_file *file);
/*
 * Sets the environment of this process so that programs it executes load the
 * library and find the file: sets INSIDE_VARIABLE and prepends to LD_PRELOAD.
 * Makes the descriptor inheritable, with a high number. `owner` is the process
 * that keeps the descriptor open, usually getpid().
 */
MUST_CHECK struct error *inside_file_lead(struct inside_file *file, pid_t owner);

/*
 * Returns the path of libprof-inside.so. Searches the build tree of this
 * program, the library directory next to its own, and the configured install
 * directory. Fails if the path contains a space or a colon, because the dynamic
 * linker does not accept these in LD_PRELOAD. The caller frees the path.
 */
MUST_CHECK struct error *inside_library_path(char **ret);

#endif
