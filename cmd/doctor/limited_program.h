/* Runs a program of the system that answers a question, for a short time. */
#ifndef PROF_CMD_DOCTOR_LIMITED_PROGRAM_H
#define PROF_CMD_DOCTOR_LIMITED_PROGRAM_H

/*
 * What it writes to stdout, up to 1 MiB, with a NUL after it; the caller frees it. NULL if it
 * cannot be run or has not ended after that time, when it is killed. argv[0] is its absolute path,
 * argv ends with NULL. Its environment has a PATH and LC_ALL=C only, its stdin and stderr are
 * empty.
 */
char *limited_program_run(char *const *argv, unsigned seconds);

#endif
