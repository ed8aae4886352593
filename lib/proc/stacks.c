#include "proc/stacks.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* The first step beyond the copy; the next ones double what there is. */
enum { FIRST_STEP_BYTES = 64 << 10 };

/* Consecutive memory of a stack. */
struct extent {
	pid_t tid; /* 0: of none */
	uint64_t start;
	size_t len, room;
	unsigned contested; /* times in a row, when it is a kept one */
	unsigned char *memory;
};

struct stacks {
	memory_reader *read;

	pid_t tid;
	uint64_t sp;
	struct bytes copied;
	enum stack_origin origin;
	struct extent grown; /* from sp on, once it has grown */
	struct extent other; /* likewise, by the last complete stack */
	struct extent kept[STACKS_KEPT];
};

struct stacks *stacks_new(memory_reader *read)
{
	struct stacks *stacks = xcalloc(1, sizeof(*stacks));

	stacks->read = read;
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	for (unsigned i = 0; i < STACKS_KEPT; i++)
		free(stacks->kept[i].memory);
	free(stacks->grown.memory);
	free(stacks->other.memory);
	free(stacks);
}

static struct extent *kept_of(struct stacks *stacks, pid_t tid)
{
	return &stacks->kept[(uint32_t)tid % STACKS_KEPT];
}

void stacks_forget(struct stacks *stacks, pid_t tid)
{
	struct extent *kept = kept_of(stacks, tid);

	if (kept->tid != tid)
		return;
	kept->tid = 0;
	kept->contested = 0;
}

void stacks_begin(struct stacks *stacks, pid_t tid, uint64_t sp, struct bytes copied)
{
	stacks->tid = tid;
	stacks->sp = sp;
	stacks->copied = copied;
	stacks->origin = STACK_COPIED;
	stacks->grown.len = 0;
}

static void make_room(struct extent *extent, size_t room)
{
	if (room <= extent->room)
		return;
	extent->memory = xreallocarray(extent->memory, room, 1);
	extent->room = room;
}

static uint64_t end_of(const struct extent *extent)
{
	return extent->start + extent->len;
}

/* The words at the end of the copy, which what continues it must hold. */
static struct bytes overlap_of(const struct stacks *stacks)
{
	struct bytes overlap = stacks->copied;

	if (bytes_left(&overlap) > STACKS_OVERLAP_BYTES)
		bytes_skip(&overlap, bytes_left(&overlap) - STACKS_OVERLAP_BYTES);
	return overlap;
}

/* Reads the overlap once more, and beyond it; room for it is behind the copy. */
static bool continue_live(struct stacks *stacks)
{
	struct extent *grown = &stacks->grown;
	struct bytes overlap = overlap_of(stacks);
	size_t common = bytes_left(&overlap), copied = bytes_left(&stacks->copied), got;
	unsigned char *from;

	make_room(grown, copied + FIRST_STEP_BYTES);
	from = grown->memory + copied - common;
	got = stacks->read(stacks->tid, stacks->sp + copied - common, from,
			   common + FIRST_STEP_BYTES);
	if (got <= common || memcmp(from, overlap.at, common))
		return false;
	memcpy(grown->memory, stacks->copied.at, copied - common);
	grown->len = copied - common + got;
	return true;
}

static bool continue_kept(struct stacks *stacks, struct extent *grown)
{
	const struct extent *kept = kept_of(stacks, stacks->tid);
	struct bytes overlap = overlap_of(stacks);
	size_t common = bytes_left(&overlap), copied = bytes_left(&stacks->copied), more;
	uint64_t end = stacks->sp + copied;

	if (kept->tid != stacks->tid || end - common < kept->start || end >= end_of(kept) ||
	    memcmp(kept->memory + (end - common - kept->start), overlap.at, common))
		return false;
	more = (size_t)(end_of(kept) - end);
	make_room(grown, copied + more);
	memcpy(grown->memory, stacks->copied.at, copied);
	memcpy(grown->memory + copied, kept->memory + (end - kept->start), more);
	grown->len = copied + more;
	return true;
}

static bool begin_growth(struct stacks *stacks)
{
	stacks->grown.tid = stacks->tid;
	stacks->grown.start = stacks->sp;
	if (!bytes_left(&stacks->copied))
		return false;
	if (continue_live(stacks))
		stacks->origin = STACK_LIVE;
	else if (continue_kept(stacks, &stacks->grown))
		stacks->origin = STACK_KEPT;
	return stacks->origin != STACK_COPIED;
}

static bool read_on(struct stacks *stacks)
{
	struct extent *grown = &stacks->grown;
	size_t step = grown->len, got;

	if (stacks->origin != STACK_LIVE)
		return false;
	make_room(grown, grown->len + step);
	got = stacks->read(stacks->tid, end_of(grown), grown->memory + grown->len, step);
	grown->len += got;
	return got > 0;
}

bool stacks_grow(struct stacks *stacks, uint64_t end, struct bytes *copied)
{
	bool more;

	if (end - stacks->sp > STACKS_GROWN_BYTES)
		return false;
	more = stacks->origin == STACK_COPIED ? begin_growth(stacks) : read_on(stacks);
	if (more)
		*copied = bytes_of(stacks->grown.memory, stacks->grown.len);
	return more;
}

bool stacks_other(struct stacks *stacks, struct bytes *copied)
{
	const struct extent *grown = &stacks->grown, *other = &stacks->other;

	if (stacks->origin != STACK_LIVE || !continue_kept(stacks, &stacks->other) ||
	    !memcmp(grown->memory, other->memory,
		    grown->len < other->len ? grown->len : other->len))
		return false;
	*copied = bytes_of(other->memory, other->len);
	return true;
}

/* The buffers change places: nothing is copied. */
static void keep(struct stacks *stacks)
{
	struct extent *kept = kept_of(stacks, stacks->tid), old = *kept;

	*kept = stacks->grown;
	stacks->grown = old;
	kept->contested = 0;
}

enum stack_origin stacks_end(struct stacks *stacks, bool complete)
{
	if (complete && stacks->origin == STACK_LIVE && stacks->grown.room <= STACKS_KEPT_BYTES)
		keep(stacks);
	return complete ? stacks->origin : STACK_COPIED;
}

void stacks_end_contested(struct stacks *stacks)
{
	if (++kept_of(stacks, stacks->tid)->contested == STACKS_CONTESTS)
		stacks_forget(stacks, stacks->tid);
}
