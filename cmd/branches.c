#include "cmd/branches.h"

#include "base/alloc.h"

#include <string.h>

/* The same for those below the node: no corner, but what goes on to the next. */
static char *below(const char *prefix)
{
	size_t len = strlen(prefix), corner = strlen("├ ");
	CLEANUP(free_ptr) char *stem = NULL;

	if (len < corner)
		return xstrdup(prefix);
	stem = xstrndup(prefix, len - corner);
	if (!strcmp(prefix + len - corner, "├ "))
		return xasprintf("%s│ ", stem);
	if (!strcmp(prefix + len - corner, "└ "))
		return xasprintf("%s  ", stem);
	return xstrdup(prefix);
}

void branches_init(struct branches *branches, const struct outline *outline)
{
	CLEANUP(free_ptr) uint32_t *left = xcalloc(outline->count, sizeof(*left));

	branches->count = outline->count;
	branches->prefixes = xcalloc(outline->count, sizeof(*branches->prefixes));
	for (size_t i = 0; i < outline->count; i++) {
		const struct outline_node *node = &outline->nodes[i];
		CLEANUP(free_ptr) char *stem = NULL;

		left[i] = node->children;
		if (node->parent == OUTLINE_NO_PARENT) {
			branches->prefixes[i] = xstrdup("");
			continue;
		}
		stem = below(branches->prefixes[node->parent]);
		left[node->parent]--;
		if (outline->nodes[node->parent].children < 2)
			branches->prefixes[i] = xstrdup(stem);
		else
			branches->prefixes[i] = xasprintf("%s%s", stem,
							  left[node->parent] ? "├ " : "└ ");
	}
}

void branches_deinit(struct branches *branches)
{
	for (size_t i = 0; i < branches->count; i++)
		free(branches->prefixes[i]);
	free(branches->prefixes);
	*branches = (struct branches){0};
}
