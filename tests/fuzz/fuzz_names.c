/* Fuzzes function names of a profile, one per line, in every style. */
#include "report/display_names.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "replay.h"
#include "report/short_name.h"
#include "report/shorten.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 32, COLUMNS = 40 };

static void show(const struct display_name *names, uint32_t count, enum name_style style)
{
	struct display_name copies[MOST_NAMES];
	struct arena arena = {0};

	memcpy(copies, names, count * sizeof(*names));
	display_names_resolve(copies, count, style, &arena);
	for (uint32_t i = 0; i < count; i++)
		note_text("shown", copies[i].shown);
	/* Different names must not be displayed equally. */
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t other = 0; other < i; other++)
			if (!strcmp(copies[i].shown, copies[other].shown) && !copies[i].line &&
			    !copies[other].line && strcmp(copies[i].full, copies[other].full) != 0)
				abort();
	arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_ptr) char *text = xstrndup((const char *)data, size);
	struct display_name names[MOST_NAMES];
	uint32_t count = 0;
	char *rest = text, *name;

	while ((name = strsep(&rest, "\n")) && count < MOST_NAMES) {
		note_taken("shortened", shorten(name, COLUMNS));
		note_taken("plain", name_without_generics(name));
		names[count] = (struct display_name){
			.full = name, .plain = name, .line = name_is_closure(name) ? count : 0};
		count++;
	}
	show(names, count, NAMES_FULL);
	show(names, count, NAMES_SHORT);
	return 0;
}
