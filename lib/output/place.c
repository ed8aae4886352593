#include "output/place.h"

#include "base/alloc.h"
#include "base/trusted_user.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The kernel's limit: path_resolution(7). */
enum { LINKS_MAX = 40 };

/* State of walking a path. */
struct walk {
	const char *path; /* as given */
	bool to_directory;
	char *done; /* the part that was walked, without symbolic links; ends with / or is empty */
	char *rest; /* the remaining part */
	int at;	    /* O_PATH descriptor of `done` */
	unsigned links;
};

/* One component of a path. */
struct component {
	char *name;
	bool is_last;
	int fd; /* O_PATH descriptor; -1 if it does not exist */
	struct stat st;
};

static void walk_deinit(struct walk *walk)
{
	free(walk->done);
	free(walk->rest);
	close_fd(&walk->at);
}

static void component_deinit(struct component *component)
{
	free(component->name);
	close_fd(&component->fd);
}

int output_descriptor(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		size_t len = strlen(folders[i]);

		if (!strncmp(path, folders[i], len) && isdigit((unsigned char)path[len]) &&
		    !path[len + strspn(path + len, "0123456789")])
			return atoi(path + len);
	}
	return -1;
}

/* Whether other users cannot add files to the directory, or replace files of
 * trusted users in it. */
static bool is_guarded(const struct stat *folder)
{
	return is_trusted_user(folder->st_uid) &&
	       (!is_writable_by_others(folder) || folder->st_mode & S_ISVTX);
}

/* Accepts /dev and /dev/pts, where terminals belong to the logged-in users. */
static bool is_of_devices(int fd, const struct stat *folder)
{
	struct statfs fs;
	struct stat dev;

	if (folder->st_mode & S_IWOTH)
		return false;
	return (stat("/dev", &dev) == 0 && dev.st_dev == folder->st_dev &&
		dev.st_ino == folder->st_ino) ||
	       (fstatfs(fd, &fs) == 0 && fs.f_type == DEVPTS_SUPER_MAGIC);
}

static const char *output_place_kind_of(mode_t mode)
{
	if (S_ISLNK(mode))
		return "symbolic link";
	if (S_ISFIFO(mode))
		return "FIFO";
	return S_ISSOCK(mode) ? "socket" : "device";
}

/* Opening or following anything but a regular file or a directory has side
 * effects. It must come from a trusted user. */
static struct error *check_trust(const struct walk *walk, const struct component *component)
{
	const char *kind = output_place_kind_of(component->st.st_mode);
	struct stat folder;

	if (fstat(walk->at, &folder) < 0)
		return error_errno(errno, "open %s", walk->path);
	if (is_of_devices(walk->at, &folder))
		return NULL;
	if (!is_trusted_user(component->st.st_uid))
		return error_hint(error_new("%s%s is a %s of another user", walk->done,
					    component->name, kind),
				  S_ISLNK(component->st.st_mode)
					  ? "remove it, or use the file that it points to"
					  : "remove it, or use another file");
	if (!is_guarded(&folder))
		return error_hint(error_new("%s%s is a %s that another user could have created",
					    walk->done, component->name, kind),
				  "use a directory that only you can write to");
	return NULL;
}

static struct error *output_place_begin(struct walk *walk, char *rest)
{
	bool is_absolute = *rest == '/';

	free(walk->rest);
	walk->rest = rest;
	if (walk->at >= 0 && !is_absolute)
		return NULL;
	close_fd(&walk->at);
	free(walk->done);
	walk->done = xstrdup(is_absolute ? "/" : "");
	walk->at = open(is_absolute ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return walk->at < 0 ? error_errno(errno, "open %s", walk->path) : NULL;
}

/* Removes the next component from the rest. Returns false if there is none: the
 * path names a directory. */
static bool output_place_take(struct walk *walk, struct component *ret)
{
	char *start = walk->rest + strspn(walk->rest, "/");
	size_t len = strcspn(start, "/");
	size_t slashes = walk->to_directory ? strspn(start + len, "/") : 0;

	if (!len)
		return false;
	*ret = (struct component){
		.name = xstrndup(start, len), .is_last = !start[len + slashes], .fd = -1};
	memmove(walk->rest, start + len, strlen(start + len) + 1);
	return true;
}

/* The directory of the file does not exist. */
static struct error *output_place_lacks_folder(const struct walk *walk)
{
	struct error *err = error_errno(ENOENT, "open %s", walk->path);
	const char *slash = strrchr(walk->path, '/');

