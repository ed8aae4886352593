#include "unwind/code_cache.h"

#include "base/alloc.h"
#include "base/text.h"

#include <string.h>

/* A heap has at most 2 GB, and its segments have at least 64 bytes. */
#define HEAP_BYTES_MAX (UINT64_C(2) << 30)
enum { SEGMENT_LOG2_MIN = 4, SEGMENT_LOG2_MAX = 16 };
/*
 * The largest blob is the interpreter with debugging code, which has a few MB.
 */
enum { BLOB_BYTES_MAX = 64 << 20 };
/* Larger frames would hardly fit a thread's stack. */
enum { FRAME_BYTES_MAX = 1 << 20 };
/* Limits for the segment map in one lookup. The map is read in pieces. */
enum { MAP_BYTES = 512, MAP_READS_MAX = 256, MAP_IS_FREE = 0xff };
/* Size of the types whose fields are read at once. */
enum { TYPE_BYTES_MAX = CODE_HEADER_BYTES_MAX, CODE_CACHE_NAME_ROOM = 32 };

enum { CODELETS_MAX = 1024, ENTRY_CODE_BYTES = 4096 };

/* --- Fields --------------------------------------------------------------- */

/* The first bytes of an object. */
struct object {
	unsigned char bytes[TYPE_BYTES_MAX];
	size_t len;
};

