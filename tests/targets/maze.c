/*
 * Calls and returns of all kinds in quick succession: wherever it is stopped,
 * it is likely to be in a prologue, an epilogue, a stub or a signal frame. For
 * tests/truth.
 *
 *	_start … main
 *	  turn  sort, print, handle, grow, align, jump, leave, switch_to, ask
 */
#define _GNU_SOURCE
#include "work.h"

#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static volatile unsigned sum;

/* Called by the C library, through the PLT. */

static int compare(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

static NOINLINE void sort(void)
{
	int numbers[] = {4, 2, 5, 1, 3};

	qsort(numbers, 5, sizeof *numbers, compare);
	sum += numbers[0];
}

static NOINLINE void print(void)
{
	char text[64];

	snprintf(text, sizeof text, "%u %s %.3f", sum, "text", 0.5);
	sum += strlen(text);
}

/* Signals, one of them inside the other's handler. */

static void on_second(int number)
{
	sum += number;
}

static void on_first(int number)
{
	raise(SIGUSR2);
	sum += number;
}

static NOINLINE void handle(void)
{
	raise(SIGUSR1);
}

/* Frames with unusual layouts. */

static NOINLINE void fill(volatile char *room, unsigned size)
{
	room[size - 1] = 1;
	sum += room[size - 1];
}

static NOINLINE void grow(unsigned size)
{
	fill(alloca(size), size);
	__asm__ volatile("");
}

static NOINLINE void align(void)
{
	char room[256] __attribute__((aligned(128)));

	fill(room, sizeof room);
	grow(sum % 100 + 1);
}

static NOINLINE unsigned landing(unsigned value)
{
	sum += value;
	return getppid() + sum;
}

static NOINLINE unsigned jump(unsigned value)
{
	sum++;
	return landing(value + 1); /* a jump */
}

static NOINLINE unsigned fibonacci(unsigned number)
{
	return number < 2 ? number : fibonacci(number - 1) + fibonacci(number - 2);
}

/* Calls that do not return. */

static jmp_buf back;

static NOINLINE __attribute__((noreturn)) void give_up(void)
{
	longjmp(back, 1);
}

static NOINLINE void leave(void)
{
	if (setjmp(back) == 0)
		give_up();
	sum++;
}

/* Another stack. */

static ucontext_t outside, inside;
static char other_stack[64 << 10];

static void generator(void)
{
	for (;;) {
		sum += fibonacci(3);
		swapcontext(&inside, &outside);
	}
}

static NOINLINE void switch_to(void)
{
	swapcontext(&outside, &inside);
}

static NOINLINE void ask(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sum += now.tv_nsec;
}

static NOINLINE void turn(void)
{
	sort();
	print();
	handle();
	grow(sum % 1000 + 1);
	align();
	sum += jump(sum) + fibonacci(4);
	leave();
	switch_to();
	ask();
}

int main(int argc, char **argv)
{
	double end = thread_cpu_seconds() + seconds_argument(argc, argv);

	signal(SIGUSR1, on_first);
	signal(SIGUSR2, on_second);
	getcontext(&inside);
	inside.uc_stack.ss_sp = other_stack;
	inside.uc_stack.ss_size = sizeof other_stack;
	makecontext(&inside, generator, 0);
	while (thread_cpu_seconds() < end)
		turn();
	return 0;
}
