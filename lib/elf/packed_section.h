/*
 * Parses the headers of compressed sections: ELF's own (SHF_COMPRESSED; zlib
 * and zstd) and .zdebug_* of older binutils. Source: gABI, "Compression
 * Header".
 */
#ifndef PROF_ELF_PACKED_SECTION_H
#define PROF_ELF_PACKED_SECTION_H

#include "base/bytes.h"
#include "base/unpack.h"

enum packed_section_form { PACKED_SECTION_ELF32, PACKED_SECTION_ELF64, PACKED_SECTION_ZDEBUG };

struct packed_section {
	enum unpack_kind kind;
	uint64_t size_bytes; /* decompressed size; plausible, never 0 */
	struct bytes packed; /* without the header */
};

/*
 * Returns false if the compression is unknown or the size is impossible. Reads
 * the header once.
 */
bool packed_section_read(struct bytes section, enum packed_section_form form,
			 struct packed_section *ret);

#endif
