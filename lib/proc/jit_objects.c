#include "proc/jit_objects.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "proc/jit_image.h"
#include "proc/jit_list.h"
#include "proc/timed_memory.h"

#include <stdlib.h>

/*
 * Intervals for reading the start of a list, and the whole list although its
 * start has not changed.
 */
#define LOOK_INTERVAL_NS (10 * NS_PER_MS)
#define READ_ALL_INTERVAL_NS (100 * NS_PER_MS)

/*
 * The interval for searching files for a descriptor. It doubles each time, up
 * to the maximum.
 */
#define SEARCH_INTERVAL_NS (100 * NS_PER_MS)
#define SEARCH_INTERVAL_MAX_NS (3200 * NS_PER_MS)

/* The costs of a call, of a list entry, and of reading bytes. */
enum { CALL_STEPS = 8 << 10, ENTRY_STEPS = 256, BYTES_PER_STEP = 8 };

/* The unit of the memory budget. */
enum { UNIT_BYTES = 56 };

/* The index of an object that was rejected. */
#define REFUSED (IDMAP_NONE - 1)

struct jit_objects_list {
	uint64_t descriptor;
	struct jit_list_head head; /* zero if the list must be read again */
};

struct jit_objects {
	struct jit_objects_options options;
	uint64_t place;		 /* as in struct timed_call */
	struct code_index index; /* marks are object indexes; offsets are in the object's file */
	struct jit_objects_list lists[JIT_OBJECTS_LISTS_MAX];
	unsigned list_count;
	struct jit_object *items;
	uint32_t count, room;
	struct idmap known;	       /* (address, size) → index of the object, or REFUSED */
	uint64_t looked_ns, before_ns; /* the last read, and the one before */
	uint64_t read_all_ns;	       /* last read of the whole lists */
	uint64_t search_due_ns, search_interval_ns;
};

struct jit_objects *jit_objects_new(const struct jit_objects_options *options)
{
	struct jit_objects *objects = xcalloc(1, sizeof(*objects));

	objects->options = *options;
	objects->place = timed_memory_place(options->pid, options->user);
	objects->index.budget = options->budget;
	objects->search_interval_ns = SEARCH_INTERVAL_NS;
	return objects;
}

void jit_objects_free(struct jit_objects *objects)
{
	if (!objects)
		return;
	for (uint32_t i = 0; i < objects->count; i++)
		elf_file_free(objects->items[i].elf);
	free(objects->items);
	code_index_deinit(&objects->index);
	idmap_deinit(&objects->known);
	free(objects);
}

size_t jit_objects_count(const struct jit_objects *objects)
{
	return objects->count;
}

/* --- Descriptors ----------------------------------------------------------------------------- */

static bool jit_objects_may_read(struct jit_objects *objects)
{
	return code_index_may_read(&objects->index, clock_now_ns(), CODE_READING_MAX_NS);
}

bool jit_objects_may_search(struct jit_objects *objects)
{
	const uint64_t now_ns = clock_now_ns();

	if (now_ns < objects->search_due_ns || !jit_objects_may_read(objects))
		return false;
	objects->search_due_ns = now_ns + objects->search_interval_ns;
	if (objects->search_interval_ns < SEARCH_INTERVAL_MAX_NS)
		objects->search_interval_ns *= 2;
	return true;
}

bool jit_objects_search(struct jit_objects *objects, const struct elf_file *elf, uint64_t *vaddr)
{
	uint64_t steps = CALL_STEPS;

	if (!jit_objects_may_read(objects))
		return false;
	*vaddr = jit_list_find(objects->options.caller, objects->place, elf, &steps);
	code_index_spend(&objects->index, steps);
	return true;
}

void jit_objects_add_list(struct jit_objects *objects, uint64_t descriptor)
{
	for (unsigned i = 0; i < objects->list_count; i++)
		if (objects->lists[i].descriptor == descriptor)
			return;
	if (objects->list_count < JIT_OBJECTS_LISTS_MAX)
		objects->lists[objects->list_count++] =
			(struct jit_objects_list){.descriptor = descriptor};
}

bool jit_objects_has_lists(const struct jit_objects *objects)
{
	return objects->list_count;
}

/* --- Objects --------------------------------------------------------------------------------- */

static void read_memory(struct jit_objects *objects, struct memory_part *parts, size_t count)
{
	const struct jit_objects_options *options = &objects->options;
	uint64_t bytes = 0;

	timed_memory_read(options->caller, options->proc, options->pid, options->user, parts,
			  count);
	for (size_t i = 0; i < count; i++)
		bytes += parts[i].len;
	code_index_spend(&objects->index, CALL_STEPS + bytes / BYTES_PER_STEP);
}

/* Returns NULL if the bytes cannot be read. */
static void *jit_objects_read_bytes(struct jit_objects *objects, const struct jit_list_entry *entry)
{
	struct memory_part part = {.address = entry->address, .len = entry->size_bytes};
	CLEANUP(free_ptr) void *bytes = NULL;

	if (!entry->size_bytes || entry->size_bytes > JIT_IMAGE_BYTES_MAX)
		return NULL;
	part.into = bytes = xmalloc(entry->size_bytes);
	read_memory(objects, &part, 1);
	return part.is_read ? STEAL(bytes) : NULL;
}

