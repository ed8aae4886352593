#include "doctor/finding.h"

#include "base/alloc.h"

#include <stdlib.h>

const char *finding_state_name(enum finding_state state)
{
	static const char *const names[] = {
		[FINDING_OK] = "ok",
		[FINDING_LIMITED] = "limited",
		[FINDING_MISSING] = "missing",
	};

	return names[state];
}

void findings_add(struct findings *findings, const struct finding *finding)
{
	GROW(findings->items, findings->count, findings->room);
	findings->items[findings->count++] = *finding;
}

/* An insertion sort is stable, and there are only a dozen findings. */
void findings_sort(struct findings *findings)
{
	for (size_t i = 1; i < findings->count; i++) {
		struct finding moved = findings->items[i];
		size_t at = i;

		for (; at > 0 && findings->items[at - 1].state < moved.state; at--)
			findings->items[at] = findings->items[at - 1];
		findings->items[at] = moved;
	}
}

void findings_deinit(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->items[i].what);
		free(findings->items[i].cost);
		free(findings->items[i].command);
		free(findings->items[i].fix);
	}
	free(findings->items);
	*findings = (struct findings){0};
}
