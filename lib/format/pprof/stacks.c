#include "format/pprof/stacks.h"

#include "base/alloc.h"
#include "format/pprof/limits.h"
#include "format/pprof/wire.h"

#include <inttypes.h>
#include <stdlib.h>

void pprof_stacks_init(struct pprof_stacks *stacks, struct profile *profile,
		       const struct id_table *frames)
{
	*stacks = (struct pprof_stacks){.profile = profile, .frames = frames};
}

void pprof_stacks_deinit(struct pprof_stacks *stacks)
{
	free(stacks->list);
	free(stacks->path);
	free(stacks->fresh);
}

/* The number of bytes at the end that are equal. */
static size_t common_end(struct bytes a, struct bytes b)
{
	size_t len = bytes_left(&a) < bytes_left(&b) ? bytes_left(&a) : bytes_left(&b);
	size_t same = 0;

	while (len - same >= 8 && !memcmp(a.end - same - 8, b.end - same - 8, 8))
		same += 8;
	while (same < len && a.end[-1 - (ptrdiff_t)same] == b.end[-1 - (ptrdiff_t)same])
		same++;
	return same;
}

static bool begins_number(struct bytes list, const unsigned char *at)
{
	return at == list.at || !(at[-1] & WIRE_GOES_ON);
}

/* The same, but at the boundary of a number. */
static size_t common_numbers(struct bytes a, struct bytes b)
{
	size_t same = common_end(a, b);

	while (same && !(begins_number(a, a.end - same) && begins_number(b, b.end - same)))
		same--;
	return same;
}

static size_t count_numbers(struct bytes list)
{
	size_t count = 0;

	for (; list.at < list.end; list.at++)
		count += !(*list.at & WIRE_GOES_ON);
	return count;
}

/* Adds the frames of locations. Returns false after a location that does not exist. */
static bool add_frames(struct pprof_stacks *stacks, struct bytes locations, uint64_t *location)
{
	while (bytes_left(&locations)) {
		frame_id frame;

		*location = bytes_uleb(&locations);
		frame = id_table_get(stacks->frames, *location);
		if (frame == IDMAP_NONE)
			return false;
		GROW(stacks->fresh, stacks->fresh_count, stacks->fresh_room);
		stacks->fresh[stacks->fresh_count++] = frame;
	}
	return bytes_ok(&locations);
}

static struct error *read_fresh(struct pprof_stacks *stacks, struct bytes locations)
{
	uint64_t location = 0;

	stacks->fresh_count = 0;
	if (add_frames(stacks, locations, &location))
		return NULL;
	return error_new("a sample refers to location %" PRIu64 ", which does not exist", location);
}

static void keep_list(struct pprof_stacks *stacks, struct bytes locations)
{
	stacks->list_len = bytes_left(&locations);
	if (stacks->list_room < stacks->list_len) {
		stacks->list_room = stacks->list_len * 2;
		stacks->list = xreallocarray(stacks->list, stacks->list_room, 1);
	}
	if (stacks->list_len)
		memcpy(stacks->list, locations.at, stacks->list_len);
}

static stack_id push_fresh(struct pprof_stacks *stacks, size_t depth)
{
	stack_id stack = depth ? stacks->path[depth] : STACK_EMPTY;

	stacks->depth = depth + stacks->fresh_count;
	if (stacks->path_room <= stacks->depth) {
		stacks->path_room = (stacks->depth + 1) * 2;
		stacks->path = xreallocarray(stacks->path, stacks->path_room,
					     sizeof(*stacks->path));
	}
	for (size_t i = stacks->fresh_count; i-- > 0;)
		stacks->path[++depth] = stack = profile_push(stacks->profile, stack,
							     stacks->fresh[i]);
	return stack;
}

/* Keeps the first PPROF_DEPTH_MAX numbers; false if there are no more. */
static bool cut_deep(struct bytes *list)
{
	const unsigned char *at = list->at;
	size_t left = PPROF_DEPTH_MAX;

	if (bytes_left(list) <= PPROF_DEPTH_MAX) /* of one byte at least */
		return false;
	for (; at < list->end && left; at++)
		left -= !(*at & WIRE_GOES_ON);
	if (at == list->end)
		return false;
	list->end = at;
	return true;
}

