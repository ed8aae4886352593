#include "format/pprof/strings.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <stdlib.h>

void pprof_strings_deinit(struct pprof_strings *strings)
{
	free(strings->items);
}

void pprof_strings_add(struct pprof_strings *strings, struct bytes text)
{
	GROW(strings->items, strings->count, strings->room);
	strings->items[strings->count++] = utf8_intern(profile_strings(strings->profile), text);
}
