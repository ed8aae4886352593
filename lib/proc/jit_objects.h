/*
 * Code that a process has compiled at run time and registered with GDB's interface for JIT
 * compilers (LLVM's MCJIT and ORC, so numba and Julia): (pc, time) → the ELF object that the
 * compiler registered for it. An object has symbols, call frame information and perhaps DWARF.
 *
 * Live, the list of objects (jit_list.h) is read when a pc of JIT code is looked up at a time later
 * than the last reading, at most every 10 ms, with the objects that are new in it. The process does
 * not stop for it. An object that is registered and removed between two readings is not seen. An
 * object that is removed stays known until another one takes its addresses; that one has them from
 * the reading before the one that found it.
 *
 * Objects are read within the bounds of code_index.h for time and memory, into private memory, on a
 * helper thread that may be abandoned (proc/timed_memory.h). An object that cannot be read, is too
 * large or has wrong headers (jit_image.h) costs its own names.
 */
#ifndef PROF_PROC_JIT_OBJECTS_H
#define PROF_PROC_JIT_OBJECTS_H

#include "base/timed_call.h"
#include "elf/elf_file.h"
#include "proc/code_index.h"

#include <sys/types.h>

/* Several libraries of a process can define the descriptor. */
enum { JIT_OBJECTS_LISTS_MAX = 4 };

struct jit_objects;

/* The caller, the budget and the string outlive the objects. */
struct jit_objects_options {
	struct timed_caller *caller;
	struct code_budget *budget;
	const char *proc;
	pid_t pid;
	uid_t user;
};

struct jit_objects *jit_objects_new(const struct jit_objects_options *options);
void jit_objects_free(struct jit_objects *objects);
DEFINE_CLEANUP(jit_objects, jit_objects_free)

/*
 * Whether the files of the process are to be searched for descriptors now: at first, then less and
 * less often, as it may load a library at any time. No more than the budget allows.
 */
bool jit_objects_may_search(struct jit_objects *objects);
/* Calls jit_list_find() within the budget. Returns false if the budget is used up for now. */
bool jit_objects_search(struct jit_objects *objects, const struct elf_file *elf, uint64_t *vaddr);
/* Adds the descriptor at this address, unless it is known or there are too many. */
void jit_objects_add_list(struct jit_objects *objects, uint64_t descriptor);
bool jit_objects_has_lists(const struct jit_objects *objects);

struct jit_object {
	struct elf_file *elf; /* the caller may take it, and leave NULL */
	uint32_t module;      /* the caller's; UINT32_MAX at first */
	uint64_t hash;	      /* private, of the registered bytes */
};

struct jit_object_place {
	struct jit_object *object; /* valid until the next call */
	uint64_t offset;	   /* in its file, of the pc */
	uint64_t start, end;	   /* addresses of the section with the pc */
};

bool jit_objects_locate(struct jit_objects *objects, uint64_t pc, uint64_t time_ns,
			struct jit_object_place *ret);
/* The number of objects that were read, with those that have been removed. */
size_t jit_objects_count(const struct jit_objects *objects);

#endif
