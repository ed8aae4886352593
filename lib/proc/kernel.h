/*
 * Is the kernel that a recording saw the one that runs here, since the same boot? Only then do the
 * names in /proc/kallsyms belong to its addresses.
 */
#ifndef PROF_PROC_KERNEL_H
#define PROF_PROC_KERNEL_H

#include "elf/image.h"

#include <stdbool.h>
#include <stdint.h>

/* What a recording says of the kernel and its machine; NULL, or 0: nothing. */
struct kernel_mark {
	const char *host;    /* its name */
	const char *release; /* uname -r */
	struct build_id build_id;
	uint64_t start, end; /* of its code: _text (or _stext) and _etext */
};

/*
 * False where the recording tells another name, release or build-id, another place of the code, or
 * too little. root: "", or a folder with /proc/kallsyms and /sys/kernel/notes in it, for tests.
 */
bool kernel_is_ours(const struct kernel_mark *mark, const char *root);

#endif
