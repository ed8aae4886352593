#include "perf/tracepoint.h"

#include "base/alloc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <mntent.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Used if tracefs is not mounted yet, or the mounts cannot be read. */
static const char *const usual_roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing", NULL};

/* Maximum size of a tracefs file; the kernel's largest formats have 20 KB. */
enum { TRACEPOINT_FILE_BYTES_MAX = 256 << 10 };

/* Returns the length of the word at `at`. wildcards: '*' and '?' count as
 * letters. */
static size_t word_len(const char *at, bool wildcards)
{
	size_t len = 0;

	while (isalnum((unsigned char)at[len]) || at[len] == '_' || at[len] == '-' ||
	       (wildcards && (at[len] == '*' || at[len] == '?')))
		len++;
	return len;
}

static bool is_pair(const char *name, bool wildcards)
{
	size_t subsystem = word_len(name, wildcards);
	size_t event = name[subsystem] == ':' ? word_len(name + subsystem + 1, wildcards) : 0;

	return subsystem && event && name[subsystem + 1 + event] == '\0';
}

bool tracepoint_is_name(const char *name)
{
	return is_pair(name, false);
}

bool tracepoint_is_pattern(const char *name)
{
	return is_pair(name, true) && strpbrk(name, "*?");
}

static struct error *explain_no_tracefs(int number, const char *name)
{
	struct error *err = error_errno(number, "look up the tracepoint %s", name);

	if (number == EACCES || number == EPERM)
		return error_hint(err, "only root may read tracefs: run prof as root (sudo)");
	return error_hint(err, "sudo mount -t tracefs nodev /sys/kernel/tracing");
}

/* Returns whether the directory contains tracepoints; otherwise sets errno. */
static bool has_events(const char *root)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/events/.", root);
	struct stat st;

	return stat(path, &st) == 0;
}

/* Finds the first usual root that has tracepoints. Returns 0 or the most
 * specific errno. */
static int find_usual(const char *const *roots, char **ret)
{
	int number = ENOENT;

	for (; *roots; roots++) {
		if (has_events(*roots)) {
			*ret = xstrdup(*roots);
			return 0;
		}
		if (errno != ENOENT)
			number = errno;
	}
	return number;
}

/* The tracefs directory of debugfs is an automount point, mounted on first
 * access. */
static bool find_mounted(char **ret)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount;
	bool is_found = false;

	while (mounts && !is_found && (mount = getmntent(mounts))) {
		bool is_debugfs = !strcmp(mount->mnt_type, "debugfs");

		if (!is_debugfs && strcmp(mount->mnt_type, "tracefs") != 0)
			continue;
		*ret = xasprintf("%s%s", mount->mnt_dir, is_debugfs ? "/tracing" : "");
		is_found = has_events(*ret);
		if (!is_found)
			free(STEAL(*ret));
	}
	if (mounts)
		endmntent(mounts);
	return is_found;
}

/* Returns 0 or an errno. */
static int find_root(const char *const *roots, char **ret)
{
	if (roots)
		return find_usual(roots, ret);
	return find_mounted(ret) ? 0 : find_usual(usual_roots, ret);
}

/* name is for the error message. */
static struct error *tracepoint_read_file(const char *name, const char *root, const char *path,
					  char **ret)
{
	CLEANUP(free_ptr) char *whole = xasprintf("%s/%s", root, path);
	CLEANUP(close_file) FILE *file = fopen(whole, "re");
	char *text;
	size_t len;

	if (!file && errno == ENOENT)
		return error_new("this kernel has no tracepoint %s", name);
	if (!file)
		return explain_no_tracefs(errno, name);
	text = xmalloc(TRACEPOINT_FILE_BYTES_MAX + 1);
	len = fread(text, 1, TRACEPOINT_FILE_BYTES_MAX, file);
	text[len] = '\0';
	*ret = text;
	return NULL;
}

static struct error *read_event_file(const char *name, const char *const *roots, const char *which,
				     char **ret)
{
	CLEANUP(free_ptr) char *root = NULL, *path = NULL;
	int subsystem_len = (int)word_len(name, false);
	int number = find_root(roots, &root);

	if (number)
		return explain_no_tracefs(number, name);
	path = xasprintf("events/%.*s/%s/%s", subsystem_len, name, name + subsystem_len + 1, which);
	return tracepoint_read_file(name, root, path, ret);
}

struct error *tracepoint_id(const char *name, const char *const *roots, uint64_t *ret)
{
	CLEANUP(free_ptr) char *text = NULL;
	struct error *err = read_event_file(name, roots, "id", &text);

	if (!err && sscanf(text, "%" SCNu64, ret) != 1)
		err = error_new("the id of the tracepoint %s is not a number", name);
	return err;
}

struct error *tracepoint_read_format(const char *name, const char *const *roots,
				     struct tracepoint_format *ret)
{
	CLEANUP(free_ptr) char *text = NULL;
	struct error *err = read_event_file(name, roots, "format", &text);

	if (!err && !tracepoint_format_parse(bytes_of(text, strlen(text)), ret))
		err = error_new("the format of the tracepoint %s has no id", name);
	return err;
}

struct error *tracepoint_read_text(const char *path, const char *const *roots, char **ret)
{
	CLEANUP(free_ptr) char *root = NULL, *inner = xasprintf("events/%s", path);
	int number = find_root(roots, &root);

	return number ? explain_no_tracefs(number, path)
		      : tracepoint_read_file(path, root, inner, ret);
}

void tracepoint_names_deinit(struct tracepoint_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
}

static void free_entries(struct dirent **entries, int count)
{
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
}

static void list_subsystem(const char *events, const char *subsystem, const char *pattern,
			   struct tracepoint_names *names)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", events, subsystem);
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		CLEANUP(free_ptr) char *name = xasprintf("%s:%s", subsystem, entries[i]->d_name);

		/* Skips the files enable and filter. */
		if (entries[i]->d_type != DT_DIR || !tracepoint_is_name(name) ||
		    fnmatch(pattern, name, 0) != 0)
			continue;
		GROW(names->items, names->count, names->room);
		names->items[names->count++] = STEAL(name);
	}
	free_entries(entries, count);
}

struct error *tracepoint_list(const char *pattern, const char *const *roots,
			      struct tracepoint_names *ret)
{
	CLEANUP(free_ptr) char *root = NULL, *events = NULL;
	struct dirent **entries = NULL;
	int number = find_root(roots, &root), count;

	*ret = (struct tracepoint_names){0};
	if (number)
		return explain_no_tracefs(number, pattern);
	events = xasprintf("%s/events", root);
	count = scandir(events, &entries, NULL, alphasort);
	if (count < 0)
		return explain_no_tracefs(errno, pattern);
	for (int i = 0; i < count; i++)
		if (entries[i]->d_type == DT_DIR && entries[i]->d_name[0] != '.')
			list_subsystem(events, entries[i]->d_name, pattern, ret);
	free_entries(entries, count);
	return NULL;
}
