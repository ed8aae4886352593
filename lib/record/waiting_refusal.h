/*
 * Explains why the kernel refuses thread snapshots of a process, and how to
 * allow them, as a sentence for the listener.
 *
 * A thread snapshot needs PTRACE_MODE_ATTACH_REALCREDS access. Access can be
 * refused because of user ids, because the program is not dumpable, or by the
 * Yama module. Source: ptrace(2), "Ptrace access mode checking" and
 * "/proc/sys/kernel/yama/ptrace_scope".
 */
#ifndef PROF_RECORD_WAITING_REFUSAL_H
#define PROF_RECORD_WAITING_REFUSAL_H

#include <stdbool.h>
#include <sys/types.h>

/* The facts that decide about access. */
struct waiting_rights {
	bool is_root;	   /* prof runs as root */
	bool may_trace;	   /* prof has CAP_SYS_PTRACE */
	bool is_untrusted; /* the process runs as another user, at least in part if it is
			      set-user-ID */
	int ptrace_scope;  /* of Yama; 0 if Yama refuses nothing or is not enabled */
	bool is_sampled;   /* its context switches are sampled instead (switch_stacks.h) */
};

/* Returns the sentence, which the caller frees. */
char *waiting_refusal_in(pid_t pid, const struct waiting_rights *rights);

/* Like waiting_refusal_in(), with the facts read from proc ("/proc"). Returns
 * NULL if the process has ended or is not refused. */
char *waiting_refusal(const char *proc, pid_t pid, bool is_sampled);
/* Whether thread snapshots of a process are refused. It may also have ended. */
bool waiting_is_refused(const char *proc, pid_t pid);

#endif
