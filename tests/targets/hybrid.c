/*
 * Preloaded into prof, simulates a machine with two kinds of CPU, like Intel's.
 * CPU 0 is a big core, and the others are little cores. sysfs is the directory
 * HYBRID_PMUS. perf_event_open(2) answers like such a kernel, and events that
 * count cycles count CPU time. HYBRID_LACKS names the kind without the counter:
 * big, little, both.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static const char devices[] = "/sys/bus/event_source/devices";

enum { BIG_TYPE = 4, LITTLE_TYPE = 10 };

static const char *redirected(const char *path, char room[4096])
{
	const char *root = getenv("HYBRID_PMUS");

	if (!root || strncmp(path, devices, sizeof(devices) - 1) != 0)
		return path;
	snprintf(room, 4096, "%s%s", root, path + sizeof(devices) - 1);
	return room;
}

DIR *opendir(const char *path)
{
	DIR *(*real)(const char *) = dlsym(RTLD_NEXT, "opendir");
	char room[4096];

	return real(redirected(path, room));
}

static int open_redirected(const char *path, int flags, unsigned mode)
{
	char room[4096];

	return openat(AT_FDCWD, redirected(path, room), flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list rest;
	unsigned mode;

	va_start(rest, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, unsigned) : 0;
	va_end(rest);
	return open_redirected(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int __open_2(const char *path, int flags)
{
	return open_redirected(path, flags, 0);
}

int __open64_2(const char *path, int flags) __attribute__((alias("__open_2")));

static int lacks(unsigned type)
{
	const char *kinds = getenv("HYBRID_LACKS");

	return kinds &&
	       (!strcmp(kinds, "both") || !strcmp(kinds, type == BIG_TYPE ? "big" : "little"));
}

/* Returns the errno of the machine, or 0. */
static int answer(const struct perf_event_attr *attr, int cpu)
{
	int is_generic = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
	unsigned type = is_generic ? attr->config >> 32 : attr->type;

	if (!type)
		type = BIG_TYPE;
	if ((type != BIG_TYPE && type != LITTLE_TYPE) || lacks(type))
		return ENOENT;
	return cpu >= 0 && type != (cpu ? LITTLE_TYPE : BIG_TYPE) ? ENOENT : 0;
}

long syscall(long number, ...)
{
	long (*real)(long, ...) = dlsym(RTLD_NEXT, "syscall");
	const struct perf_event_attr *attr;
	struct perf_event_attr clock;
	long a[6];
	va_list rest;

	va_start(rest, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(rest, long);
	va_end(rest);
	attr = (const void *)a[0];
	if (number != SYS_perf_event_open || attr->type == PERF_TYPE_SOFTWARE)
		return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	errno = answer(attr, (int)a[2]);
	if (errno)
		return -1;
	clock = *attr;
	clock.type = PERF_TYPE_SOFTWARE;
	clock.config = PERF_COUNT_SW_CPU_CLOCK;
	clock.precise_ip = 0;
	return real(number, &clock, a[1], a[2], a[3], a[4], a[5]);
}
