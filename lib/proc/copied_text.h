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
#include "proc/enclosed_memory.h"
#include "proc/module.h"
#include "proc/regions.h"

/* Whether a region is memory without a file, which may have replaced the text of one. */
bool copied_text_may_be(const struct modules *modules, const struct region *region);
/*
 * As regions_map(), of such memory: the parts of it that were text of files become regions with
 * is_copy. program: the module of the process's program, or MODULE_NONE. It does not unmap itself,
 * so what takes the place of its text is a copy, even if that cannot be compared.
 */
void copied_text_map(const struct modules *modules, struct regions *regions,
		     const struct region *memory, module_id program);
/*
 * The same for memory of which nothing is known but the mappings around it. Opens their files.
 * False: nothing has changed.
 */
bool copied_text_map_enclosed(struct modules *modules, struct regions *regions, pid_t pid,
			      const struct enclosed_memory *enclosed);

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
