/*
 * The program that was recorded for corpus/end_to_end. It has no C library, so that it is
 * small, and the same wherever it runs. It calls, recurs, faults and sleeps, in two processes.
 *
 *	gcc -O1 -g -static -nostdlib -fno-stack-protector -Wl,--build-id -o tmp/tiny tiny.c
 */
#include <sys/syscall.h>

static long call(long number, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}

static volatile unsigned sink;
static volatile char pages[64][4096];

static inline __attribute__((always_inline)) void spin(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		sink += i * sink;
}

static __attribute__((noinline)) void touch(unsigned round)
{
	pages[round % 64][round % 4096]++;
	spin(200000);
}

static __attribute__((noinline)) unsigned recur(unsigned depth)
{
	spin(100000);
	return depth ? recur(depth - 1) + 1 : 0;
}

static __attribute__((noinline)) void work(void)
{
	for (unsigned round = 0; round < 40; round++) {
		touch(round);
		sink += recur(round % 8);
	}
}

__attribute__((noreturn)) void begin(void)
{
	long child = call(SYS_fork, 0, 0, 0);

	work();
	if (child)
		call(SYS_wait4, child, 0, 0);
	call(SYS_exit_group, 0, 0, 0);
	__builtin_unreachable();
}

/* The kernel enters with an aligned stack and no return address: the root of all stacks. */
__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined rip\n"
	"call begin\n"
	".cfi_endproc\n"
	".size _start, . - _start\n");
