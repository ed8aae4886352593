#include "sandbox/channel.h"

#include "base/alloc.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

struct channel {
	int fd;
	/* Descriptor of the last message; -1 if there is none, or it was
	 * taken. */
	int received_fd;
	unsigned char bytes[CHANNEL_BYTES];
};

static struct channel *channel_new(int fd)
{
	struct channel *ret = xmalloc(sizeof(*ret));

	ret->fd = fd;
	ret->received_fd = -1;
	return ret;
}

struct error *channel_pair(struct channel **near, struct channel **far)
{
	/* The kernel doubles it (socket(7)). */
	const int buffer_bytes = 2 * CHANNEL_BYTES;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return error_errno(errno, "make a pair of sockets");
	if (fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0) {
		int number = errno;

		close(fds[0]), close(fds[1]);
		return error_errno(number, "make a socket non-blocking");
	}
	/* Has an effect only if the administrator has made the default smaller
	 * than a message. */
	for (int i = 0; i < 2; i++)
		setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof(buffer_bytes));
	*near = channel_new(fds[0]);
	*far = channel_new(fds[1]);
	return NULL;
}

void channel_free(struct channel *channel)
{
	if (!channel)
		return;
	close_fd(&channel->received_fd);
	close(channel->fd);
	free(channel);
}

int channel_fd(const struct channel *channel)
{
	return channel->fd;
}

int channel_take_fd(struct channel *channel)
{
	return steal_fd(&channel->received_fd);
}

/* A buffer for one descriptor. CMSG_SPACE() has room for two, and the kernel
 * would fill it. */
union one_fd {
	struct cmsghdr header;
	char room[CMSG_LEN(sizeof(int))];
};

static enum channel_result failure(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK ? CHANNEL_BUSY : CHANNEL_CLOSED;
}

enum channel_result channel_send(struct channel *channel, const struct channel_message *message)
{
	uint32_t kind = message->kind;
	struct iovec parts[] = {{.iov_base = &kind, .iov_len = sizeof(kind)},
				{.iov_base = (void *)message->bytes, .iov_len = message->len}};
	struct msghdr packet = {.msg_iov = parts, .msg_iovlen = ARRAY_SIZE(parts)};
	union one_fd control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
					   .cmsg_level = SOL_SOCKET,
					   .cmsg_type = SCM_RIGHTS}};
	ssize_t sent;

	assert(message->len <= CHANNEL_BYTES);
	if (message->fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &message->fd, sizeof(int));
		packet.msg_control = &control;
		packet.msg_controllen = sizeof(control.room);
	}
	do
		sent = sendmsg(channel->fd, &packet, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? failure() : CHANNEL_DONE;
}

/* The kernel stores at most one descriptor in `control` and closes any
 * others. */
static int fd_of(const struct msghdr *packet, const union one_fd *control)
{
	int fd = -1;

	if (packet->msg_controllen >= CMSG_LEN(sizeof(int)) &&
	    control->header.cmsg_level == SOL_SOCKET && control->header.cmsg_type == SCM_RIGHTS &&
	    control->header.cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(&control->header), sizeof(fd));
	return fd;
}

enum channel_result channel_receive(struct channel *channel, struct channel_message *ret)
{
	uint32_t kind;
	struct iovec parts[] = {{.iov_base = &kind, .iov_len = sizeof(kind)},
				{.iov_base = channel->bytes, .iov_len = CHANNEL_BYTES}};
	union one_fd control;
	struct msghdr packet = {.msg_iov = parts,
				.msg_iovlen = ARRAY_SIZE(parts),
				.msg_control = &control,
				.msg_controllen = sizeof(control.room)};
	ssize_t got;

	close_fd(&channel->received_fd);
	channel->received_fd = -1;
	do
		got = recvmsg(channel->fd, &packet, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return failure();
	channel->received_fd = fd_of(&packet, &control);
	if (got == 0)
		return CHANNEL_CLOSED;
	if ((size_t)got < sizeof(kind) || packet.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		return CHANNEL_DAMAGED;
	*ret = (struct channel_message){.kind = kind,
					.bytes = channel->bytes,
					.len = (size_t)got - sizeof(kind),
					.fd = channel->received_fd};
	return CHANNEL_DONE;
}
