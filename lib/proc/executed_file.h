/*
 * Finds the file that the kernel executes for a command.
 *
 * Commands are looked up like in execvp(3). Scripts are resolved to their
 * interpreter (execve(2)), and env(1) to the command that it executes.
 */
#ifndef PROF_PROC_EXECUTED_FILE_H
#define PROF_PROC_EXECUTED_FILE_H

/*
 * Opens the file for reading and returns a descriptor, or -1 if it cannot be
 * read. `argv` ends with NULL. Sets *path to its path, which the caller frees,
 * or to NULL if there is no such file.
 */
int executed_file_open(char *const *argv, char **path);

#endif
