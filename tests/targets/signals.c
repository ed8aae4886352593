/*
 * A handler that is interrupted by another handler, with frames of the kernel
 * in between. With -DOWN_STACK, the handlers run on a stack of their own
 * (sigaltstack).
 *
 *	_start … main
 *	  spend
 *	    interrupted
 *	      __restore_rt      the signal frame
 *	        on_trap
 *	          __restore_rt  another
 *	            on_illegal  ~100 %  (work, spin inlined)
 */
#define _GNU_SOURCE
#include "work.h"

#include <signal.h>
#include <ucontext.h>

#if defined(__x86_64__)
#define TRAP "int3"
#define ILLEGAL "ud2"
#define PC gregs[REG_RIP]
enum { TRAP_BYTES = 0, ILLEGAL_BYTES = 2 }; /* how far the pc is before the next instruction */
#elif defined(__aarch64__)
#define TRAP "brk #0"
#define ILLEGAL "udf #0"
#define PC pc
enum { TRAP_BYTES = 4, ILLEGAL_BYTES = 4 };
#endif

static NOINLINE void work(void)
{
	for (int i = 0; i < 5; i++)
		spin();
}

static NOINLINE void on_illegal(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	work();
	interrupted->uc_mcontext.PC += ILLEGAL_BYTES;
}

static NOINLINE void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	interrupted->uc_mcontext.PC += TRAP_BYTES;
	__asm__ volatile(ILLEGAL ::: "memory");
}

static NOINLINE void interrupted(void)
{
	__asm__ volatile(TRAP ::: "memory");
}

int main(int argc, char **argv)
{
	const struct part all = {interrupted, 10};
	/* Not held back within it: a debugger's single steps would be as well, and end the program.
	 */
	struct sigaction trap = {.sa_sigaction = on_trap, .sa_flags = SA_NODEFER | SA_SIGINFO};
	struct sigaction illegal = {.sa_sigaction = on_illegal, .sa_flags = SA_SIGINFO};
#ifdef OWN_STACK
	static char room[64 << 10];
	const stack_t own = {.ss_sp = room, .ss_size = sizeof room};

	sigaltstack(&own, NULL);
	trap.sa_flags |= SA_ONSTACK;
	illegal.sa_flags |= SA_ONSTACK;
#endif
	sigaction(SIGTRAP, &trap, NULL);
	sigaction(SIGILL, &illegal, NULL);
	spend(seconds_argument(argc, argv), &all, 1);
	return 0;
}
