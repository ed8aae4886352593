/*
 * Handwritten functions.
 *
 *	_start … main
 *	  spend
 *	    run_realigned
 *	      realigned      10 %  CFA by an expression, as in OpenSSL
 *	    run_plain
 *	      plain_leaf     20 %  no CFI, nothing pushed
 *	    run_pushing
 *	      pushing_leaf   20 %  no CFI, registers pushed, rbp used for other purposes
 *	    run_framed
 *	      framed         20 %  no CFI, a frame pointer
 *	        called_back        (spin inlined)
 *	    run_copying
 *	      copying        10 %  no CFI, realigned, sp is kept in rbx, as in OpenBLAS
 *	    run_keeping
 *	      keeping              keeps its CFA in rax, as in OpenSSL's AES-GCM
 *	        kept_leaf    10 %  preserves rax, which its CFI does not state
 *	    run_entering
 *	      (entering)           jumps with a large frame, as GHC's StgRun does
 *	      entered        10 %  no CFI, an invalid frame pointer, stale return addresses
 */
#include "work.h"

void realigned(unsigned rounds);
void plain_leaf(unsigned rounds);
void pushing_leaf(unsigned rounds);
void framed(void (*function)(void));
void copying(unsigned rounds);
void keeping(unsigned rounds);
void entering(unsigned rounds);

/* One instruction per line. */
/* clang-format off */
#define FUNCTION(name, body) ".type " #name ", @function\n" #name ":\n" body ".size " #name ", . - " #name "\n"
#define LOOP "1: imul $69069, %eax, %eax\n inc %eax\n dec %edi\n jnz 1b\n"

__asm__(".text\n"
	FUNCTION(realigned,
		".cfi_startproc\n"
		"	mov %rsp, %rax\n"
		"	.cfi_def_cfa_register %rax\n"
		"	push %rbx\n"
		"	.cfi_offset %rbx, -16\n"
		"	push %rbp\n"
		"	.cfi_offset %rbp, -24\n"
		"	sub $320, %rsp\n"
		"	and $-256, %rsp\n"
		"	mov %rax, 152(%rsp)\n"
		/* DW_CFA_def_cfa_expression: breg7 (rsp) + 152, deref, plus_uconst 8 */
		"	.cfi_escape 0x0f, 0x06, 0x77, 0x98, 0x01, 0x06, 0x23, 0x08\n"
		"	xor %ebp, %ebp\n"
		LOOP
		"	mov 152(%rsp), %rsi\n"
		"	.cfi_def_cfa %rsi, 8\n"
		"	mov -16(%rsi), %rbp\n"
		"	.cfi_restore %rbp\n"
		"	mov -8(%rsi), %rbx\n"
		"	.cfi_restore %rbx\n"
		"	lea (%rsi), %rsp\n"
		"	.cfi_def_cfa_register %rsp\n"
		"	ret\n"
		".cfi_endproc\n")
	FUNCTION(plain_leaf, LOOP " ret\n")
	FUNCTION(pushing_leaf,
		"	push %rbx\n"
		"	push %rbp\n"
		"	push %r12\n"
		"	mov $7, %ebp\n"
		LOOP
		"	pop %r12\n"
		"	pop %rbp\n"
		"	pop %rbx\n"
		"	ret\n")
	FUNCTION(framed,
		"	push %rbp\n"
		"	mov %rsp, %rbp\n"
		"	sub $64, %rsp\n"
		"	call *%rdi\n"
		"framed_returns:\n"
		"	leave\n"
		"	ret\n")
	FUNCTION(kept_leaf,
		".cfi_startproc\n"
		"2:	imul $69069, %edx, %edx\n inc %edx\n dec %edi\n jnz 2b\n"
		"	ret\n"
		".cfi_endproc\n")
	FUNCTION(keeping,
		".cfi_startproc\n"
		"	mov %rsp, %rax\n"
		"	.cfi_def_cfa_register %rax\n"
		"	push %rbp\n"
		"	.cfi_offset %rbp, -16\n"
		"	sub $192, %rsp\n"
		"	and $-128, %rsp\n"
		"	mov $7, %ebp\n"
		"	call kept_leaf\n"
		"	mov -8(%rax), %rbp\n"
		"	.cfi_restore %rbp\n"
		"	mov %rax, %rsp\n"
		"	.cfi_def_cfa_register %rsp\n"
		"	ret\n"
		".cfi_endproc\n")
	FUNCTION(copying,
		"	sub $32, %rsp\n"
		"	mov %rbx, (%rsp)\n"
		"	mov %rsp, %rbx\n"
		"	sub $320, %rsp\n"
		"	and $-256, %rsp\n"
		LOOP
		"	mov %rbx, %rsp\n"
		"	mov (%rsp), %rbx\n"
		"	add $32, %rsp\n"
		"	ret\n")
	FUNCTION(entering,
		".cfi_startproc\n"
		"	sub $16400, %rsp\n"
		"	.cfi_adjust_cfa_offset 16400\n"
		"	mov %rbp, 16384(%rsp)\n"
		"	.cfi_offset %rbp, -24\n"
		"	lea framed_returns(%rip), %rax\n"
		"	mov %rax, (%rsp)\n"
		"	mov %rax, 64(%rsp)\n"
		"	lea entered(%rip), %rax\n"
		"	jmp *%rax\n"
		"entering_returns:\n"
		"	mov 16384(%rsp), %rbp\n"
		"	.cfi_restore %rbp\n"
		"	add $16400, %rsp\n"
		"	.cfi_adjust_cfa_offset -16400\n"
		"	ret\n"
		".cfi_endproc\n")
	FUNCTION(entered, "	mov $7, %ebp\n" LOOP " jmp entering_returns\n"));
/* clang-format on */

enum { ROUNDS = 20000 };

static NOINLINE void called_back(void)
{
	spin();
}

static void run_realigned(void)
{
	realigned(ROUNDS);
	__asm__ volatile("");
}

static void run_plain(void)
{
	plain_leaf(ROUNDS);
	__asm__ volatile("");
}

static void run_pushing(void)
{
	pushing_leaf(ROUNDS);
	__asm__ volatile("");
}

static void run_framed(void)
{
	framed(called_back);
	__asm__ volatile("");
}

static void run_copying(void)
{
	copying(ROUNDS);
	__asm__ volatile("");
}

static void run_keeping(void)
{
	keeping(ROUNDS);
	__asm__ volatile("");
}

static void run_entering(void)
{
	entering(ROUNDS);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	const struct part parts[] = {{run_realigned, 1}, {run_copying, 1}, {run_plain, 2},
				     {run_pushing, 2},	 {run_framed, 2},  {run_keeping, 1},
				     {run_entering, 1}};

	spend(seconds_argument(argc, argv), parts, 7);
	return 0;
}
