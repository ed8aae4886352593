/*
 * Describes why a thread waits, as the text of a synthetic leaf frame.
 *
 * The text is the system call: "[futex]", "[nanosleep]", "[epoll_wait]",
 * "[poll]", "[select]", "[wait4]", "[pause]", "[fsync]", "[flock]", "[accept]",
 * "[connect]", "[sched_yield]". If the call takes a descriptor, the text
 * includes its type: "[read pipe]", "[read socket]", "[read file]", "[write
 * terminal]", "[read eventfd]", "[recv socket]", "[ioctl /dev/dri/card0]".
 * Variants share one name: clock_nanosleep is "[nanosleep]". An unknown call is
 * "[system call 463]".
 *
 * A thread outside a system call is in a page fault ("[page fault]"). The
 * kernel function in which the thread sleeps identifies threads that are
 * stopped ("[stopped]"), stopped by a tracer ("[traced]") or in a frozen cgroup
 * ("[frozen]"). That function is itself the text for threads without user space
 * and when the kernel refuses to show anything else: "[do_epoll_wait]".
 */
#ifndef PROF_WAITING_REASON_H
#define PROF_WAITING_REASON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The leaf frame for time in which a thread was runnable but had no CPU. */
#define REASON_RUNNABLE "[runnable]"

/* One line of /proc/TID/syscall. */
struct waiting_call {
	int64_t number; /* -1 outside a system call */
	uint64_t args[6];
	/*
	 * 0 for kernel threads and io_uring workers, which have no user space.
	 */
	uint64_t sp, pc;
	/*
	 * The number belongs to 32-bit x86. The caller sets this because the
	 * line does not contain it.
	 */
	bool is_i386;
};

/* Returns false if the thread runs or the line is malformed. */
bool waiting_call_parse(const char *line, struct waiting_call *ret);

/*
 * Writes the text. `call` may be NULL if it is unknown. `wchan` is the content
 * of /proc/TID/wchan, where "" or "0" means unknown. `descriptor` is the target
 * of /proc/PID/fd/N for the descriptor in the first argument ("socket:[123]",
 * "pipe:[9]", "anon_inode:[eventfd]", "/dev/pts/3"), or "" if it is unknown or
 * the call takes none.
 */
void reason_text(const struct waiting_call *call, const char *wchan, const char *descriptor,
		 char *into, size_t len);
/*
 * Returns whether the first argument of the call is a descriptor that the text
 * describes.
 */
bool reason_names_descriptor(const struct waiting_call *call);
/*
 * Returns whether the call is a futex(2) with the arguments that lock_holder.h
 * needs.
 */
bool reason_is_futex(const struct waiting_call *call);

#endif
