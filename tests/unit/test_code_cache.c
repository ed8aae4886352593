/* HotSpot's tables and code cache, in synthetic memory. */
#include "unwind/code_cache.h"

#include "unit_test.h"
#include "vm_image.h"

struct fixture {
	struct image *image;
	struct vm_layout layout;
	struct code_heaps heaps;
};

static struct fixture fixture_of(const struct image_version *version)
{
	struct fixture f = {.image = image_new(version)};

	assert_true(vm_layout_read(&f.image->memory, &f.image->symbols, 0, &f.layout));
	assert_true(code_heaps_read(&f.image->memory, &f.layout, &f.heaps));
	return f;
}

static bool find(const struct fixture *f, uint64_t pc, struct code_blob *ret)
{
	const struct code_heap *heap = code_heaps_find(&f->heaps, pc);

	return heap && code_blob_find(&f->image->memory, &f->layout, heap, pc, ret);
}

static bool is_valid(const struct fixture *f, const struct code_blob *blob)
{
	unsigned char header[CODE_HEADER_BYTES_MAX];
	size_t len = code_header_bytes(&f->layout);

	assert_true(len <= sizeof(header));
	assert_true(image_read(&f->image->memory, blob->block, header, len));
	return code_blob_is_valid(&f->layout, &f->heaps.heaps[0], blob, bytes_of(header, len));
}

TEST(a_pc_leads_to_its_blob_by_the_tables_of_any_version)
{
	static const struct image_version *const versions[] = {&jdk_17, &jdk_25};

	for (unsigned i = 0; i < 2; i++) {
		struct fixture f = fixture_of(versions[i]);
		uint64_t code = image_blob(f.image, 3, 5, "nmethod", 8, 44);
		struct code_blob blob;

		assert_true(find(&f, code + 400, &blob));
		assert_int_equal(blob.start, code);
		assert_int_equal(blob.end, IMAGE_BASE + IMAGE_HEAP + (8 << IMAGE_SEGMENT_LOG2));
		assert_int_equal(blob.complete, code + 44);
		assert_int_equal(blob.frame_bytes, 64);
		assert_int_equal(blob.kind, CODE_METHOD);
		assert_false(find(&f, code - 1, &blob));
		assert_false(find(&f, blob.end, &blob));
		free(f.image);
	}
}

TEST(a_large_blob_is_found_from_its_end)
{
	struct fixture f = fixture_of(&jdk_17);
	uint64_t code = image_blob(f.image, 10, 1000, "Interpreter", 0, -1);
	struct code_blob blob;

	/* The map is read in pieces of 512 bytes. */
	for (unsigned segment = 1; segment < 998; segment++) {
		assert_true(find(&f, code + segment * 128, &blob));
		assert_int_equal(blob.start, code);
	}
	assert_int_equal(blob.complete, 0);
	assert_int_equal(blob.kind, CODE_INTERPRETER);
	free(f.image);
}

TEST(blobs_are_told_apart_by_their_names_and_frames)
{
	static const struct {
		const char *name;
		int frame_words;
		enum code_kind kind;
	} cases[] = {
		{"nmethod", 4, CODE_METHOD},
		{"native nmethod", 10, CODE_METHOD},
		{"nmethod", 0, CODE_FRAMELESS},
		{"DeoptimizationBlob", 356, CODE_RUNTIME},
		{"I2C/C2I adapters", 0, CODE_ADAPTER},
		{"MethodHandlesAdapterBlob", 0, CODE_ADAPTER},
		{"vtable chunks", 0, CODE_FRAMELESS},
		{"itable chunks", 0, CODE_FRAMELESS},
		{"InlineCacheBuffer", 0, CODE_FRAMELESS},
		{"Signature Handler Temp Buffer", 0, CODE_FRAMELESS},
		{"native signature handlers", 0, CODE_FRAMELESS},
		{"StubRoutines (final stubs)", 0, CODE_STUBS},
		{"slow_subtype_check Runtime1 stub", -1, CODE_STUBS},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f = fixture_of(&jdk_17);
		uint64_t code = image_blob(f.image, 1, 4, cases[i].name, cases[i].frame_words, -1);
		struct code_blob blob;

		assert_true(find(&f, code, &blob));
		assert_int_equal(blob.kind, cases[i].kind);
		free(f.image);
	}
}

