/* Messages over a channel, including those of an end that does not follow the
 * format. */
#include "sandbox/channel.h"

#include "base/alloc.h"
#include "lacking.h"
#include "unit_test.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

struct ends {
	struct channel *near, *far;
};

static struct ends ends_new(void)
{
	struct ends ret;

	assert_null(channel_pair(&ret.near, &ret.far));
	return ret;
}

static void ends_deinit(struct ends *ends)
{
	channel_free(ends->near);
	channel_free(ends->far);
}

static void send_text(struct channel *channel, uint32_t kind, const char *text, int fd)
{
	struct channel_message message = {
		.kind = kind, .bytes = text, .len = strlen(text), .fd = fd};

	assert_int_equal(channel_send(channel, &message), CHANNEL_DONE);
}

static struct channel_message receive(struct channel *channel)
{
	struct channel_message message;

	assert_int_equal(channel_receive(channel, &message), CHANNEL_DONE);
	return message;
}

static void assert_message(struct channel_message message, uint32_t kind, const char *text)
{
	assert_int_equal(message.kind, kind);
	assert_int_equal(message.len, strlen(text));
	assert_memory_equal(message.bytes, text, message.len);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

TEST(messages_arrive_whole_and_in_order_in_both_directions)
{
	CLEANUP(ends_deinit) struct ends ends = ends_new();

	send_text(ends.near, 1, "first", -1);
	send_text(ends.near, 2, "", -1);
	send_text(ends.far, 3, "back", -1);
	assert_message(receive(ends.far), 1, "first");
	assert_message(receive(ends.far), 2, "");
	assert_message(receive(ends.near), 3, "back");
}

TEST(a_message_can_have_as_many_bytes_as_the_bound_says)
{
	CLEANUP(ends_deinit) struct ends ends = ends_new();
	CLEANUP(free_ptr) char *bytes = xmalloc(CHANNEL_BYTES);
	struct channel_message message = {.bytes = bytes, .len = CHANNEL_BYTES, .fd = -1};

	memset(bytes, 'x', CHANNEL_BYTES);
	assert_int_equal(channel_send(ends.near, &message), CHANNEL_DONE);
	message = receive(ends.far);
	assert_int_equal(message.len, CHANNEL_BYTES);
	assert_memory_equal(message.bytes, bytes, CHANNEL_BYTES);
}

TEST(a_descriptor_arrives_as_a_copy_in_both_directions)
{
	CLEANUP(ends_deinit) struct ends ends = ends_new();
	struct channel *from[] = {ends.near, ends.far}, *to[] = {ends.far, ends.near};
	CLEANUP(close_fd) int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < 2; i++) {
		struct channel_message message;
		struct stat sent, received;

		send_text(from[i], 7, "file", fd);
		message = receive(to[i]);
		assert_message(message, 7, "file");
		assert_true(message.fd >= 0 && message.fd != fd);
		assert_int_equal(fstat(fd, &sent), 0);
		assert_int_equal(fstat(message.fd, &received), 0);
		assert_int_equal(sent.st_rdev, received.st_rdev);
		assert_true(fcntl(message.fd, F_GETFD) & FD_CLOEXEC);
	}
}

TEST(a_descriptor_that_is_not_taken_is_closed_with_the_next_message)
{
	CLEANUP(ends_deinit) struct ends ends = ends_new();
	CLEANUP(close_fd) int taken = -1;
	int first;

	send_text(ends.near, 0, "", STDERR_FILENO);
	send_text(ends.near, 0, "", STDERR_FILENO);
	send_text(ends.near, 0, "", -1);
	first = receive(ends.far).fd;
	assert_true(is_open(first));
	receive(ends.far);
	taken = channel_take_fd(ends.far);
	assert_int_equal(channel_take_fd(ends.far), -1);
	assert_int_equal(receive(ends.far).fd, -1);
	assert_true(is_open(taken));
}

