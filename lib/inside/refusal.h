/*
 * Explains, from its ELF file, why a program cannot load libprof-inside.so or
 * why the library does not see its allocations. All functions accept NULL for
 * an unknown program, and find no problem in it.
 *
 * Source: ld.so(8), "Secure-execution mode"; capabilities(7); elf(5).
 */
#ifndef PROF_INSIDE_REFUSAL_H
#define PROF_INSIDE_REFUSAL_H

#include "base/error.h"
#include "inside/program.h"

/*
 * The data that the library should record. Hints name other ways to record it.
 */
enum inside_use { INSIDE_FOR_CPU, INSIDE_FOR_MEMORY };

/*
 * Fails if the program would not load the library or not run with it. It does
 * not load the library if it is statically linked, uses a dynamic loader other
 * than glibc's, has another architecture, or gains privileges on exec.
 */
MUST_CHECK struct error *inside_check_program(const struct inside_program *program,
					      enum inside_use use);
/*
 * Returns what the library does not see in a program that loads it: the heap of
 * Go, or an allocator that is linked into the program. Returns NULL if nothing
 * is known. The error is meant as a notice. Its hint explains how to get the
 * allocator's own heap profile.
 */
struct error *inside_find_own_allocator(const struct inside_program *program);

/*
 * Returns why a process does not run the library, and how to record its memory.
 */
struct error *inside_explain_process(pid_t pid);

#endif