static struct error *find_cut(struct pprof_stacks *stacks, struct bytes locations, stack_id *ret)
{
	struct error *err = read_fresh(stacks, locations);
	frame_id truncated = profile_synthetic_frame(stacks->profile, "[truncated]");

	stacks->cut_count++;
	*ret = profile_push(stacks->profile, STACK_EMPTY, truncated);
	for (size_t i = stacks->fresh_count; !err && i-- > 0;)
		*ret = profile_push(stacks->profile, *ret, stacks->fresh[i]);
	return err;
}

static bool take_ahead(struct pprof_stacks *stacks, struct bytes locations, stack_id *ret)
{
	const struct pprof_stack_ahead *ahead = &stacks->ahead[stacks->ahead_at];

	if (stacks->ahead_at == stacks->ahead_count || ahead->list.at != locations.at)
		return false;
	*ret = ahead->stack;
	stacks->ahead_at++;
	return true;
}

struct error *pprof_stacks_find(struct pprof_stacks *stacks, struct bytes locations, stack_id *ret)
{
	struct bytes before = bytes_of(stacks->list, stacks->list_len), fresh = locations;
	struct error *err;
	size_t same;

	if (take_ahead(stacks, locations, ret))
		return NULL;
	if (cut_deep(&locations))
		return find_cut(stacks, locations, ret);
	same = common_numbers(locations, before);
	stacks->list_bytes += bytes_left(&locations);
	stacks->fresh_bytes += bytes_left(&locations) - same;
	if (same) { /* an empty list may be NULL */
		fresh.end -= same;
		before.end -= same;
	}
	err = read_fresh(stacks, fresh);
	if (err)
		return err;
	*ret = push_fresh(stacks, stacks->depth - count_numbers(before));
	keep_list(stacks, locations);
	return NULL;
}

bool pprof_stacks_are_scattered(const struct pprof_stacks *stacks)
{
	return stacks->fresh_bytes > stacks->list_bytes / 2;
}

/* Longer lists are not found ahead: the bound of memory is checked after a few samples. */
enum { AHEAD_BYTES_MAX = 4096 };

/*
 * Adds the frames of a list. Returns their number; 0: pprof_stacks_find() reports what is wrong
 * with it.
 */
static size_t add_ahead(struct pprof_stacks *stacks, struct bytes list)
{
	size_t first = stacks->fresh_count;
	uint64_t location;

	if (bytes_left(&list) > AHEAD_BYTES_MAX || !add_frames(stacks, list, &location))
		stacks->fresh_count = first;
	return stacks->fresh_count - first;
}

static void count_ahead(struct pprof_stacks *stacks, const struct bytes *lists, size_t count)
{
	struct bytes before = {0};

	stacks->list_bytes = stacks->fresh_bytes = 0;
	for (size_t i = 0; i < count; before = lists[i++]) {
		stacks->list_bytes += bytes_left(&lists[i]);
		stacks->fresh_bytes += bytes_left(&lists[i]) - common_end(lists[i], before);
	}
}

void pprof_stacks_look_ahead(struct pprof_stacks *stacks, const struct bytes *lists, size_t count)
{
	struct profile_path paths[PPROF_STACKS_AHEAD];
	size_t first = 0;

	count_ahead(stacks, lists, count);
	stacks->fresh_count = stacks->ahead_count = stacks->ahead_at = 0;
	for (size_t i = 0; i < count; i++) {
		size_t frames = add_ahead(stacks, lists[i]);

		if (!frames)
			continue;
		stacks->ahead[stacks->ahead_count].list = lists[i];
		paths[stacks->ahead_count++].count = frames;
	}
	for (size_t i = 0; i < stacks->ahead_count; first += paths[i++].count)
		paths[i].frames = stacks->fresh + first;
	profile_push_paths(stacks->profile, paths, stacks->ahead_count);
	for (size_t i = 0; i < stacks->ahead_count; i++)
		stacks->ahead[i].stack = paths[i].stack;
}
