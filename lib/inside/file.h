/*
 * The file that prof shares with libprof-inside.so (layout.h): prof makes it before it starts a
 * program, or finds it in one that `prof inside` has started.
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
	unsigned char *mapped; /* INSIDE_FILE_BYTES, shared; may change at any time */
	int claim_fd;	       /* holds the claim; -1: not claimed */
};

/* An idle file: nothing is recorded. */
MUST_CHECK struct error *inside_file_make(struct inside_file *ret);
/*
 * The file of a process that runs the library. The error says why there is none and what to do; its
 * error_number() is ENOENT if the process does not run the library at all.
 */
MUST_CHECK struct error *inside_file_find(pid_t pid, struct inside_file *ret);
void inside_file_close(struct inside_file *file);

/* Only one prof may read a file at a time; the claim ends with the process. False: another one
 * does. */
bool inside_file_claim(struct inside_file *file);

/* Gives the descriptor a high number, which programs and shells leave alone. Before a fork() whose
 * child calls inside_file_lead(), so that the owner has the same number. */
void inside_file_raise(struct inside_file *file);
/*
 * Sets the environment of this process so that programs it executes load the library and find the
 * file: INSIDE_VARIABLE, and LD_PRELOAD in front of what is there. Makes the descriptor one that is
 * inherited, with a high number. owner: who keeps the descriptor open (usually getpid()).
 */
MUST_CHECK struct error *inside_file_lead(struct inside_file *file, pid_t owner);

/*
 * The path of libprof-inside.so: in the build tree of this program, where it is installed beside
 * it, or where it was to be installed. The dynamic linker takes no path with a space or a colon in
 * LD_PRELOAD, so that is an error. The caller frees it.
 */
MUST_CHECK struct error *inside_library_path(char **ret);

#endif
