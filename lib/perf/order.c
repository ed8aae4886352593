#include "perf/order.h"

#include "base/alloc.h"

#include <stdlib.h>

void order_deinit(struct order *order)
{
	free(order->items);
}

static bool earlier(const struct order_item *a, const struct order_item *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	return a->source < b->source;
}

void order_put(struct order *order, uint64_t time_ns, unsigned source)
{
	struct order_item item = {.time_ns = time_ns, .source = source};
	size_t at = order->count;

	GROW(order->items, order->count, order->room);
	order->count++;
	for (; at > 0; at = (at - 1) / 2) {
		struct order_item *parent = &order->items[(at - 1) / 2];

		if (!earlier(&item, parent))
			break;
		order->items[at] = *parent;
	}
	order->items[at] = item;
}

/* Moves the last item to the top and down from there, to where it belongs. */
static void close_gap_at_top(struct order *order)
{
	struct order_item last = order->items[--order->count];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= order->count)
			break;
		if (child + 1 < order->count &&
		    earlier(&order->items[child + 1], &order->items[child]))
			child++;
		if (!earlier(&order->items[child], &last))
			break;
		order->items[at] = order->items[child];
		at = child;
	}
	order->items[at] = last;
}

uint64_t order_next_ns(const struct order *order)
{
	return order->count ? order->items[0].time_ns : UINT64_MAX;
}

bool order_take(struct order *order, unsigned *source)
{
	if (order->count == 0)
		return false;
	*source = order->items[0].source;
	close_gap_at_top(order);
	return true;
}
