/*
 * What prof and its symbol worker say to each other, as messages of a channel.
 *
 * prof asks: a REQUEST per module, ADDRESSES if it has many, then RUN. The worker sends the reply
 * to each (reply.h) in one or several PARTs and at the end DONE. In between it may ask a QUESTION
 * about a debug file, and waits for its ANSWER.
 *
 * prof believes nothing of what the worker sends: struct inbox checks and bounds all of it. The
 * worker believes prof.
 */
#ifndef PROF_SYMBOL_WORKER_PROTOCOL_H
#define PROF_SYMBOL_WORKER_PROTOCOL_H

#include "elf/debugfile.h"
#include "proc/kernel_image.h"
#include "sandbox/channel.h"

#include <stdbool.h>
#include <stdint.h>

/* Module or not (u8), build-id (length as u8, bytes), anchors (pc as u64, length as u8, name). */
enum { KERNEL_IMAGE_BYTES_MAX = 2 + BUILD_ID_MAX + KERNEL_ANCHORS_MAX * (8 + 1 + 64) };

enum worker_message {
	/* module, 1 if without libdw (u32 each), own bytes of its perf map (u64), addresses (u64
	 * each); descriptor: of the map */
	MESSAGE_REQUEST = 1,
	MESSAGE_ADDRESSES, /* more addresses of the last request */
	MESSAGE_KERNEL,	   /* the last request is of a kernel: a struct kernel_image as below */
	MESSAGE_RUN,
	MESSAGE_ANSWER, /* path; descriptor: of the file; none: no such file */

	MESSAGE_PART, /* request (u32, in the order of REQUESTs), 1 if it is the last (u8), bytes */
	MESSAGE_QUESTION, /* request (u32), question (remote_opener.h) */
	MESSAGE_DONE,
};

/*
 * What a worker must know of a kernel's file; the file itself is that of the module, or the
 * descriptor that came with the REQUEST. Returns the number of bytes.
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
	char *name; /* what.name points here; to be freed */
};

/* What has come of the replies to one run. */
struct inbox {
	struct inbox_reply *replies;
	size_t count;
	size_t bytes_left; /* of all replies; a worker that sends more is refused */
	unsigned questions_left;
};

struct inbox_reply {
	unsigned char *bytes;
	size_t len, room;
	bool is_whole; /* nothing more may come; bytes may have been taken */
};

enum inbox_event {
	INBOX_PART,	/* of a reply that goes on */
	INBOX_REPLY,	/* one is whole: *request */
	INBOX_QUESTION, /* *question; it is valid, and its name to be freed */
	INBOX_DONE,	/* and all replies are whole */
	INBOX_NONSENSE,
};

/* Zero-initialized ones have nothing to free. */
/* addresses: of all requests. */
void inbox_init(struct inbox *inbox, size_t requests, size_t addresses, size_t bytes_max);
void inbox_deinit(struct inbox *inbox);
enum inbox_event inbox_take(struct inbox *inbox, const struct channel_message *message,
			    uint32_t *request, struct worker_question *question);

#endif
