#include "proc/containers.h"

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/pids.h"
#include "proc/cgroup.h"
#include "proc/cgroup_name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* in a message */
enum { SHOWN_MAX = 8 };

/* A set of texts that ends with NULL. */
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

static void containers_add(struct texts *texts, const char *text, size_t len)
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

/* Lists the cgroups of all processes. */
static void list_paths(const char *proc, struct texts *ret)
{
	CLEANUP(close_dir) DIR *dir = opendir(proc);

	for (pid_t pid; (pid = pids_next(dir));) {
		CLEANUP(free_ptr) char *path = cgroup_of_process(proc, pid);

		if (path)
			containers_add(ret, path, strlen(path));
	}
}

/* Adds the names in a path, and the cgroups among them that match `wanted`. */
static void containers_look_at(const char *path, const char *wanted, struct texts *names,
			       struct texts *found)
{
	struct cgroup_name name;
	size_t at = 0;

	while (cgroup_name_next(path, &at, &name)) {
		containers_add(names, name.text, strlen(name.text));
		if (!cgroup_name_is(&name, wanted))
			continue;
		containers_add(found, path, name.end);
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
	return error_hint(error_new("\"%s\" matches %zu cgroups: %s%s", wanted, found->count, list,
				    found->count > SHOWN_MAX ? ", ..." : ""),
			  "give more digits of the id, or pass one of these to -G");
}

struct error *container_find(const char *proc, const char *wanted, char **ret)
{
	CLEANUP(texts_deinit) struct texts paths = {0};
	CLEANUP(texts_deinit) struct texts names = {0};
	CLEANUP(texts_deinit) struct texts found = {0};

	list_paths(proc, &paths);
	for (size_t i = 0; i < paths.count; i++)
		containers_look_at(paths.items[i], wanted, &names, &found);
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
	struct error *err = error_new("no process is in a container or service named \"%s\"",
				      wanted);
	const char *near;

	list_paths(proc, &paths);
	for (size_t i = 0; i < paths.count; i++)
		containers_look_at(paths.items[i], wanted, &names, &found);
	near = nearest_of(wanted, &names);
	if (near)
		return error_hint(err, "did you mean %s?", near);
	return error_hint(
		err, "containers of docker, podman and Kubernetes are known only by id; to get "
		     "it, run docker inspect -f '{{.Id}}' NAME, podman inspect -f "
		     "'{{.Id}}' NAME or crictl ps");
}

struct error *cgroup_missing(const char *proc, const char *wanted)
{
	CLEANUP(texts_deinit) struct texts paths = {0};
	struct error *err = error_new("cgroup \"%s\" does not exist", wanted);
	const char *near;

	list_paths(proc, &paths);
	near = nearest_of(wanted, &paths);
	return near ? error_hint(err, "did you mean %s?", near)
		    : error_hint(err, "for the paths, see systemd-cgls or /proc/PID/cgroup");
}
