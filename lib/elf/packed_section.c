#include "elf/packed_section.h"

#include <elf.h>
#include <endian.h>

/*
 * The maximum ratio of zlib. Sections with a higher ratio are malformed and
 * must not allocate memory.
 */
enum { UNPACK_RATIO_MAX = 1032 };

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* missing in older C libraries */
#endif

/* Reads "ZLIB" and 8 big-endian bytes. */
static bool read_zdebug(struct bytes *at, uint64_t *size_bytes)
{
	const char *magic = bytes_take(at, 4);

	*size_bytes = be64toh(bytes_u64(at));
	return magic && memcmp(magic, "ZLIB", 4) == 0;
}

/* Reads an Elf32_Chdr or Elf64_Chdr. */
static bool read_chdr(struct bytes *at, bool is_32, struct packed_section *section)
{
	uint32_t type = bytes_u32(at);

	if (!is_32)
		bytes_u32(at);
	section->size_bytes = bytes_uint(at, is_32 ? 4 : 8);
	bytes_uint(at, is_32 ? 4 : 8); /* alignment */
	if (type == ELFCOMPRESS_ZSTD)
		section->kind = UNPACK_ZSTD;
	return type == ELFCOMPRESS_ZLIB || type == ELFCOMPRESS_ZSTD;
}

bool packed_section_read(struct bytes section, enum packed_section_form form,
			 struct packed_section *ret)
{
	bool is_known;

	*ret = (struct packed_section){.kind = UNPACK_ZLIB};
	if (form == PACKED_SECTION_ZDEBUG)
		is_known = read_zdebug(&section, &ret->size_bytes);
	else
		is_known = read_chdr(&section, form == PACKED_SECTION_ELF32, ret);
	ret->packed = section;
	return is_known && bytes_ok(&section) && ret->size_bytes > 0 &&
	       ret->size_bytes / UNPACK_RATIO_MAX <= bytes_left(&section);
}
