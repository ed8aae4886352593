/* HotSpot's tables and code cache, in memory made by hand. */
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

	assert_true(find(&f, code + 999 * 128 - 200, &blob));
	assert_int_equal(blob.start, code);
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
		{"vtable chunks", 0, CODE_FRAMELESS},
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

TEST(a_blob_that_was_freed_or_replaced_is_not_valid)
{
	struct fixture f = fixture_of(&jdk_17);
	uint64_t code = image_blob(f.image, 3, 5, "nmethod", 8, 44);
	struct code_blob blob, now;

	assert_true(find(&f, code, &blob));
	assert_true(is_valid(&f, &blob));
	image_blob(f.image, 3, 5, "nmethod", 10, 44);
	assert_false(is_valid(&f, &blob));
	image_put(f.image, blob.block - IMAGE_BASE + jdk_17.used, 0, 1);
	assert_false(find(&f, code, &now));
	free(f.image);
}

TEST(lies_about_blobs_lead_nowhere)
{
	struct fixture f = fixture_of(&jdk_17);
	uint64_t code = image_blob(f.image, 3, 5, "nmethod", 8, 44);
	uint64_t blob_at = IMAGE_HEAP + (3 << IMAGE_SEGMENT_LOG2) + 16;
	struct code_blob blob;

	image_put(f.image, IMAGE_MAP + 3, 4, 1); /* before the heap */
	assert_false(find(&f, code, &blob));
	image_put(f.image, IMAGE_MAP + 3, 0, 1);
	image_put(f.image, blob_at + BLOB_SIZE, 6 << IMAGE_SEGMENT_LOG2, 4); /* beyond its block */
	assert_false(find(&f, code, &blob));
	image_put(f.image, blob_at + BLOB_SIZE, (uint64_t)-1, 4);
	assert_false(find(&f, code, &blob));
	image_put(f.image, blob_at + BLOB_SIZE, 512, 4);
	image_put(f.image, blob_at + BLOB_FRAME, 1 << 30, 4); /* no stack is that large */
	assert_true(find(&f, code, &blob));
	assert_int_equal(blob.frame_bytes, 0);
	image_put(f.image, blob_at + BLOB_NAME, 1, 8);
	assert_false(find(&f, code, &blob));
	free(f.image);
}

TEST(a_map_that_never_ends_is_left)
{
	struct fixture f = fixture_of(&jdk_17);
	struct code_blob blob;

	f.heaps.heaps[0].high += 1 << 30; /* what is beyond the image cannot be read */
	memset(f.image->bytes + IMAGE_MAP, 1, IMAGE_HEAP_BYTES >> IMAGE_SEGMENT_LOG2);
	assert_false(find(&f, IMAGE_BASE + IMAGE_HEAP + IMAGE_HEAP_BYTES - 1, &blob));
	assert_false(find(&f, IMAGE_BASE + IMAGE_HEAP + (1 << 29), &blob));
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
