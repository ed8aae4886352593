/*
 * The GNU build-id, which identifies the contents of a program. Source: ld(1),
 * --build-id; gABI, "Note Section".
 */
#ifndef PROF_ELF_BUILD_ID_H
#define PROF_ELF_BUILD_ID_H

#include "base/bytes.h"

enum { BUILD_ID_MAX = 64, BUILD_ID_HEX_BYTES = 2 * BUILD_ID_MAX + 1 };

struct build_id {
	uint8_t bytes[BUILD_ID_MAX];
	unsigned len; /* 0 if there is none */
};

/*
 * Compares build-ids. A missing build-id (len 0) equals nothing, not even
 * another missing one.
 */
bool build_id_equal(const struct build_id *a, const struct build_id *b);
/*
 * Parses hexadecimal digits. Returns false, with len 0, for any other text:
 * other producers of pprof files store other strings in this field.
 */
bool build_id_from_hex(const char *hex, struct build_id *ret);
/*
 * Formats the build-id as hexadecimal digits, as in file names. The result is
 * "" if the build-id is missing.
 */
void build_id_hex(const struct build_id *id, char hex[BUILD_ID_HEX_BYTES]);

/*
 * Finds the build-id in the notes of a segment or section that is aligned to
 * `align` bytes. Returns its position in the notes, or NULL if there is none.
 */
const unsigned char *build_id_find(struct bytes notes, uint64_t align, struct build_id *ret);

#endif
