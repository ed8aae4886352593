#include "cmd/options/target_options.h"

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

/* "pid:PID" is the cgroup of a process. */
#define OF_PROCESS "pid:"

/* The interval at which --wait checks. */
static const struct timespec wait_time = {.tv_nsec = 500000000};

/* Appends the words between commas. */
static struct error *target_options_take_list(struct option_list *list, const char *argument)
{
	for (const char *at = argument;;) {
		size_t len = strcspn(at, ",");
		CLEANUP(free_ptr) char *word = xstrndup(at, len);
		struct error *err = len ? option_append(list, word) : error_new("a name is empty");

		if (err || !at[len])
			return err;
		at += len + 1;
	}
}

struct error *target_take_names(void *field, const char *argument)
{
	struct option_list *names = field;
	size_t first = names->count;
	struct error *err = target_options_take_list(names, argument);

	/* The kernel cuts longer names. */
	for (size_t i = first; i < names->count; i++)
		if (strlen(names->items[i]) > COMM_LEN && !strpbrk(names->items[i], "*?["))
			names->items[i][COMM_LEN] = '\0';
	return err;
}

struct error *target_take_cgroups(void *field, const char *argument)
{
	struct cgroup_options *cgroups = field;

	cgroups->given++;
	return target_options_take_list(&cgroups->names, argument);
}

static void forget_cgroups(struct target_options *options)
{
	for (size_t i = 0; options->directory_fds && i < options->directories.count; i++)
		close_fd(&options->directory_fds[i]);
	free(STEAL(options->directory_fds));
	option_list_deinit(&options->directories);
	options->directories = (struct option_list){0};
}

void target_options_deinit(struct target_options *options)
{
	forget_cgroups(options);
	option_list_deinit(&options->cgroups.names);
	option_list_deinit(&options->names);
	option_list_deinit(&options->threads);
}

bool target_is_chosen(const struct target_options *options)
{
	return options->cgroups.given || options->container || options->names.count;
}

static char *target_options_join(const struct option_list *names)
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
	CLEANUP(free_ptr) char *cgroups = target_options_join(&options->cgroups.names);
	CLEANUP(free_ptr) char *names = target_options_join(&options->names);

	if (options->container)
		return xasprintf("container %s", options->container);
	if (options->cgroups.given)
		return xasprintf("cgroup %s", cgroups);
	return xasprintf("processes named %s", names);
}

/* Returns true if -G is one list of several cgroups, and there are several
 * events for them. */
static bool has_cgroup_per_event(const struct target_options *options, size_t event_count)
{
	return options->cgroups.given == 1 && options->cgroups.names.count > 1 && event_count > 1;
}

struct error *target_options_check(const struct target_options *options, size_t event_count)
{
	int targets = (options->cgroups.given > 0) + (options->container != NULL) +
		      (options->names.count > 0);

	if (targets > 1)
		return error_new("-G, --container and --name exclude each other");
	if (options->waits && !targets)
		return error_hint(error_new("--wait needs a target to wait for"),
				  "add --name NAME, --container NAME or -G PATH");
	if (has_cgroup_per_event(options, event_count) &&
	    options->cgroups.names.count != event_count)
		return error_hint(
			error_new("-G has %zu cgroups for %zu events", options->cgroups.names.count,
				  event_count),
			"-G A,B gives each event a cgroup of its own, -G A -G B each event "
			"all cgroups");
	return NULL;
}

/* Finds the path of a cgroup by its name, or of the container if name is NULL.
 * *ret is NULL if it does not exist yet. */
static struct error *target_options_find_path(const struct target_options *options,
					      const char *cgroup, char **ret)
{
	if (!cgroup)
		return container_find("/proc", options->container, ret);
	*ret = text_begins(cgroup, OF_PROCESS)
		       ? cgroup_of_process("/proc", atoi(cgroup + strlen(OF_PROCESS)))
		       : xstrdup(cgroup);
	return NULL;
}

static bool target_options_is_in(const char *directory, const char *above)
{
	size_t len = strlen(above);

	return text_begins(directory, above) && (!directory[len] || directory[len] == '/');
}

/* If a cgroup were inside another one, its processes would be sampled twice. */
static void target_options_add_directory(struct option_list *directories, const char *directory,
					 bool may_be_inside)
{
	CLEANUP(free_ptr) char *path = realpath(directory, NULL);
	size_t kept = 0;

	if (!path)
		path = xstrdup(directory);

	for (size_t i = 0; i < directories->count && !may_be_inside; i++)
		if (target_options_is_in(path, directories->items[i]))
			return;
	for (size_t i = 0; i < directories->count; i++) {
		if (may_be_inside || !target_options_is_in(directories->items[i], path))
			directories->items[kept++] = directories->items[i];
		else
			free(directories->items[i]);
	}
	directories->count = kept;
	GROW(directories->items, directories->count, directories->room);
	directories->items[directories->count++] = STEAL(path);
}

