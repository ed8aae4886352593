#include "profile/sample_order.h"

#include "base/alloc.h"

#include <stdlib.h>

enum { SAMPLE_ORDER_MAX = 1 << 20 };

void sample_order_deinit(struct sample_order *order)
{
	free(order->items);
	*order = (struct sample_order){0};
}

void sample_order_add(struct sample_order *order, pid_t tid, uint32_t sample)
{
	if (!order->are_kept || order->count >= SAMPLE_ORDER_MAX)
		return;
	GROW(order->items, order->count, order->room);
	order->items[order->count++] = (struct ordered_sample){.tid = tid, .sample = sample};
}

void sample_order_move_samples(struct sample_order *order, const uint32_t *moved)
{
	for (uint32_t i = 0; i < order->count; i++)
		order->items[i].sample = moved[order->items[i].sample];
}
