/*
 * The file that the kernel executes for a command.
 *
 * Commands are looked up as execvp(3) does. Scripts are followed to their interpreter (execve(2)),
 * env(1) to the command that it executes.
 */
#ifndef PROF_PROC_EXECUTED_FILE_H
#define PROF_PROC_EXECUTED_FILE_H

/*
 * argv ends with NULL. Opens the file for reading and returns the descriptor, or -1 if it cannot be
 * read. Sets *path to its path, which the caller frees, or to NULL if there is no such file.
 */
int executed_file_open(char *const *argv, char **path);

#endif
