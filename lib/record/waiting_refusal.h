/*
 * Why the kernel does not let prof look at the waiting threads of a process, and what would: as a
 * sentence for the listener.
 *
 * A look needs the rights of a tracer, PTRACE_MODE_ATTACH_REALCREDS. They are refused by the rules
 * of users, of programs that may not be dumped, and by the Yama module.
 * Source: ptrace(2), "Ptrace access mode checking" and "/proc/sys/kernel/yama/ptrace_scope".
 */
#ifndef PROF_RECORD_WAITING_REFUSAL_H
#define PROF_RECORD_WAITING_REFUSAL_H

#include <stdbool.h>
#include <sys/types.h>

/* What the refusal follows from. */
struct waiting_rights {
	bool is_root;	  /* prof … */
	bool may_trace;	  /* … and it has the capability SYS_PTRACE */
	bool is_foreign;  /* the process is another user's, in part if it is set-user-ID */
	int ptrace_scope; /* of Yama; 0: it refuses nothing, or is not there */
	bool is_sampled;  /* its context switches are sampled instead (switch_stacks.h) */
};

/* The sentence; to be freed. */
char *waiting_refusal_in(pid_t pid, const struct waiting_rights *rights);

/* The same, from what /proc says now. NULL: the process has ended, or is not refused. proc:
 * "/proc". */
char *waiting_refusal(const char *proc, pid_t pid, bool is_sampled);
/* Whether looks at a process are refused, which may also have ended. */
bool waiting_is_refused(const char *proc, pid_t pid);

#endif
