/*
 * Hash functions for in-memory tables: fast and well mixed. They are not stable
 * between versions of prof, so they must not be used in files.
 */
#ifndef PROF_BASE_HASH_H
#define PROF_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 hash_wide;

/*
 * Folds the 128-bit product, so that every bit of the result depends on every
 * bit of both.
 */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	hash_wide product = (hash_wide)(a ^ 0x9e3779b97f4a7c15) * (b ^ 0xd6e8feb86659fd93);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_bytes_wide(const void *data, size_t len)
{
	const unsigned char *at = data;
	uint64_t hash = len;

	for (; len >= 8; at += 8, len -= 8) {
		uint64_t word;

		memcpy(&word, at, 8);
		hash = hash_mix(hash, word);
	}
	if (len) {
		uint64_t word = 0;

		memcpy(&word, at, len);
		hash = hash_mix(hash, word);
	}
	return hash;
}

static inline uint32_t hash_bytes(const void *data, size_t len)
{
	return (uint32_t)hash_bytes_wide(data, len);
}

#endif
