#include "inside/file.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/pids.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

/*
 * Above the descriptors that shells and programs use, and below the usual limit
 * of 1,024.
 */
enum { HIGH_DESCRIPTOR = 960 };

/* The target of a memfd's link in /proc/PID/fd. */
#define LINK_NAME "/memfd:" INSIDE_FILE_NAME " (deleted)"

static struct error *map(struct inside_file *file)
{
	void *at = mmap(NULL, INSIDE_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);

	if (at == MAP_FAILED)
		return error_errno(errno, "map %llu MiB shared with a program",
				   (unsigned long long)INSIDE_FILE_BYTES >> 20);
	file->mapped = at;
	file->control = at;
	return NULL;
}

/*
 * Returns the inode of a namespace file, or 0 if unknown, which the library
 * takes for another namespace.
 */
static uint32_t own_namespace(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint32_t)st.st_ino : 0;
}

static uint32_t own_pid_namespace(void)
{
	return own_namespace("/proc/self/ns/pid");
}

/*
 * F_SEAL_SHRINK is needed because an access beyond the end of a mapped file
 * raises SIGBUS in the reader.
 */
enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

struct error *inside_file_make(struct inside_file *ret)
{
	struct inside_file file = {
		.fd = memfd_create(INSIDE_FILE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING),
		.claim_fd = -1,
	};
	struct error *err;

	if (file.fd < 0)
		return error_errno(errno, "make a file shared with a program (memfd_create)");
	if (ftruncate(file.fd, (off_t)INSIDE_FILE_BYTES) < 0 ||
	    fcntl(file.fd, F_ADD_SEALS, SEALS) < 0)
		err = error_errno(errno, "make a file shared with a program");
	else
		err = map(&file);
	if (err) {
		close(file.fd);
		return err;
	}
	file.control->pid_namespace = own_pid_namespace();
	file.control->time_namespace = own_namespace("/proc/self/ns/time");
	file.control->time_offset_ns = clock_offset_ns("/proc/self");
	file.control->version = INSIDE_VERSION;
	__atomic_store_n(&file.control->magic, INSIDE_MAGIC, __ATOMIC_RELEASE);
	*ret = file;
	return NULL;
}

static bool is_link(const char *path)
{
	char link[sizeof(LINK_NAME)];
	ssize_t len = readlink(path, link, sizeof(link));

	return len == sizeof(LINK_NAME) - 1 && memcmp(link, LINK_NAME, sizeof(LINK_NAME) - 1) == 0;
}

/* A file that could shrink could kill its reader. */
static bool is_sealed(const struct inside_file *file)
{
	struct stat st;

	return fstat(file->fd, &st) == 0 && (uint64_t)st.st_size == INSIDE_FILE_BYTES &&
	       (fcntl(file->fd, F_GET_SEALS) & F_SEAL_SHRINK);
}

static struct error *inside_file_check(pid_t pid, const struct inside_file *file)
{
	const struct inside_control *control = file->control;

	if (__atomic_load_n(&control->magic, __ATOMIC_ACQUIRE) != INSIDE_MAGIC ||
	    __atomic_load_n(&control->version, __ATOMIC_RELAXED) != INSIDE_VERSION)
		return error_hint(
			error_new("process %d runs another version of " INSIDE_LIBRARY_NAME,
				  (int)pid),
			"start it again: prof inside COMMAND");
	if (__atomic_load_n(&control->pid_namespace, __ATOMIC_RELAXED) != own_pid_namespace())
		return error_hint(
			error_new("process %d was started in another PID namespace", (int)pid),
			"run prof in its container");
	return NULL;
}

/*
 * All memfds are on one kernel-internal file system. The text of a link is not
 * enough, because a file on a file system that never answers can have the same
 * name.
 */
static bool is_memfd(int fd)
{
	CLEANUP(close_fd) int own = memfd_create(INSIDE_FILE_NAME, MFD_CLOEXEC);
	struct stat it, known;

	return own >= 0 && fstat(fd, &it) == 0 && fstat(own, &known) == 0 &&
	       it.st_dev == known.st_dev;
}

/*
 * Opens O_PATH first, because opening another file could wait for the holder of
 * a lease.
 */