TEST(the_near_end_never_waits)
{
	CLEANUP(ends_deinit) struct ends ends = ends_new();
	CLEANUP(free_ptr) char *bytes = xcalloc(1, CHANNEL_BYTES);
	struct channel_message message = {.bytes = bytes, .len = CHANNEL_BYTES, .fd = -1};
	enum channel_result result = CHANNEL_DONE;

	assert_int_equal(channel_receive(ends.near, &message), CHANNEL_BUSY);
	message = (struct channel_message){.bytes = bytes, .len = CHANNEL_BYTES, .fd = -1};
	for (int i = 0; result == CHANNEL_DONE && i < 1000; i++)
		result = channel_send(ends.near, &message);
	assert_int_equal(result, CHANNEL_BUSY);
}

TEST(an_end_that_is_closed_is_seen_by_the_other)
{
	CLEANUP(ends_deinit) struct ends ends = ends_new();
	struct channel_message message = {.fd = -1};

	send_text(ends.far, 5, "last", -1);
	channel_free(STEAL(ends.far));
	assert_message(receive(ends.near), 5, "last");
	assert_int_equal(channel_receive(ends.near, &message), CHANNEL_CLOSED);
	message.fd = -1;
	assert_int_equal(channel_send(ends.near, &message), CHANNEL_CLOSED);
}

static void assert_damaged(struct channel *channel)
{
	struct channel_message message;

	assert_int_equal(channel_receive(channel, &message), CHANNEL_DAMAGED);
}

TEST(a_message_too_short_for_its_kind_is_damaged)
{
	CLEANUP(ends_deinit) struct ends ends = ends_new();

	assert_int_equal(send(channel_fd(ends.far), "abc", 3, 0), 3);
	assert_damaged(ends.near);
}

TEST(a_message_longer_than_the_bound_is_damaged)
{
	CLEANUP(ends_deinit) struct ends ends = ends_new();
	size_t len = sizeof(uint32_t) + CHANNEL_BYTES + 1;
	CLEANUP(free_ptr) char *bytes = xcalloc(1, len);

	assert_int_equal(send(channel_fd(ends.far), bytes, len, 0), len);
	assert_damaged(ends.near);
}

union two_fds {
	struct cmsghdr header;
	char room[CMSG_SPACE(2 * sizeof(int))];
};

static void send_two_descriptors(struct channel *channel)
{
	const int fds[] = {STDERR_FILENO, STDERR_FILENO};
	union two_fds control = {.header = {.cmsg_len = CMSG_LEN(sizeof(fds)),
					    .cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS}};
	struct iovec part = {.iov_base = (char[]){"kindbytes"}, .iov_len = 9};
	struct msghdr packet = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = &control,
				.msg_controllen = control.header.cmsg_len};

	memcpy(CMSG_DATA(&control.header), fds, sizeof(fds));
	assert_int_equal(sendmsg(channel_fd(channel), &packet, 0), 9);
}

/* qemu-user 7.2 does not report closed descriptors. */
static bool closed_descriptors_are_reported(void)
{
	CLEANUP(ends_deinit) struct ends ends = ends_new();
	union two_fds control;
	char bytes[9];
	struct iovec part = {.iov_base = bytes, .iov_len = sizeof(bytes)};
	struct msghdr packet = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = &control,
				.msg_controllen = CMSG_LEN(sizeof(int))};
	int fd;

	send_two_descriptors(ends.far);
	assert_int_equal(recvmsg(channel_fd(ends.near), &packet, 0), 9);
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	close(fd);
	return packet.msg_flags & MSG_CTRUNC;
}

TEST(a_message_with_two_descriptors_is_damaged_and_leaves_none_open)
{
	CLEANUP(ends_deinit) struct ends ends = ends_new();
	struct channel_message message = {.fd = -1};
	int unused;

	if (!closed_descriptors_are_reported())
		RETURN_LACKING("recvmsg(2) that reports closed descriptors");
	unused = dup(STDERR_FILENO); /* the number that the next descriptor gets */
	close(unused);
	send_two_descriptors(ends.far);
	assert_damaged(ends.near);
	assert_int_equal(channel_receive(ends.near, &message), CHANNEL_BUSY);
	assert_false(is_open(unused));
	assert_false(is_open(unused + 1));
}
