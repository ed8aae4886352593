/*
 * without_perf EPERM|EACCES|ENOSYS COMMAND: executes a program for which
 * perf_event_open(2) fails with that error, as in containers, at a paranoid
 * level of 3, or in gVisor.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned number_of(const char *name)
{
	return !strcmp(name, "EACCES") ? EACCES : !strcmp(name, "ENOSYS") ? ENOSYS : EPERM;
}

int main(int argc, char **argv)
{
	const unsigned number = argc > 2 ? number_of(argv[1]) : 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | number),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {.len = 4, .filter = code};

	if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		return 127;
	execvp(argv[2], argv + 2);
	return 127;
}
