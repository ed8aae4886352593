#include "format/page/comparison.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/strtab.h"

#include <stdlib.h>

/* Returns a number for a function, by its name, module and line. */
static uint32_t key_of(struct strtab *keys, const struct display_labels *labels, uint32_t label)
{
	const struct label *item = &labels->items[label];
	const struct profile_module *module = profile_get_module(labels->profile, item->module);
	CLEANUP(free_ptr)
	char *key = xasprintf("%u %s\n%s", item->start_line, item->name,
			      profile_string(labels->profile, module->path));

	return strtab_add(keys, key);
}

uint32_t *page_comparison_labels(const struct page_comparison *comparison,
				 const struct display_labels *labels)
{
	const struct diff *diff = comparison->diff;
	uint32_t *found = xcalloc(diff->count, sizeof(*found));
	struct strtab *keys = strtab_new();
	struct idmap label_of = {0};

	for (uint32_t i = 0; i < labels->count; i++)
		*idmap_put(&label_of, key_of(keys, labels, i), 0) = i;
	for (uint32_t i = 0; i < diff->count; i++) {
		uint32_t key = key_of(keys, &diff->labels, diff->rows[i].label);
		uint32_t label = idmap_get(&label_of, key, 0);

		found[i] = label == IDMAP_NONE ? PAGE_NO_LABEL : label;
	}
	idmap_deinit(&label_of);
	strtab_free(keys);
	return found;
}
