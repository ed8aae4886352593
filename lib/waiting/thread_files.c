#include "waiting/thread_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const thread_file_names[THREAD_FILES] = {
	[THREAD_SYSCALL] = "syscall", [THREAD_WCHAN] = "wchan", [THREAD_SCHEDSTAT] = "schedstat",
	[THREAD_STACK] = "stack",     [THREAD_COMM] = "comm",	[THREAD_STAT] = "stat",
};

int thread_files_open(struct thread_files *thread, pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tid);
	thread->dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (thread->dir < 0)
		return -errno;
	thread->pid = pid;
	thread->tid = tid;
	for (int i = 0; i < THREAD_FILES; i++)
		thread->files[i] = -1;
	thread->has_our_ids = -1;
	return 0;
}

void thread_files_close(struct thread_files *thread)
{
	if (!thread->tid)
		return;
	close(thread->dir);
	for (int i = 0; i < THREAD_FILES; i++)
		if (thread->files[i] >= 0)
			close(thread->files[i]);
	thread->pid = thread->tid = 0;
}

ssize_t thread_files_read(struct thread_files *thread, enum thread_file file, char *into,
			  size_t len)
{
	int *fd = &thread->files[file];
	ssize_t got;

	into[0] = '\0';
	if (*fd < 0)
		*fd = openat(thread->dir, thread_file_names[file], O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return -errno;
	got = pread(*fd, into, len - 1, 0);
	if (got < 0)
		return -errno;
	into[got] = '\0';
	return got;
}

bool thread_files_has_our_ids(struct thread_files *thread)
{
	struct stat theirs, ours;

	if (thread->has_our_ids < 0)
		thread->has_our_ids = fstatat(thread->dir, "ns/pid", &theirs, 0) == 0 &&
				      stat("/proc/self/ns/pid", &ours) == 0 &&
				      theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
	return thread->has_our_ids;
}

void kept_threads_clear(struct kept_threads *kept)
{
	for (int i = 0; i < THREADS_KEPT; i++)
		thread_files_close(&kept->items[i].files);
	*kept = (struct kept_threads){0};
}

static struct kept_thread *thread_files_place_of(struct kept_threads *kept, pid_t tid)
{
	return &kept->items[(unsigned)tid % THREADS_KEPT];
}

int kept_threads_enter(struct kept_threads *kept, pid_t pid, pid_t tid, struct thread_files *own,
		       struct thread_files **ret)
{
	struct kept_thread *place = thread_files_place_of(kept, tid);
	bool is_again = place->pid == pid && place->tid == tid;
	int number;

	*ret = is_again ? &place->files : own;
	if (is_again && place->files.tid)
		return 0;
	if (!is_again)
		thread_files_close(&place->files);
	place->pid = pid;
	place->tid = tid;
	number = thread_files_open(*ret, pid, tid);
	if (number != -EMFILE && number != -ENFILE)
		return number;
	kept_threads_clear(kept);
	*ret = own;
	return thread_files_open(own, pid, tid);
}

void kept_threads_leave(struct thread_files *own, struct thread_files *thread)
{
	if (thread == own)
		thread_files_close(own);
}

bool kept_threads_forget(struct kept_threads *kept, pid_t tid)
{
	struct kept_thread *place = thread_files_place_of(kept, tid);
	bool was_kept = place->files.tid == tid;

	thread_files_close(&place->files);
	place->pid = place->tid = 0;
	return was_kept;
}
