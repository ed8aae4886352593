/*
 * The unwinder: registers and a copy of the stack → the user half of a call chain, by call frame
 * information or, without it, by frame pointers.
 *
 * It has no side effects besides its cache of rules, keyed by (module, offset), which survives
 * ASLR, mmap, fork and exec, and what the caller lets it keep of a thread's walk (outer_walk.h). A
 * stack is the copied memory [sp, sp + len) at the time of the sample, and that of a stack that a
 * signal handler has interrupted; of the process's other memory only constants in its files are
 * read and, live, the code cache of a Java virtual machine (jvms.h). Return addresses are looked up
 * at pc - 1, except above a signal frame. A walk always ends, because sp must grow.
 */
#ifndef PROF_UNWIND_UNWIND_H
#define PROF_UNWIND_UNWIND_H

#include "base/bytes.h"
#include "proc/address_spaces.h"
#include "unwind/arch.h"
#include "unwind/call_chain.h"
#include "unwind/stack_copies.h"

struct unwinder;

/*
 * spaces must outlive it. is_live: samples come while it walks, so it may not wait long for call
 * frame information (cfi_cache.h).
 */
struct unwinder *unwinder_new(struct address_spaces *spaces, const struct arch *arch, bool is_live);
/* The same for another architecture. */
struct unwinder *unwinder_new_like(const struct unwinder *unwinder, const struct arch *arch);
void unwinder_free(struct unwinder *unwinder);
DEFINE_CLEANUP(unwinder, unwinder_free)

enum unwind_stop unwinder_walk(struct unwinder *unwinder, pid_t pid, uint64_t time_ns,
			       const struct regs *regs, const struct stack_copies *stacks,
			       struct call_chain *chain);

/*
 * The same by what earlier walks have left in the caches, and without any effect but on the chain:
 * several threads may walk at once while none does anything else with the unwinder or its address
 * spaces. Only walks that reach the root plainly; the chain may be smaller than the stack. False:
 * unwinder_walk() must be asked.
 */
bool unwinder_walk_known(const struct unwinder *unwinder, pid_t pid, uint64_t time_ns,
			 const struct regs *regs, const struct stack_copies *stacks,
			 struct call_chain *chain);

/*
 * Continues a walk that did not reach the root with the addresses that the kernel found by frame
 * pointers at the same time, leaf first. These may come from memory that was not copied, such as
 * the stack that Go's runtime left for a larger one. They are used only if each function on the
 * way keeps a frame pointer by its CFI and the last one is a root. False: the chain is unchanged.
 */
bool unwinder_splice(struct unwinder *unwinder, pid_t pid, uint64_t time_ns, struct bytes addresses,
		     struct call_chain *chain);

struct unwind_counts {
	uint64_t frames, rules_hit, rules_missed;
};
struct unwind_counts unwinder_counts(const struct unwinder *unwinder);

#endif
