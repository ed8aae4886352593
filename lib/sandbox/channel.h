/*
 * Messages between prof and a confined process: each has a kind, up to CHANNEL_BYTES bytes and at
 * most one descriptor.
 *
 * A channel is one end of a pair of connected sockets that keep messages apart, so a message
 * arrives whole or not at all. The other end is treated as hostile: whatever it sends is one of
 * enum channel_result, and what a message holds is in private memory of the receiver. Messages
 * from several threads do not mix, but only one thread may receive.
 *
 * Source: unix(7) (SOCK_SEQPACKET, SCM_RIGHTS).
 */
#ifndef PROF_SANDBOX_CHANNEL_H
#define PROF_SANDBOX_CHANNEL_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Several messages fit into the kernel's default socket buffer of 208 KiB. */
enum { CHANNEL_BYTES = 64 << 10 };

struct channel_message {
	uint32_t kind; /* the protocol's */
	const void *bytes;
	size_t len;
	int fd; /* -1: none */
};

enum channel_result {
	CHANNEL_DONE,	 /* sent or received */
	CHANNEL_BUSY,	 /* non-blocking: nothing has come, or the socket's buffer is full */
	CHANNEL_CLOSED,	 /* the other end is closed */
	CHANNEL_DAMAGED, /* what came is not a message: too short or long, too many descriptors */
};

struct channel;

/*
 * Two ends that are connected. `near` is non-blocking, for a loop that polls channel_fd(); `far`
 * blocks. Both are closed on exec.
 */
MUST_CHECK struct error *channel_pair(struct channel **near, struct channel **far);
void channel_free(struct channel *channel);
DEFINE_CLEANUP(channel, channel_free)

/* To be polled: readable when a message has come or the other end is closed; else borrowed. */
int channel_fd(const struct channel *channel);

/*
 * Sends a message of at most CHANNEL_BYTES bytes. Its descriptor stays the caller's. Never
 * CHANNEL_DAMAGED.
 */
MUST_CHECK enum channel_result channel_send(struct channel *channel,
					    const struct channel_message *message);
/*
 * Bytes and descriptor stay the channel's, up to the next call. A caller that keeps the descriptor
 * takes it with channel_take_fd(). After CHANNEL_DAMAGED the other end is not to be believed any
 * more.
 */
MUST_CHECK enum channel_result channel_receive(struct channel *channel,
					       struct channel_message *ret);
/* The descriptor of the message received last, now the caller's; -1 if it has none. */
int channel_take_fd(struct channel *channel);

#endif
