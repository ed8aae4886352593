/*
 * From registers and a copy of the stack to frames: the user half of a call chain, by DWARF call
 * frame information, else by frame pointers.
 *
 * Pure but for its cache of rules, keyed by (module, offset), which survives ASLR, mmap, fork and
 * exec. A stack is copied memory [sp, sp + len) at the moment of the sample; nothing else of the
 * process is read, but for constants in its files. Return addresses are
 * looked up at pc - 1, except above a signal frame. Walking always ends: sp must grow.
 */
#ifndef PROF_UNWIND_UNWIND_H
#define PROF_UNWIND_UNWIND_H

#include "base/bytes.h"
#include "proc/space.h"
#include "unwind/arch.h"

/* Room for the frames of a walk, as a rule. */
enum { UNWIND_DEPTH_MAX = 1024 };

struct frame {
	module_id module;
	uint64_t offset; /* of the pc itself: look it up at offset - 1 when it is_return_address */
	bool is_return_address; /* false for the leaf and for what a signal interrupted */
};

enum unwind_stop {
	UNWIND_ROOT,	  /* the outermost frame: complete */
	UNWIND_TRUNCATED, /* the caller's frame lies beyond the copied stack */
	UNWIND_LOST,	  /* no rule and no plausible frame pointer, or a step that made no sense */
};

struct unwinder;

/* spaces must outlive it. */
struct unwinder *unwinder_new(struct spaces *spaces, const struct arch *arch);
void unwinder_free(struct unwinder *unwinder);
DEFINE_CLEANUP(unwinder, unwinder_free)

/* What a walk found. */
struct call_chain {
	struct frame *frames; /* room for so many; leaf first */
	unsigned room;	      /* at least 1 */
	unsigned count;	      /* at least 1 */
	/* With more frames than room, the middle is left out: so many, in front of frames[gap]. */
	uint64_t left_out;
	unsigned gap;
	/* So much of the stack was needed, from its copy's start on: what there was of it for a
	 * walk to the root, more for one that was cut off. */
	uint64_t needed_bytes;
};

/* stack: what was copied of it, from the stack pointer upwards. */
enum unwind_stop unwinder_walk(struct unwinder *unwinder, pid_t pid, uint64_t time_ns,
			       const struct regs *regs, struct bytes stack,
			       struct call_chain *chain);

/*
 * Goes on, where a walk did not lead to the root, by the addresses that the kernel found by frame
 * pointers at the same moment, leaf first: these may lead to memory that was not copied, such as
 * the stack that Go's runtime has left for a larger one. Believed only where each function on the
 * way says that it keeps a frame pointer, and the last is a root. False: the chain is as it was.
 */
bool unwinder_join(struct unwinder *unwinder, pid_t pid, uint64_t time_ns, struct bytes addresses,
		   struct call_chain *chain);

struct unwind_counts {
	uint64_t frames, rules_hit, rules_missed;
};
struct unwind_counts unwinder_counts(const struct unwinder *unwinder);

#endif
