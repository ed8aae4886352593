/*
 * Names of the system calls in which a thread can wait, by number.
 *
 * Variants of a call have one name: nanosleep and clock_nanosleep, epoll_wait and epoll_pwait2.
 * Source: <asm/unistd.h>.
 */
#ifndef PROF_WAITING_CALL_NAMES_H
#define PROF_WAITING_CALL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

enum call_kind {
	CALL_PLAIN,	 /* its name says it */
	CALL_DESCRIPTOR, /* the first argument is a descriptor that belongs to the name */
	CALL_CLONE,	 /* with its flags as the first argument */
	CALL_FCNTL,	 /* waits for a lock of a file */
	CALL_RESTARTED,	 /* a call that a signal has interrupted, and which that was is not known */
	CALL_FUTEX,
};

struct call_name {
	const char *text; /* NULL: unknown */
	enum call_kind kind;
};

/* Of the architecture that prof is built for. */
struct call_name call_name(int64_t number);
/* Of 32-bit x86; unknown on other machines. */
struct call_name call_name_i386(int64_t number);

#endif
