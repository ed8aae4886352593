#include "perf/tracepoint.h"

#include "base/alloc.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
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
		return error_hint(err, "only root may read tracefs: run prof as root (sudo)");
	return error_hint(err, "sudo mount -t tracefs nodev /sys/kernel/tracing");
}

/* The first root that has tracepoints. 0 or the errno that says most. */
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

/* A file of a tracepoint. */
static struct error *open_file(const char *name, const char *const *roots, const char *which,
			       FILE **ret)
{
	CLEANUP(free_ptr) char *path = NULL;
	int subsystem_len = (int)word_len(name);
	const char *root = NULL;
	int number = find_root(roots ? roots : usual_roots, &root);

	if (number)
		return explain_no_tracefs(number, name);
	path = xasprintf("%s/events/%.*s/%s/%s", root, subsystem_len, name,
			 name + subsystem_len + 1, which);
	*ret = fopen(path, "re");
	if (!*ret && errno == ENOENT)
		return error_new("this kernel has no tracepoint %s", name);
	return *ret ? NULL : explain_no_tracefs(errno, name);
}

struct error *tracepoint_id(const char *name, const char *const *roots, uint64_t *ret)
{
	CLEANUP(close_file) FILE *file = NULL;
	struct error *err = open_file(name, roots, "id", &file);

	if (!err && fscanf(file, "%" SCNu64, ret) != 1)
		err = error_new("the id of the tracepoint %s is not a number", name);
	return err;
}

/* "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;" */
static bool parse_field(const char *line, const char *field, struct tracepoint_field *ret)
{
	const char *end = strchr(line, ';');
	size_t len = strlen(field);

	return text_begins(line, "\tfield:") && end && (size_t)(end - line) > len &&
	       end[-(ptrdiff_t)len - 1] == ' ' && !strncmp(end - len, field, len) &&
	       sscanf(end, ";\toffset:%u;\tsize:%u;", &ret->offset, &ret->bytes) == 2;
}

struct error *tracepoint_find_field(const char *name, const char *const *roots, const char *field,
				    struct tracepoint_field *ret)
{
	CLEANUP(close_file) FILE *file = NULL;
	struct error *err = open_file(name, roots, "format", &file);
	char line[256];

	if (err)
		return err;
	while (fgets(line, sizeof(line), file))
		if (parse_field(line, field, ret))
			return NULL;
	return error_new("the tracepoint %s has no field %s", name, field);
}
