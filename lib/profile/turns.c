#include "profile/turns.h"

#include "base/alloc.h"

#include <stdlib.h>

enum { TURNS_MAX = 1 << 20 };

void turns_deinit(struct turns *turns)
{
	free(turns->items);
	*turns = (struct turns){0};
}

void turns_add(struct turns *turns, pid_t tid, uint32_t sample)
{
	if (!turns->are_kept || turns->count >= TURNS_MAX)
		return;
	GROW(turns->items, turns->count, turns->room);
	turns->items[turns->count++] = (struct turn){.tid = tid, .sample = sample};
}

void turns_move_samples(struct turns *turns, const uint32_t *moved)
{
	for (uint32_t i = 0; i < turns->count; i++)
		turns->items[i].sample = moved[turns->items[i].sample];
}