/* Finds the directories of all cgroups. *missing: a cgroup or container that
 * does not exist yet, or NULL. */
static struct error *find_directories(struct target_options *options, size_t event_count,
				      const char **missing, bool *take_events)
{
	const struct option_list *names = &options->cgroups.names;

	*take_events = true;
	for (size_t i = 0; i < (names->count ? names->count : 1); i++) {
		const char *name = names->count ? names->items[i] : NULL;
		CLEANUP(cgroup_directory_deinit) struct cgroup_directory directory = {0};
		CLEANUP(free_ptr) char *path = NULL;
		struct error *err = target_options_find_path(options, name, &path);

		*missing = name ? name : options->container;
		if (err || !path || !cgroup_find_directory("/proc", path, &directory))
			return err;
		*take_events &= directory.takes_events;
		target_options_add_directory(&options->directories, directory.path,
					     has_cgroup_per_event(options, event_count));
	}
	*missing = NULL;
	return NULL;
}

static struct error *open_directories(struct target_options *options)
{
	const struct option_list *directories = &options->directories;
	int *fds = options->directory_fds = xcalloc(directories->count, sizeof(*fds));
	struct error *err = NULL;

	for (size_t i = 0; i < directories->count; i++) {
		fds[i] = open(directories->items[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fds[i] < 0 && !err)
			err = error_errno(errno, "open %s", directories->items[i]);
	}
	options->choice.rule.cgroups = fds;
	options->choice.rule.cgroup_count = directories->count;
	return err;
}

static struct error *find_cgroups(struct target_options *options, size_t event_count,
				  const char **missing)
{
	bool take_events;
	struct error *err = find_directories(options, event_count, missing, &take_events);

	if (err || *missing)
		return err;
	options->choice.cgroups = options->directories.items;
	options->choice.cgroup_count = options->directories.count;
	options->choice.rule.has_cgroup_per_event = has_cgroup_per_event(options, event_count);
	return take_events ? open_directories(options) : NULL;
}

static void target_options_free_names(char ***names)
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
	CLEANUP(target_options_free_names) char **running = NULL;
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
				 "did you mean %s? --wait waits until one starts", near)
		    : error_hint(error_new("there are no %s", text),
				 "--wait waits until one starts");
}

static struct error *say_missing(const struct target_options *options, const char *missing)
{
	if (!missing)
		return say_unnamed(options);
	return options->container ? container_missing("/proc", missing)
				  : cgroup_missing("/proc", missing);
}

/* *is_there: the recording may start. Otherwise *missing is what does not exist
 * yet; NULL means a process. */
static struct error *find_now(struct target_options *options, size_t event_count, bool *is_there,
			      const char **missing, pid_t **ret, size_t *ret_count)
{
	struct error *err = NULL;

	forget_cgroups(options);
	options->choice = (struct process_choice){
		.names = options->names.items,
		.name_count = options->names.count,
		.rule = {.names = options->names.items, .name_count = options->names.count},
	};
	*missing = NULL;
	if (!options->names.count)
		err = find_cgroups(options, event_count, missing);
	*is_there = !*missing;
	if (err || !*is_there)
		return err;
	process_choice_list(&options->choice, ret, ret_count);
	if (*ret_count)
		return NULL;
	free(*ret);
	*ret = NULL;
	/* A cgroup may get processes later, but a name may be misspelled. */
	*is_there = options->waits || !options->names.count;
	options->is_awaited = options->waits;
	return NULL;
}

struct error *target_options_find(struct target_options *options, size_t event_count,
				  bool says_wait, pid_t **ret, size_t *ret_count)
{
	CLEANUP(free_ptr) char *text = target_text(options);
	const char *missing;
	bool is_there;
	struct error *err = find_now(options, event_count, &is_there, &missing, ret, ret_count);

	if (!err && says_wait && options->waits && (!is_there || options->is_awaited))
		message("waiting for %s", text);
	while (!err && !is_there && options->waits) {
		nanosleep(&wait_time, NULL);
		err = find_now(options, event_count, &is_there, &missing, ret, ret_count);
	}
	return err || is_there ? err : say_missing(options, missing);
}

void target_options_apply(const struct target_options *options, struct record_config *config)
{
	config->target.choice = target_is_chosen(options) ? &options->choice : NULL;
	config->target.is_awaited = options->is_awaited;
	config->target.thread_names = options->threads.items;
	config->target.thread_name_count = options->threads.count;
	config->target.keeps_own = options->includes_self;
}
