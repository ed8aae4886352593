#include "lacking.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

static const char *reason;

void lacking(const char *what)
{
	reason = what;
}

int lacking_all(const char *what)
{
	printf("1..0 # SKIP %s\n", what);
	return 0;
}

/* The call has wrong arguments, which only a kernel with the system call finds. */
bool has_openat2(void)
{
	return syscall(SYS_openat2, -1, "", NULL, 0) < 0 && errno != ENOSYS && errno != EPERM;
}

bool has_process_vm_readv(void)
{
	return process_vm_readv(getpid(), NULL, 0, NULL, 0, 0) == 0;
}

bool has_seccomp(void)
{
	uint32_t action = SECCOMP_RET_ERRNO;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

/*
 * Replaces cmocka's function that prints each result. The result "ok 1 - name"
 * of a test that lacks something gets the directive SKIP.
 */
void print_message(const char *const format, ...)
{
	char line[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (reason && !strncmp(format, "ok ", 3)) {
		line[strcspn(line, "\n")] = '\0';
		printf("%s # SKIP %s\n", line, reason);
		reason = NULL;
	} else {
		fputs(line, stdout);
	}
	fflush(stdout);
}
