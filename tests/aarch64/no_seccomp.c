/*
 * A seccomp(2) that succeeds and filters nothing. qemu's user mode has no
 * seccomp, and symbol workers refuse to run without it. Tests of the aarch64
 * build load this with LD_PRELOAD.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long system_call(long number, long a, long b, long c, long d, long e, long f);

long syscall(long number, ...)
{
	system_call *next;
	long arguments[6];
	va_list list;

	if (number == SYS_seccomp)
		return 0;
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
		    arguments[5]);
}