TEST(what_is_out_of_bounds_is_not_believed)
{
	enum {
		BLOCK = IMAGE_HEAP + (3 << IMAGE_SEGMENT_LOG2),
		BLOB = BLOCK + 16,
		LENGTH = 5 * 128
	};
	static const struct {
		unsigned at, bytes;
		uint64_t value;
		bool is_found;
		unsigned frame_bytes, complete; /* from the start of the code */
	} cases[] = {
		{BLOB + BLOB_SIZE, 4, LENGTH - 16, true, 64, 44},
		{BLOB + BLOB_SIZE, 4, LENGTH - 15, false, 0, 0},
		{BLOB + BLOB_SIZE, 4, BLOB_HEADER + 1, true, 64, 0},
		{BLOB + BLOB_SIZE, 4, BLOB_HEADER, false, 0, 0},
		{BLOB + BLOB_SIZE, 4, 0, false, 0, 0},
		{BLOB + BLOB_SIZE, 4, (uint32_t)-1, false, 0, 0},
		{BLOB + BLOB_NAME, 8, 1, false, 0, 0},
		{BLOCK + 8, 1, 0, false, 0, 0}, /* freed */
		{BLOCK, 8, 1 << (26 - IMAGE_SEGMENT_LOG2), true, 64, 44},
		{BLOCK, 8, (1 << (26 - IMAGE_SEGMENT_LOG2)) + 1, false, 0, 0},
		{BLOB + BLOB_CODE, 8, IMAGE_BASE + BLOB - 1, false, 0, 0},
		{BLOB + BLOB_CODE, 8, IMAGE_BASE + BLOB, true, 64, 44},
		{BLOB + BLOB_FRAME, 4, 1, true, 0, 44},
		{BLOB + BLOB_FRAME, 4, 2, true, 16, 44},
		{BLOB + BLOB_FRAME, 4, 1 << 17, true, 1 << 20, 44},
		{BLOB + BLOB_FRAME, 4, (1 << 17) + 1, true, 0, 44},
		{BLOB + BLOB_NAME, 8, IMAGE_BASE + 0x9000, true, 64, 44},
		{BLOB + BLOB_COMPLETE, 4, 0, true, 64, 0},
		{BLOB + BLOB_COMPLETE, 4, 1, true, 64, 1},
		{BLOB + BLOB_COMPLETE, 4, LENGTH - 16 - BLOB_HEADER - 1, true, 64,
		 LENGTH - 16 - BLOB_HEADER - 1},
		{BLOB + BLOB_COMPLETE, 4, LENGTH - 16 - BLOB_HEADER, true, 64, 0},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f = fixture_of(&jdk_17);
		uint64_t code = image_blob(f.image, 3, 5, "nmethod", 8, 44);
		struct code_blob blob, before;

		assert_true(find(&f, code, &before));
		image_put(f.image, cases[i].at, cases[i].value, cases[i].bytes);
		assert_int_equal(find(&f, code, &blob), cases[i].is_found);
		assert_int_equal(is_valid(&f, &before),
				 cases[i].is_found && blob.start == before.start &&
					 blob.name == before.name && blob.end == before.end &&
					 blob.complete == before.complete &&
					 blob.frame_bytes == before.frame_bytes);
		if (cases[i].is_found) {
			assert_int_equal(blob.frame_bytes, cases[i].frame_bytes);
			assert_int_equal(blob.complete,
					 cases[i].complete ? blob.start + cases[i].complete : 0);
		}
		free(f.image);
	}
}

/* Each case changes one word of the only heap, or of the list of heaps. */
TEST(a_heap_has_a_size_and_segments_as_machines_have_them)
{
	enum { LOW = 0x500 + HEAP_SPACE + SPACE_LOW, HIGH = 0x500 + HEAP_SPACE + SPACE_HIGH };
	static const struct {
		unsigned at;
		uint64_t value;
		unsigned count;
	} cases[] = {
		{0x500 + HEAP_LOG2, 3, 0},
		{0x500 + HEAP_LOG2, 4, 1},
		{0x500 + HEAP_LOG2, 16, 1},
		{0x500 + HEAP_LOG2, 17, 0},
		{HIGH, IMAGE_BASE + IMAGE_HEAP, 0},
		{HIGH, IMAGE_BASE + IMAGE_HEAP + 1, 1},
		{HIGH, IMAGE_BASE + IMAGE_HEAP + (UINT64_C(2) << 30), 1},
		{HIGH, IMAGE_BASE + IMAGE_HEAP + (UINT64_C(2) << 30) + 1, 0},
		{0x200, 1, 0},
		{0x300 + ARRAY_LENGTH, 0, 0},
		{0x300 + ARRAY_LENGTH, CODE_HEAPS_MAX + 1, CODE_HEAPS_MAX},
		{0x300 + ARRAY_DATA, 1, 0},
		{0x400, 1, 0},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f = fixture_of(&jdk_17);
		unsigned len = cases[i].at == 0x300 + ARRAY_LENGTH ? 4 : 8;

		for (unsigned heap = 1; heap <= CODE_HEAPS_MAX; heap++)
			image_put(f.image, 0x400 + 8 * heap, IMAGE_BASE + 0x500, 8);
		image_put(f.image, cases[i].at, cases[i].value, len);
		assert_int_equal(code_heaps_read(&f.image->memory, &f.layout, &f.heaps),
				 cases[i].count != 0);
		assert_int_equal(f.heaps.count, cases[i].count);
		free(f.image);
	}
	struct fixture f = fixture_of(&jdk_17);
	const struct code_heap *heap = f.heaps.heaps;

	assert_ptr_equal(code_heaps_find(&f.heaps, heap->low), heap);
	assert_ptr_equal(code_heaps_find(&f.heaps, heap->high - 1), heap);
	assert_null(code_heaps_find(&f.heaps, heap->low - 1));
	assert_null(code_heaps_find(&f.heaps, heap->high));
	free(f.image);
}

