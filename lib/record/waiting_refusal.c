#include "record/waiting_refusal.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Values of kernel.yama.ptrace_scope. */
enum { SCOPE_DESCENDANTS = 1, SCOPE_ROOT = 2, SCOPE_NONE = 3 };

static const char *cause_of(const struct waiting_rights *rights)
{
	if (rights->ptrace_scope >= SCOPE_NONE)
		return "kernel.yama.ptrace_scope is 3";
	if (rights->may_trace)
		return "a security module forbids it";
	if (rights->is_root)
		return "prof lacks the capability CAP_SYS_PTRACE";
	if (rights->is_untrusted)
		return "it belongs to another user";
	if (rights->ptrace_scope == SCOPE_ROOT)
		return "kernel.yama.ptrace_scope is 2";
	if (rights->ptrace_scope == SCOPE_DESCENDANTS)
		return "kernel.yama.ptrace_scope is 1, and prof did not start it";
	return "it was started with other privileges, or is not dumpable (prctl(2))";
}

static const char *help_of(const struct waiting_rights *rights)
{
	if (rights->ptrace_scope >= SCOPE_NONE)
		return "this cannot be changed without a reboot";
	if (rights->may_trace)
		return "SELinux, AppArmor or a sandbox; the kernel log may name it";
	if (rights->is_root)
		return "use docker run --cap-add SYS_PTRACE";
	if (rights->is_untrusted || rights->ptrace_scope != SCOPE_DESCENDANTS)
		return "run prof as root (sudo)";
	return "start it with prof record, or: sudo sysctl kernel.yama.ptrace_scope=0";
}

char *waiting_refusal_in(pid_t pid, const struct waiting_rights *rights)
{
	return xasprintf("process %d %s: %s (%s)", (int)pid,
			 rights->is_sampled ? "is sampled at each context switch instead of polled"
					    : "has no off-CPU stacks",
			 cause_of(rights), help_of(rights));
}

/* Reads a small file. The text is empty if the file cannot be read. */
static void waiting_refusal_slurp(const char *path, char *text, size_t room)
{
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	size_t len = file ? fread(text, 1, room - 1, file) : 0;

	text[len] = '\0';
}

enum { CAPABILITY_PTRACE = 19 };

/* Checks the capabilities in /proc/self/status. */
static bool may_trace(const char *status)
{
	const char *line = strstr(status, "\nCapEff:\t");
	uint64_t capabilities;

	return line && sscanf(line, "\nCapEff:\t%" SCNx64, &capabilities) == 1 &&
	       capabilities >> CAPABILITY_PTRACE & 1;
}

/*
 * Compares the user ids in /proc/PID/status. The name of the process is on an
 * earlier line. It cannot fake a line, because the kernel escapes newlines in
 * it.
 */
static bool waiting_refusal_find_user(const char *status, struct waiting_rights *rights)
{
	const char *line = strstr(status, "\nUid:\t");
	unsigned real, effective, saved;

	if (!line || sscanf(line, "\nUid:\t%u\t%u\t%u", &real, &effective, &saved) != 3)
		return false;
	rights->is_untrusted = real != getuid() || effective != getuid() || saved != getuid();
	return true;
}

/* Checks the process itself, because a single snapshot can also fail for other
 * reasons, for example because the thread exits. */
bool waiting_is_refused(const char *proc, pid_t pid)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%d/syscall", proc, (int)pid);
	CLEANUP(close_file) FILE *file = fopen(path, "re");

	return (file ? fgetc(file) : EOF) == EOF;
}

char *waiting_refusal(const char *proc, pid_t pid, bool is_sampled)
{
	struct waiting_rights rights = {.is_root = geteuid() == 0, .is_sampled = is_sampled};
	CLEANUP(free_ptr) char *status = xasprintf("%s/%d/status", proc, (int)pid);
	CLEANUP(free_ptr) char *scope = xasprintf("%s/sys/kernel/yama/ptrace_scope", proc);
	CLEANUP(free_ptr) char *self = xasprintf("%s/self/status", proc);
	char text[4096];

	if (!waiting_is_refused(proc, pid))
		return NULL;
	waiting_refusal_slurp(self, text, sizeof(text));
	rights.may_trace = may_trace(text);
	waiting_refusal_slurp(scope, text, sizeof(text));
	if (sscanf(text, "%d", &rights.ptrace_scope) != 1)
		rights.ptrace_scope = 0;
	waiting_refusal_slurp(status, text, sizeof(text));
	return waiting_refusal_find_user(text, &rights) ? waiting_refusal_in(pid, &rights) : NULL;
}
