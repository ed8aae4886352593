/*
 * Why a thread waits, as the text of a frame: what it asked the kernel for.
 *
 * The system call says it: "[futex]", "[nanosleep]", "[epoll_wait]", "[poll]", "[select]",
 * "[wait4]", "[pause]", "[fsync]", "[flock]", "[accept]", "[connect]", "[sched_yield]"; where it
 * takes a descriptor, with what that is: "[read pipe]", "[read socket]", "[read file]",
 * "[write terminal]", "[read eventfd]", "[recv socket]", "[ioctl /dev/dri/card0]". Variants have
 * one name (nanosleep and clock_nanosleep; epoll_wait and epoll_pwait2). A call that is not known
 * is "[system call 463]".
 * Outside of a system call it is a page fault ("[page fault]"). A thread that is stopped
 * ("[stopped]"), stopped by a tracer ("[traced]") or in a frozen cgroup ("[frozen]") is recognized
 * by the kernel's function in which it waits. That function is the reason, too, of threads
 * without user space and where the kernel refuses everything else: "[do_epoll_wait]".
 */
#ifndef PROF_WAITING_REASON_H
#define PROF_WAITING_REASON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The leaf of the time in which a thread could have run, but had no CPU. */
#define REASON_WANTED_CPU "[wanted a CPU]"

/* A line of /proc/TID/syscall. */
struct waiting_call {
	int64_t number; /* -1: not in a system call */
	uint64_t args[6];
	uint64_t sp, pc; /* 0: a thread without user space, of the kernel or of io_uring */
	bool is_i386;	 /* the number is one of 32-bit x86, which the line does not tell */
};

/* False: the thread runs, or the line is damaged. */
bool waiting_call_parse(const char *line, struct waiting_call *ret);

/*
 * wchan: the text of /proc/TID/wchan; "" or "0": unknown. descriptor: what the link
 * /proc/PID/fd/N says of the descriptor in the first argument ("socket:[123]", "pipe:[9]",
 * "anon_inode:[eventfd]", "/dev/pts/3"); "": unknown, or there is none. call NULL: unknown.
 */
void reason_text(const struct waiting_call *call, const char *wchan, const char *descriptor,
		 char *into, size_t len);
/* Whether the first argument of a call is a descriptor that the reason names. */
bool reason_names_descriptor(const struct waiting_call *call);
/* Whether it is futex(2), with the arguments that lock_holder.h needs. */
bool reason_is_futex(const struct waiting_call *call);

#endif
