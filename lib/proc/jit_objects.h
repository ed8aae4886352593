/*
 * Finds code that a process has compiled at run time and registered with GDB's
 * JIT interface (LLVM's MCJIT and ORC, so numba and Julia): (pc, time) → the
 * registered ELF object. An object has symbols, call frame information and
 * perhaps DWARF.
 *
 * In live mode, the list of objects (jit_list.h) and its new objects are read
 * when a JIT pc is looked up for a time after the last read, at most every 10
 * ms. The process is not stopped. An object that is registered and removed
 * between two reads is missed. A removed object stays known until another
 * object takes its addresses, which takes effect at the time of the last read
 * without that object.
 *
 * Objects are read into private memory within the limits of code_index.h on
 * time and memory, on a helper thread that may be abandoned
 * (proc/timed_memory.h). An object is skipped if it cannot be read, is too
 * large or has invalid headers (jit_image.h).
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

/* The caller, the budget and the string must outlive the objects. */
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
 * Returns whether to search the files of the process for descriptors now,
 * within the budget. The process may load a library at any time, so searches
 * are repeated, less and less often.
 */
bool jit_objects_may_search(struct jit_objects *objects);
/*
 * Calls jit_list_find() within the budget. Returns false if the budget is used
 * up for now.
 */
bool jit_objects_search(struct jit_objects *objects, const struct elf_file *elf, uint64_t *vaddr);
/*
 * Adds the descriptor at this address, unless it is known or there are too
 * many.
 */
void jit_objects_add_list(struct jit_objects *objects, uint64_t descriptor);
bool jit_objects_has_lists(const struct jit_objects *objects);

struct jit_object {
	struct elf_file *elf; /* the caller may take it and set NULL */
	uint32_t module;      /* set by the caller; UINT32_MAX at first */
	uint64_t hash;	      /* private: hash of the registered bytes */
};

struct jit_object_place {
	struct jit_object *object; /* valid until the next call */
	uint64_t offset;	   /* of the pc, in the object's file */
	uint64_t start, end;	   /* addresses of the section that contains the pc */
};

bool jit_objects_locate(struct jit_objects *objects, uint64_t pc, uint64_t time_ns,
			struct jit_object_place *ret);
/* Returns the number of objects that were read, including removed ones. */
size_t jit_objects_count(const struct jit_objects *objects);

#endif
