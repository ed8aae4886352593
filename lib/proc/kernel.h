/*
 * Where the kernel is, and whether the one that a recording saw is the one that runs here, since
 * the same boot: only then do the names in /proc/kallsyms belong to its addresses.
 */
#ifndef PROF_PROC_KERNEL_H
#define PROF_PROC_KERNEL_H

#include "elf/image.h"

#include <stdbool.h>
#include <stdint.h>

struct kernel_code {
	uint64_t start, end; /* _text (or _stext) and _etext; 0: hidden from us */
};

/* Of the kernel that runs here. root: as below. */
struct kernel_code kernel_code_here(const char *root);

/* What a recording says of the kernel and its machine; NULL, or 0: nothing. */
struct kernel_mark {
	const char *host;    /* its name */
	const char *release; /* uname -r */
	struct build_id build_id;
	uint64_t start, end; /* of its code, as in kernel_code */
};

/*
 * False where the recording tells another name, release or build-id, another place of the code, or
 * too little. root: "", or a folder with /proc/kallsyms and /sys/kernel/notes in it, for tests.
 */
bool kernel_is_ours(const struct kernel_mark *mark, const char *root);

#endif
