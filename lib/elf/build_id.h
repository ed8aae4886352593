/*
 * The GNU build-id, the identity of a program's contents. Source: ld(1), --build-id; gABI, "Note
 * Section".
 */
#ifndef PROF_ELF_BUILD_ID_H
#define PROF_ELF_BUILD_ID_H

#include "base/bytes.h"

enum { BUILD_ID_MAX = 64, BUILD_ID_HEX_BYTES = 2 * BUILD_ID_MAX + 1 };

struct build_id {
	uint8_t bytes[BUILD_ID_MAX];
	unsigned len; /* 0: none */
};

/* A missing build-id (len 0) equals nothing, not even another missing one. */
bool build_id_equal(const struct build_id *a, const struct build_id *b);
/* From hexadecimal digits; false, with len 0, if the text is anything else: pprof files of other
 * producers have other strings in their place. */
bool build_id_from_hex(const char *hex, struct build_id *ret);
/* In hexadecimal, as in file names; "" if the build-id is missing. */
void build_id_hex(const struct build_id *id, char hex[BUILD_ID_HEX_BYTES]);

/*
 * Finds the build-id among the notes of a segment or section that is aligned to `align` bytes.
 * Returns its place among them, NULL if there is none.
 */
const unsigned char *build_id_find(struct bytes notes, uint64_t align, struct build_id *ret);

#endif