static size_t code_cache_end_of(struct vm_field field)
{
	return field.is_known ? field.at + sizeof(uint64_t) : 0;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static bool object_read(const struct vm_memory *memory, uint64_t address, size_t len,
			struct object *ret)
{
	ret->len = len;
	return len <= sizeof(ret->bytes) && memory->read(memory, address, ret->bytes, len);
}

static struct bytes field_at(const struct object *object, size_t at)
{
	return bytes_at(bytes_of(object->bytes, object->len), at);
}

static uint64_t code_cache_word(const struct object *object, size_t at)
{
	struct bytes field = field_at(object, at);

	return bytes_u64(&field);
}

static int32_t integer(const struct object *object, struct vm_field field)
{
	struct bytes at = field_at(object, field.at);

	if (field.bytes == sizeof(int16_t))
		return (int16_t)bytes_u16(&at);
	return (int32_t)bytes_u32(&at);
}

/* --- Heaps ---------------------------------------------------------------- */

static bool read_heap(const struct vm_memory *memory, const struct vm_layout *layout,
		      uint64_t address, struct code_heap *ret)
{
	size_t space = layout->heap_memory.at, map = layout->heap_segment_map.at;
	size_t len = larger(larger(space, map) + larger(code_cache_end_of(layout->space_low),
							code_cache_end_of(layout->space_high)),
			    code_cache_end_of(layout->heap_segment_log2));
	struct object heap;

	if (!object_read(memory, address, len, &heap))
		return false;
	*ret = (struct code_heap){
		.low = code_cache_word(&heap, space + layout->space_low.at),
		.high = code_cache_word(&heap, space + layout->space_high.at),
		.map = code_cache_word(&heap, map + layout->space_low.at),
		.segment_log2 = (unsigned)integer(&heap, layout->heap_segment_log2),
	};
	return ret->low < ret->high && ret->high - ret->low <= HEAP_BYTES_MAX &&
	       ret->segment_log2 >= SEGMENT_LOG2_MIN && ret->segment_log2 <= SEGMENT_LOG2_MAX;
}

bool code_heaps_read(const struct vm_memory *memory, const struct vm_layout *layout,
		     struct code_heaps *ret)
{
	uint64_t array, data, heap;
	uint32_t count;

	ret->count = 0;
	if (!vm_read_u64(memory, layout->code_cache_heaps.at, &array) ||
	    !memory->read(memory, array + layout->array_length.at, &count, sizeof(count)) ||
	    !vm_read_u64(memory, array + layout->array_data.at, &data))
		return false;
	for (uint32_t i = 0; i < count && i < CODE_HEAPS_MAX; i++)
		if (vm_read_u64(memory, data + i * sizeof(heap), &heap) &&
		    read_heap(memory, layout, heap, &ret->heaps[ret->count]))
			ret->count++;
	return ret->count != 0;
}

const struct code_heap *code_heaps_find(const struct code_heaps *heaps, uint64_t pc)
{
	for (unsigned i = 0; i < heaps->count; i++)
		if (pc >= heaps->heaps[i].low && pc < heaps->heaps[i].high)
			return &heaps->heaps[i];
	return NULL;
}

/* --- Blobs ---------------------------------------------------------------- */

/*
 * Finds the block that contains the pc. A segment's byte is its distance to the
 * block's first segment, or to a segment in between. The byte of the first
 * segment is 0.
 */
static bool find_block(const struct vm_memory *memory, const struct code_heap *heap, uint64_t pc,
		       uint64_t *ret)
{
	uint64_t segment = (pc - heap->low) >> heap->segment_log2;
	unsigned char map[MAP_BYTES];

	for (unsigned reads = 0; reads < MAP_READS_MAX; reads++) {
		uint64_t first = segment < MAP_BYTES ? 0 : segment - MAP_BYTES + 1;

		if (!memory->read(memory, heap->map + first, map, segment - first + 1))
			return false;
		do {
			unsigned char distance = map[segment - first];

			if (distance == MAP_IS_FREE || distance > segment)
				return false;
			if (distance == 0) {
				*ret = heap->low + (segment << heap->segment_log2);
				return true;
			}
			segment -= distance;
		} while (segment >= first);
	}
	return false;
}

static enum code_kind code_cache_kind_of(const char *name, bool has_frame)
{
	static const char *const frameless[] = {"vtable", "itable", "InlineCache",
						"native signature", "Signature Handler"};

	if (text_begins(name, "nmethod") || text_begins(name, "native nmethod"))
		return has_frame ? CODE_METHOD : CODE_FRAMELESS;
	if (has_frame)
		return CODE_RUNTIME;
	if (text_begins(name, "Interpreter"))
		return CODE_INTERPRETER;
	if (text_begins(name, "I2C/C2I") || text_begins(name, "MethodHandles"))
		return CODE_ADAPTER;
	for (unsigned i = 0; i < ARRAY_SIZE(frameless); i++)
		if (text_begins(name, frameless[i]))
			return CODE_FRAMELESS;
	return CODE_STUBS;
}

/* Returns the size of a blob's header, which follows that of its block. */
static size_t blob_header_bytes(const struct vm_layout *layout)
{
	size_t name = larger(code_cache_end_of(layout->blob_name),
			     code_cache_end_of(layout->blob_size));
	size_t frame = larger(code_cache_end_of(layout->blob_frame_complete),
			      code_cache_end_of(layout->blob_frame_words));
	size_t code = larger(code_cache_end_of(layout->blob_code_begin),
			     code_cache_end_of(layout->blob_code_offset));

	return larger(larger(name, frame), code);
}

size_t code_header_bytes(const struct vm_layout *layout)
{
	size_t block = larger(code_cache_end_of(layout->block_length),
			      code_cache_end_of(layout->block_used));

	return larger(block, layout->block_bytes + blob_header_bytes(layout));
}

/*
 * Returns the size of a block that is in use, or 0 if it is not in use or
 * invalid.
 */
static uint64_t block_bytes(const struct vm_layout *layout, const struct code_heap *heap,
			    const struct object *header)
{
	uint64_t segments = layout->block_length.bytes == sizeof(uint32_t)
				    ? (uint32_t)code_cache_word(header, layout->block_length.at)
				    : code_cache_word(header, layout->block_length.at);

	if (!header->bytes[layout->block_used.at] ||
	    segments > (uint64_t)BLOB_BYTES_MAX >> heap->segment_log2)
		return 0;
	return segments << heap->segment_log2;
}

static struct vm_field after_block(const struct vm_layout *layout, struct vm_field field)
{
	field.at += layout->block_bytes;
	return field;
}

/* Parses everything except the kind. */
static bool parse_blob(const struct vm_layout *layout, const struct code_heap *heap,
		       uint64_t address, const struct object *header, struct code_blob *ret)
{
	uint64_t from = address + layout->block_bytes;
	int32_t size = integer(header, after_block(layout, layout->blob_size));
	int32_t complete = integer(header, after_block(layout, layout->blob_frame_complete));
	int32_t words = integer(header, after_block(layout, layout->blob_frame_words));
	struct vm_field offset = after_block(layout, layout->blob_code_offset);

	*ret = (struct code_blob){
		.block = address,
		.name = code_cache_word(header, layout->block_bytes + layout->blob_name.at)};
	ret->start = layout->blob_code_begin.is_known
			     ? code_cache_word(header,
					       layout->block_bytes + layout->blob_code_begin.at)
			     : from + (uint32_t)integer(header, offset);
	ret->end = from + (uint32_t)size;
	if (size <= 0 || layout->block_bytes + (uint32_t)size > block_bytes(layout, heap, header) ||
	    ret->start < from || ret->start >= ret->end)
		return false;
	if (words > 1 && words <= FRAME_BYTES_MAX / 8)
		ret->frame_bytes = (uint32_t)words * 8;
	if (complete > 0 && (uint32_t)complete < ret->end - ret->start)
		ret->complete = ret->start + (uint32_t)complete;
	return true;
}

bool code_blob_find(const struct vm_memory *memory, const struct vm_layout *layout,
		    const struct code_heap *heap, uint64_t pc, struct code_blob *ret)
{
	char name[CODE_CACHE_NAME_ROOM];
	struct object header;
	uint64_t block;

	if (!find_block(memory, heap, pc, &block) ||
	    !object_read(memory, block, code_header_bytes(layout), &header) ||
	    !parse_blob(layout, heap, block, &header, ret) || pc < ret->start || pc >= ret->end ||
	    !vm_read_string(memory, ret->name, name, sizeof(name)))
		return false;
	ret->kind = code_cache_kind_of(name, ret->frame_bytes != 0);
	return true;
}

bool code_blob_is_valid(const struct vm_layout *layout, const struct code_heap *heap,
			const struct code_blob *blob, struct bytes header)
{
	struct object object;
	struct code_blob now;

	object.len = code_header_bytes(layout);
	if (object.len > sizeof(object.bytes) || object.len > bytes_left(&header))
		return false;
	memcpy(object.bytes, header.at, object.len);
	return parse_blob(layout, heap, blob->block, &object, &now) && now.start == blob->start &&
	       now.end == blob->end && now.complete == blob->complete && now.name == blob->name &&
	       now.frame_bytes == blob->frame_bytes;
}

/* --- The interpreter ------------------------------------------------------ */

/* Finds `push %rbp; mov %rsp,%rbp` in the encoding of HotSpot's assembler. */
static uint64_t find_frame_maker(const struct vm_memory *memory, uint64_t start, uint64_t end)
{
	static const unsigned char enter[] = {0x55, 0x48, 0x8b, 0xec};
	unsigned char code[ENTRY_CODE_BYTES];
	size_t len = end - start < sizeof(code) ? end - start : sizeof(code);
	const unsigned char *found;

	if (!memory->read(memory, start, code, len))
		return 0;
	found = memmem(code, len, enter, sizeof(enter));
	return found ? start + (uint64_t)(found - code) : 0;
}

static void code_cache_add_entry(const struct vm_memory *memory, uint64_t start, uint64_t end,
				 struct method_entries *entries)
{
	if (entries->count < METHOD_ENTRIES_MAX)
		entries->at[entries->count++] = (struct method_entry){
			.start = start,
			.end = end,
			.makes_frame = find_frame_maker(memory, start, end),
		};
}

void method_entries_read(const struct vm_memory *memory, const struct vm_layout *layout,
			 struct method_entries *ret)
{
	size_t header = larger(code_cache_end_of(layout->codelet_size),
			       code_cache_end_of(layout->codelet_description));
	uint64_t queue, at;
	uint32_t bytes;

	ret->count = 0;
	if (!layout->interpreter_code.is_known || !layout->queue_buffer.is_known || !header ||
	    !vm_read_u64(memory, layout->interpreter_code.at, &queue) ||
	    !vm_read_u64(memory, queue + layout->queue_buffer.at, &at) ||
	    !memory->read(memory, queue + layout->queue_end.at, &bytes, sizeof(bytes)))
		return;
	for (unsigned i = 0; i < CODELETS_MAX; i++) {
		struct object codelet;
		char text[CODE_CACHE_NAME_ROOM];
		uint32_t size;

		if (!object_read(memory, at, header, &codelet))
			return;
		size = (uint32_t)integer(&codelet, layout->codelet_size);
		if (size < header || size > bytes)
			return;
		if (vm_read_string(memory,
				   code_cache_word(&codelet, layout->codelet_description.at), text,
				   sizeof(text)) &&
		    text_begins(text, "method entry point"))
			code_cache_add_entry(memory, at + header, at + size, ret);
		at += size;
		bytes -= size;
	}
}

const struct method_entry *method_entries_find(const struct method_entries *entries, uint64_t pc)
{
	for (unsigned i = 0; i < entries->count; i++)
		if (pc >= entries->at[i].start && pc < entries->at[i].end)
			return &entries->at[i];
	return NULL;
}
