/*
 * Text of files that was copied or moved to anonymous memory at the same addresses.
 *
 * Programs do so to have their text in huge pages (iodlr, node --use-largepages, bolt --hugify,
 * HHVM). The memory has no file any more, but the names, lines and unwind tables of the file still
 * hold. Which file it was is known from what was mapped there before or, of a process that did it
 * before it was recorded, from the mappings of the same file on both sides.
 *
 * Code of a JIT compiler can get addresses where a library was before. So a region is taken for a
 * copy only for as long as it has no sample. Then its bytes are compared with the file.
 */
#ifndef PROF_PROC_COPIED_TEXT_H
#define PROF_PROC_COPIED_TEXT_H

#include "base/timed_call.h"
#include "proc/module.h"
#include "proc/regions.h"

/*
 * A mapping of anonymous memory that replaces what the regions have now consists of parts that were
 * text and others. Returns the first part, from the start of memory: a region with is_copy, of the
 * file that was mapped there, or one of the memory itself.
 */
struct region copied_text_first(const struct modules *modules, const struct regions *regions,
				const struct region *memory);

/*
 * The text of a file in memory, where another mapping of the file (its start, end and offset) is
 * known: the part of memory that is in an executable segment, as a region without module. False:
 * none is.
 */
bool copied_text_beside(const struct elf_file *elf, const struct mapping *neighbour,
			const struct region *memory, struct region *ret);

enum copied_text {
	COPIED_TEXT_SAME,
	COPIED_TEXT_OTHER,
	COPIED_TEXT_UNKNOWN, /* the memory is not accessible, or empty so far */
};

/* A process whose memory is compared. */
struct copied_text_process {
	struct timed_caller *caller;
	const char *proc; /* as in address_spaces_new() */
	pid_t pid;
	uid_t user; /* as in timed_memory_read() */
};

/*
 * Compares the region in the memory of the process with the file: some bytes at pc and at places
 * all over the region. A few places may differ: breakpoints and probes change code.
 */
enum copied_text copied_text_compare(const struct copied_text_process *process,
				     const struct elf_file *elf, const struct region *region,
				     uint64_t pc);

#endif
