/*
 * The messages between prof and its symbol worker.
 *
 * prof sends a REQUEST per module, followed by ADDRESSES if it has many, and
 * finally RUN. The worker sends the reply to each request (reply.h) in one or
 * more PARTs, and DONE at the end. In between it can send a QUESTION about a
 * debug file and wait for the ANSWER.
 *
 * prof does not trust the worker: struct inbox validates and bounds everything
 * that it sends. The worker trusts prof.
 */
#ifndef PROF_SYMBOL_WORKER_PROTOCOL_H
#define PROF_SYMBOL_WORKER_PROTOCOL_H

#include "elf/debugfile.h"
#include "proc/kernel_image.h"
#include "sandbox/channel.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Module or not (u8), build-id (length as u8, bytes), anchors (pc as u64,
 * length as u8, name).
 */
enum { KERNEL_IMAGE_BYTES_MAX = 2 + BUILD_ID_MAX + KERNEL_ANCHORS_MAX * (8 + 1 + 64) };

enum worker_message {
	/*
	 * Module and 1 if without libdw (u32 each), own bytes of its perf map
	 * (u64), addresses (u64 each). The descriptor is the map.
	 */
	MESSAGE_REQUEST = 1,
	MESSAGE_ADDRESSES, /* more addresses of the last request */
	/* The last request is for a kernel: an encoded struct kernel_image. */
	MESSAGE_KERNEL,
	MESSAGE_RUN,
	/*
	 * A path and the descriptor of the file. Without a descriptor, the file
	 * does not exist.
	 */
	MESSAGE_ANSWER,

	/*
	 * Request (u32, in the order of REQUESTs), 1 if it is the last part
	 * (u8), bytes.
	 */
	MESSAGE_PART,
	MESSAGE_QUESTION, /* request (u32), question (remote_opener.h) */
	MESSAGE_DONE,
};

/*
 * Encodes the data about a kernel that a worker needs. The kernel's file is
 * that of the module or the descriptor of the REQUEST. Returns the number of
 * bytes.
 */
size_t kernel_image_write(const struct kernel_image *image,
			  unsigned char into[KERNEL_IMAGE_BYTES_MAX]);
void kernel_image_read(struct bytes from, struct kernel_image *ret);

enum {
	WORKER_PART_HEAD_BYTES = 5,
	WORKER_PART_BYTES_MAX = CHANNEL_BYTES - WORKER_PART_HEAD_BYTES,
};

struct worker_question {
	uint32_t request, attempt;
	struct debugfile_question what;
	char *name; /* what.name points here; the caller frees it */
};

/* The state of the replies to one run. */
struct inbox {
	struct inbox_reply *replies;
	size_t count;
	size_t bytes_left; /* for all replies; a worker that exceeds it is rejected */
	unsigned questions_left;
};

struct inbox_reply {
	unsigned char *bytes;
	size_t len, room;
	bool is_whole; /* complete; the bytes may have been taken */
};

enum inbox_event {
	INBOX_PART,	/* a part of an incomplete reply */
	INBOX_REPLY,	/* the reply *request is complete */
	INBOX_QUESTION, /* *question is valid, and its name must be freed */
	INBOX_DONE,	/* the end, and all replies are complete */
	INBOX_NONSENSE,
};

/*
 * A zero-initialized inbox has nothing to free. `addresses` is the number for
 * all requests.
 */
void inbox_init(struct inbox *inbox, size_t requests, size_t addresses, size_t bytes_max);
void inbox_deinit(struct inbox *inbox);
enum inbox_event inbox_take(struct inbox *inbox, const struct channel_message *message,
			    uint32_t *request, struct worker_question *question);

#endif
