/*
 * Reads the list of objects that a process has registered with GDB's interface for JIT compilers:
 * the variable __jit_debug_descriptor, of the program or of a library in it, leads to a linked list
 * of objects in the process's memory.
 *
 * The process runs on while it is read, and its list may have any length, lead in circles or
 * anywhere: at most JIT_LIST_MAX entries are read, on a helper thread (base/timed_call.h). Only of
 * 64-bit processes. Source: GDB manual, "JIT Compilation Interface".
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
 * Finds the variable in the symbols of a file. Returns its vaddr, or 0 if there is none or a table
 * has more than 16 MB. Increases *steps by the number of symbols that it has read.
 */
uint64_t jit_list_find(struct timed_caller *caller, uint64_t place, const struct elf_file *elf,
		       uint64_t *steps);

/* An object: an ELF file in memory. */
struct jit_list_entry {
	uint64_t address, size_bytes;
};

/* The start of a list, to tell whether it has changed. Zero-initialized: not read yet. */
struct jit_list_head {
	uint64_t relevant, first; /* addresses of entries */
	struct jit_list_entry newest;
};

struct jit_list {
	struct jit_list_entry *entries; /* newest first, as all known compilers write it */
	size_t count;
	struct jit_list_head head;
	bool is_same; /* as the known one; entries is empty then */
};

/*
 * Reads the list of the descriptor at this address. known: the head that was read last, which saves
 * reading the same list again. place: as in struct timed_call. False if it cannot be read.
 */
bool jit_list_read(struct timed_caller *caller, uint64_t place, pid_t pid, uint64_t descriptor,
		   const struct jit_list_head *known, struct jit_list *ret);
void jit_list_deinit(struct jit_list *list);

#endif
