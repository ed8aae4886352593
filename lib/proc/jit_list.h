/*
 * Reads the list of objects that a process has registered with GDB's JIT
 * interface. The variable __jit_debug_descriptor, in the program or one of its
 * libraries, points to a linked list of objects in the process's memory.
 *
 * The process runs during the read and is untrusted: its list may have any
 * length, be circular or point anywhere. At most JIT_LIST_MAX entries are read,
 * on a helper thread (base/timed_call.h). Supports only 64-bit processes.
 * Source: GDB manual, "JIT Compilation Interface".
 */
#ifndef PROF_PROC_JIT_LIST_H
#define PROF_PROC_JIT_LIST_H

#include "base/timed_call.h"
#include "elf/elf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { JIT_LIST_MAX = 16 << 10 };

/*
 * Finds the variable in the symbols of a file. Returns its vaddr, or 0 if there
 * is none or a table is larger than 16 MB. Adds the number of symbols read to
 * *steps.
 */
uint64_t jit_list_find(struct timed_caller *caller, uint64_t place, const struct elf_file *elf,
		       uint64_t *steps);

/* An object: an ELF file in memory. */
struct jit_list_entry {
	uint64_t address, size_bytes;
};

/*
 * The start of a list, which changes if the list does. Zero-initialized before
 * the first read.
 */
struct jit_list_head {
	uint64_t relevant, first; /* addresses of entries */
	struct jit_list_entry newest;
};

struct jit_list {
	/*
	 * Newest first, the order in which all known compilers write the list.
	 */
	struct jit_list_entry *entries;
	size_t count;
	struct jit_list_head head;
	bool is_same; /* unchanged since the known head; entries is empty then */
};

/*
 * Reads the list of the descriptor at this address. `known` is the head of the
 * last read, which avoids reading an unchanged list again. `place` is as in
 * struct timed_call. Returns false if the list cannot be read.
 */
bool jit_list_read(struct timed_caller *caller, uint64_t place, pid_t pid, uint64_t descriptor,
		   const struct jit_list_head *known, struct jit_list *ret);
void jit_list_deinit(struct jit_list *list);

#endif
