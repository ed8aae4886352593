/*
 * The program that a command executes (proc/executed_file.h), or that a process runs, as an open
 * file.
 */
#ifndef PROF_INSIDE_PROGRAM_H
#define PROF_INSIDE_PROGRAM_H

#include "elf/elf_file.h"

#include <sys/stat.h>

struct inside_program {
	char *path;
	struct elf_file *elf;
	struct stat file;
};

/* argv ends with NULL. NULL: it is not found, is not an ELF file, or cannot be read. */
struct inside_program *inside_program_of_command(char *const *argv);
/* NULL also if another user than root and prof's own may write to the file. */
struct inside_program *inside_program_of_process(pid_t pid);
/* Accepts NULL. */
void inside_program_free(struct inside_program *program);
DEFINE_CLEANUP(inside_program, inside_program_free)

#endif
