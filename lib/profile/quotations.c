#include "profile/quotations.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

enum { QUOTATIONS_MAX = 1024 };

void quotations_deinit(struct quotations *quotations)
{
	free(quotations->items);
}

const struct quotation *quotations_find(const struct quotations *quotations,
					const struct quotation *like)
{
	for (uint32_t i = 0; i < quotations->count; i++) {
		const struct quotation *quotation = &quotations->items[i];

		if (quotation->quoted == like->quoted && quotation->before == like->before &&
		    quotation->link == like->link && quotation->after == like->after)
			return quotation;
	}
	return NULL;
}

struct quotation *quotations_add(struct quotations *quotations, const struct quotation *quotation)
{
	if (quotations->count == QUOTATIONS_MAX)
		return NULL;
	GROW(quotations->items, quotations->count, quotations->room);
	quotations->items[quotations->count] = *quotation;
	return &quotations->items[quotations->count++];
}

char *quotation_text(const struct quotation *quotation, const struct strtab *strings,
		     const char *name)
{
	return xasprintf("%s%s%s%s", strtab_get(strings, quotation->before),
			 name ? strtab_get(strings, quotation->link) : "", name ? name : "",
			 strtab_get(strings, quotation->after));
}

char *quotation_key(const struct quotation *quotation, const struct strtab *strings)
{
	return xasprintf("%s%s\n%" PRIu32 "\n%s", strtab_get(strings, quotation->before),
			 strtab_get(strings, quotation->link), quotation->quoted,
			 strtab_get(strings, quotation->after));
}
