/*
 * The synthetic memory of a Java virtual machine: the tables that libjvm
 * exports, and a code cache with one heap.
 */
#ifndef PROF_TESTS_VM_IMAGE_H
#define PROF_TESTS_VM_IMAGE_H

#include "unwind/code_cache.h"

#include <stdlib.h>
#include <string.h>

enum {
	IMAGE_BYTES = 512 << 10,
	IMAGE_BASE = 0x10000,
	IMAGE_HEAP = 0x40000, /* relative to the base */
	IMAGE_HEAP_BYTES = 128 << 10,
	IMAGE_SEGMENT_LOG2 = 7,
	IMAGE_MAP = 0x30000,
	IMAGE_STRIDE = 56,
};

/* The layouts of JDK 17 and JDK 25. */
struct image_version {
	uint64_t block_bytes, used;
	const char *length_type, *complete_type;
	bool has_code_offset;
};

static const struct image_version jdk_17 = {16, 8, "size_t", "int", false};
static const struct image_version jdk_25 = {8, 4, "uint32_t", "int16_t", true};

struct image {
	struct vm_memory memory;
	unsigned char bytes[IMAGE_BYTES];
	uint64_t next; /* free space for strings */
	unsigned fields;
	struct vm_symbols symbols;
	const struct image_version *version;
};

/* Offsets in the types of the image. */
enum {
	ARRAY_LENGTH = 4,
	ARRAY_DATA = 8,
	HEAP_SPACE = 8,
	HEAP_MAP = 64,
	HEAP_LOG2 = 128,
	SPACE_LOW = 16,
	SPACE_HIGH = 24,
	BLOB_SIZE = 12,
	BLOB_COMPLETE = 20,
	BLOB_FRAME = 28,
	BLOB_CODE = 32,
	BLOB_NAME = 96,
	BLOB_HEADER = 104,
};

static bool image_read(const struct vm_memory *memory, uint64_t address, void *into, size_t len)
{
	const struct image *image = (const struct image *)memory;

	if (address < IMAGE_BASE || address - IMAGE_BASE > IMAGE_BYTES ||
	    IMAGE_BYTES - (address - IMAGE_BASE) < len)
		return false;
	memcpy(into, image->bytes + (address - IMAGE_BASE), len);
	return true;
}

static void image_put(struct image *image, uint64_t at, uint64_t value, size_t len)
{
	memcpy(image->bytes + at, &value, len);
}

static uint64_t image_string(struct image *image, const char *text)
{
	uint64_t at = image->next;

	image->next += strlen(text) + 1;
	memcpy(image->bytes + at, text, strlen(text) + 1);
	return IMAGE_BASE + at;
}

/* The tables: fields are at 0x1000, types at 0x8000, the exported variables at
 * 0x100. */
static void image_field(struct image *image, const char *type, const char *name,
			const char *type_string, uint64_t offset, uint64_t address)
{
	uint64_t at = 0x1000 + IMAGE_STRIDE * image->fields++;

	image_put(image, at, image_string(image, type), 8);
	image_put(image, at + 8, image_string(image, name), 8);
	image_put(image, at + 16, image_string(image, type_string), 8);
	image_put(image, at + 32, offset, 8);
	image_put(image, at + 40, address, 8);
}

static void image_symbols(struct image *image)
{
	const uint64_t values[VM_SYMBOLS] = {
		IMAGE_BASE + 0x1000, IMAGE_STRIDE, 0, 8, 16, 32, 40, IMAGE_BASE + 0x8000, 32, 0, 16,
	};

	for (unsigned i = 0; i < VM_SYMBOLS; i++) {
		image_put(image, 0x100 + 8 * i, values[i], 8);
		image->symbols.vaddrs[i] = IMAGE_BASE + 0x100 + 8 * i;
	}
}

