/*
 * Describes the running kernel: where its code is, and whether a recording was
 * made since the same boot. Only then do the symbols in /proc/kallsyms apply to
 * the recording's addresses.
 */
#ifndef PROF_PROC_KERNEL_H
#define PROF_PROC_KERNEL_H

#include "elf/elf_file.h"

#include <stdbool.h>
#include <stdint.h>

struct kernel_code {
	uint64_t start, end; /* _text (or _stext) and _etext; 0 if hidden */
	const char *symbol;  /* the symbol at `start` */
};

/* Returns the code of the running kernel. `root` is as in kernel_is_ours(). */
struct kernel_code kernel_code_here(const char *root);
/* Like kernel_code_here() without `end`, which is slow to find. */
struct kernel_code kernel_start_here(const char *root);
struct build_id kernel_build_id_here(const char *root);

/*
 * A recording's information about its kernel and machine. Members are NULL or 0
 * if unknown.
 */
struct kernel_mark {
	const char *host;    /* host name */
	const char *release; /* uname -r */
	struct build_id build_id;
	uint64_t start, end; /* as in struct kernel_code */
};

/*
 * Returns false if the recording has another host name, release, build-id or
 * code address, or too little information. `root` is "", or a directory with
 * /proc/kallsyms and /sys/kernel/notes for tests.
 */
bool kernel_is_ours(const struct kernel_mark *mark, const char *root);

#endif
