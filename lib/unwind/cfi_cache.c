#include "unwind/cfi_cache.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "unwind/cfi_loader.h"

#include <stdlib.h>

/* How long stacks of a live recording may wait. */
#define WAIT_NS (20 * NS_PER_MS)
#define WAIT_PER_SECOND_NS (100 * NS_PER_MS)

/*
 * Sections without a table up to this size take less than a millisecond to
 * index, so they do not need a thread.
 */
enum { SMALL_BYTES = 256 << 10 };

/* See cfi_cache.h. */
enum { COPIES_KB_MAX = 96 << 10, OWNER_CPU_MS_MAX = 10000 };

/* The CFI of one file. */
struct cfi_cache_part {
	bool is_asked;
	struct cfi_load *load; /* NULL if it is not being loaded */
	struct cfi *cfi;       /* NULL if there is none (yet) */
	struct elf_file *elf;  /* file that `cfi` reads from, if it is owned */
	struct functions *functions;
};

struct cfi_cache_entry {
	struct module_cfi cfi; /* points to the parts below */
	struct cfi_cache_part own, debug;
	uint64_t touched; /* value of cfi_cache.touches at the last use */
	uint32_t copies_kb;
	uid_t owner;
	bool is_untrusted;
};

struct cfi_cache {
	struct address_spaces *spaces;
	const struct arch *arch;
	bool is_live;
	struct cfi_loader *loader;
	/*
	 * Modules with a load in progress, for untrusted files. Includes those
	 * whose threads were abandoned.
	 */
	module_id under_way[CFI_LOADER_UNTRUSTED + CFI_LOADER_LEFT_BEHIND];
	unsigned under_way_count;
	const struct cfi_cache_entry *in_use; /* must not be evicted */
	struct cfi_cache_entry *entries;      /* by module_id */
	uint32_t count;
	uint64_t touches;
	/* The current second, and the time spent waiting in it. */
	uint64_t second_ns, waited_ns;
	uint32_t all_copies_kb;
	struct idmap cpu_ms, copies_kb; /* by owner */
};

struct cfi_cache *cfi_cache_new(struct address_spaces *spaces, const struct arch *arch,
				bool is_live)
{
	struct cfi_cache *cache = xcalloc(1, sizeof(*cache));

	cache->spaces = spaces;
	cache->arch = arch;
	cache->is_live = is_live;
	cache->loader = cfi_loader_new(arch);
	return cache;
}

static void part_clear(struct cfi_cache_part *part)
{
	cfi_free(part->cfi);
	elf_file_free(part->elf);
	functions_free(part->functions);
	*part = (struct cfi_cache_part){0};
}

static void cfi_cache_part_deinit(struct cfi_cache_part *part)
{
	struct loaded_cfi loaded;

	if (part->load && cfi_load_is_done(part->load)) {
		loaded = cfi_load_take(part->load);
		cfi_free(loaded.cfi);
		elf_file_free(loaded.elf);
		functions_free(loaded.functions);
	}
	part_clear(part);
}

void cfi_cache_free(struct cfi_cache *cache)
{
	if (!cache)
		return;
	for (uint32_t i = 0; i < cache->count; i++) {
		cfi_cache_part_deinit(&cache->entries[i].own);
		cfi_cache_part_deinit(&cache->entries[i].debug);
	}
	cfi_loader_free(cache->loader);
	free(cache->entries);
	idmap_deinit(&cache->cpu_ms);
	idmap_deinit(&cache->copies_kb);
	free(cache);
}

static struct cfi_cache_entry *cfi_cache_entry_of(struct cfi_cache *cache, module_id id)
{
	uint32_t old_count = cache->count;

	if (id >= old_count) {
		cache->count = id + id / 2 + 16;
		cache->entries = xreallocarray(cache->entries, cache->count,
					       sizeof(*cache->entries));
		memset(cache->entries + old_count, 0,
		       (cache->count - old_count) * sizeof(*cache->entries));
	}
	return &cache->entries[id];
}

/* --- Bounds --------------------------------------------------------------- */

static uint32_t *cfi_cache_cpu_of(struct cfi_cache *cache, uid_t owner)
{
	uint32_t *ms = idmap_put(&cache->cpu_ms, owner, 0);

	if (*ms == IDMAP_NONE)
		*ms = 0;
	return ms;
}

