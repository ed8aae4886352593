#include "base/strtab.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/hash.h"

#include <string.h>

struct strtab_entry {
	const char *str;
	uint32_t len;
	uint32_t hash;
};

struct strtab {
	struct arena arena;
	struct strtab_entry *entries;
	uint32_t count, room;
	uint32_t *slots; /* entry id + 1, 0 if free; open addressing, at most half full */
	uint32_t slot_mask;
};

static uint32_t *slot_of(const struct strtab *tab, const char *str, size_t len, uint32_t hash)
{
	for (uint32_t i = hash;; i++) {
		uint32_t *slot = &tab->slots[i & tab->slot_mask];
		const struct strtab_entry *entry;

		if (!*slot)
			return slot;
		entry = &tab->entries[*slot - 1];
		if (entry->hash == hash && entry->len == len &&
		    (!len || !memcmp(entry->str, str, len)))
			return slot;
	}
}

static void slots_grow(struct strtab *tab)
{
	uint32_t size = tab->slots ? (tab->slot_mask + 1) * 2 : 64;

	free(tab->slots);
	tab->slots = xcalloc(size, sizeof(*tab->slots));
	tab->slot_mask = size - 1;
	for (uint32_t id = 0; id < tab->count; id++) {
		const struct strtab_entry *entry = &tab->entries[id];

		*slot_of(tab, entry->str, entry->len, entry->hash) = id + 1;
	}
}

struct strtab *strtab_new(void)
{
	struct strtab *tab = xcalloc(1, sizeof(*tab));

	slots_grow(tab);
	strtab_add(tab, "");
	return tab;
}

void strtab_free(struct strtab *tab)
{
	if (!tab)
		return;
	arena_deinit(&tab->arena);
	free(tab->entries);
	free(tab->slots);
	free(tab);
}

string_id strtab_add(struct strtab *tab, const char *str)
{
	return strtab_add_len(tab, str, strlen(str));
}

string_id strtab_add_len(struct strtab *tab, const char *str, size_t len)
{
	uint32_t hash = hash_bytes(str, len);
	uint32_t *slot = slot_of(tab, str, len, hash);

	if (*slot)
		return *slot - 1;
	GROW(tab->entries, tab->count, tab->room);
	tab->entries[tab->count] = (struct strtab_entry){
		.str = arena_strndup(&tab->arena, str, len),
		.len = (uint32_t)len,
		.hash = hash,
	};
	*slot = ++tab->count;
	if (tab->count > tab->slot_mask / 2)
		slots_grow(tab);
	return tab->count - 1;
}

const char *strtab_get(const struct strtab *tab, string_id id)
{
	return tab->entries[id].str;
}

size_t strtab_len(const struct strtab *tab, string_id id)
{
	return tab->entries[id].len;
}

uint32_t strtab_count(const struct strtab *tab)
{
	return tab->count;
}

size_t strtab_memory_bytes(const struct strtab *tab)
{
	return tab->arena.size_bytes + tab->count * sizeof(*tab->entries) +
	       (size_t)tab->slot_mask * sizeof(*tab->slots);
}
