#include "perfdata/reorder.h"

#include "base/alloc.h"

#include <stdlib.h>

enum {
	COPIED_BYTES_MAX = 48 << 20,
	WAITING_MAX = 1 << 19,
};

void pending_record_deinit(struct pending_record *waiting)
{
	if (waiting->copied)
		free((void *)waiting->at);
	*waiting = (struct pending_record){0};
}

void reorder_deinit(struct reorder *reorder)
{
	for (size_t i = reorder->next; i < reorder->count; i++)
		pending_record_deinit(&reorder->items[i]);
	free(reorder->items);
}

static int reorder_compare(const void *left, const void *right)
{
	const struct pending_record *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static void reorder_sort(struct reorder *reorder)
{
	if (reorder->count)
		qsort(reorder->items, reorder->count, sizeof(*reorder->items), reorder_compare);
}

/* Makes all records up to this time ready. */
static void reorder_release(struct reorder *reorder, uint64_t until_ns)
{
	reorder_sort(reorder);
	while (reorder->ready < reorder->count &&
	       reorder->items[reorder->ready].time_ns <= until_ns)
		reorder->ready++;
	if (reorder->ready && reorder->items[reorder->ready - 1].time_ns > reorder->out_ns)
		reorder->out_ns = reorder->items[reorder->ready - 1].time_ns;
}

static void release_half(struct reorder *reorder)
{
	reorder_sort(reorder);
	reorder_release(reorder, reorder->items[reorder->count / 2].time_ns);
}

void reorder_add(struct reorder *reorder, uint64_t time_ns, uint64_t place, struct bytes raw,
		 bool lasts)
{
	size_t len = bytes_left(&raw);
	struct pending_record added = {
		.time_ns = time_ns,
		.place = place,
		.at = lasts ? raw.at : memcpy(xmalloc(len), raw.at, len),
		.len = (uint32_t)len,
		.copied = !lasts,
	};

	reorder->copied_bytes += lasts ? 0 : len;
	/* Records that perf synthesizes have no time and are not late. */
	if (time_ns && time_ns < reorder->out_ns)
		reorder->late++;
	if (time_ns > reorder->youngest_ns)
		reorder->youngest_ns = time_ns;
	GROW(reorder->items, reorder->count, reorder->room);
	reorder->items[reorder->count++] = added;
	if (reorder->copied_bytes > COPIED_BYTES_MAX || reorder->count >= WAITING_MAX)
		release_half(reorder);
}

void reorder_end_round(struct reorder *reorder)
{
	reorder_release(reorder, reorder->last_round_ns);
	reorder->last_round_ns = reorder->youngest_ns;
}

void reorder_end(struct reorder *reorder)
{
	reorder_release(reorder, UINT64_MAX);
}

/* Moves the waiting records to the start. */
static void close_gap(struct reorder *reorder)
{
	if (!reorder->next)
		return;
	reorder->count -= reorder->next;
	memmove(reorder->items, reorder->items + reorder->next,
		reorder->count * sizeof(*reorder->items));
	reorder->next = reorder->ready = 0;
}

bool reorder_take(struct reorder *reorder, struct pending_record *ret)
{
	if (reorder->next == reorder->ready) {
		close_gap(reorder);
		return false;
	}
	*ret = reorder->items[reorder->next++];
	if (ret->copied)
		reorder->copied_bytes -= ret->len;
	return true;
}
