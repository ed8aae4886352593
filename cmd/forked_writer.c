#include "cmd/forked_writer.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child's own children hold the other end: a file may still be put into its place. */
static void wait_for_all(int fd)
{
	char byte;

	while (read(fd, &byte, sizeof(byte)) < 0 && errno == EINTR)
		continue;
}

void forked_writer_wait(struct forked_writer *writer)
{
	struct forked_writer_end end = {0};
	struct rusage usage = {0};

	if (!writer->pid)
		return;
	loop_unwatch(writer->loop, STEAL(writer->watch));
	close_fd(&writer->pidfd);
	while (wait4(writer->pid, &end.status, 0, &usage) < 0 && errno == EINTR)
		continue;
	wait_for_all(writer->all_ended);
	close_fd(&writer->all_ended);
	writer->pid = 0;
	end.cpu_ns = clock_ns_of(usage.ru_utime) + clock_ns_of(usage.ru_stime);
	writer->ended(writer->user, &end);
}

static void on_end(void *user)
{
	forked_writer_wait(user);
}

struct error *forked_writer_start(struct forked_writer *writer, struct loop *loop,
				  int (*child)(void *user),
				  void (*ended)(void *user, const struct forked_writer_end *end),
				  void *user)
{
	CLEANUP(error_cleanup) struct error *err = NULL;
	int alive[2];
	pid_t pid;

	if (pipe2(alive, O_CLOEXEC) < 0)
		return error_errno(errno, "start a process");
	pid = fork();
	if (pid == 0)
		_exit(child(user));
	close_fd(&alive[1]);
	if (pid < 0) {
		err = error_errno(errno, "start a process");
		close_fd(&alive[0]);
		return STEAL(err);
	}
	*writer = (struct forked_writer){
		.pid = pid, .all_ended = alive[0], .loop = loop, .ended = ended, .user = user};
	writer->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	err = writer->pidfd < 0 ? error_errno(errno, "wait for a process")
				: loop_watch(loop, writer->pidfd, on_end, writer, &writer->watch);
	/* It is waited for here then. */
	if (err)
		forked_writer_wait(writer);
	return NULL;
}
