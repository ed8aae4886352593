/* Fuzzes JSON: the text is refused, or can be traversed to its last value. */
#include "base/json_value.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

static void walk(const struct json_value *value)
{
	CLEANUP(free_ptr) char *text = json_string(value);
	CLEANUP(free_ptr) char *name = json_name(value);
	struct json_value item = {0}, found;
	const char *last = value->at;
	uint64_t number;

	(void)name;
	if (text && !json_is(value, text))
		abort();
	json_integer(value, &number);
	while (json_next(value, &item)) {
		if (item.at <= last || item.end > value->end)
			abort();
		last = item.at;
		walk(&item);
	}
	if (item.name_at) {
		CLEANUP(free_ptr) char *last_name = json_name(&item);

		if (!json_find(value, last_name, &found))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* In an allocation of its own, so that reads beyond its end are
	 * detected. */
	char *text = malloc(size ? size : 1);
	struct json_value root;

	memcpy(text, data, size);
	if (json_parse(text, size, &root))
		walk(&root);
	free(text);
	return 0;
}
