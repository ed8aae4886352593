#include "perf/rounds.h"

#include "base/alloc.h"

#include <stdlib.h>

enum {
	COPIED_BYTES_MAX = 48 << 20,
	WAITING_MAX = 1 << 19,
};

void waiting_deinit(struct waiting *waiting)
{
	if (waiting->copied)
		free((void *)waiting->at);
	*waiting = (struct waiting){0};
}

void rounds_deinit(struct rounds *rounds)
{
	for (size_t i = rounds->next; i < rounds->count; i++)
		waiting_deinit(&rounds->items[i]);
	free(rounds->items);
}

static int compare(const void *left, const void *right)
{
	const struct waiting *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static void sort(struct rounds *rounds)
{
	if (rounds->count)
		qsort(rounds->items, rounds->count, sizeof(*rounds->items), compare);
}

/* All up to this time may go out. */
static void release(struct rounds *rounds, uint64_t until_ns)
{
	sort(rounds);
	while (rounds->ready < rounds->count && rounds->items[rounds->ready].time_ns <= until_ns)
		rounds->ready++;
	if (rounds->ready && rounds->items[rounds->ready - 1].time_ns > rounds->out_ns)
		rounds->out_ns = rounds->items[rounds->ready - 1].time_ns;
}

static void release_half(struct rounds *rounds)
{
	sort(rounds);
	release(rounds, rounds->items[rounds->count / 2].time_ns);
}

void rounds_add(struct rounds *rounds, uint64_t time_ns, uint64_t place, struct bytes raw,
		bool lasts)
{
	size_t len = bytes_left(&raw);
	struct waiting added = {
		.time_ns = time_ns,
		.place = place,
		.at = lasts ? raw.at : memcpy(xmalloc(len), raw.at, len),
		.len = (uint32_t)len,
		.copied = !lasts,
	};

	rounds->copied_bytes += lasts ? 0 : len;
	/* What perf makes up has no time; it is not late. */
	if (time_ns && time_ns < rounds->out_ns)
		rounds->late++;
	if (time_ns > rounds->youngest_ns)
		rounds->youngest_ns = time_ns;
	GROW(rounds->items, rounds->count, rounds->room);
	rounds->items[rounds->count++] = added;
	if (rounds->copied_bytes > COPIED_BYTES_MAX || rounds->count >= WAITING_MAX)
		release_half(rounds);
}

void rounds_end_round(struct rounds *rounds)
{
	release(rounds, rounds->last_round_ns);
	rounds->last_round_ns = rounds->youngest_ns;
}

void rounds_end(struct rounds *rounds)
{
	release(rounds, UINT64_MAX);
}

/* Those that wait on take the place of those that are gone. */
static void close_gap(struct rounds *rounds)
{
	if (!rounds->next)
		return;
	rounds->count -= rounds->next;
	memmove(rounds->items, rounds->items + rounds->next,
		rounds->count * sizeof(*rounds->items));
	rounds->next = rounds->ready = 0;
}

bool rounds_take(struct rounds *rounds, struct waiting *ret)
{
	if (rounds->next == rounds->ready) {
		close_gap(rounds);
		return false;
	}
	*ret = rounds->items[rounds->next++];
	if (ret->copied)
		rounds->copied_bytes -= ret->len;
	return true;
}