static void image_tables(struct image *image)
{
	const struct image_version *version = image->version;

	image_field(image, "Nothing", "_that_matters", "int", 1, 0);
	image_field(image, "CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", 0,
		    IMAGE_BASE + 0x200);
	image_field(image, "GrowableArrayBase", "_len", "int", ARRAY_LENGTH, 0);
	image_field(image, "GrowableArray<int>", "_data", "int*", ARRAY_DATA, 0);
	image_field(image, "CodeHeap", "_memory", "VirtualSpace", HEAP_SPACE, 0);
	image_field(image, "CodeHeap", "_segmap", "VirtualSpace", HEAP_MAP, 0);
	image_field(image, "CodeHeap", "_log2_segment_size", "int", HEAP_LOG2, 0);
	image_field(image, "VirtualSpace", "_low", "char*", SPACE_LOW, 0);
	image_field(image, "VirtualSpace", "_high", "char*", SPACE_HIGH, 0);
	image_field(image, "HeapBlock::Header", "_length", version->length_type, 0, 0);
	image_field(image, "HeapBlock::Header", "_used", "bool", version->used, 0);
	image_field(image, "CodeBlob", "_name", "const char*", BLOB_NAME, 0);
	image_field(image, "CodeBlob", "_size", "int", BLOB_SIZE, 0);
	image_field(image, "CodeBlob", "_frame_complete_offset", version->complete_type,
		    BLOB_COMPLETE, 0);
	image_field(image, "CodeBlob", "_frame_size", "int", BLOB_FRAME, 0);
	image_field(image, "CodeBlob", version->has_code_offset ? "_code_offset" : "_code_begin",
		    version->has_code_offset ? "int" : "address", BLOB_CODE, 0);
	image_put(image, 0x8000, image_string(image, "CodeBlob"), 8);
	image_put(image, 0x8010, BLOB_HEADER, 8);
	image_put(image, 0x8020, image_string(image, "HeapBlock"), 8);
	image_put(image, 0x8030, version->block_bytes, 8);
}

static struct image *image_new(const struct image_version *version)
{
	struct image *image = calloc(1, sizeof(*image));

	image->memory.read = image_read;
	image->next = 0x9000;
	image->version = version;
	image_symbols(image);
	image_tables(image);
	/* CodeCache::_heaps, the array, its data, the heap. */
	image_put(image, 0x200, IMAGE_BASE + 0x300, 8);
	image_put(image, 0x300 + ARRAY_LENGTH, 1, 4);
	image_put(image, 0x300 + ARRAY_DATA, IMAGE_BASE + 0x400, 8);
	image_put(image, 0x400, IMAGE_BASE + 0x500, 8);
	image_put(image, 0x500 + HEAP_SPACE + SPACE_LOW, IMAGE_BASE + IMAGE_HEAP, 8);
	image_put(image, 0x500 + HEAP_SPACE + SPACE_HIGH,
		  IMAGE_BASE + IMAGE_HEAP + IMAGE_HEAP_BYTES, 8);
	image_put(image, 0x500 + HEAP_MAP + SPACE_LOW, IMAGE_BASE + IMAGE_MAP, 8);
	image_put(image, 0x500 + HEAP_LOG2, IMAGE_SEGMENT_LOG2, 4);
	memset(image->bytes + IMAGE_MAP, 0xff, IMAGE_HEAP_BYTES >> IMAGE_SEGMENT_LOG2);
	return image;
}

/* Adds a blob, starting with this segment. Returns the address of its code. */
static uint64_t image_blob(struct image *image, unsigned segment, unsigned segments,
			   const char *name, int frame_words, int complete)
{
	uint64_t at = IMAGE_HEAP + ((uint64_t)segment << IMAGE_SEGMENT_LOG2);
	uint64_t blob = at + image->version->block_bytes;
	uint64_t code = IMAGE_BASE + blob + BLOB_HEADER;
	unsigned char *map = image->bytes + IMAGE_MAP + segment;

	for (unsigned i = 0; i < segments; i++)
		/* in several steps if the start is too far away */
		map[i] = (unsigned char)(i < 0xfe ? i : 0xfe);
	image_put(image, at, segments, 4);
	image_put(image, at + image->version->used, 1, 1);
	image_put(image, blob + BLOB_SIZE,
		  (segments << IMAGE_SEGMENT_LOG2) - image->version->block_bytes, 4);
	image_put(image, blob + BLOB_COMPLETE, (uint64_t)complete,
		  image->version->has_code_offset ? 2 : 4);
	image_put(image, blob + BLOB_FRAME, (uint64_t)frame_words, 4);
	if (image->version->has_code_offset)
		image_put(image, blob + BLOB_CODE, BLOB_HEADER, 4);
	else
		image_put(image, blob + BLOB_CODE, code, 8);
	image_put(image, blob + BLOB_NAME, image_string(image, name), 8);
	return code;
}

#endif
