/*
 * The stacks of threads beyond what a sample copies of them.
 *
 * A sample's copy is continued with memory that is read at another moment: now, from the live
 * thread; or, where that has gone on by now, when the thread's last deep stack was complete.
 * Neither is taken on trust: the outermost words of the copy must read the same there. They belong
 * to frames in which nothing happens as long as the thread works further in; once it has left them
 * and come back, the registers that calls save there have changed with what the callers were doing.
 *
 * A thread that has left those frames and not come back leaves them behind as they were, and what
 * it then does further out would be taken for their callers. So where the last complete stack
 * continues the copy too, both must lead the same way: see stacks_other(). Where it does not, the
 * live one is believed; the sooner after the sample it is read, the better.
 *
 * Memory is bounded: STACKS_KEPT stacks of at most STACKS_KEPT_BYTES. For one thread; not for
 * recordings, whose processes are no more.
 */
#ifndef PROF_PROC_STACKS_H
#define PROF_PROC_STACKS_H

#include "base/bytes.h"
#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	/* Of the copy's end, must be the same. */
	STACKS_OVERLAP_BYTES = 1 << 10,
	/* No copy grows larger. */
	STACKS_GROWN_BYTES = 8 << 20,
	STACKS_KEPT = 32,
	STACKS_KEPT_BYTES = 1 << 20,
	/* So often in a row contested by the live thread, a kept stack is out of date. */
	STACKS_CONTESTS = 8,
};

enum stack_origin {
	STACK_COPIED, /* with the sample, all of it */
	STACK_LIVE,   /* continued from the live thread … */
	STACK_KEPT,   /* … or from its last complete stack */
};

/* memory_read(), or one that pretends to be it. */
typedef size_t memory_reader(pid_t tid, uint64_t address, void *into, size_t len);

struct stacks;

struct stacks *stacks_new(memory_reader *read);
void stacks_free(struct stacks *stacks);
DEFINE_CLEANUP(stacks, stacks_free)

/* The copy that a sample brought, from sp upwards;
 * borrowed until stacks_end(). */
void stacks_begin(struct stacks *stacks, pid_t tid, uint64_t sp, struct bytes copied);
/*
 * A longer one, from the same sp, which is wanted up to the address `end`; borrowed until the next
 * call. False, and *copied as it was: there is no more that can be trusted.
 */
bool stacks_grow(struct stacks *stacks, uint64_t end, struct bytes *copied);
/*
 * When a copy was continued from the live thread, and the last complete stack continues it as well,
 * in other words: that second opinion, from the same sp; borrowed until stacks_end().
 */
bool stacks_other(struct stacks *stacks, struct bytes *copied);
/* How the stack was continued. If it is complete, it is kept for the thread's next ones. */
enum stack_origin stacks_end(struct stacks *stacks, bool complete);
/* Instead: the other opinion was complete and led elsewhere. */
void stacks_end_contested(struct stacks *stacks);

/* The thread has another stack (exec), or none any more. */
void stacks_forget(struct stacks *stacks, pid_t tid);

#endif