	if (!slash || walk->links)
		return err;
	return error_hint(err, "create its directory first: mkdir -p %.*s",
			  (int)(slash - walk->path), walk->path);
}

static struct error *output_place_look_at(const struct walk *walk, struct component *component)
{
	component->fd = openat(walk->at, component->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (component->fd < 0 && component->is_last && errno == ENOENT)
		return NULL;
	if (component->fd < 0 && errno == ENOENT)
		return output_place_lacks_folder(walk);
	if (component->fd < 0 || fstat(component->fd, &component->st) < 0)
		return error_errno(errno, "open %s", walk->path);
	return NULL;
}

static void output_place_enter(struct walk *walk, struct component *component)
{
	char *done = xasprintf("%s%s/", walk->done, component->name);

	free(walk->done);
	walk->done = done;
	close_fd(&walk->at);
	walk->at = steal_fd(&component->fd);
}

/* Links in /proc can refer to objects without a name, such as pipes. */
static bool is_special_in_proc(const struct walk *walk, struct component *link)
{
	struct statfs fs;
	int end;

	if (!link->is_last || fstatfs(link->fd, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC)
		return false;
	end = openat(walk->at, link->name, O_PATH | O_CLOEXEC);
	if (end < 0 || fstat(end, &link->st) < 0 || S_ISREG(link->st.st_mode) ||
	    S_ISDIR(link->st.st_mode)) {
		close_fd(&end);
		return false;
	}
	close_fd(&link->fd);
	link->fd = end;
	return true;
}

static struct error *output_place_follow(struct walk *walk, const struct component *link)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(link->fd, "", target, sizeof(target) - 1);

	if (len < 0)
		return error_errno(errno, "follow the link %s", walk->path);
	if (walk->links++ == LINKS_MAX)
		return error_errno(ELOOP, "follow the link %s", walk->path);
	target[len] = '\0';
	return output_place_begin(walk, xasprintf("%s%s", target, walk->rest));
}

/* The path ends at the directory where the walk is. */
static struct error *arrive_at_directory(struct walk *walk, struct output_place *ret)
{
	if (!walk->to_directory || !*walk->path)
		return error_errno(*walk->path ? EISDIR : ENOENT, "write %s", walk->path);
	ret->folder = steal_fd(&walk->at);
	return NULL;
}

static struct error *arrive(struct walk *walk, struct component *last, struct output_place *ret)
{
	if (last->fd >= 0 && S_ISDIR(last->st.st_mode)) {
		output_place_enter(walk, last);
		return arrive_at_directory(walk, ret);
	}
	if (last->fd >= 0 && walk->to_directory)
		return error_errno(ENOTDIR, "open %s", walk->path);
	ret->path = xasprintf("%s%s", walk->done, last->name);
	if (last->fd >= 0 && !S_ISREG(last->st.st_mode)) {
		ret->special = steal_fd(&last->fd);
		return NULL;
	}
	ret->name = ret->path + strlen(walk->done);
	ret->folder = steal_fd(&walk->at);
	return NULL;
}

/* Sets *arrived when ret is complete. */
static struct error *output_place_step(struct walk *walk, struct output_place *ret, bool *arrived)
{
	CLEANUP(component_deinit) struct component component = {.fd = -1};
	struct error *err;
	bool is_link;

	*arrived = !output_place_take(walk, &component);
	if (*arrived)
		return arrive_at_directory(walk, ret);
	err = output_place_look_at(walk, &component);
	is_link = !err && component.fd >= 0 && S_ISLNK(component.st.st_mode);
	if (!err && component.fd >= 0 && !S_ISREG(component.st.st_mode) &&
	    !S_ISDIR(component.st.st_mode))
		err = check_trust(walk, &component);
	if (err)
		return err;
	if (is_link && !is_special_in_proc(walk, &component))
		return output_place_follow(walk, &component);
	*arrived = component.is_last;
	if (component.is_last)
		return arrive(walk, &component, ret);
	output_place_enter(walk, &component);
	return NULL;
}

static struct error *place_find_folder(const char *path, bool to_directory,
				       struct output_place *ret)
{
	CLEANUP(walk_deinit)
	struct walk walk = {.path = path, .to_directory = to_directory, .at = -1};
	struct output_place place = OUTPUT_PLACE_INIT;
	struct error *err = output_place_begin(&walk, xstrdup(path));
	bool arrived = false;

	while (!err && !arrived) {
		const char *rest = walk.rest + strspn(walk.rest, "/");
		CLEANUP(free_ptr) char *whole = xasprintf("%s%s", walk.done, rest);

		place.descriptor = to_directory ? -1 : output_descriptor(whole);
		arrived = place.descriptor >= 0;
		if (arrived)
			place.path = STEAL(whole);
		else
			err = output_place_step(&walk, &place, &arrived);
	}
	if (!err)
		*ret = place;
	return err;
}

struct error *output_place_find(const char *path, struct output_place *ret)
{
	return place_find_folder(path, false, ret);
}

struct error *output_place_find_directory(const char *path, struct output_place *ret)
{
	return place_find_folder(path, true, ret);
}

void output_place_deinit(struct output_place *place)
{
	free(place->path);
	close_fd(&place->special);
	close_fd(&place->folder);
	*place = (struct output_place)OUTPUT_PLACE_INIT;
}
