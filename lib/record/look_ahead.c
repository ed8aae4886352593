#include "record/look_ahead.h"

#include "base/alloc.h"
#include "base/team.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHARE = 16,	   /* records that a thread takes at once */
	WORTH_WAKING = 64, /* finding the stacks of as many takes longer than waking a thread */
};

/* Not in the same cache line as that of another thread. */
struct member_arena {
	struct arena stacks;
	char apart[64];
};

struct look_ahead {
	const struct sample_stacks *stacks;
	struct team *team;
	struct member_arena *arenas; /* by member of the team */
	struct found_stack *found;   /* by number of the record */
	size_t room;
	/* The call's. */
	const struct profile *profile;
	const struct record *records;
	size_t count;
};

struct look_ahead *look_ahead_new(const struct sample_stacks *stacks, unsigned threads)
{
	struct look_ahead *ahead = xcalloc(1, sizeof(*ahead));

	ahead->stacks = stacks;
	ahead->team = team_new(threads);
	ahead->arenas = xcalloc(threads, sizeof(*ahead->arenas));
	return ahead;
}

static void forget(struct look_ahead *ahead)
{
	for (unsigned i = 0; i < team_size(ahead->team); i++)
		arena_deinit(&ahead->arenas[i].stacks);
}

void look_ahead_free(struct look_ahead *ahead)
{
	if (!ahead)
		return;
	forget(ahead);
	team_free(ahead->team);
	free(ahead->arenas);
	free(ahead->found);
	free(ahead);
}

static void prefetch_bytes(struct bytes bytes)
{
	enum { LINE_BYTES = 64, LINES = 8 };

	for (size_t at = 0; at < bytes_left(&bytes) && at < LINES * LINE_BYTES; at += LINE_BYTES)
		__builtin_prefetch(bytes.at + at);
}

/* What a walk reads first: it comes from another CPU's ring. */
static void prefetch(const struct record *record)
{
	if (record->type != RECORD_SAMPLE)
		return;
	prefetch_bytes(record->sample.regs.values);
	prefetch_bytes(record->sample.stack);
	prefetch_bytes(record->sample.kernel_chain);
}

static void find_share(void *user, size_t share, unsigned member)
{
	struct look_ahead *ahead = user;
	size_t from = share * SHARE;
	size_t until = from + SHARE < ahead->count ? from + SHARE : ahead->count;

	for (size_t i = from; i < until; i++) {
		if (i + 1 < ahead->count)
			prefetch(&ahead->records[i + 1]);
		ahead->found[i].is_found = false;
		if (ahead->records[i].type == RECORD_SAMPLE)
			sample_stacks_find(ahead->stacks, ahead->profile, &ahead->records[i],
					   &ahead->arenas[member].stacks, &ahead->found[i]);
	}
}

void look_ahead_begin(struct look_ahead *ahead, const struct profile *profile,
		      const struct record *records, size_t count)
{
	forget(ahead);
	if (count > ahead->room) {
		ahead->room = count;
		ahead->found = xreallocarray(ahead->found, count, sizeof(*ahead->found));
	}
	ahead->profile = profile;
	ahead->records = records;
	ahead->count = count;
	if (count >= WORTH_WAKING)
		team_begin(ahead->team, (count + SHARE - 1) / SHARE, find_share, ahead);
	else
		memset(ahead->found, 0, count * sizeof(*ahead->found));
}

void look_ahead_finish(struct look_ahead *ahead)
{
	if (ahead->count >= WORTH_WAKING)
		team_finish(ahead->team);
}

bool look_ahead_has(const struct look_ahead *ahead, const struct record *record)
{
	uintptr_t first = (uintptr_t)ahead->records, at = (uintptr_t)record;

	return at >= first && at - first < ahead->count * sizeof(*record);
}

const struct found_stack *look_ahead_found(const struct look_ahead *ahead,
					   const struct record *record)
{
	const struct found_stack *found;

	if (!look_ahead_has(ahead, record))
		return NULL;
	found = &ahead->found[record - ahead->records];
	return found->is_found ? found : NULL;
}
