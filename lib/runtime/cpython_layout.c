#include "runtime/cpython_layout.h"

#include "base/alloc.h"

#include <string.h>

enum {
	/* Bits of Py_Version below the minor version. */
	PATCH_BITS = 16,
	PYTHON_3_11 = 0x030b,
	PYTHON_3_12 = 0x030c,
	PYTHON_3_13 = 0x030d,
	/* No structure is larger. */
	OFFSET_MAX = 1 << 12,
	/* The state of an interpreter has about 200 KB. */
	STATE_OFFSET_MAX = 1 << 24,
	WORD_BYTES = 8,
};

static const struct cpython_layout cpython_3_11 = {
	.version = PYTHON_3_11,
	.interpreters = 40,
	.interpreter_next = 0,
	.interpreter_threads = 16,
	.thread_previous = 0,
	.thread_next = 8,
	.thread_interpreter = 16,
	.thread_frame = 56,
	.thread_id = 160,
	.record_frame = 8,
	.record_previous = 16,
	.frame_previous = 48,
	.frame_code = 32,
	.frame_instruction = 56,
	.frame_is_entry = 68,
	.frame_owner = 69,
	.runtime_gil = 360,
	.gil_holder = 8,
	.code_file = 112,
	.code_name = 128,
	.code_lines = 136,
	.code_first_line = 72,
	.code_locals = 76,
	.code_stack = 68,
	.code_units = 184,
	.object_type = 8,
	.object_count = 16,
	.bytes_data = 32,
	.text_state = 32,
	.text_length = 16,
	.text_ascii = 48,
	.text_compact = 72,
};

static const struct cpython_layout cpython_3_12 = {
	.version = PYTHON_3_12,
	.interpreters = 40,
	.interpreter_next = 0,
	.interpreter_threads = 72,
	.thread_previous = 0,
	.thread_next = 8,
	.thread_interpreter = 16,
	.thread_frame = 56,
	.thread_id = 144,
	.record_frame = 0,
	.record_previous = 8,
	.frame_previous = 8,
	.frame_code = 0,
	.frame_instruction = 56,
	.frame_owner = 70,
	.interpreter_gil = 384,
	.gil_holder = 8,
	.code_file = 112,
	.code_name = 128,
	.code_lines = 136,
	.code_first_line = 68,
	.code_stack = 76,
	.code_units = 192,
	.object_type = 8,
	.object_count = 16,
	.bytes_data = 32,
	.text_state = 32,
	.text_length = 16,
	.text_ascii = 40,
	.text_compact = 56,
};

/* Numbers of the table's words: the first one of each group, and of those
 * whose place in the group varies. */
struct offset_words {
	uint32_t version;
	uint8_t interpreter, gil, thread, thread_base, thread_id, frame, code, object, tuple, bytes,
		text;
};

static const struct offset_words offset_words[] = {
	{0x030d, 6, 14, 19, 0, 25, 28, 34, 44, 50, 64, 67},
	{0x030e, 6, 15, 22, 0, 28, 31, 39, 50, 56, 74, 77},
	{0x030f, 6, 15, 22, 27, 31, 39, 47, 58, 68, 86, 89},
};

static const struct offset_words *words_of(uint32_t version)
{
	for (size_t i = 0; i < ARRAY_SIZE(offset_words); i++)
		if (offset_words[i].version == version)
			return &offset_words[i];
	return NULL;
}

static uint64_t cpython_layout_word(struct bytes runtime, unsigned number)
{
	struct bytes at = bytes_at(runtime, (size_t)number * WORD_BYTES);

	return bytes_u64(&at);
}

/* Copies a word into a member. Clears *good if it is not such an offset. */
static uint16_t offset_at(struct bytes runtime, unsigned number, bool *good)
{
	uint64_t offset = cpython_layout_word(runtime, number);

	*good &= offset < OFFSET_MAX;
	return (uint16_t)offset;
}

static uint32_t state_offset_at(struct bytes runtime, unsigned number, bool *good)
{
	uint64_t offset = cpython_layout_word(runtime, number);

	*good &= offset < STATE_OFFSET_MAX;
	return (uint32_t)offset;
}

enum {
	/* Since 3.13 a string that is not ASCII has two words more. */
	COMPACT_BYTES = 2 * WORD_BYTES,
	/* Sizes of the buffers for the start of an object. */
	FRAME_PART_BYTES = 160,
	CODE_PART_BYTES = 256,
	TEXT_PART_BYTES = 128,
};

