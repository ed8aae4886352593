#include "cmd/condition.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last ">": names of functions have some of their own. */
struct error *condition_append(void *field, const char *argument)
{
	struct condition_list *list = field;
	const char *sign = strrchr(argument, '>'), *digits = sign ? sign + 1 : "";
	char *end = NULL;
	double percent = strchr("0123456789.", *digits) && *digits ? strtod(digits, &end) : 0;

	if (!sign || sign == argument || !end || end == digits || !isfinite(percent) ||
	    strcmp(*end == '%' ? end + 1 : end, "") != 0)
		return error_hint(error_new("\"%s\" is no condition", argument),
				  "a name, > and percent, such as slower>5%%; in quotes, since a "
				  "shell takes > for its own");
	GROW(list->items, list->count, list->room);
	list->items[list->count++] = (struct condition){
		.what = xstrndup(argument, (size_t)(sign - argument)), .limit = percent / 100};
	return NULL;
}

void condition_list_deinit(struct condition_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].what);
	free(list->items);
}
