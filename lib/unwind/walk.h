/*
 * The state of one walk up a stack, at one frame: what may be read, and the move to the caller
 * once it is found. step.h has the ways of finding it.
 */
#ifndef PROF_UNWIND_WALK_H
#define PROF_UNWIND_WALK_H

#include "base/bytes.h"
#include "proc/address_spaces.h"
#include "unwind/arch.h"
#include "unwind/call_chain.h"
#include "unwind/stack_copies.h"

/*
 * No stack is larger than this: a rule that points further above the copy is wrong, the stack is
 * not truncated.
 */
enum { STACK_REACH_BYTES = 1 << 30 };

enum { RECENT_MAPPINGS = 4 };

/* Of the stacks of a Go thread (go_code.h). */
struct go_walk {
	unsigned switches; /* from one to the other so far */
	uint64_t sp;	   /* where the goroutine's continues above a callback; 0: unknown */
	bool needs_sched;  /* see call_chain */
	uint64_t g_at;
};

struct walk {
	struct address_spaces *spaces;
	const struct arch *arch;
	pid_t pid;
	uint64_t time_ns;
	/* The copied stack; once the walk has changed over, the interrupted one. */
	uint64_t stack_start, stack_bytes;
	const unsigned char *stack;
	const struct stack_copies *copies;
	uint64_t own_start, other_end; /* of the copies: see walk_switch() */
	struct go_walk go;
	uint64_t fetched_bytes;	       /* see walk_fetch_ahead() */
	uint64_t needed_bytes;	       /* see call_chain; 0: no more than the copy so far */
	uint64_t unmapped_pc;	       /* see call_chain */
	uint64_t pc_mask;	       /* of the address space, as far as it has shown */
	bool may_search, has_searched; /* for the caller of a frame without CFI */
	bool has_guessed;	       /* a caller was taken that any call precedes */
	bool only_known;	       /* see unwinder_walk_known() */
	struct regs regs;
	bool is_return_address; /* of regs.pc: the call precedes it */
	bool is_go;		/* the code at the pc is of Go */
	uint64_t function;	/* where its function begins, of code without CFI; 0: unknown */
	bool lacks_fp;		/* its function does not set up a frame pointer */
	bool is_bare;		/* began with sp and pc alone */
	bool sought_owner;	/* see owners.h: once a walk … */
	bool omitted_owner;	/* … or not at all, but it should be if the walk is lost */
	bool must_seek_owner;
	bool ends_at_zero;   /* the root is where a return address is 0, as unused memory is, too */
	bool tracks_all;     /* tracks all registers, not only those that most rules need */
	bool was_not_called; /* this frame is a signal frame, or the first of a stack */
	bool asked_below;    /* a rule asked for memory below sp, which is not copied … */
	uint64_t below;	     /* … and gets this value; 0: none */
	bool changed_stack;  /* a signal handler ran on an alternate stack (sigaltstack), or
				CFI led to another stack */
	uint64_t loaded_from;  /* the last word of the stack that an expression read */
	uint64_t saved_sp_at;  /* see call_chain */
	bool lacks_register;   /* a rule asked for a register that is not tracked */
	struct location at;    /* of the instruction that runs or calls */
	enum unwind_stop stop; /* why the walk ended, after a failed step */
	/* The last step was by a rule of sp and fp, or found a root so: the words of the stack that
	 * it has read. ra_at 0: none; fp_at 0: no frame pointer. */
	bool is_plain_step;
	bool uses_fp; /* it needed the frame pointer */
	uint64_t ra_at, fp_at, ra;
	unsigned next_recent;
	uint64_t steps; /* of programs of call frame information so far */
	struct location recent[RECENT_MAPPINGS];
};

/* Returns false, so that a step can `return walk_stop(walk, why)`. */
static inline bool walk_stop(struct walk *walk, enum unwind_stop why)
{
	walk->stop = why;
	return false;
}

/* The address of the instruction at regs.pc, or of the call before it. */
static inline uint64_t walk_pc(const struct walk *walk)
{
	return walk->regs.pc - walk->is_return_address;
}

static inline bool walk_has(const struct walk *walk, uint64_t address, uint64_t len)
{
	uint64_t at = address - walk->stack_start;

	return at <= walk->stack_bytes && walk->stack_bytes - at >= len;
}

/*
 * Stops the walk as truncated if the address is within reach above the copied stack, else as lost.
 */
void walk_stop_unread(struct walk *walk, uint64_t address, uint64_t reach_bytes);

/* A word that the copied stack contains (walk_has()). */
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

/* Reads a word of the copied stack, or stops the walk. */
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
 * CFI usually does not say that an epilogue has popped a register: it still names the register's
 * slot, which is below sp by then, and the register has its value again.
 */
static inline bool walk_is_popped(const struct walk *walk, uint64_t address)
{
	return address < walk->regs.values[walk->arch->sp];
}

/* As address_spaces_locate(), but fast while a stack stays within a few mappings. */
bool walk_locate(struct walk *walk, uint64_t pc, struct location *ret);
/* For call_chain.unmapped_pc: where the walk would have gone. */
void walk_note_unmapped(struct walk *walk, uint64_t pc);

/* Reads code or constants of the file mapped at `at`, where pc is. */
bool walk_read_file(const struct walk *walk, const struct location *at, uint64_t pc,
		    uint64_t address, void *into, size_t len);

/*
 * A return address without its signature. No recording says how many bits addresses have; the
 * largest space in which the address is mapped is the right one: what is a signature in a smaller
 * space would have to be part of an address of code by chance.
 */
uint64_t walk_strip(struct walk *walk, uint64_t return_address);

/*
 * Prefetches the memory above sp. A stack comes from another CPU's ring or from a file, and the
 * address of each word read depends on the word before.
 */
void walk_fetch_ahead(struct walk *walk);

/*
 * Continues on the copy of another stack, which the word at saved_sp_at leads to; sp is the stack
 * pointer there. False if there is no copy of it, or the walk has changed stacks before.
 */
bool walk_change_stack(struct walk *walk, uint64_t saved_sp_at, uint64_t sp);

/*
 * Continues at sp on whichever copy has it, also on the one that the walk began on. False, and the
 * walk has stopped as truncated: neither has it, or it was changed too often.
 */
bool walk_switch(struct walk *walk, uint64_t sp);

/*
 * Moves to the caller's frame. sp must grow; it may stay the same only if nothing was pushed, as
 * in a leaf of an architecture with a link register. Code that a signal interrupted may have used
 * another stack: its copy is used from there on, if there is one. The caller of this function says
 * which registers are known.
 */
bool walk_enter(struct walk *walk, uint64_t sp, uint64_t pc, bool is_return_address);

#endif