/* Codelets: a header of 24 bytes, its size, its description, and code. */
TEST(the_interpreters_entries_are_its_codelets_for_methods)
{
	enum { QUEUE = 0x600, BUFFER = 0x700, CODELET = 24 };
	static const struct {
		const char *description, *code;
		uint32_t size;
	} codelets[] = {
		{"method entry point (kind = zerolocals)", "\x90\x55\x48\x8b\xec", CODELET + 8},
		{"return entry points", "\x55\x48\x8b\xec", CODELET + 16},
		{"method entry point (kind = empty)", "\x55\x48\x8b\xed", CODELET + 16},
		{"method entry point (kind = abs)", "", CODELET},
		{"method entry point (too large)", "", CODELET + 9},
	};
	struct image *image = image_new(&jdk_17);
	uint64_t at = BUFFER;
	struct vm_layout layout;
	struct method_entries entries;

	image_field(image, "AbstractInterpreter", "_code", "StubQueue*", 0, IMAGE_BASE + 0x208);
	image_field(image, "StubQueue", "_stub_buffer", "address", 8, 0);
	image_field(image, "StubQueue", "_queue_end", "int", 16, 0);
	image_field(image, "InterpreterCodelet", "_size", "int", 8, 0);
	image_field(image, "InterpreterCodelet", "_description", "const char*", 16, 0);
	assert_true(vm_layout_read(&image->memory, &image->symbols, 0, &layout));
	image_put(image, 0x208, IMAGE_BASE + QUEUE, 8);
	image_put(image, QUEUE + 8, IMAGE_BASE + BUFFER, 8);
	for (unsigned i = 0; i < 5; i++) {
		image_put(image, at + 8, codelets[i].size, 4);
		image_put(image, at + 16, image_string(image, codelets[i].description), 8);
		memcpy(image->bytes + at + CODELET, codelets[i].code, strlen(codelets[i].code));
		at += codelets[i].size;
	}
	image_put(image, QUEUE + 16, at - 1 - BUFFER, 4); /* the last one ends outside */
	method_entries_read(&image->memory, &layout, &entries);
	assert_int_equal(entries.count, 3);
	at = IMAGE_BASE + BUFFER;
	assert_int_equal(entries.at[0].start, at + CODELET);
	assert_int_equal(entries.at[0].end, at + CODELET + 8);
	assert_int_equal(entries.at[0].makes_frame, at + CODELET + 1);
	assert_null(method_entries_find(&entries, at + CODELET - 1));
	assert_ptr_equal(method_entries_find(&entries, at + CODELET), &entries.at[0]);
	assert_ptr_equal(method_entries_find(&entries, at + CODELET + 7), &entries.at[0]);
	assert_null(method_entries_find(&entries, at + CODELET + 8));
	at += CODELET + 8 + CODELET + 16;
	assert_int_equal(entries.at[1].start, at + CODELET);
	assert_int_equal(entries.at[1].makes_frame, 0);
	assert_int_equal(entries.at[2].end, entries.at[2].start);
	image_put(image, BUFFER + 8, CODELET - 1, 4); /* a codelet without a header */
	method_entries_read(&image->memory, &layout, &entries);
	assert_int_equal(entries.count, 0);
	layout.queue_buffer.is_known = false;
	image_put(image, BUFFER + 8, CODELET, 4);
	method_entries_read(&image->memory, &layout, &entries);
	assert_int_equal(entries.count, 0);
	free(image);
}

TEST(a_map_that_never_ends_is_left)
{
	struct fixture f = fixture_of(&jdk_17);
	struct code_blob blob;

	f.heaps.heaps[0].high += 1 << 30; /* what is beyond the image cannot be read */
	memset(f.image->bytes + IMAGE_MAP, 1, IMAGE_HEAP_BYTES >> IMAGE_SEGMENT_LOG2);
	assert_false(find(&f, IMAGE_BASE + IMAGE_HEAP + IMAGE_HEAP_BYTES - 1, &blob));
	assert_false(find(&f, IMAGE_BASE + IMAGE_HEAP + (1 << 29), &blob));
	f.image->bytes[IMAGE_MAP + 3] = 4; /* before the heap */
	assert_false(find(&f, IMAGE_BASE + IMAGE_HEAP + (3 << IMAGE_SEGMENT_LOG2), &blob));
	free(f.image);
}

TEST(tables_that_lack_something_are_refused)
{
	struct image *image = image_new(&jdk_17);
	struct vm_layout layout;

	image_put(image, 0x1000 + IMAGE_STRIDE * 5 + 8, 0, 8); /* no name: the last entry */
	assert_false(vm_layout_read(&image->memory, &image->symbols, 0, &layout));
	free(image);
	image = image_new(&jdk_17);
	image_put(image, 0x108, 1 << 20, 8); /* the size of an entry */
	assert_false(vm_layout_read(&image->memory, &image->symbols, 0, &layout));
	image_put(image, 0x108, 0, 8);
	assert_false(vm_layout_read(&image->memory, &image->symbols, 0, &layout));
	assert_false(vm_layout_read(&image->memory, &image->symbols, 1 << 30, &layout));
	free(image);
}
