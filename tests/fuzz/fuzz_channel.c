/*
 * Fuzzes packets from the other end of a channel, with questions about debug
 * files among them. A packet is its length (2 bytes), its number of descriptors
 * (1 byte), and its bytes; the last packet may be truncated.
 */
#include "sandbox/channel.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "symbol/remote_opener.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/socket.h>

/* FDS_MAX is a little more than the channel accepts with a packet. PACKETS_MAX
 * is what the socket can buffer. */
enum { FDS_MAX = 3, PACKETS_MAX = 64 };

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(FDS_MAX * sizeof(int))];
};

static void send_packet(int socket, struct bytes *from)
{
	size_t len = bytes_u16(from), fds = bytes_u8(from) % (FDS_MAX + 1);
	struct bytes packet;
	struct iovec part;
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	union control control = {.header = {.cmsg_len = CMSG_LEN(fds * sizeof(int)),
					    .cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS}};

	packet = bytes_sub(from, len > bytes_left(from) ? bytes_left(from) : len);
	part = (struct iovec){.iov_base = (void *)packet.at, .iov_len = bytes_left(&packet)};
	for (size_t i = 0; i < fds; i++)
		((int *)(void *)CMSG_DATA(&control.header))[i] = socket;
	if (fds) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(fds * sizeof(int));
	}
	sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int open_candidate(void *user, const struct debugfile_question *question, unsigned attempt,
			  char **path)
{
	(void)user;
	assert(debugfile_question_is_valid(question));
	if (attempt)
		return -1;
	*path = xstrdup("/usr/lib/debug/found");
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int fd_count(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	close(fd);
	return fd;
}

static bool receive(struct channel *channel)
{
	static const struct debugfile_opener opener = {.open = open_candidate};
	struct channel_message message;
	volatile unsigned char sum = 0;

	switch (channel_receive(channel, &message)) {
	case CHANNEL_DONE:
		assert(message.len <= CHANNEL_BYTES);
		for (size_t i = 0; i < message.len; i++)
			sum = (unsigned char)(sum + ((const unsigned char *)message.bytes)[i]);
		(void)!remote_opener_answer(channel, &message, &opener);
		return true;
	case CHANNEL_DAMAGED:
		return true;
	case CHANNEL_BUSY:
	case CHANNEL_CLOSED:
		break;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes from = bytes_of(data, size);
	struct channel *near, *far;
	struct error *err;
	int before = fd_count();

	err = channel_pair(&near, &far);
	if (err) {
		error_free(err);
		return 0;
	}
	for (int i = 0; i < PACKETS_MAX && bytes_left(&from); i++) {
		send_packet(channel_fd(far), &from);
		if (!receive(near))
			break;
	}
	channel_free(near);
	channel_free(far);
	/* No received descriptor stays open. */
	assert(fd_count() == before);
	return 0;
}
