/*
 * The running kernel: where its code is, and whether a recording was made on it since the same
 * boot. Only then do the names in /proc/kallsyms belong to the recording's addresses.
 */
#ifndef PROF_PROC_KERNEL_H
#define PROF_PROC_KERNEL_H

#include "elf/elf_file.h"

#include <stdbool.h>
#include <stdint.h>

struct kernel_code {
	uint64_t start, end; /* _text (or _stext) and _etext; 0 if hidden */
	const char *symbol;  /* which of the two start is */
};

/* Of the running kernel. root: as in kernel_is_ours(). */
struct kernel_code kernel_code_here(const char *root);
/* The same without its end, which takes tens of milliseconds to find. */
struct kernel_code kernel_start_here(const char *root);
struct build_id kernel_build_id_here(const char *root);

/* What a recording says about its kernel and machine; NULL or 0 if unknown. */
struct kernel_mark {
	const char *host;    /* its name */
	const char *release; /* uname -r */
	struct build_id build_id;
	uint64_t start, end; /* as in kernel_code */
};

/*
 * False if the recording has another host name, release, build-id or code address, or too little
 * information. root: "", or a directory with /proc/kallsyms and /sys/kernel/notes in it, for
 * tests.
 */
bool kernel_is_ours(const struct kernel_mark *mark, const char *root);

#endif