/* Whether all members are in the part of their structure that is read. */
static bool are_in_parts(const struct cpython_layout *layout)
{
	return layout->frame_owner < FRAME_PART_BYTES &&
	       layout->frame_previous + WORD_BYTES <= layout->frame_owner &&
	       layout->frame_code + WORD_BYTES <= layout->frame_owner &&
	       layout->frame_instruction + WORD_BYTES <= layout->frame_owner &&
	       layout->code_units <= CODE_PART_BYTES &&
	       layout->code_file + WORD_BYTES <= layout->code_units &&
	       layout->code_name + WORD_BYTES <= layout->code_units &&
	       layout->code_lines + WORD_BYTES <= layout->code_units &&
	       layout->code_first_line < layout->code_lines &&
	       layout->object_type + WORD_BYTES <= layout->code_units &&
	       layout->text_compact <= TEXT_PART_BYTES &&
	       layout->text_state + WORD_BYTES <= layout->text_ascii &&
	       layout->text_length + WORD_BYTES <= layout->text_ascii &&
	       layout->object_type + WORD_BYTES <= layout->text_ascii &&
	       layout->object_count + WORD_BYTES <= layout->text_ascii &&
	       layout->bytes_data <= TEXT_PART_BYTES;
}

/* The words are where the interpreter points to its GIL, where its own one is,
 * one word that counts only in free-threaded builds, and two members of it. */
static void read_gil(struct bytes from, unsigned number, struct cpython_layout *ret)
{
	bool good = true;
	uint32_t start = state_offset_at(from, number + 1U, &good);
	uint32_t locked = state_offset_at(from, number + 3U, &good);
	uint32_t holder = state_offset_at(from, number + 4U, &good);

	ret->interpreter_gil = state_offset_at(from, number, &good);
	ret->gil_holder = (uint16_t)(holder - start);
	if (!good || holder - start >= OFFSET_MAX || locked != holder + WORD_BYTES)
		ret->interpreter_gil = 0;
}

static bool read_described(struct bytes from, const struct offset_words *at,
			   struct cpython_layout *ret)
{
	bool good = true;

	*ret = (struct cpython_layout){
		.version = at->version,
		.interpreters = offset_at(from, 5, &good),
		.interpreter_next = state_offset_at(from, at->interpreter + 2U, &good),
		.interpreter_threads = state_offset_at(from, at->interpreter + 3U, &good),
		.thread_previous = offset_at(from, at->thread + 1U, &good),
		.thread_next = offset_at(from, at->thread + 2U, &good),
		.thread_interpreter = offset_at(from, at->thread + 3U, &good),
		.thread_frame = offset_at(from, at->thread + 4U, &good),
		.thread_base = at->thread_base ? offset_at(from, at->thread_base, &good) : 0,
		.thread_id = offset_at(from, at->thread_id, &good),
		.frame_previous = offset_at(from, at->frame + 1U, &good),
		.frame_code = offset_at(from, at->frame + 2U, &good),
		.frame_instruction = offset_at(from, at->frame + 3U, &good),
		.frame_owner = offset_at(from, at->frame + 5U, &good),
		.code_file = offset_at(from, at->code + 1U, &good),
		.code_name = offset_at(from, at->code + 3U, &good),
		.code_lines = offset_at(from, at->code + 4U, &good),
		.code_first_line = offset_at(from, at->code + 5U, &good),
		.code_units = offset_at(from, at->code + 9U, &good),
		.object_type = offset_at(from, at->object + 1U, &good),
		.object_count = offset_at(from, at->tuple + 2U, &good),
		.bytes_data = offset_at(from, at->bytes + 2U, &good),
		.text_state = offset_at(from, at->text + 1U, &good),
		.text_length = offset_at(from, at->text + 2U, &good),
		.text_ascii = offset_at(from, at->text + 3U, &good),
	};
	ret->text_compact = (uint16_t)(ret->text_ascii + COMPACT_BYTES);
	read_gil(from, at->gil, ret);
	return good && are_in_parts(ret);
}

/* Finds the tables of versions that do not describe themselves. */
static enum cpython_reading read_known(uint32_t version, struct cpython_layout *ret)
{
	if (version < PYTHON_3_11)
		return CPYTHON_TOO_OLD;
	if (version > PYTHON_3_12)
		return CPYTHON_DAMAGED;
	*ret = version == PYTHON_3_11 ? cpython_3_11 : cpython_3_12;
	return CPYTHON_READ;
}

enum cpython_reading cpython_layout_read(struct bytes runtime, uint32_t version,
					 struct cpython_layout *ret)
{
	static const char cookie[] = "xdebugpy";
	enum { TABLE_BYTES = 128 * WORD_BYTES };
	const struct offset_words *at;

	if (bytes_left(&runtime) < TABLE_BYTES || memcmp(runtime.at, cookie, WORD_BYTES) != 0)
		return read_known(version >> PATCH_BITS, ret);
	version = (uint32_t)cpython_layout_word(runtime, 1) >> PATCH_BITS;
	if (version < PYTHON_3_13)
		return CPYTHON_DAMAGED;
	at = words_of(version);
	if (!at)
		return CPYTHON_TOO_NEW;
	if (cpython_layout_word(runtime, 2))
		return CPYTHON_FREE_THREADED;
	return read_described(runtime, at, ret) ? CPYTHON_READ : CPYTHON_DAMAGED;
}
