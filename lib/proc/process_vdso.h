/*
 * The vdso of a process, from its memory.
 *
 * prof's own vdso is that of all 64-bit processes of the kernel. The kernel has other ones for
 * 32-bit and x32 processes, and no file of them. It gives them addresses below 4 GiB. The process
 * can have written to its vdso, so the image is a file of the process's user. Source:
 * arch/x86/entry/vdso in the kernel, vdso(7).
 */
#ifndef PROF_PROC_PROCESS_VDSO_H
#define PROF_PROC_PROCESS_VDSO_H

#include "base/timed_call.h"
#include "proc/mapping.h"

/* Whether a process that has this mapping of "[vdso]" has another one than prof. */
bool process_vdso_is_other(const struct mapping *mapping);
/* NULL: it cannot be read. The other arguments are as in timed_memory_read(). */
struct elf_file *process_vdso_read(struct timed_caller *caller, const char *proc, pid_t pid,
				   uid_t user, const struct mapping *mapping);

#endif
