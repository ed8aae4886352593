#include "profile/embedded_names.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

enum { EMBEDDED_NAMES_MAX = 1024 };

void embedded_names_deinit(struct embedded_names *embedded_names)
{
	free(embedded_names->items);
}

const struct embedded_name *embedded_names_find(const struct embedded_names *embedded_names,
						const struct embedded_name *like)
{
	for (uint32_t i = 0; i < embedded_names->count; i++) {
		const struct embedded_name *embedded_name = &embedded_names->items[i];

		if (embedded_name->quoted == like->quoted &&
		    embedded_name->before == like->before && embedded_name->link == like->link &&
		    embedded_name->after == like->after)
			return embedded_name;
	}
	return NULL;
}

struct embedded_name *embedded_names_add(struct embedded_names *embedded_names,
					 const struct embedded_name *embedded_name)
{
	if (embedded_names->count == EMBEDDED_NAMES_MAX)
		return NULL;
	GROW(embedded_names->items, embedded_names->count, embedded_names->room);
	embedded_names->items[embedded_names->count] = *embedded_name;
	return &embedded_names->items[embedded_names->count++];
}

char *embedded_name_text(const struct embedded_name *embedded_name, const struct strtab *strings,
			 const char *name)
{
	return xasprintf("%s%s%s%s", strtab_get(strings, embedded_name->before),
			 name ? strtab_get(strings, embedded_name->link) : "", name ? name : "",
			 strtab_get(strings, embedded_name->after));
}

char *embedded_name_key(const struct embedded_name *embedded_name, const struct strtab *strings)
{
	return xasprintf("%s%s\n%" PRIu32 "\n%s", strtab_get(strings, embedded_name->before),
			 strtab_get(strings, embedded_name->link), embedded_name->quoted,
			 strtab_get(strings, embedded_name->after));
}
