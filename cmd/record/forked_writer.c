#include "cmd/record/forked_writer.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The child's own children hold the other end; one of them may still rename a
 * file. */
static void wait_for_all(int fd)
{
	char byte;

	while (read(fd, &byte, sizeof(byte)) < 0 && errno == EINTR)
		continue;
}

void forked_writer_wait(struct forked_writer *writer)
{
	struct forked_child_end end;

	if (!writer->pid)
		return;
	loop_unwatch(writer->loop, STEAL(writer->watch));
	close_fd(&writer->pidfd);
	end = forked_child_wait(writer->pid);
	wait_for_all(writer->all_ended);
	close_fd(&writer->all_ended);
	writer->pid = 0;
	writer->ended(writer->user, &end);
}

void forked_writer_kill(struct forked_writer *writer)
{
	if (writer->pid)
		kill(writer->pid, SIGKILL);
	forked_writer_wait(writer);
}

static void forked_writer_on_end(void *user)
{
	forked_writer_wait(user);
}

struct error *forked_writer_start(struct forked_writer *writer, struct loop *loop,
				  enum forked_child_life life, int (*child)(void *user),
				  void (*ended)(void *user, const struct forked_child_end *end),
				  void *user)
{
	CLEANUP(error_cleanup) struct error *err = NULL;
	int alive[2];
	pid_t pid;

	if (pipe2(alive, O_CLOEXEC) < 0)
		return error_errno(errno, "start a process");
	err = forked_child_start(life, child, user, &pid);
	close_fd(&alive[1]);
	if (err) {
		close_fd(&alive[0]);
		return STEAL(err);
	}
	*writer = (struct forked_writer){
		.pid = pid, .all_ended = alive[0], .loop = loop, .ended = ended, .user = user};
	writer->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	err = writer->pidfd < 0 ? error_errno(errno, "wait for a process")
				: loop_watch(loop, writer->pidfd, forked_writer_on_end, writer,
					     &writer->watch);
	/* The loop does not watch it, so wait here. */
	if (err)
		forked_writer_wait(writer);
	return NULL;
}
