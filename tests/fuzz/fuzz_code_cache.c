/*
 * Fuzzes the memory of a process that pretends to be a Java virtual machine:
 * the input, repeated. Results must be well-formed, and the search must end.
 */
#include "replay.h"
#include "unwind/code_cache.h"
#include "unwind/java_rule.h"

#include <stdlib.h>
#include <string.h>

struct repeated {
	struct vm_memory memory;
	const uint8_t *data;
	size_t size;
};

static bool read_repeated(const struct vm_memory *memory, uint64_t address, void *into, size_t len)
{
	const struct repeated *repeated = (const struct repeated *)memory;

	if (address >> 32 || len >> 20)
		return false;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)into)[i] = repeated->data[(address + i) % repeated->size];
	return true;
}

static void check(const struct code_blob *blob, uint64_t pc)
{
	if (pc < blob->start || pc >= blob->end || blob->complete >= blob->end ||
	    blob->frame_bytes % 8 != 0)
		abort();
}

static void look_up(const struct repeated *repeated, const struct vm_layout *layout, uint64_t pc)
{
	struct code_heaps heaps;
	struct method_entries entries;
	const struct code_heap *heap;
	struct java_code code = {0};
	struct code_blob blob;
	unsigned char header[CODE_HEADER_BYTES_MAX];
	size_t len;

	if (!code_heaps_read(&repeated->memory, layout, &heaps))
		return;
	pc += heaps.heaps[0].low;
	heap = code_heaps_find(&heaps, pc);
	method_entries_read(&repeated->memory, layout, &entries);
	if (!heap || !code_blob_find(&repeated->memory, layout, heap, pc, &blob))
		return;
	check(&blob, pc);
	len = code_header_bytes(layout);
	if (len > sizeof(header) || !read_repeated(&repeated->memory, blob.block, header, len) ||
	    !code_blob_is_valid(layout, heap, &blob, bytes_of(header, len)) ||
	    code_blob_is_valid(layout, heap, &blob, bytes_of(header, len - 1)))
		abort();
	memcpy(&code, repeated->data,
	       repeated->size < sizeof(code) ? repeated->size : sizeof(code));
	note_number("blobs", blob.start ^ blob.end << 32);
	note_number("blobs", blob.complete ^ blob.name << 16 ^ (uint64_t)blob.frame_bytes << 40);
	note_number("rules", java_rule_at(&blob, &entries, pc, false, &code).kind);
	note_number("rules", java_rule_at(&blob, &entries, pc, true, &code).kind);
}

/* Tests the layout in the input, and a layout that leads to valid memory. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct repeated repeated = {.memory.read = read_repeated, .data = data, .size = size};
	struct vm_layout layout, simple;
	struct vm_symbols symbols;

	if (size < 128 || size > 64 << 10)
		return 0;
	for (unsigned i = 0; i < VM_SYMBOLS; i++)
		symbols.vaddrs[i] = 8 * i;
	if (vm_layout_read(&repeated.memory, &symbols, 0, &layout))
		look_up(&repeated, &layout, data[0]);
	memset(&simple, 0, sizeof(simple));
	for (size_t i = 0; i < offsetof(struct vm_layout, block_bytes) / sizeof(struct vm_field);
	     i++)
		((struct vm_field *)&simple)[i] =
			(struct vm_field){.at = data[i] % 64, .bytes = 4, .is_known = true};
	simple.block_bytes = 16;
	look_up(&repeated, &simple, data[1]);
	return 0;
}