static uint32_t *kb_of(struct cfi_cache *cache, uid_t owner)
{
	uint32_t *kb = idmap_put(&cache->copies_kb, owner, 0);

	if (*kb == IDMAP_NONE)
		*kb = 0;
	return kb;
}

/*
 * Returns the least recently used entry of the owner with the most copies, or
 * NULL if there is no other entry.
 */
static struct cfi_cache_entry *find_victim(struct cfi_cache *cache,
					   const struct cfi_cache_entry * not )
{
	struct cfi_cache_entry *victim = NULL;
	uint32_t most = 0;

	for (struct cfi_cache_entry *at = cache->entries; at < cache->entries + cache->count;
	     at++) {
		uint32_t kb;

		if (!at->copies_kb || at == not || at == cache->in_use)
			continue;
		kb = *kb_of(cache, at->owner);
		if (kb < most || (kb == most && victim && at->touched > victim->touched))
			continue;
		most = kb;
		victim = at;
	}
	return victim;
}

static void cfi_cache_drop(struct cfi_cache *cache, struct cfi_cache_entry *entry)
{
	cache->all_copies_kb -= entry->copies_kb;
	*kb_of(cache, entry->owner) -= entry->copies_kb;
	entry->copies_kb = 0;
	entry->cfi = (struct module_cfi){0};
	part_clear(&entry->own);
	if (!entry->debug.load)
		part_clear(&entry->debug);
}

static void count_copies(struct cfi_cache *cache, struct cfi_cache_entry *entry, size_t bytes)
{
	uint32_t kb = (uint32_t)(bytes >> 10) + 1;
	struct cfi_cache_entry *victim;

	entry->copies_kb += kb;
	cache->all_copies_kb += kb;
	*kb_of(cache, entry->owner) += kb;
	while (cache->all_copies_kb > COPIES_KB_MAX && (victim = find_victim(cache, entry)))
		cfi_cache_drop(cache, victim);
}

/* --- Loading -------------------------------------------------------------- */

static bool cfi_cache_wait_for(struct cfi_cache *cache, struct cfi_load *load)
{
	uint64_t now_ns = clock_now_ns(), left_ns;
	bool is_done;

	if (!cache->is_live)
		return cfi_load_wait_long(load);
	if (now_ns - cache->second_ns >= NS_PER_SECOND) {
		cache->second_ns = now_ns;
		cache->waited_ns = 0;
	}
	if (cache->waited_ns >= WAIT_PER_SECOND_NS)
		return cfi_load_is_done(load);
	left_ns = WAIT_PER_SECOND_NS - cache->waited_ns;
	is_done = cfi_load_wait(load, left_ns < WAIT_NS ? left_ns : WAIT_NS);
	cache->waited_ns += clock_now_ns() - now_ns;
	return is_done;
}

static void cfi_cache_take(struct cfi_cache *cache, struct cfi_cache_entry *entry,
			   struct cfi_cache_part *part)
{
	struct loaded_cfi loaded = cfi_load_take(STEAL(part->load));

	if (entry->is_untrusted) {
		*cfi_cache_cpu_of(cache, entry->owner) += (uint32_t)(loaded.cpu_ns / NS_PER_MS);
		count_copies(
			cache, entry,
			(loaded.cfi ? cfi_memory_bytes(loaded.cfi) : 0) +
				(loaded.functions ? functions_memory_bytes(loaded.functions) : 0));
	}
	part->cfi = loaded.cfi;
	part->elf = loaded.elf;
	part->functions = loaded.functions;
}

static bool is_under_way(const struct cfi_cache_part *part)
{
	return part->load && !cfi_load_is_done(part->load);
}

/*
 * Takes finished loads. Otherwise entries that are not looked up again could
 * exceed the memory limit.
 */
static void take_done(struct cfi_cache *cache)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < cache->under_way_count; i++) {
		module_id id = cache->under_way[i];
		struct cfi_cache_entry *entry = cfi_cache_entry_of(cache, id);

		if (is_under_way(&entry->own) || is_under_way(&entry->debug)) {
			cache->under_way[kept++] = id;
			continue;
		}
		if (entry->own.load)
			cfi_cache_take(cache, entry, &entry->own);
		if (entry->debug.load)
			cfi_cache_take(cache, entry, &entry->debug);
	}
	cache->under_way_count = kept;
}

static bool may_load(struct cfi_cache *cache, uid_t owner)
{
	take_done(cache);
	return *cfi_cache_cpu_of(cache, owner) < OWNER_CPU_MS_MAX;
}

