/*
 * Maps system call numbers to the names of the calls in which a thread can
 * wait.
 *
 * Variants of a call share one name: clock_nanosleep is "nanosleep", and
 * epoll_pwait2 is "epoll_wait". Source: <asm/unistd.h>.
 */
#ifndef PROF_WAITING_CALL_NAMES_H
#define PROF_WAITING_CALL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

enum call_kind {
	CALL_PLAIN,	 /* needs no argument in its text */
	CALL_DESCRIPTOR, /* the text also names the descriptor in the first argument */
	CALL_CLONE,	 /* its first argument is the flags */
	CALL_FCNTL,	 /* fcntl(2), which waits only for a file lock */
	CALL_RESTARTED,	 /* restart_syscall(2), which hides the call that a signal interrupted */
	CALL_FUTEX,
};

struct call_name {
	const char *text; /* NULL if the number is unknown */
	enum call_kind kind;
};

/* Uses the numbers of the architecture that prof is built for. */
struct call_name call_name(int64_t number);
/* Uses the numbers of 32-bit x86. Every number is unknown on other machines. */
struct call_name call_name_i386(int64_t number);

#endif
