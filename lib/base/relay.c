#include "base/relay.h"

#include "base/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHUNK_BYTES = 128 * 1024, /* with what is made of it, it stays in a processor's cache */
	ROOM_BYTES = CHUNK_BYTES * 3 / 2,
	SLOTS = 16,
	MOST_THREADS = 4, /* who puts is no faster than these */
};

struct slot {
	unsigned char *data, *made;
	size_t len, made_len;
	bool is_made;
};

/* Chunk i is in slot i % SLOTS. */
struct relay {
	FILE *out;
	relay_work *work;
	pthread_t threads[MOST_THREADS];
	unsigned thread_count;
	bool was_started;
	struct slot slots[SLOTS];
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	uint64_t filled, taken, written; /* chunks */
	bool is_writing, is_finished;
	int error;
};

struct relay *relay_new(FILE *out, relay_work *work)
{
	struct relay *relay = xcalloc(1, sizeof(*relay));

	relay->out = out;
	relay->work = work;
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->changed, NULL);
	return relay;
}

static void work_on(const struct relay *relay, struct slot *slot)
{
	if (relay->work)
		slot->made_len = relay->work(slot->data, slot->len, slot->made, ROOM_BYTES);
}

/* 0, or what is wrong. */
static int write_out(const struct relay *relay, const struct slot *slot)
{
	const unsigned char *bytes = relay->work ? slot->made : slot->data;
	size_t len = relay->work ? slot->made_len : slot->len;

	if (!len)
		return ENOMEM;
	errno = EIO;
	return fwrite(bytes, 1, len, relay->out) == len ? 0 : errno;
}

/* All that are made and whose turn it is; by one thread at a time. The lock is held, but not while
 * it writes. */
static void write_in_order(struct relay *relay)
{
	struct slot *slot;

	if (relay->is_writing)
		return;
	relay->is_writing = true;
	while ((slot = &relay->slots[relay->written % SLOTS])->is_made) {
		int error = relay->error;

		pthread_mutex_unlock(&relay->lock);
		if (!error)
			error = write_out(relay, slot);
		pthread_mutex_lock(&relay->lock);
		relay->error = error;
		slot->is_made = false;
		slot->len = 0;
		relay->written++;
		pthread_cond_broadcast(&relay->changed);
	}
	relay->is_writing = false;
}

static void *run(void *context)
{
	struct relay *relay = context;

	pthread_mutex_lock(&relay->lock);
	for (;;) {
		struct slot *slot;

		while (relay->taken == relay->filled && !relay->is_finished)
			pthread_cond_wait(&relay->changed, &relay->lock);
		if (relay->taken == relay->filled)
			break;
		slot = &relay->slots[relay->taken++ % SLOTS];
		pthread_mutex_unlock(&relay->lock);
		work_on(relay, slot);
		pthread_mutex_lock(&relay->lock);
		slot->is_made = true;
		write_in_order(relay);
	}
	pthread_mutex_unlock(&relay->lock);
	return NULL;
}

/* Where the system gives no thread, who puts does all the work. */
static void start(struct relay *relay)
{
	cpu_set_t cpus;
	int most = sched_getaffinity(0, sizeof(cpus), &cpus) < 0 ? 1 : CPU_COUNT(&cpus);

	if (most > MOST_THREADS)
		most = MOST_THREADS;
	if (!relay->work)
		most = 1;
	relay->was_started = true;
	while (relay->thread_count < (unsigned)most &&
	       !pthread_create(&relay->threads[relay->thread_count], NULL, run, relay))
		relay->thread_count++;
}

/* Hands the slot that is being filled on, and waits for the next one. Returns the error. */
static int hand_on(struct relay *relay)
{
	struct slot *slot = &relay->slots[relay->filled % SLOTS];
	int error;

	if (!relay->thread_count)
		work_on(relay, slot);
	pthread_mutex_lock(&relay->lock);
	relay->filled++;
	if (!relay->thread_count) {
		relay->taken++;
		slot->is_made = true;
		write_in_order(relay);
	}
	pthread_cond_broadcast(&relay->changed);
	while (relay->filled - relay->written == SLOTS)
		pthread_cond_wait(&relay->changed, &relay->lock);
	error = relay->error;
	pthread_mutex_unlock(&relay->lock);
	return error;
}

static bool is_fine(int error)
{
	errno = error;
	return !error;
}

bool relay_put(struct relay *relay, const void *data, size_t len)
{
	const unsigned char *from = data;
	int error = 0;

	while (len && !error) {
		struct slot *slot = &relay->slots[relay->filled % SLOTS];
		size_t room = CHUNK_BYTES - slot->len, part = len < room ? len : room;

		if (!slot->data) {
			slot->data = xmalloc(CHUNK_BYTES);
			slot->made = relay->work ? xmalloc(ROOM_BYTES) : NULL;
		}
		memcpy(slot->data + slot->len, from, part);
		slot->len += part;
		from += part;
		len -= part;
		if (slot->len < CHUNK_BYTES)
			break;
		if (!relay->was_started)
			start(relay);
		error = hand_on(relay);
	}
	return is_fine(error);
}

bool relay_finish(struct relay *relay)
{
	int error;

	if (relay->slots[relay->filled % SLOTS].len)
		hand_on(relay);
	pthread_mutex_lock(&relay->lock);
	relay->is_finished = true;
	pthread_cond_broadcast(&relay->changed);
	pthread_mutex_unlock(&relay->lock);
	for (unsigned i = 0; i < relay->thread_count; i++)
		pthread_join(relay->threads[i], NULL);
	error = relay->error;
	for (unsigned i = 0; i < SLOTS; i++) {
		free(relay->slots[i].data);
		free(relay->slots[i].made);
	}
	pthread_mutex_destroy(&relay->lock);
	pthread_cond_destroy(&relay->changed);
	free(relay);
	return is_fine(error);
}
