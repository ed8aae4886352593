/*
 * A handler that is interrupted by another, with frames that the kernel made in between. With
 * -DOWN_STACK the handlers run on a stack of their own (sigaltstack).
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

static NOINLINE void work(void)
{
	for (int i = 0; i < 5; i++)
		spin();
}

static NOINLINE void on_illegal(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	work();
	interrupted->uc_mcontext.gregs[REG_RIP] += 2; /* behind the ud2 */
}

static NOINLINE void on_trap(int number)
{
	__asm__ volatile("ud2" ::: "memory");
}

static NOINLINE void interrupted(void)
{
	__asm__ volatile("int3" ::: "memory");
}

int main(int argc, char **argv)
{
	const struct part all = {interrupted, 10};
	/* Not held back within it: a debugger's single steps would be as well, and end the program. */
	struct sigaction trap = {.sa_handler = on_trap, .sa_flags = SA_NODEFER};
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
