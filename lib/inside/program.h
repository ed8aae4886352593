/*
 * The program that a command executes (proc/executed_file.h), or that a process runs, as an open
 * file. If that is glibc's dynamic loader, it is the program that the loader is given. Source:
 * ld.so(8).
 */
#ifndef PROF_INSIDE_PROGRAM_H
#define PROF_INSIDE_PROGRAM_H

#include "elf/elf_file.h"

#include <sys/stat.h>

struct inside_program {
	char *path;
	struct elf_file *elf;
	struct stat
		file; /* executed by the kernel: the loader's, where that is given the program */
};

/* argv ends with NULL. Returns NULL if it is not found, is not an ELF file, or cannot be read. */
struct inside_program *inside_program_of_command(char *const *argv);
/* Returns NULL also if another user than root and prof's own may write to the file, or if the
 * process executes the loader: what that was given is not known. */
struct inside_program *inside_program_of_process(pid_t pid);
/* Accepts NULL. */
void inside_program_free(struct inside_program *program);
DEFINE_CLEANUP(inside_program, inside_program_free)

#endif
