/*
 * Exchanges messages between prof and a confined process. A message has a kind,
 * up to CHANNEL_BYTES bytes and at most one descriptor.
 *
 * A channel is one end of a pair of connected sockets that preserve message
 * boundaries, so a message arrives whole or not at all. The other end is
 * untrusted: anything that it sends results in a value of enum channel_result,
 * and the message is copied into the receiver's private memory. Several threads
 * may send, but only one may receive.
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
	uint32_t kind; /* defined by the protocol */
	const void *bytes;
	size_t len;
	int fd; /* -1 without a descriptor */
};

enum channel_result {
	CHANNEL_DONE, /* sent or received */
	/* Non-blocking only: no message has arrived, or the socket's buffer is
	 * full. */
	CHANNEL_BUSY,
	CHANNEL_CLOSED, /* the other end is closed */
	/* Received an invalid message: too short, too long, or too many
	 * descriptors. */
	CHANNEL_DAMAGED,
};

struct channel;

/*
 * Creates two connected ends. `near` is non-blocking, for a loop that polls
 * channel_fd(); `far` blocks. Both are closed on exec.
 */
MUST_CHECK struct error *channel_pair(struct channel **near, struct channel **far);
void channel_free(struct channel *channel);
DEFINE_CLEANUP(channel, channel_free)

/* Returns the descriptor for poll(2). It is readable when a message has arrived
 * or the other end is closed. Borrowed. */
int channel_fd(const struct channel *channel);

/*
 * Sends a message of at most CHANNEL_BYTES bytes. The caller keeps its
 * descriptor. Never returns CHANNEL_DAMAGED.
 */
MUST_CHECK enum channel_result channel_send(struct channel *channel,
					    const struct channel_message *message);
/*
 * Receives a message. The channel owns the bytes and the descriptor until the
 * next call; a caller that keeps the descriptor takes it with
 * channel_take_fd(). After CHANNEL_DAMAGED no more messages should be accepted
 * from the other end.
 */
MUST_CHECK enum channel_result channel_receive(struct channel *channel,
					       struct channel_message *ret);
/* Returns the descriptor of the last received message, now owned by the caller,
 * or -1 if it has none. */
int channel_take_fd(struct channel *channel);

#endif
