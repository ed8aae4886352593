/*
 * Finds the files that a probe's target refers to: a path, a program in PATH,
 * the recorded program, a library, or the files that a process has mapped.
 */
#ifndef PROF_PROBE_TARGET_FILES_H
#define PROF_PROBE_TARGET_FILES_H

#include "base/error.h"
#include "probe/spec.h"

/* The recorded command and processes. All pointers are borrowed. */
struct probe_context {
	/*
	 * Program of the command, as for a shell; NULL if there is no command.
	 */
	const char *program;
	const pid_t *pids;
	size_t pid_count;
	const char *debug_dir; /* directory of separate debug files, or NULL */
};

struct target_file {
	int fd;
	char *path; /* for messages and to find debug files */
	pid_t pid;  /* the path is in this process's root; 0 for prof's root */
};

/* Initialize it with zeros. */
struct target_files {
	struct target_file *items; /* without duplicates */
	size_t count, room;
	/*
	 * The items from this number on are libraries of processes. They are
	 * used only if the programs before them do not have the place.
	 */
	size_t programs;
};

/*
 * Finds the files. If the target is not found, the error lists the places that
 * were searched.
 */
MUST_CHECK struct error *target_files_find(const struct probe_spec *spec,
					   const struct probe_context *context,
					   struct target_files *ret);
void target_files_deinit(struct target_files *files);

#endif
