#include "base/chunk_writer.h"

#include "base/affinity.h"
#include "base/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHUNK_BYTES = 128 * 1024, /* small enough to stay in a CPU cache with its result */
	CHUNK_WRITER_ROOM_BYTES = CHUNK_BYTES * 3 / 2,
	SLOTS = 16,
	MOST_THREADS = 4, /* more are not faster than the thread that adds data */
};

struct chunk_writer_slot {
	unsigned char *data, *made;
	size_t len, made_len;
	bool is_made;
};

/* Chunk i is in slot i % SLOTS. */
struct chunk_writer {
	FILE *out;
	chunk_writer_work *work;
	pthread_t threads[MOST_THREADS];
	unsigned thread_count;
	bool was_started;
	struct chunk_writer_slot slots[SLOTS];
	pthread_mutex_t lock; /* protects the following members */
	pthread_cond_t changed;
	uint64_t filled, taken, written; /* numbers of chunks */
	bool is_writing, is_finished;
	int error;
};

struct chunk_writer *chunk_writer_new(FILE *out, chunk_writer_work *work)
{
	struct chunk_writer *writer = xcalloc(1, sizeof(*writer));

	writer->out = out;
	writer->work = work;
	pthread_mutex_init(&writer->lock, NULL);
	pthread_cond_init(&writer->changed, NULL);
	return writer;
}

static void chunk_writer_work_on(const struct chunk_writer *writer, struct chunk_writer_slot *slot)
{
	if (writer->work)
		slot->made_len = writer->work(slot->data, slot->len, slot->made,
					      CHUNK_WRITER_ROOM_BYTES);
}

/* Returns 0 or an errno. */
static int write_out(const struct chunk_writer *writer, const struct chunk_writer_slot *slot)
{
	const unsigned char *bytes = writer->work ? slot->made : slot->data;
	size_t len = writer->work ? slot->made_len : slot->len;

	if (!len)
		return ENOMEM;
	errno = EIO;
	return fwrite(bytes, 1, len, writer->out) == len ? 0 : errno;
}

/*
 * Writes the finished chunks that are next in order, one thread at a time. The
 * caller holds the lock; it is unlocked while writing.
 */
static void write_in_order(struct chunk_writer *writer)
{
	struct chunk_writer_slot *slot;

	if (writer->is_writing)
		return;
	writer->is_writing = true;
	while ((slot = &writer->slots[writer->written % SLOTS])->is_made) {
		int error = writer->error;

		pthread_mutex_unlock(&writer->lock);
		if (!error)
			error = write_out(writer, slot);
		pthread_mutex_lock(&writer->lock);
		writer->error = error;
		slot->is_made = false;
		slot->len = 0;
		writer->written++;
		pthread_cond_broadcast(&writer->changed);
	}
	writer->is_writing = false;
}

static void *chunk_writer_run(void *context)
{
	struct chunk_writer *writer = context;

	pthread_mutex_lock(&writer->lock);
	for (;;) {
		struct chunk_writer_slot *slot;

		while (writer->taken == writer->filled && !writer->is_finished)
			pthread_cond_wait(&writer->changed, &writer->lock);
		if (writer->taken == writer->filled)
			break;
		slot = &writer->slots[writer->taken++ % SLOTS];
		pthread_mutex_unlock(&writer->lock);
		chunk_writer_work_on(writer, slot);
		pthread_mutex_lock(&writer->lock);
		slot->is_made = true;
		write_in_order(writer);
	}
	pthread_mutex_unlock(&writer->lock);
	return NULL;
}

/* If no thread can be created, the caller does all the work. */
static void chunk_writer_start(struct chunk_writer *writer)
{
	unsigned most = affinity_cpu_count();

	if (most > MOST_THREADS)
		most = MOST_THREADS;
	if (!writer->work)
		most = 1;
	writer->was_started = true;
	while (writer->thread_count < most &&
	       !pthread_create(&writer->threads[writer->thread_count], NULL, chunk_writer_run,
			       writer))
		writer->thread_count++;
}

/*
 * Passes the current slot to a thread and waits for the next one. Returns the
 * error.
 */
static int hand_on(struct chunk_writer *writer)
{
	struct chunk_writer_slot *slot = &writer->slots[writer->filled % SLOTS];
	int error;

	if (!writer->thread_count)
		chunk_writer_work_on(writer, slot);
	pthread_mutex_lock(&writer->lock);
	writer->filled++;
	if (!writer->thread_count) {
		writer->taken++;
		slot->is_made = true;
		write_in_order(writer);
	}
	pthread_cond_broadcast(&writer->changed);
	while (writer->filled - writer->written == SLOTS)
		pthread_cond_wait(&writer->changed, &writer->lock);
	error = writer->error;
	pthread_mutex_unlock(&writer->lock);
	return error;
}

static bool is_fine(int error)
{
	errno = error;
	return !error;
}

bool chunk_writer_put(struct chunk_writer *writer, const void *data, size_t len)
{
	const unsigned char *from = data;
	int error = 0;

	while (len && !error) {
		struct chunk_writer_slot *slot = &writer->slots[writer->filled % SLOTS];
		size_t room = CHUNK_BYTES - slot->len, part = len < room ? len : room;

		if (!slot->data) {
			slot->data = xmalloc(CHUNK_BYTES);
			slot->made = writer->work ? xmalloc(CHUNK_WRITER_ROOM_BYTES) : NULL;
		}
		memcpy(slot->data + slot->len, from, part);
		slot->len += part;
		from += part;
		len -= part;
		if (slot->len < CHUNK_BYTES)
			break;
		if (!writer->was_started)
			chunk_writer_start(writer);
		error = hand_on(writer);
	}
	return is_fine(error);
}

bool chunk_writer_finish(struct chunk_writer *writer)
{
	int error;

	if (writer->slots[writer->filled % SLOTS].len)
		hand_on(writer);
	pthread_mutex_lock(&writer->lock);
	writer->is_finished = true;
	pthread_cond_broadcast(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	for (unsigned i = 0; i < writer->thread_count; i++)
		pthread_join(writer->threads[i], NULL);
	error = writer->error;
	for (unsigned i = 0; i < SLOTS; i++) {
		free(writer->slots[i].data);
		free(writer->slots[i].made);
	}
	pthread_mutex_destroy(&writer->lock);
	pthread_cond_destroy(&writer->changed);
	free(writer);
	return is_fine(error);
}
