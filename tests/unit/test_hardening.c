/*
 * Checks of the compiler while prof runs. tests/cli/test_hardening.py checks
 * that the program was linked accordingly.
 */
#include "base/alloc.h"
#include "base/arena.h"
#include "lacking.h"
#include "unit_test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char text[200];

/* Sizes that are unknown at compile time. */
static volatile size_t room = 100, len = 101;

static void overflow_heap(void)
{
	char *to = xmalloc(room);

	memcpy(to, text, len);
	_exit(to[0]);
}

static void overflow_arena(void)
{
	struct arena arena = {0};
	char *to = arena_alloc(&arena, room);

	memcpy(to, text, len);
	_exit(to[0]);
}

/* Returns the signal that ends a child which calls the function, or 0. */
static int signal_of(void (*function)(void))
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		/* glibc would write a message to the terminal. */
		close(STDERR_FILENO);
		function();
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(a_copy_that_is_too_long_for_memory_of_any_size_ends_the_program)
{
#if defined(_FORTIFY_SOURCE) && _FORTIFY_SOURCE >= 3
	assert_int_equal(signal_of(overflow_heap), SIGABRT);
	assert_int_equal(signal_of(overflow_arena), SIGABRT);
#else
	(void)signal_of, (void)overflow_heap, (void)overflow_arena;
	RETURN_LACKING("-D_FORTIFY_SOURCE=3 (an optimized build without sanitizers, gcc 12)");
#endif
}
