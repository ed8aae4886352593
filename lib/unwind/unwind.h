/*
 * Unwinds a stack: turns registers and a copy of the stack into the user half
 * of a call chain, by call frame information (CFI) or, without it, by frame
 * pointers.
 *
 * A stack is the memory [sp, sp + len) copied at the time of the sample. If a
 * signal handler was running on an alternate stack, it also includes the
 * interrupted stack. Other memory of the process is not read, except constants
 * in its files and, in a live recording, the code cache of a Java virtual
 * machine (jvms.h).
 *
 * The unwinder's only state is a cache of rules, keyed by (module, offset).
 * These rules stay valid across ASLR, mmap, fork and exec. A caller can also
 * provide a cache of a thread's outer frames (outer_walk.h). Return addresses
 * are looked up at pc - 1, except above a signal frame. A walk always
 * terminates, because sp must grow.
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
 * `spaces` must outlive the unwinder. is_live is true in a live recording,
 * where a walk may not wait long for CFI (cfi_cache.h).
 */
struct unwinder *unwinder_new(struct address_spaces *spaces, const struct arch *arch, bool is_live);
/* Creates an unwinder with the same settings for another architecture. */
struct unwinder *unwinder_new_like(const struct unwinder *unwinder, const struct arch *arch);
void unwinder_free(struct unwinder *unwinder);
DEFINE_CLEANUP(unwinder, unwinder_free)

/*
 * Unwinds the stack of one sample from its user registers and copied memory.
 * Fills the chain, whose array of frames the caller provides, and returns why
 * the walk ended.
 */
enum unwind_stop unwinder_walk(struct unwinder *unwinder, pid_t pid, uint64_t time_ns,
			       const struct regs *regs, const struct stack_copies *stacks,
			       struct call_chain *chain);

/*
 * Completes a walk that did not reach the root with `addresses`: the chain of
 * frame pointers that the kernel followed for the same sample, leaf first. The
 * kernel can read memory that was not copied, such as the old stack of a
 * goroutine whose stack has grown. The addresses are used only if the CFI shows
 * two things: every function in the chain keeps a frame pointer, and the last
 * one is a root. Returns false if the call chain is unchanged.
 */
bool unwinder_splice(struct unwinder *unwinder, pid_t pid, uint64_t time_ns, struct bytes addresses,
		     struct call_chain *chain);

/*
 * Finds the vaddrs [*start, *end) of the function, or of its hot or cold part,
 * at an offset in a module whose CFI is loaded. Returns false if there is none.
 */
bool unwinder_function(const struct unwinder *unwinder, module_id module, uint64_t offset,
		       uint64_t *start, uint64_t *end);

struct unwind_counts {
	uint64_t frames, rules_hit, rules_missed;
};
struct unwind_counts unwinder_counts(const struct unwinder *unwinder);

#endif
