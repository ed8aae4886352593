/*
 * Why a program cannot load libprof-inside.so, or why the library does not see its allocations, as
 * far as its file tells. Commands are looked up as execvp(3) does; scripts are followed to their
 * interpreter. A command that is not found, or whose file cannot be read, has no problem here.
 *
 * Source: ld.so(8), "Secure-execution mode"; capabilities(7); elf(5).
 */
#ifndef PROF_INSIDE_REFUSAL_H
#define PROF_INSIDE_REFUSAL_H

#include "base/error.h"

/*
 * The error says why the program will not load the library: it is statically linked, its dynamic
 * loader is not glibc's, it is of another architecture, or it gains rights when it is executed. The
 * hint is how to find out where its memory goes.
 */
MUST_CHECK struct error *inside_check_command(const char *command);
/*
 * What the library does not see in a program that loads it: the heap of Go, or an allocator that is
 * linked into the program. NULL: nothing known. The error is meant as a notice; its hint says how
 * the allocator's own heap profile is made.
 */
struct error *inside_find_own_allocator(const char *command);

#endif
