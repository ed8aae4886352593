/*
 * One walk up a stack, at one frame: its state, what may be read on the way, and the step to the
 * caller once that is found. The ways of finding it are in step.h.
 */
#ifndef PROF_UNWIND_WALK_H
#define PROF_UNWIND_WALK_H

#include "unwind/unwind.h"

/* No thread's stack is larger: what a rule places further above the copy is nonsense, not cut off.
 */
enum { STACK_REACH_BYTES = 1 << 30 };

enum { RECENT_MAPPINGS = 4 };

struct walk {
	struct spaces *spaces;
	const struct arch *arch;
	pid_t pid;
	uint64_t time_ns;
	uint64_t stack_start, stack_bytes;
	const unsigned char *stack;
	uint64_t fetched_bytes;	       /* see walk_fetch_ahead() */
	uint64_t needed_bytes;	       /* see call_chain; so far, 0: no more than there is */
	bool may_search, has_searched; /* for the caller of a frame of which nothing is known */
	struct regs regs;
	bool is_return_address; /* regs.pc: the call stands just before it */
	bool tracks_all;	/* all registers, not only those that most rules need */
	bool was_not_called;	/* this frame: made for a signal handler, or the first of a stack */
	bool asked_below;	/* a rule asked for what lies below sp, which is not copied … */
	uint64_t below;		/* … and gets this for it; 0: nothing */
	bool changed_stack;	/* a signal handler ran on a stack of its own (sigaltstack) */
	bool lacks_register;	/* a rule asked for one that was not tracked */
	struct location at;	/* of the instruction that runs, or calls */
	enum unwind_stop stop;	/* why, once a step has failed */
	unsigned next_recent;
	struct location recent[RECENT_MAPPINGS];
};

/* Fails, so that a step can say `return walk_stop(walk, why)`. */
static inline bool walk_stop(struct walk *walk, enum unwind_stop why)
{
	walk->stop = why;
	return false;
}

/* Of the instruction at regs.pc, or of the call before it. */
static inline uint64_t walk_pc(const struct walk *walk)
{
	return walk->regs.pc - walk->is_return_address;
}

static inline bool walk_has(const struct walk *walk, uint64_t address, uint64_t len)
{
	uint64_t at = address - walk->stack_start;

	return at <= walk->stack_bytes && walk->stack_bytes - at >= len;
}

/* Why the walk stops: it is cut off, when the address lies within reach above the copied stack. */
void walk_stop_unread(struct walk *walk, uint64_t address, uint64_t reach_bytes);

/* Which the copied stack has. */
static inline uint64_t walk_word(const struct walk *walk, uint64_t address)
{
	const unsigned char *at = walk->stack + (address - walk->stack_start);
	uint64_t word;
	uint32_t narrow;

	if (walk->arch->word_bytes == sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		return word;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return narrow;
}

/* A word of the copied stack. */
static inline bool walk_read_stack(struct walk *walk, uint64_t address, uint64_t reach_bytes,
				   uint64_t *ret)
{
	if (__builtin_expect(!walk_has(walk, address, walk->arch->word_bytes), 0)) {
		walk_stop_unread(walk, address, reach_bytes);
		return false;
	}
	*ret = walk_word(walk, address);
	return true;
}

/*
 * Compilers do not say in CFI that an epilogue has popped a register: its place, which they go on
 * naming, is then below sp, and the register holds its value again.
 */
static inline bool walk_is_popped(const struct walk *walk, uint64_t address)
{
	return address < walk->regs.values[walk->arch->sp];
}

/* As spaces_locate(), quick where a stack stays within a few mappings. */
bool walk_locate(struct walk *walk, uint64_t pc, struct location *ret);

/* Code or constants out of the file that is mapped at `at`, which is where pc lies. */
bool walk_read_file(const struct walk *walk, const struct location *at, uint64_t pc,
		    uint64_t address, void *into, size_t len);

/*
 * Has the caches fetch what lies above sp. A stack comes from another CPU's ring or from a file,
 * and only when a word of it is there does one know where the next one is.
 */
void walk_fetch_ahead(struct walk *walk);

/*
 * To the caller's frame. sp must grow; only where nothing was pushed, as in a leaf of a machine
 * with a link register, may it stay; and what a signal interrupted may have used another stack,
 * which was not copied. Which registers are known is for the caller of this to say.
 */
bool walk_enter(struct walk *walk, uint64_t sp, uint64_t pc, bool is_return_address);

#endif