static int open_memfd(const char *path)
{
	CLEANUP(close_fd) int found = open(path, O_PATH | O_CLOEXEC);
	CLEANUP(free_ptr) char *again = xasprintf("/proc/self/fd/%d", found);

	if (found >= 0 && is_memfd(found))
		return open(again, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (found >= 0)
		errno = EINVAL;
	return -1;
}

static struct error *open_shared(pid_t pid, const char *path, struct inside_file *ret)
{
	struct inside_file file = {.fd = open_memfd(path), .claim_fd = -1};
	struct error *err;

	if (file.fd < 0)
		return error_hint(error_errno(errno, "open %s", path), "run prof as root (sudo)");
	if (!is_sealed(&file))
		err = error_new("process %d has an unsealed memory file of " INSIDE_LIBRARY_NAME,
				(int)pid);
	else
		err = map(&file);
	if (!err)
		err = inside_file_check(pid, &file);
	if (err)
		inside_file_close(&file);
	else
		*ret = file;
	return err;
}

static struct error *inside_file_missing(pid_t pid)
{
	return error_hint(
		error_errno(ENOENT, "process %d does not run " INSIDE_LIBRARY_NAME, (int)pid),
		"start it with: prof inside COMMAND");
}

/*
 * Finds the file of a program that has closed all descriptors. The library's
 * mapping is still there, and root can open it through /proc/PID/map_files.
 */
static struct error *inside_file_find_mapping(pid_t pid, struct inside_file *ret)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/maps", (int)pid);
	CLEANUP(close_file) FILE *maps = fopen(path, "re");
	CLEANUP(free_ptr) char *line = NULL;
	size_t room = 0;

	if (!maps)
		return error_errno(errno, "open %s", path);
	while (getline(&line, &room, maps) > 0) {
		CLEANUP(free_ptr) char *mapped = NULL;
		unsigned long start, end;

		if (!strstr(line, LINK_NAME) || sscanf(line, "%lx-%lx", &start, &end) != 2)
			continue;
		mapped = xasprintf("/proc/%d/map_files/%lx-%lx", (int)pid, start, end);
		return open_shared(pid, mapped, ret);
	}
	return inside_file_missing(pid);
}

struct error *inside_file_find(pid_t pid, struct inside_file *ret)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/fd", (int)pid);
	CLEANUP(close_dir) DIR *dir = opendir(path);

	if (!dir)
		return errno == ENOENT ? error_errno(ESRCH, "no process %d", (int)pid)
				       : error_hint(error_errno(errno, "open %s", path),
						    "run prof as root (sudo), or as its user");
	for (struct dirent *entry; (entry = readdir(dir));) {
		CLEANUP(free_ptr) char *link = xasprintf("%s/%s", path, entry->d_name);

		if (is_link(link))
			return open_shared(pid, link, ret);
	}
	return inside_file_find_mapping(pid, ret);
}

void inside_file_close(struct inside_file *file)
{
	if (file->mapped)
		munmap(file->mapped, INSIDE_FILE_BYTES);
	close_fd(&file->fd);
	close_fd(&file->claim_fd);
	*file = (struct inside_file){.fd = -1, .claim_fd = -1};
}

/*
 * The programs share the open file description, and with it any lock on it. So
 * the claim uses a file description of its own.
 */
bool inside_file_claim(struct inside_file *file)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/self/fd/%d", file->fd);
	CLEANUP(close_fd) int own = open(path, O_RDWR | O_CLOEXEC);
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

	if (own < 0 || fcntl(own, F_OFD_SETLK, &lock) < 0)
		return false;
	close_fd(&file->claim_fd);
	file->claim_fd = steal_fd(&own);
	return true;
}

/*
 * Returns the descriptor under the highest free number below the limit, or `fd`
 * itself if none is free.
 */
static int raise_descriptor(int fd)
{
	struct rlimit limit = {.rlim_cur = 1024};
	int from = HIGH_DESCRIPTOR, high;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= HIGH_DESCRIPTOR)
		from = (int)limit.rlim_cur * 3 / 4;
	if (fd >= from)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, from);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

void inside_file_raise(struct inside_file *file)
{
	file->fd = raise_descriptor(file->fd);
}

struct error *inside_file_lead(struct inside_file *file, pid_t owner)
{
	CLEANUP(free_ptr) char *library = NULL, *preload = NULL, *handover = NULL;
	struct error *err = inside_library_path(&library);
	const char *others = getenv("LD_PRELOAD");

	if (err)
		return err;
	inside_file_raise(file);
	if (others && *others)
		preload = xasprintf("%s:%s", library, others);
	handover = xasprintf("%d:%d", file->fd, (int)owner);
	if (fcntl(file->fd, F_SETFD, 0) < 0 || setenv(INSIDE_VARIABLE, handover, 1) < 0 ||
	    setenv("LD_PRELOAD", preload ? preload : library, 1) < 0)
		return error_errno(errno, "prepare the environment of a program");
	return NULL;
}
