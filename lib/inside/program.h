/*
 * Opens the program that a command executes (proc/executed_file.h), or that a
 * process runs. If that is glibc's dynamic loader, opens the program that is
 * passed to the loader. Source: ld.so(8).
 */
#ifndef PROF_INSIDE_PROGRAM_H
#define PROF_INSIDE_PROGRAM_H

#include "elf/elf_file.h"

#include <sys/stat.h>

struct inside_program {
	char *path;
	struct elf_file *elf;
	struct stat
		/*
		 * The file that the kernel executes, which is the loader if the
		 * program is passed to it.
		 */
		file;
};

/*
 * `argv` ends with NULL. Returns NULL if the program is not found, is not an
 * ELF file, or cannot be read.
 */
struct inside_program *inside_program_of_command(char *const *argv);
/*
 * Like inside_program_of_command(), for a process. Also returns NULL if a user
 * other than root and prof's own may write to the file, and if the process
 * executes the loader, whose arguments are unknown.
 */
struct inside_program *inside_program_of_process(pid_t pid);
/* Accepts NULL. */
void inside_program_free(struct inside_program *program);
DEFINE_CLEANUP(inside_program, inside_program_free)

#endif
