#include "record/deferred_chains.h"

#include "base/alloc.h"
#include "base/idmap.h"

#include <stdlib.h>
#include <string.h>

/* Limits of the queue. A thread that blocks has few samples. */
enum { SAMPLES_MAX = 64 << 10, DEFERRED_CHAINS_THREADS_MAX = 64 << 10, BYTES_MAX = 32 << 20 };

struct waiting_sample {
	struct waiting_sample *next;
	struct record sample;
	uint32_t labels;
	unsigned char kernel_chain[];
};

struct deferred_chains_thread {
	pid_t tid;
	struct waiting_sample *first, *last; /* in order of arrival */
	/* The last user part, for samples that arrive after it. */
	bool has_chain;
	uint64_t cookie;
	unsigned char *chain;
	size_t chain_bytes;
};

struct deferred_chains {
	deferred_sample_fn *give;
	void *user;
	struct idmap by_tid; /* (tid, 0) → index in threads */
	struct deferred_chains_thread *threads;
	uint32_t thread_count, thread_room;
	size_t samples, bytes; /* queued samples, and the bytes of samples and user parts */
};

struct deferred_chains *deferred_chains_new(deferred_sample_fn *give, void *user)
{
	struct deferred_chains *chains = xcalloc(1, sizeof(*chains));

	chains->give = give;
	chains->user = user;
	return chains;
}

static size_t bytes_of_waiting(const struct waiting_sample *waiting)
{
	return sizeof(*waiting) + bytes_left(&waiting->sample.sample.kernel_chain);
}

static struct waiting_sample *take_first(struct deferred_chains *chains,
					 struct deferred_chains_thread *thread)
{
	struct waiting_sample *waiting = thread->first;

	if (!waiting)
		return NULL;
	thread->first = waiting->next;
	chains->samples--;
	chains->bytes -= bytes_of_waiting(waiting);
	return waiting;
}

static void forget_chain(struct deferred_chains *chains, struct deferred_chains_thread *thread)
{
	free(thread->chain);
	chains->bytes -= thread->chain_bytes;
	thread->chain = NULL;
	thread->chain_bytes = 0;
	thread->has_chain = false;
}

static void drop_all(struct deferred_chains *chains)
{
	for (uint32_t i = 0; i < chains->thread_count; i++) {
		struct deferred_chains_thread *thread = &chains->threads[i];
		struct waiting_sample *waiting;

		while ((waiting = take_first(chains, thread)))
			free(waiting);
		forget_chain(chains, thread);
	}
	chains->thread_count = 0;
	idmap_deinit(&chains->by_tid);
}

void deferred_chains_free(struct deferred_chains *chains)
{
	if (!chains)
		return;
	drop_all(chains);
	free(chains->threads);
	free(chains);
}

/* Returns NULL if nothing of the thread is queued or kept. */
static struct deferred_chains_thread *find_thread(struct deferred_chains *chains, pid_t tid)
{
	uint32_t index = idmap_get(&chains->by_tid, (uint64_t)tid, 0);

	return index == IDMAP_NONE ? NULL : &chains->threads[index];
}

static struct deferred_chains_thread *deferred_chains_put_thread(struct deferred_chains *chains,
								 pid_t tid)
{
	struct deferred_chains_thread *thread = find_thread(chains, tid);

	if (thread)
		return thread;
	GROW(chains->threads, chains->thread_count, chains->thread_room);
	*idmap_put(&chains->by_tid, (uint64_t)tid, 0) = chains->thread_count;
	thread = &chains->threads[chains->thread_count++];
	*thread = (struct deferred_chains_thread){.tid = tid};
	return thread;
}

static void deferred_chains_remove_thread(struct deferred_chains *chains,
					  struct deferred_chains_thread *thread)
{
	struct deferred_chains_thread *last = &chains->threads[chains->thread_count - 1];

	forget_chain(chains, thread);
	idmap_remove(&chains->by_tid, (uint64_t)thread->tid, 0);
	if (thread != last) {
		*thread = *last;
		*idmap_put(&chains->by_tid, (uint64_t)thread->tid,
			   0) = (uint32_t)(thread - chains->threads);
	}
	chains->thread_count--;
}

static struct bytes deferred_chains_chain_of(const struct deferred_chains_thread *thread)
{
	return bytes_of(thread->chain, thread->chain_bytes);
}

/* Returns whether the thread's last user part belongs to this sample. */
static bool deferred_chains_join(const struct deferred_chains_thread *thread, struct record *record)
{
	struct record_sample *sample = &record->sample;

	if (!thread->has_chain || thread->cookie != sample->chain_cookie)
		return false;
	sample->user_chain = deferred_chains_chain_of(thread);
	sample->is_chain_deferred = false;
	return true;
}

