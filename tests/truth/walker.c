/*
 * The program of record_stops.py. It needs no library and little stack, and has
 * calls of all kinds. The functions of walker_no_cfi.c are part of it.
 *
 *	_start
 *	  begin
 *	    vary  large  middle  leaf     frames of unknown and of large size; a leaf
 *	    jump  middle  leaf            the first one ends in a jump
 *	    undescribed  hidden  middle   no CFI: a frame pointer, and a leaf
 *	    interrupt  on_signal  leaf    the handler returns to code without CFI
 */
#define NOINLINE __attribute__((noinline))

int undescribed(int (*function)(int), int n);
long make_syscall(long number, long a, long b, long c, long d);
void restore(void);

static volatile int sum;

/* Numbers from the kernel's <asm/unistd.h>. */
#if defined(__x86_64__)
enum { RT_SIGACTION = 13, GETPID = 39, KILL = 62, EXIT_GROUP = 231 };
#elif defined(__aarch64__)
enum { EXIT_GROUP = 94, KILL = 129, RT_SIGACTION = 134, GETPID = 172 };
#endif

enum { SIGNAL = 10, SA_RESTORER = 0x04000000 };

struct action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

NOINLINE int leaf(int n)
{
	return n * 3 + 1;
}

NOINLINE int middle(int n)
{
	return leaf(n) + leaf(n + 1);
}

static NOINLINE int large(int n)
{
	volatile char room[300];

	room[n] = 1;
	return middle(n) + room[n];
}

static NOINLINE int vary(int n)
{
	volatile char *room = __builtin_alloca(n);

	*room = 1;
	return large(n) + *room;
}

static NOINLINE int jump(int n)
{
	sum++;
	return middle(n + 1); /* a jump */
}

static NOINLINE void on_signal(int number)
{
	sum++; /* qemu does not stop before the first instruction of a handler */
	sum += leaf(number);
}

static NOINLINE void interrupt(void)
{
	const struct action action = {on_signal, SA_RESTORER, restore, 0};

	make_syscall(RT_SIGACTION, SIGNAL, (long)&action, 0, sizeof action.mask);
	make_syscall(KILL, make_syscall(GETPID, 0, 0, 0, 0), SIGNAL, 0, 0);
}

__attribute__((noreturn)) void begin(void)
{
	/* Needs a frame pointer for that: without one, a walk that has nothing
	 * else fails. */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	sum += vary(7);
	sum += jump(1);
	sum += undescribed(middle, 2);
	interrupt();
	for (;;)
		make_syscall(EXIT_GROUP, 0, 0, 0, 0);
}

#if defined(__x86_64__)
__asm__(".globl _start, restore, make_syscall\n"
	"_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined %rip\n"
	"	call begin\n"
	"	.cfi_endproc\n"
	"	nop\n" /* found by the code before it, as in C libraries */
	"restore:\n"
	"	mov $15, %rax\n"
	"	syscall\n"
	"make_syscall:\n"
	"	.cfi_startproc\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %rdi\n"
	"	mov %rdx, %rsi\n"
	"	mov %rcx, %rdx\n"
	"	mov %r8, %r10\n"
	"	syscall\n"
	"	ret\n"
	"	.cfi_endproc\n");
#elif defined(__aarch64__)
__asm__(".globl _start, restore, make_syscall\n"
	"_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined x30\n"
	"	bl begin\n"
	"	.cfi_endproc\n"
	"	nop\n"
	"restore:\n"
	"	mov x8, #139\n"
	"	svc #0\n"
	"make_syscall:\n"
	"	.cfi_startproc\n"
	"	mov x8, x0\n"
	"	mov x0, x1\n"
	"	mov x1, x2\n"
	"	mov x2, x3\n"
	"	mov x3, x4\n"
	"	svc #0\n"
	"	ret\n"
	"	.cfi_endproc\n");
#endif
