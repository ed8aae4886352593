#include "elf/build_id.h"

#include "base/text.h"

#include <elf.h>
#include <stdio.h>

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

bool build_id_from_hex(const char *hex, struct build_id *ret)
{
	*ret = (struct build_id){0};
	for (; *hex; hex += 2) {
		const char digits[] = {hex[0], hex[1], '\0'}, *at = digits;
		uint64_t byte;

		if (ret->len == BUILD_ID_MAX || !hex[1] || !text_hex(&at, &byte) || *at) {
			ret->len = 0;
			return false;
		}
		ret->bytes[ret->len++] = (uint8_t)byte;
	}
	return true;
}

void build_id_hex(const struct build_id *id, char hex[BUILD_ID_HEX_BYTES])
{
	hex[0] = '\0';
	for (unsigned i = 0; i < id->len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
}

/*
 * Skips padding. A note's name and description are padded to 4 bytes, or to 8
 * in a segment aligned to 8.
 */
static void skip_padding(struct bytes *notes, const unsigned char *start, uint64_t align)
{
	size_t unit = align == 8 ? 8 : 4;
	size_t over = (size_t)(notes->at - start) % unit;

	/* The last description can lack padding. */
	if (over && bytes_left(notes))
		bytes_skip(notes, unit - over);
}

const unsigned char *build_id_find(struct bytes notes, uint64_t align, struct build_id *ret)
{
	const unsigned char *start = notes.at;

	while (bytes_left(&notes)) {
		uint32_t name_len = bytes_u32(&notes);
		uint32_t id_len = bytes_u32(&notes);
		uint32_t type = bytes_u32(&notes);
		const char *name = bytes_take(&notes, name_len);
		const unsigned char *id;

		skip_padding(&notes, start, align);
		id = bytes_take(&notes, id_len);
		skip_padding(&notes, start, align);
		if (!name || !id || type != NT_GNU_BUILD_ID || name_len != sizeof(ELF_NOTE_GNU) ||
		    memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) != 0 || id_len == 0 ||
		    id_len > BUILD_ID_MAX)
			continue;
		ret->len = id_len;
		memcpy(ret->bytes, id, id_len);
		return id;
	}
	return NULL;
}
