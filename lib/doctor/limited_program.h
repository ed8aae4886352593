/*
 * Runs a system program for a limited time and returns its output.
 */
#ifndef PROF_DOCTOR_LIMITED_PROGRAM_H
#define PROF_DOCTOR_LIMITED_PROGRAM_H

/*
 * Returns what the program writes to stdout, up to 1 MiB and NUL-terminated;
 * the caller frees it. Returns NULL if it cannot be executed or has not ended
 * after that time, when it is killed. argv[0] is its absolute path, and argv is
 * NULL-terminated. Its environment contains only a PATH and LC_ALL=C; its stdin
 * and stderr are empty.
 */
char *limited_program_run(char *const *argv, unsigned seconds);

#endif
