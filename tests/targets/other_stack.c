/*
 * A function that switches to a stack of its own, as OCaml 5 does.
 *
 *	_start … main
 *	  spend
 *	    leave
 *	      switching            saves its caller's registers on the stack that it leaves
 *	        called_there  50 %  (spin inlined)
 *	    stay              50 %  (spin inlined)
 */
#include "work.h"

void switching(void (*function)(void), void *top);

/* One instruction per line. */
/* clang-format off */
__asm__(".text\n"
	".type switching, @function\n"
	"switching:\n"
	".cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbx, -16\n"
	"	mov %rsp, -16(%rsi)\n"
	"	lea -16(%rsi), %rsp\n"
	/* DW_CFA_def_cfa_expression: breg7 (rsp) + 0, deref, plus_uconst 16 */
	"	.cfi_escape 0x0f, 0x05, 0x77, 0x00, 0x06, 0x23, 0x10\n"
	"	call *%rdi\n"
	"	mov (%rsp), %rsp\n"
	"	.cfi_def_cfa %rsp, 16\n"
	"	pop %rbx\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size switching, . - switching\n");
/* clang-format on */

static _Alignas(16) char stack[256 << 10];

static NOINLINE void called_there(void)
{
	spin();
}

static void leave(void)
{
	switching(called_there, stack + sizeof(stack));
	__asm__ volatile("");
}

static NOINLINE void stay(void)
{
	spin();
}

int main(int argc, char **argv)
{
	const struct part parts[] = {{leave, 5}, {stay, 5}};

	spend(seconds_argument(argc, argv), parts, 2);
	return 0;
}
