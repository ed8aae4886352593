#include "cmd/options/fail_condition.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Splits at the last ">", because function names contain ">", too. */
struct error *fail_condition_append(void *field, const char *argument)
{
	struct fail_conditions *list = field;
	const char *sign = strrchr(argument, '>'), *digits = sign ? sign + 1 : "";
	char *end = NULL;
	double percent = strchr("0123456789.", *digits) && *digits ? strtod(digits, &end) : 0;

	if (!sign || sign == argument || !end || end == digits || !isfinite(percent) ||
	    strcmp(*end == '%' ? end + 1 : end, "") != 0)
		return error_hint(error_new("invalid condition \"%s\"", argument),
				  "a name, > and a percentage, in quotes because of the shell: "
				  "'slower>5%%'");
	GROW(list->items, list->count, list->room);
	list->items[list->count++] =
		(struct fail_condition){.text = xstrdup(argument),
					.what = xstrndup(argument, (size_t)(sign - argument)),
					.limit = percent / 100};
	return NULL;
}

bool fail_condition_is_slower(const struct fail_condition *condition)
{
	return !strcmp(condition->what, "slower");
}

void fail_conditions_deinit(struct fail_conditions *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].text);
		free(list->items[i].what);
	}
	free(list->items);
}
