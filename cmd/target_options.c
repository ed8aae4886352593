#include "cmd/target_options.h"

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/pids.h"
#include "base/text.h"
#include "cmd/ui/message.h"
#include "proc/containers.h"
#include "proc/names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* TASK_COMM_LEN of the kernel, without the NUL. */
enum { COMM_LEN = 15 };

/* In front of a process's number, in place of the path of its cgroup. */
#define OF_PROCESS "pid:"

/* How often --wait looks. */
static const struct timespec wait_time = {.tv_nsec = 500000000};

static struct error *append_name(struct option_list *names, const char *text, size_t len)
{
	CLEANUP(free_ptr) char *name = xstrndup(text, len);

	if (!len)
		return error_new("a name is empty");
	/* The kernel cuts longer names. */
	if (len > COMM_LEN && !strpbrk(name, "*?["))
		name[COMM_LEN] = '\0';
	return option_append(names, name);
}

struct error *target_take_names(void *field, const char *argument)
{
	for (const char *at = argument;;) {
		size_t len = strcspn(at, ",");
		struct error *err = append_name(field, at, len);

		if (err || !at[len])
			return err;
		at += len + 1;
	}
}

static void forget_cgroup(struct target_options *options)
{
	cgroup_directory_deinit(&options->directory);
	if (options->cgroup_fd > 0)
		close(options->cgroup_fd);
	options->cgroup_fd = 0;
}

void target_options_deinit(struct target_options *options)
{
	forget_cgroup(options);
	option_list_deinit(&options->names);
	option_list_deinit(&options->threads);
}

bool target_is_chosen(const struct target_options *options)
{
	return options->cgroup || options->container || options->names.count;
}

static char *join(const struct option_list *names)
{
	char *all = xstrdup("");

	for (size_t i = 0; i < names->count; i++) {
		char *longer = xasprintf("%s%s%s", all, i ? " or " : "", names->items[i]);

		free(all);
		all = longer;
	}
	return all;
}

char *target_text(const struct target_options *options)
{
	CLEANUP(free_ptr) char *names = join(&options->names);

	if (options->container)
		return xasprintf("container %s", options->container);
	if (options->cgroup)
		return xasprintf("cgroup %s", options->cgroup);
	return xasprintf("processes named %s", names);
}

struct error *target_options_check(const struct target_options *options)
{
	int targets = (options->cgroup != NULL) + (options->container != NULL) +
		      (options->names.count > 0);

	if (targets > 1)
		return error_new("-G, --container and --name exclude each other");
	if (options->waits && !targets)
		return error_hint(error_new("--wait lacks what to wait for"),
				  "add --name NAME, --container NAME or -G PATH");
	return NULL;
}

/* *ret is NULL if there is none yet. */
static struct error *find_path(const struct target_options *options, char **ret)
{
	const char *pid = text_begins(options->cgroup ? options->cgroup : "", OF_PROCESS)
				  ? options->cgroup + strlen(OF_PROCESS)
				  : NULL;

	if (options->container)
		return container_find("/proc", options->container, ret);
	*ret = pid ? cgroup_of_process("/proc", atoi(pid)) : xstrdup(options->cgroup);
	return NULL;
}

static struct error *find_cgroup(struct target_options *options, bool *is_there)
{
	struct cgroup_directory *directory = &options->directory;
	CLEANUP(free_ptr) char *path = NULL;
	struct error *err = find_path(options, &path);

	*is_there = !err && path && cgroup_find_directory("/proc", path, directory);
	if (!*is_there)
		return err;
	options->choice.cgroup = directory->path;
	if (!directory->takes_events)
		return NULL;
	options->cgroup_fd = open(directory->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (options->cgroup_fd < 0)
		return error_errno(errno, "open %s", directory->path);
	options->choice.rule.cgroup = options->cgroup_fd;
	return NULL;
}

static void free_names(char ***names)
{
	for (char **name = *names; name && *name; name++)
		free(*name);
	free(*names);
}

static struct error *say_unnamed(const struct target_options *options)
{
	CLEANUP(free_ptr) char *text = target_text(options);
	CLEANUP(names_cleanup) struct names *names = names_new("/proc");
	CLEANUP(close_dir) DIR *proc = opendir("/proc");
	CLEANUP(free_names) char **running = NULL;
	size_t count = 0, room = 0;
	const char *near = NULL;

	for (pid_t pid; (pid = pids_next(proc));) {
		GROW(running, count, room);
		running[count++] = xstrdup(names_get(names, pid, pid));
	}
	GROW(running, count, room);
	running[count] = NULL;
	if (options->names.count == 1)
		near = nearest(options->names.items[0], (const char *const *)running);
	return near ? error_hint(error_new("there are no %s", text),
				 "did you mean %s? --wait waits for a process", near)
		    : error_hint(error_new("there are no %s", text), "--wait waits for one");
}

static struct error *say_missing(const struct target_options *options)
{
	if (options->names.count)
		return say_unnamed(options);
	return options->container ? container_missing("/proc", options->container)
				  : cgroup_missing("/proc", options->cgroup);
}

static struct error *find_now(struct target_options *options, bool *is_there, pid_t **ret,
			      size_t *ret_count)
{
	struct error *err = NULL;

	forget_cgroup(options);
	options->choice = (struct process_choice){
		.names = options->names.items,
		.name_count = options->names.count,
		.rule = {.cgroup = -1,
			 .names = options->names.items,
			 .name_count = options->names.count},
	};
	*is_there = true;
	if (!options->names.count)
		err = find_cgroup(options, is_there);
	if (err || !*is_there)
		return err;
	process_choice_list(&options->choice, ret, ret_count);
	if (*ret_count)
		return NULL;
	free(*ret);
	*ret = NULL;
	/* A cgroup can be filled later; a name can be mistyped. */
	*is_there = options->waits || !options->names.count;
	options->is_awaited = options->waits;
	return NULL;
}

struct error *target_options_find(struct target_options *options, bool says_wait, pid_t **ret,
				  size_t *ret_count)
{
	CLEANUP(free_ptr) char *text = target_text(options);
	bool is_there;
	struct error *err = find_now(options, &is_there, ret, ret_count);

	if (!err && says_wait && options->waits && (!is_there || options->is_awaited))
		message("waiting for %s", text);
	while (!err && !is_there && options->waits) {
		nanosleep(&wait_time, NULL);
		err = find_now(options, &is_there, ret, ret_count);
	}
	return err || is_there ? err : say_missing(options);
}

void target_options_apply(const struct target_options *options, struct record_config *config)
{
	config->choice = target_is_chosen(options) ? &options->choice : NULL;
	config->waits_for_target = options->is_awaited;
	config->thread_names = options->threads.items;
	config->thread_name_count = options->threads.count;
	config->keeps_own = options->includes_self;
}