/* Releases all samples of a thread. Returns whether one of them got its user
 * part. */
static bool give_all(struct deferred_chains *chains, struct deferred_chains_thread *thread)
{
	struct waiting_sample *waiting;
	bool joined = false;

	while ((waiting = take_first(chains, thread))) {
		joined |= deferred_chains_join(thread, &waiting->sample);
		chains->give(chains->user, &waiting->sample, waiting->labels);
		free(waiting);
	}
	return joined;
}

static bool holds_more_than(const struct deferred_chains *chains, size_t quarters)
{
	return chains->samples > SAMPLES_MAX / 4 * quarters ||
	       chains->thread_count > DEFERRED_CHAINS_THREADS_MAX / 4 * quarters ||
	       chains->bytes > BYTES_MAX / 4 * quarters;
}

/* Drops user parts of threads without samples. If that frees too little,
 * releases all samples. */
static void deferred_chains_make_room(struct deferred_chains *chains)
{
	if (!holds_more_than(chains, 4))
		return;
	for (uint32_t i = chains->thread_count; i-- > 0;)
		if (!chains->threads[i].first)
			deferred_chains_remove_thread(chains, &chains->threads[i]);
	if (holds_more_than(chains, 3))
		deferred_chains_end_all(chains);
}

static struct waiting_sample *deferred_chains_copy_of(const struct record *record, uint32_t labels)
{
	struct bytes chain = record->sample.kernel_chain;
	size_t len = bytes_left(&chain);
	struct waiting_sample *waiting = xcalloc(1, sizeof(*waiting) + len);

	waiting->labels = labels;
	waiting->sample = *record;
	waiting->sample.raw = (struct bytes){0};
	waiting->sample.sample.regs = (struct record_regs){0};
	waiting->sample.sample.stack = (struct bytes){0};
	waiting->sample.sample.raw_data = (struct bytes){0};
	waiting->sample.sample.field_count = 0; /* the label set contains them */
	waiting->sample.sample.count_count = 0;
	if (len)
		memcpy(waiting->kernel_chain, chain.at, len);
	waiting->sample.sample.kernel_chain = bytes_of(waiting->kernel_chain, len);
	return waiting;
}

void deferred_chains_add_sample(struct deferred_chains *chains, const struct record *sample,
				uint32_t labels)
{
	struct deferred_chains_thread *thread = deferred_chains_put_thread(chains, sample->tid);
	struct waiting_sample *waiting = deferred_chains_copy_of(sample, labels);

	if (deferred_chains_join(thread, &waiting->sample)) {
		chains->give(chains->user, &waiting->sample, labels);
		free(waiting);
		return;
	}
	if (thread->first)
		thread->last->next = waiting;
	else
		thread->first = waiting;
	thread->last = waiting;
	chains->samples++;
	chains->bytes += bytes_of_waiting(waiting);
	deferred_chains_make_room(chains);
}

bool deferred_chains_add_chain(struct deferred_chains *chains, const struct record *record)
{
	const struct record_deferred_chain *deferred = &record->deferred_chain;
	struct deferred_chains_thread *thread = deferred_chains_put_thread(chains, record->tid);
	bool again = thread->has_chain && thread->cookie == deferred->cookie;
	size_t len = bytes_left(&deferred->chain);
	bool joined;

	forget_chain(chains, thread);
	thread->has_chain = true;
	thread->cookie = deferred->cookie;
	thread->chain = xmalloc(len + 1);
	if (len)
		memcpy(thread->chain, deferred->chain.at, len);
	thread->chain_bytes = len;
	chains->bytes += len;
	joined = give_all(chains, thread);
	deferred_chains_make_room(chains);
	return joined || again;
}

void deferred_chains_end_thread(struct deferred_chains *chains, pid_t tid)
{
	struct deferred_chains_thread *thread = find_thread(chains, tid);

	if (!thread)
		return;
	give_all(chains, thread);
	deferred_chains_remove_thread(chains, thread);
}

void deferred_chains_exec(struct deferred_chains *chains, pid_t tid)
{
	struct deferred_chains_thread *thread = find_thread(chains, tid);

	if (!thread)
		return;
	for (struct waiting_sample *waiting = thread->first; waiting; waiting = waiting->next)
		waiting->sample.sample.is_chain_deferred = false;
	deferred_chains_end_thread(chains, tid);
}

void deferred_chains_end_all(struct deferred_chains *chains)
{
	for (uint32_t i = 0; i < chains->thread_count; i++)
		give_all(chains, &chains->threads[i]);
	drop_all(chains);
}