static void note_under_way(struct cfi_cache *cache, module_id id, const struct cfi_load *load)
{
	if (load)
		cache->under_way[cache->under_way_count++] = id;
}

/*
 * Waits for the load the first time, and only polls it afterwards. Returns true
 * if the load has ended.
 */
static bool cfi_cache_finish(struct cfi_cache *cache, struct cfi_cache_entry *entry,
			     struct cfi_cache_part *part)
{
	if (part->load && !cfi_load_is_done(part->load)) {
		if (part->is_asked || !cfi_cache_wait_for(cache, part->load)) {
			part->is_asked = true;
			return false;
		}
	}
	part->is_asked = true;
	if (part->load)
		cfi_cache_take(cache, entry, part);
	return true;
}

static void load_own(struct cfi_cache *cache, module_id id, struct elf_file *elf)
{
	struct cfi_cache_entry *entry = cfi_cache_entry_of(cache, id);
	struct cfi_cache_part *part = &entry->own;

	entry->owner = elf_file_owner(elf);
	entry->is_untrusted = elf_file_is_untrusted(elf);
	if (entry->is_untrusted) {
		if (may_load(cache, entry->owner))
			part->load = cfi_loader_open(cache->loader, elf);
		note_under_way(cache, id, part->load);
		return;
	}
	if (elf_file_changed(elf))
		return;
	part->cfi = cfi_new(elf, cache->arch);
	if (cfi_bytes_to_index(part->cfi) > SMALL_BYTES)
		part->load = cfi_loader_index(cache->loader, STEAL(part->cfi));
	else
		cfi_index(part->cfi, NULL);
}

/*
 * Returns NULL if the module has no file yet. Another mapping of it may provide
 * one.
 */
static struct elf_file *cfi_cache_file_of(const struct cfi_cache *cache, module_id id)
{
	struct elf_file *elf = address_spaces_module(cache->spaces, id)->elf;

	/* prof's own vdso differs from that of a 32-bit process. */
	return elf && elf_file_is_32(elf) == (cache->arch->word_bytes == 4) ? elf : NULL;
}

static const struct module_cfi *get_new(struct cfi_cache *cache, module_id id)
{
	struct cfi_cache_entry *entry = cfi_cache_entry_of(cache, id);
	struct cfi_cache_part *own = &entry->own;

	if (!own->is_asked && !own->load) {
		struct elf_file *elf = cfi_cache_file_of(cache, id);

		if (!elf)
			return NULL;
		load_own(cache, id, elf);
		if (entry->is_untrusted && !own->load)
			return NULL;
	}
	if (!cfi_cache_finish(cache, entry, own) || !own->cfi)
		return NULL;
	entry->cfi.own = own->cfi;
	entry->touched = ++cache->touches;
	return &entry->cfi;
}

const struct module_cfi *cfi_cache_known(const struct cfi_cache *cache, module_id id)
{
	return id < cache->count && cache->entries[id].cfi.own ? &cache->entries[id].cfi : NULL;
}

const struct module_cfi *cfi_cache_get(struct cfi_cache *cache, module_id id)
{
	const struct module_cfi *known = cfi_cache_known(cache, id);

	return known ? known : get_new(cache, id);
}

static void load_debug(struct cfi_cache *cache, module_id id)
{
	struct cfi_cache_entry *entry = &cache->entries[id];
	struct debug_files files;

	cache->in_use = entry;
	if (!entry->is_untrusted || may_load(cache, entry->owner)) {
		files = address_spaces_debug_files(cache->spaces, id);
		entry->debug.load = cfi_loader_open_debug_file(
			cache->loader, address_spaces_module(cache->spaces, id)->elf, &files);
	}
	if (entry->is_untrusted)
		note_under_way(cache, id, entry->debug.load);
	cache->in_use = NULL;
}

bool cfi_cache_ask_debug_file(struct cfi_cache *cache, module_id id)
{
	struct cfi_cache_entry *entry = cfi_cache_entry_of(cache, id);
	struct cfi_cache_part *debug = &entry->debug;

	if (!debug->is_asked && !debug->load) {
		load_debug(cache, id);
		if (!debug->load)
			return false;
	}
	if (!cfi_cache_finish(cache, entry, debug))
		return false;
	entry->cfi.debug = debug->cfi;
	entry->cfi.functions = debug->functions;
	return true;
}

void cfi_cache_touch(struct cfi_cache *cache, module_id id)
{
	cache->entries[id].touched = ++cache->touches;
}
