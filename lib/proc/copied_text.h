/*
 * Finds the text of files that was copied or moved to anonymous memory at the
 * same addresses.
 *
 * Programs do this to get huge pages for their text (iodlr, node
 * --use-largepages, bolt --hugify, HHVM). The memory is no longer mapped from
 * the file, but the file's symbols, lines and unwind tables still apply. The
 * file is known from the earlier mapping at these addresses. If the program did
 * this before it was recorded, it is known from mappings of the same file on
 * both sides.
 *
 * A JIT compiler's code can get addresses at which a library was mapped before.
 * So a region counts as a copy only until its first sample. Then its bytes are
 * compared with the file.
 */
#ifndef PROF_PROC_COPIED_TEXT_H
#define PROF_PROC_COPIED_TEXT_H

#include "base/timed_call.h"
#include "proc/enclosed_memory.h"
#include "proc/module.h"
#include "proc/regions.h"

/*
 * Returns whether a region is memory without a file that may have replaced a
 * file's text.
 */
bool copied_text_may_be(const struct modules *modules, const struct region *region);
/*
 * Does regions_map() for such memory. The parts that replaced text of files
 * become regions with is_copy. `program` is the module of the process's
 * program, or MODULE_NONE. A program does not unmap itself, so memory that
 * replaces its text is a copy even if it cannot be compared.
 */
void copied_text_map(const struct modules *modules, struct regions *regions,
		     const struct region *memory, module_id program);
/*
 * Like copied_text_map(), for memory of which only the surrounding mappings are
 * known. Opens their files. Returns false if nothing has changed.
 */
bool copied_text_map_enclosed(struct modules *modules, struct regions *regions, pid_t pid,
			      const struct enclosed_memory *enclosed);

enum copied_text {
	COPIED_TEXT_SAME,
	COPIED_TEXT_OTHER,
	COPIED_TEXT_UNKNOWN, /* the memory is inaccessible, or still empty */
};

/* The process whose memory is compared. */
struct copied_text_process {
	struct timed_caller *caller;
	const char *proc; /* as in address_spaces_new() */
	pid_t pid;
	uid_t user; /* as in timed_memory_read() */
};

/*
 * Compares the region in the memory of the process with the file: some bytes at
 * pc and at places spread over the region. A few places may differ, because
 * breakpoints and probes change code.
 */
enum copied_text copied_text_compare(const struct copied_text_process *process,
				     const struct elf_file *elf, const struct region *region,
				     uint64_t pc);

#endif
