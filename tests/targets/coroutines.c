/*
 * Functions on stacks that do not belong to a thread, made by makecontext() and
 * by handwritten code.
 *
 *	__start_context
 *	  generator
 *	    produce  50 %  (spin inlined)
 *	begin              handwritten; its return address is 0
 *	  worker
 *	    consume  50 %  (spin inlined)
 */
#include "work.h"

#include <string.h>
#include <ucontext.h>

enum { STACK_BYTES = 64 << 10 };

static NOINLINE void produce(void)
{
	spin();
}

static NOINLINE void consume(void)
{
	spin();
	__asm__ volatile("nop"); /* not the same code as above: it would be folded into one */
}

/* Made by the C library. */

static ucontext_t outside, inside;
static char context_stack[STACK_BYTES];

static void generator(void)
{
	for (;;) {
		produce();
		swapcontext(&inside, &outside);
	}
}

static NOINLINE void run_context(void)
{
	swapcontext(&outside, &inside);
}

/* Handwritten, without call frame information, as in coroutine libraries. */

void switch_stacks(void **old, void *new);

__asm__(".text\n"
	".type switch_stacks, @function\n"
	"switch_stacks:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	".size switch_stacks, . - switch_stacks\n");

static void *outer_sp, *inner_sp;
static _Alignas(16) void *made_stack[STACK_BYTES / sizeof(void *)];

static NOINLINE void worker(void)
{
	for (;;) {
		consume();
		switch_stacks(&inner_sp, outer_sp);
	}
}

static void begin(void)
{
	worker();
	__asm__ volatile("");
}

static NOINLINE void run_made(void)
{
	switch_stacks(&outer_sp, inner_sp);
}

int main(int argc, char **argv)
{
	const struct part parts[] = {{run_context, 5}, {run_made, 5}};
	void **top = made_stack + STACK_BYTES / sizeof(void *) - 2;

	getcontext(&inside);
	inside.uc_stack.ss_sp = context_stack;
	inside.uc_stack.ss_size = sizeof context_stack;
	makecontext(&inside, generator, 0);
	*--top = NULL; /* the return address of begin() */
	*--top = (void *)begin;
	inner_sp = top - 6;
	spend(seconds_argument(argc, argv), parts, 2);
	return 0;
}
