/*
 * Why a program cannot load libprof-inside.so, or why the library does not see its allocations, as
 * far as its file tells. A program that is not known (NULL) has no problem here.
 *
 * Source: ld.so(8), "Secure-execution mode"; capabilities(7); elf(5).
 */
#ifndef PROF_INSIDE_REFUSAL_H
#define PROF_INSIDE_REFUSAL_H

#include "base/error.h"
#include "inside/program.h"

/* What the library would record; hints say what records it else. */
enum inside_use { INSIDE_FOR_CPU, INSIDE_FOR_MEMORY };

/*
 * The error says why the program does not load the library: it is statically linked, its dynamic
 * loader is not glibc's, it is of another architecture, or it gains rights when it is executed; or
 * that it would not run with it.
 */
MUST_CHECK struct error *inside_check_program(const struct inside_program *program,
					      enum inside_use use);
/*
 * What the library does not see in a program that loads it: the heap of Go, or an allocator that is
 * linked into the program. NULL: nothing known. The error is meant as a notice; its hint says how
 * the allocator's own heap profile is made.
 */
struct error *inside_find_own_allocator(const struct inside_program *program);

/* Why a process that does not run the library does not, and how its memory can be recorded. */
struct error *inside_explain_process(pid_t pid);

#endif
