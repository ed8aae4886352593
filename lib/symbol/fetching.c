#include "symbol/fetching.h"

#include "base/alloc.h"

/*
 * Few modules of a profile exceed the share. MODULES_MAX bounds the work for a
 * malicious profile.
 */
enum { SHARE_MIN_PERCENT = 1, MODULES_MAX = 64 };

struct wishes {
	struct fetch_wish items[2 * MODULES_MAX];
	size_t count;
};

static int fetching_compare(const void *left, const void *right)
{
	const struct fetching_module *a = left, *b = right;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

void fetching_select(struct fetching *fetching, uint64_t samples)
{
	size_t kept = 0;

	for (size_t i = 0; i < fetching->count; i++)
		if (fetching->modules[i].samples * 100 >= samples * SHARE_MIN_PERCENT &&
		    fetching->modules[i].samples)
			fetching->modules[kept++] = fetching->modules[i];
	fetching->count = kept;
	if (kept)
		qsort(fetching->modules, kept, sizeof(*fetching->modules), fetching_compare);
	if (kept > MODULES_MAX)
		fetching->count = MODULES_MAX;
}

static void wish(const struct fetching *fetching, const struct fetching_module *module,
		 const struct build_id *id, struct wishes *wishes)
{
	if (!id->len || fetched_files_find(fetching->files, id))
		return;
	for (size_t i = 0; i < wishes->count; i++)
		if (build_id_equal(&wishes->items[i].build_id, id))
			return;
	wishes->items[wishes->count++] =
		(struct fetch_wish){.build_id = *id, .name = module->path, .fd = -1};
}

static struct wishes fetching_collect(const struct fetching *fetching)
{
	struct wishes wishes = {0};

	for (size_t i = 0; i < fetching->count; i++) {
		const struct fetching_module *module = &fetching->modules[i];

		if (!module->is_complete)
			wish(fetching, module, module->build_id, &wishes);
		wish(fetching, module, &module->opener->missing, &wishes);
	}
	return wishes;
}

static bool has_come(const struct wishes *wishes, const struct build_id *id)
{
	for (size_t i = 0; i < wishes->count; i++)
		if (wishes->items[i].fd >= 0 && build_id_equal(&wishes->items[i].build_id, id))
			return true;
	return false;
}

bool fetching_round(struct fetching *fetching)
{
	struct wishes wishes = fetching_collect(fetching);
	bool any = false;

	if (!wishes.count)
		return false;
	fetching->fetcher.fetch(fetching->fetcher.user, wishes.items, wishes.count);
	for (size_t i = 0; i < fetching->count; i++) {
		struct fetching_module *module = &fetching->modules[i];

		module->is_renewed = has_come(&wishes, module->build_id) ||
				     has_come(&wishes, &module->opener->missing);
		any |= module->is_renewed;
	}
	for (size_t i = 0; i < wishes.count; i++)
		fetched_files_add(fetching->files, &wishes.items[i].build_id, wishes.items[i].fd,
				  wishes.items[i].path);
	return any;
}
