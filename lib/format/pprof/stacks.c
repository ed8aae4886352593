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

static bool begins_number(struct bytes list, const unsigned char *at)
{
	return at == list.at || !(at[-1] & WIRE_GOES_ON);
}

/* Like wire_common_end(), but stops at the boundary of a number. */
static size_t common_numbers(struct bytes a, struct bytes b)
{
	size_t same = wire_common_end(a, b);

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

static struct error *read_fresh(struct pprof_stacks *stacks, struct bytes locations)
{
	uint64_t location = 0;

	if (stacks->fresh_room < bytes_left(&locations)) {
		stacks->fresh_room = bytes_left(&locations) * 2;
		stacks->fresh = xreallocarray(stacks->fresh, stacks->fresh_room,
					      sizeof(*stacks->fresh));
	}
	if (pprof_decode_list(stacks->frames, locations, stacks->fresh, &stacks->fresh_count,
			      &location))
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

/*
 * Keeps the first PPROF_DEPTH_MAX numbers. Returns false if there are not more.
 */
static bool stacks_cut_deep(struct bytes *list)
{
	const unsigned char *at = list->at;
	size_t left = PPROF_DEPTH_MAX;

	if (bytes_left(list) <= PPROF_DEPTH_MAX) /* each takes at least one byte */
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

	if (stacks->ahead_at == stacks->ahead_count || ahead->at != locations.at)
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
	if (stacks_cut_deep(&locations))
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

void pprof_stacks_look_ahead(struct pprof_stacks *stacks, const struct pprof_batch *batch)
{
	struct profile_path paths[PPROF_BATCH];

	stacks->list_bytes = batch->list_bytes;
	stacks->fresh_bytes = batch->fresh_bytes;
	for (size_t i = 0; i < batch->count; i++)
		paths[i] = (struct profile_path){.frames = batch->lists[i].frames,
						 .count = batch->lists[i].count,
						 .stack = STACK_EMPTY};
	profile_push_paths(stacks->profile, paths, batch->count);
	for (size_t i = 0; i < batch->count; i++)
		stacks->ahead[i] = (struct pprof_stack_ahead){batch->lists[i].at, paths[i].stack};
	stacks->ahead_count = batch->count;
	stacks->ahead_at = 0;
}
