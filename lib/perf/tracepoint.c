#include "perf/tracepoint.h"

#include "base/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *const usual_roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing", NULL};

/* The length of the word that starts there. */
static size_t word_len(const char *at)
{
	size_t len = 0;

	while (isalnum((unsigned char)at[len]) || at[len] == '_' || at[len] == '-')
		len++;
	return len;
}

bool tracepoint_is_name(const char *name)
{
	size_t subsystem = word_len(name);
	size_t event = name[subsystem] == ':' ? word_len(name + subsystem + 1) : 0;

	return subsystem && event && name[subsystem + 1 + event] == '\0';
}

static struct error *explain_no_tracefs(int number, const char *name)
{
	struct error *err = error_errno(number, "look up the tracepoint %s", name);

	if (number == EACCES || number == EPERM)
		return error_hint(err, "tracefs is for root alone: run prof as root (sudo)");
	return error_hint(err, "sudo mount -t tracefs nodev /sys/kernel/tracing");
}

/* The first root that has tracepoints; the errno of the best try otherwise. */
static int find_root(const char *const *roots, const char **ret)
{
	int number = ENOENT;

	for (; *roots; roots++) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/events/.", *roots);
		struct stat st;

		if (stat(path, &st) == 0) {
			*ret = *roots;
			return 0;
		}
		if (errno != ENOENT)
			number = errno;
	}
	return number;
}

struct error *tracepoint_id(const char *name, const char *const *roots, uint64_t *ret)
{
	CLEANUP(free_ptr) char *path = NULL;
	CLEANUP(close_file) FILE *file = NULL;
	int subsystem_len = (int)word_len(name);
	const char *root = NULL;
	int number = find_root(roots ? roots : usual_roots, &root);

	if (number)
		return explain_no_tracefs(number, name);
	path = xasprintf("%s/events/%.*s/%s/id", root, subsystem_len, name,
			 name + subsystem_len + 1);
	file = fopen(path, "re");
	if (!file && errno == ENOENT)
		return error_new("this kernel has no tracepoint %s", name);
	if (!file)
		return explain_no_tracefs(errno, name);
	if (fscanf(file, "%" SCNu64, ret) != 1)
		return error_new("%s holds no number", path);
	return NULL;
}
