#include "proc/containers.h"

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/pids.h"
#include "proc/cgroup.h"
#include "proc/cgroup_name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* In a message. */
enum { SHOWN_MAX = 8 };

/* Distinct texts; ends with NULL. */
struct texts {
	char **items;
	size_t count, room;
};

static void texts_deinit(struct texts *texts)
{
	while (texts->count)
		free(texts->items[--texts->count]);
	free(texts->items);
}

static void add(struct texts *texts, const char *text, size_t len)
{
	for (size_t i = 0; i < texts->count; i++)
		if (strlen(texts->items[i]) == len && !memcmp(texts->items[i], text, len))
			return;
	if (texts->count + 1 >= texts->room) {
		texts->room = texts->room ? 2 * texts->room : 16;
		texts->items = xreallocarray(texts->items, texts->room, sizeof(*texts->items));
	}
	texts->items[texts->count++] = xstrndup(text, len);
	texts->items[texts->count] = NULL;
}

/* The cgroups of all processes. */
static void list_paths(const char *proc, struct texts *ret)
{
	CLEANUP(close_dir) DIR *dir = opendir(proc);

	for (pid_t pid; (pid = pids_next(dir));) {
		CLEANUP(free_ptr) char *path = cgroup_of_process(proc, pid);

		if (path)
			add(ret, path, strlen(path));
	}
}

/* The names in a path, and the cgroups among them that are wanted. */
static void look_at(const char *path, const char *wanted, struct texts *names, struct texts *found)
{
	struct cgroup_name name;
	size_t at = 0;

	while (cgroup_name_next(path, &at, &name)) {
		add(names, name.text, strlen(name.text));
		if (!cgroup_name_is(&name, wanted))
			continue;
		add(found, path, name.end);
		return;
	}
}

static struct error *say_ambiguous(const char *wanted, const struct texts *found)
{
	CLEANUP(free_ptr) char *list = xstrdup("");

	for (size_t i = 0; i < found->count && i < SHOWN_MAX; i++) {
		char *longer = xasprintf("%s%s%s", list, i ? ", " : "", found->items[i]);

		free(list);
		list = longer;
	}
	return error_hint(error_new("\"%s\" names %zu cgroups: %s%s", wanted, found->count, list,
				    found->count > SHOWN_MAX ? ", ..." : ""),
			  "give more digits of the id, or one of these to -G");
}

struct error *container_find(const char *proc, const char *wanted, char **ret)
{
	CLEANUP(texts_deinit) struct texts paths = {0};
	CLEANUP(texts_deinit) struct texts names = {0};
	CLEANUP(texts_deinit) struct texts found = {0};

	list_paths(proc, &paths);
	for (size_t i = 0; i < paths.count; i++)
		look_at(paths.items[i], wanted, &names, &found);
	if (found.count > 1)
		return say_ambiguous(wanted, &found);
	*ret = found.count ? xstrdup(found.items[0]) : NULL;
	return NULL;
}

static const char *nearest_of(const char *wanted, const struct texts *texts)
{
	return texts->count ? nearest(wanted, (const char *const *)texts->items) : NULL;
}

struct error *container_missing(const char *proc, const char *wanted)
{
	CLEANUP(texts_deinit) struct texts paths = {0};
	CLEANUP(texts_deinit) struct texts names = {0};
	CLEANUP(texts_deinit) struct texts found = {0};
	struct error *err = error_new("no process is in a container or service \"%s\"", wanted);
	const char *near;

	list_paths(proc, &paths);
	for (size_t i = 0; i < paths.count; i++)
		look_at(paths.items[i], wanted, &names, &found);
	near = nearest_of(wanted, &names);
	if (near)
		return error_hint(err, "did you mean %s?", near);
	return error_hint(err,
			  "cgroups have the ids of docker, podman and Kubernetes: docker inspect "
			  "-f '{{.Id}}' NAME, podman inspect -f '{{.Id}}' NAME or crictl ps "
			  "tell the id of a name");
}

struct error *cgroup_missing(const char *proc, const char *wanted)
{
	CLEANUP(texts_deinit) struct texts paths = {0};
	struct error *err = error_new("there is no cgroup \"%s\"", wanted);
	const char *near;

	list_paths(proc, &paths);
	near = nearest_of(wanted, &paths);
	return near ? error_hint(err, "did you mean %s?", near)
		    : error_hint(err, "systemd-cgls, or /proc/PID/cgroup, shows their paths");
}
