/*
 * The files that a probe's target means: a path, a program that the shell would find, the program
 * that is recorded, a library, or what a process has mapped.
 */
#ifndef PROF_PROBE_TARGET_FILES_H
#define PROF_PROBE_TARGET_FILES_H

#include "base/error.h"
#include "probe/spec.h"

/* What is recorded. Borrowed. */
struct probe_context {
	const char *program; /* of the command, as the shell takes it; NULL: not a command */
	const pid_t *pids;
	size_t pid_count;
	const char *debug_dir; /* where separate debug files are; NULL: nowhere */
};

struct target_file {
	int fd;
	char *path; /* for messages and debug files */
	pid_t pid;  /* in whose root the path is; 0: prof's */
};

/* Zeroed: none. */
struct target_files {
	struct target_file *items; /* each file once */
	size_t count, room;
	/* From this number on they are libraries of processes whose programs come before, which
	 * count if those have no such place. */
	size_t programs;
};

/* What was not the target is an error that says where it was looked for. */
MUST_CHECK struct error *target_files_find(const struct probe_spec *spec,
					   const struct probe_context *context,
					   struct target_files *ret);
void target_files_deinit(struct target_files *files);

#endif
