#include "runtime/cpython_text.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* Longer names are truncated, and longer tables are not read. */
	CHARACTERS_MAX = 1024,
	LINE_BYTES_MAX = 256 << 10,
	CHARACTER_BYTES = 4,
};

/* An object's start. */
struct cpython_object {
	unsigned char bytes[128];
};

static uint64_t object_word(const struct cpython_object *object, unsigned offset)
{
	uint64_t word = 0;

	if (offset + sizeof(word) <= sizeof(object->bytes))
		memcpy(&word, object->bytes + offset, sizeof(word));
	return word;
}

static bool read_object(struct script_reader *reader, uint64_t address, uint64_t type,
			const struct cpython_layout *layout, struct cpython_object *ret)
{
	return script_read(reader, address, ret->bytes, layout->text_compact) &&
	       object_word(ret, layout->object_type) == type;
}

static uint32_t character_at(const unsigned char *data, unsigned bytes, size_t index)
{
	uint32_t character = 0;

	memcpy(&character, data + index * bytes, bytes);
	return character;
}

/* Returns the number of bytes. Characters that UTF-8 does not have become
 * question marks. */
static size_t put_character(char *into, uint32_t character)
{
	bool is_valid = character >= 0x20 && character != 0x7f && character < 0x110000 &&
			(character & ~0x7ffU) != 0xd800;

	if (!is_valid)
		character = '?';
	if (character < 0x80) {
		into[0] = (char)character;
		return 1;
	}
	if (character < 0x800) {
		into[0] = (char)(0xc0 | character >> 6);
		into[1] = (char)(0x80 | (character & 0x3f));
		return 2;
	}
	if (character < 0x10000) {
		into[0] = (char)(0xe0 | character >> 12);
		into[1] = (char)(0x80 | (character >> 6 & 0x3f));
		into[2] = (char)(0x80 | (character & 0x3f));
		return 3;
	}
	into[0] = (char)(0xf0 | character >> 18);
	into[1] = (char)(0x80 | (character >> 12 & 0x3f));
	into[2] = (char)(0x80 | (character >> 6 & 0x3f));
	into[3] = (char)(0x80 | (character & 0x3f));
	return 4;
}

static char *text_of(const unsigned char *data, unsigned bytes, size_t count)
{
	char *text = xmalloc(count * CHARACTER_BYTES + 1);
	size_t len = 0;

	for (size_t i = 0; i < count; i++)
		len += put_character(text + len, character_at(data, bytes, i));
	text[len] = '\0';
	return text;
}

/* Returns NULL if the object is not a valid string. The caller frees it. */
static char *read_text(const struct runtime_process *process, struct script_reader *reader,
		       uint64_t address)
{
	enum { COMPACT = 1 << 5, ASCII = 1 << 6, KIND_SHIFT = 2, KIND_MASK = 7 };
	const struct cpython_layout *layout = &process->image.layout;
	unsigned char data[CHARACTERS_MAX * CHARACTER_BYTES];
	struct cpython_object object;
	uint64_t state, length;
	unsigned bytes;

	if (!read_object(reader, address, process->image.text_type + process->bias, layout,
			 &object))
		return NULL;
	state = object_word(&object, layout->text_state);
	length = object_word(&object, layout->text_length);
	bytes = state >> KIND_SHIFT & KIND_MASK;
	if (!(state & COMPACT) || (bytes != 1 && bytes != 2 && bytes != 4))
		return NULL;
	if (length > CHARACTERS_MAX)
		length = CHARACTERS_MAX;
	address += state & ASCII ? layout->text_ascii : layout->text_compact;
	if (reader->memory->read(reader->tid, address, data, length * bytes) != length * bytes)
		return NULL;
	return text_of(data, bytes, length);
}

/* Without the table, lines are unknown. */
static void read_lines(const struct runtime_process *process, struct script_reader *reader,
		       uint64_t address, struct script_text *ret)
{
	const struct cpython_layout *layout = &process->image.layout;
	struct cpython_object object;
	uint64_t count;

	if (!read_object(reader, address, process->image.bytes_type + process->bias, layout,
			 &object))
		return;
	count = object_word(&object, layout->object_count);
	if (count > LINE_BYTES_MAX)
		return;
	ret->lines = xmalloc(count + 1);
	ret->line_bytes = (uint32_t)reader->memory->read(reader->tid, address + layout->bytes_data,
							 ret->lines, count);
	if (ret->line_bytes != count)
		ret->line_bytes = 0;
}

bool cpython_text_read(const struct runtime_process *process, struct script_reader *reader,
		       const struct script_code *code, struct script_text *ret)
{
	*ret = (struct script_text){.first_line = code->first_line};
	ret->name = read_text(process, reader, code->name);
	ret->file = ret->name ? read_text(process, reader, code->file) : NULL;
	if (ret->file)
		read_lines(process, reader, code->lines, ret);
	return ret->file && *ret->name;
}
