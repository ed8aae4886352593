/*
 * Limits the memory for decompressed sections of all ELF files that share a
 * budget. This is necessary because a small file can expand to a thousand times
 * its size, and a user can provide any number of files. Thread-safe.
 */
#ifndef PROF_ELF_UNPACK_BUDGET_H
#define PROF_ELF_UNPACK_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Limit for untrusted files (file_origin.h). Ordinary users have small files,
 * or files that are not compressed.
 */
enum { UNPACK_UNTRUSTED_BYTES_MAX = 96 << 20 };

struct unpack_budget {
	/* Initially a quarter of the machine's memory. */
	atomic_uint_fast64_t own_left;
	atomic_uint_fast64_t untrusted_left;
};

void unpack_budget_init(struct unpack_budget *budget);
/* For a process whose memory is limited by the kernel (sandbox/confined.h). */
void unpack_budget_init_unlimited(struct unpack_budget *budget);
/* Returns false if the remaining budget is too small. */
bool unpack_budget_take(struct unpack_budget *budget, bool is_untrusted, uint64_t size_bytes);
void unpack_budget_give(struct unpack_budget *budget, bool is_untrusted, uint64_t size_bytes);

#endif
