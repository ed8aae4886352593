/*
 * The state of one walk up a stack at one frame: the memory that may be read,
 * and the move to a caller that was found. The functions of step.h find the
 * caller.
 */
#ifndef PROF_UNWIND_WALK_H
#define PROF_UNWIND_WALK_H

#include "base/bytes.h"
#include "proc/address_spaces.h"
#include "unwind/arch.h"
#include "unwind/call_chain.h"
#include "unwind/stack_copies.h"

/*
 * Larger than any stack. If a rule points further above the copy, the rule is
 * wrong; the stack is not truncated.
 */
enum { STACK_REACH_BYTES = 1 << 30 };

enum { RECENT_MAPPINGS = 4 };

/* State of the two stacks of a Go thread (go_code.h). */
struct go_walk {
	unsigned switches; /* number of stack switches so far */
	/*
	 * Where the goroutine's stack continues above a callback, or 0 if
	 * unknown.
	 */
	uint64_t sp;
	bool needs_sched; /* see needs_go and g_at of struct call_chain */
	uint64_t g_at;
};

struct walk {
	struct address_spaces *spaces;
	const struct arch *arch;
	pid_t pid;
	uint64_t time_ns;
	/*
	 * The copied stack. After a switch to the interrupted stack, that one.
	 */
	uint64_t stack_start, stack_bytes;
	const unsigned char *stack;
	const struct stack_copies *copies;
	/* Bounds of the copies: see walk_switch(). */
	uint64_t own_start, other_end;
	struct go_walk go;
	uint64_t fetched_bytes; /* see walk_fetch_ahead() */
	uint64_t needed_bytes;	/* see call_chain; 0 if the copy was sufficient so far */
	uint64_t unmapped_pc;	/* see call_chain */
	/* Mask of the address space, as far as it is known so far. */
	uint64_t pc_mask;
	/*
	 * The caller of a frame without CFI may be searched, and was searched.
	 */
	bool may_search, has_searched;
	bool has_guessed; /* accepted a caller whose call may be of any function */
	struct regs regs;
	bool is_return_address; /* regs.pc follows the call */
	bool is_go;		/* the code at the pc is Go code */
	/* Start of the function at the pc if it has no CFI, or 0 if unknown. */
	uint64_t function;
	bool lacks_fp; /* the function at the pc does not set up a frame pointer */
	bool is_bare;  /* started with only sp and pc known */
	/*
	 * The owner was searched (owners.h), which happens at most once per
	 * walk.
	 */
	bool sought_owner;
	/* The search was skipped. It must be repeated if the walk is lost. */
	bool omitted_owner;
	bool must_seek_owner;
	/*
	 * The root is a return address of 0, which unused memory contains, too.
	 */
	bool ends_at_zero;
	/* Tracks all registers, not only those that most rules need. */
	bool tracks_all;
	bool was_not_called; /* this frame is a signal frame or the first of a stack */
	/* A rule needed memory below sp, which is not copied. */
	bool asked_below;
	uint64_t below; /* the value of that memory, or 0 for none */
	/*
	 * A signal handler ran on an alternate stack (sigaltstack), or CFI led
	 * to another stack.
	 */
	bool changed_stack;
	uint64_t loaded_from;  /* last word of the stack that an expression read */
	uint64_t saved_sp_at;  /* see call_chain */
	bool lacks_register;   /* a rule needed a register that is not tracked */
	struct location at;    /* location of the instruction that runs or calls */
	enum unwind_stop stop; /* why the walk ended, after a failed step */
	/*
	 * Set if the last step or root was determined by a rule of sp and fp.
	 * ra_at and fp_at are then the addresses of the stack words that it
	 * read, or 0: ra_at if there is no return address, fp_at if there is no
	 * saved frame pointer.
	 */
	bool is_plain_step;
	bool uses_fp; /* the step needed the frame pointer */
	uint64_t ra_at, fp_at, ra;
	unsigned next_recent;
	uint64_t steps; /* CFI program instructions executed so far */
	struct location recent[RECENT_MAPPINGS];
};

/* Returns false, so that a step can `return walk_stop(walk, why)`. */
static inline bool walk_stop(struct walk *walk, enum unwind_stop why)
{
	walk->stop = why;
	return false;
}

/*
 * Returns the address of the instruction at regs.pc, or of the last byte of the
 * call before it.
 */
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
 * Stops the walk as truncated if the address is at most reach_bytes above the
 * copied stack, otherwise as lost.
 */
void walk_stop_unread(struct walk *walk, uint64_t address, uint64_t reach_bytes);

/*
 * Returns a word that is in the copied stack. The caller has checked this with
 * walk_has().
 */
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

/*
 * Reads a word of the copied stack. Stops the walk if the word was not copied.
 */
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
 * Returns true if the register saved at `address` has been popped. CFI usually
 * does not describe pops in an epilogue: the rule still refers to the
 * register's slot, which is below sp then. The register has its old value
 * again.
 */
static inline bool walk_is_popped(const struct walk *walk, uint64_t address)
{
	return address < walk->regs.values[walk->arch->sp];
}

/*
 * Like address_spaces_locate(), but faster while a stack stays within a few
 * mappings.
 */
bool walk_locate(struct walk *walk, uint64_t pc, struct location *ret);
/* Records the address for call_chain.unmapped_pc. */
void walk_note_unmapped(struct walk *walk, uint64_t pc);

/* Reads code or constants from the file mapped at `at`, which contains pc. */
bool walk_read_file(const struct walk *walk, const struct location *at, uint64_t pc,
		    uint64_t address, void *into, size_t len);

/*
 * Removes the signature from a return address. Recordings do not contain the
 * address width. The right one is the largest address space in which the
 * address is mapped: a signature of a smaller space would look like a code
 * address only by chance.
 */
uint64_t walk_strip(struct walk *walk, uint64_t return_address);

/*
 * Prefetches the memory above sp. The stack is not in this CPU's cache (it
 * comes from another CPU's ring or from a file), and the address of each word
 * depends on the word before.
 */
void walk_fetch_ahead(struct walk *walk);

/*
 * Continues on the copy of another stack, whose stack pointer `sp` was read
 * from saved_sp_at. Returns false if there is no copy of it or the walk has
 * changed stacks before.
 */
bool walk_change_stack(struct walk *walk, uint64_t saved_sp_at, uint64_t sp);

/*
 * Continues at sp on whichever copy contains it, which can be the one that the
 * walk started on. If no copy contains it or the walk has switched too often,
 * stops the walk as truncated and returns false.
 */
bool walk_switch(struct walk *walk, uint64_t sp);

/*
 * Moves to the caller's frame. sp must grow. It may stay the same only if
 * nothing was pushed, as in a leaf on an architecture with a link register. If
 * the code interrupted by a signal used another stack, the walk continues on
 * the copy of that stack. The caller of this function sets which registers are
 * known.
 */
bool walk_enter(struct walk *walk, uint64_t sp, uint64_t pc, bool is_return_address);

#endif
