/*
 * Fuzzes configuration predicates. The first line is a predicate, and the
 * others are options. Either the predicate or its negation holds, unless it is
 * not a predicate.
 */
#include "cmd/cargo/cfg.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_ptr) char *text = xstrndup((const char *)data, size);
	char *line_end = strchr(text, '\n');
	const char *options = line_end ? line_end + 1 : "";
	CLEANUP(free_ptr) char *negation = NULL;

	if (line_end)
		*line_end = '\0';
	negation = strncmp(text, "cfg(", 4) != 0 ? xstrdup("") : xasprintf("cfg(not(%s)", text + 4);
	if (cargo_cfg_matches(text, options) && cargo_cfg_matches(negation, options))
		abort();
	return 0;
}
