#include "proc/tail.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void tail_read_bytes(struct timed_call *call)
{
	struct tail *tail = (struct tail *)call;
	struct stat st;
	uint64_t left;
	ssize_t got;

	if (fstat(tail->fd, &st) < 0 || (uint64_t)st.st_size <= tail->from)
		return;
	left = (uint64_t)st.st_size - tail->from;
	if (left > TAIL_BYTES)
		left = TAIL_BYTES;
	tail->bytes = xmalloc(left);
	tail->changed = st.st_mtim;
	got = pread(tail->fd, tail->bytes, left, (off_t)tail->from);
	tail->len = got > 0 ? (size_t)got : 0;
}

static void tail_discard(struct timed_call *call)
{
	tail_free((struct tail *)call);
}

struct tail *tail_read(struct timed_caller *caller, uint64_t place, int fd, uint64_t from)
{
	struct tail *tail = xcalloc(1, sizeof(*tail));

	*tail = (struct tail){
		.call = {.run = tail_read_bytes, .discard = tail_discard, .place = place},
		/* The call may outlive the caller's descriptor. */
		.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0),
		.from = from,
	};
	return timed_caller_run(caller, &tail->call) ? tail : NULL;
}

void tail_free(struct tail *tail)
{
	if (!tail)
		return;
	close_fd(&tail->fd);
	free(tail->bytes);
	free(tail);
}