/* A section that cannot be read stays as in the object. */
static void jit_objects_fill(struct jit_objects *objects, struct jit_image *image)
{
	CLEANUP(free_ptr)
	struct memory_part *parts = xcalloc(image->part_count, sizeof(*parts));

	for (size_t i = 0; i < image->part_count; i++)
		parts[i] = (struct memory_part){
			.address = image->parts[i].address,
			.into = image->bytes + image->parts[i].offset,
			.len = image->parts[i].len,
		};
	read_memory(objects, parts, image->part_count);
}

static void add_code(struct jit_objects *objects, const struct jit_image *image)
{
	for (size_t i = 0; i < image->part_count; i++) {
		const struct jit_image_part *part = &image->parts[i];

		if (part->is_code)
			code_index_add(&objects->index, &(struct code_range){
								.start = part->address,
								.end = part->address + part->len,
								.from_ns = objects->before_ns,
								.offset = part->offset,
								.mark = objects->count,
							});
	}
}

/* Returns the index of the object, or REFUSED. */
static uint32_t add_object(struct jit_objects *objects, const void *bytes, size_t len,
			   uint64_t hash)
{
	struct jit_object object = {.module = UINT32_MAX, .hash = hash};
	CLEANUP(jit_image_deinit) struct jit_image image;

	if (!jit_image_read(bytes, len, &image) ||
	    !code_index_take(&objects->index, image.len / UNIT_BYTES + 1))
		return REFUSED;
	jit_objects_fill(objects, &image);
	error_free(elf_file_from_user(image.bytes, image.len, "[jit]", objects->options.user,
				      &object.elf));
	if (!object.elf)
		return REFUSED;
	add_code(objects, &image);
	GROW(objects->items, objects->count, objects->room);
	objects->items[objects->count] = object;
	return objects->count++;
}

/* Memory is reused, so the newest entry may have become another object. */
static void jit_objects_take_entry(struct jit_objects *objects, const struct jit_list_entry *entry)
{
	uint32_t *number = idmap_put(&objects->known, entry->address, (uint32_t)entry->size_bytes);
	CLEANUP(free_ptr) void *bytes = jit_objects_read_bytes(objects, entry);
	uint64_t hash = bytes ? hash_bytes(bytes, entry->size_bytes) : 0;

	if (bytes && *number < objects->count && objects->items[*number].hash == hash)
		return;
	*number = bytes ? add_object(objects, bytes, entry->size_bytes, hash) : REFUSED;
}

static bool jit_objects_is_known(const struct jit_objects *objects,
				 const struct jit_list_entry *entry)
{
	return idmap_get(&objects->known, entry->address, (uint32_t)entry->size_bytes) !=
	       IDMAP_NONE;
}

/*
 * Adds the newest entry last, so that it takes precedence. Returns false if the
 * reading time is used up.
 */
static bool take_entries(struct jit_objects *objects, const struct jit_list *list)
{
	for (size_t i = list->count; i-- > 0;) {
		bool is_new = !jit_objects_is_known(objects, &list->entries[i]);

		if (!is_new && i)
			continue;
		if (!jit_objects_may_read(objects) ||
		    (is_new && !code_index_take(&objects->index, 1)))
			return false;
		jit_objects_take_entry(objects, &list->entries[i]);
	}
	return true;
}

static void read_list(struct jit_objects *objects, struct jit_objects_list *list)
{
	const struct jit_list_head known = list->head;
	struct jit_list read;

	if (!jit_objects_may_read(objects))
		return;
	code_index_spend(&objects->index, CALL_STEPS);
	if (!jit_list_read(objects->options.caller, objects->place, objects->options.pid,
			   list->descriptor, &known, &read))
		return;
	code_index_spend(&objects->index, read.count * ENTRY_STEPS);
	list->head = take_entries(objects, &read) ? read.head : (struct jit_list_head){0};
	jit_list_deinit(&read);
}

/*
 * Samples arrive in batches. The first one that is later than the last read
 * causes a read. If a pc is in no object, an object in the middle of the list
 * may have been replaced, so the whole list is read.
 */
static void jit_objects_look(struct jit_objects *objects, uint64_t time_ns, bool is_found)
{
	const uint64_t now_ns = clock_now_ns();
	const bool reads_all = !is_found && now_ns - objects->read_all_ns >= READ_ALL_INTERVAL_NS;

	if (time_ns <= objects->looked_ns || now_ns - objects->looked_ns < LOOK_INTERVAL_NS)
		return;
	objects->before_ns = objects->looked_ns;
	objects->looked_ns = now_ns;
	if (reads_all)
		objects->read_all_ns = now_ns;
	for (unsigned i = 0; i < objects->list_count; i++) {
		if (reads_all)
			objects->lists[i].head = (struct jit_list_head){0};
		read_list(objects, &objects->lists[i]);
	}
}

bool jit_objects_locate(struct jit_objects *objects, uint64_t pc, uint64_t time_ns,
			struct jit_object_place *ret)
{
	const struct code_range *range;
	uint32_t number;

	if (!objects->list_count)
		return false;
	jit_objects_look(objects, time_ns,
			 code_index_find(&objects->index, pc, time_ns, NULL) != CODE_NONE);
	number = code_index_find(&objects->index, pc, time_ns, NULL);
	if (number == CODE_NONE)
		return false;
	range = &objects->index.ranges[number];
	*ret = (struct jit_object_place){
		.object = &objects->items[range->mark],
		.offset = range->offset + (pc - range->start),
		.start = range->start,
		.end = range->end,
	};
	return true;
}
