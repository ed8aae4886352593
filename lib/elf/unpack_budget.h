/*
 * How much memory decompressed sections may take, of all ELF files that share a budget. A small
 * file can claim a thousand times its size, and a user can bring as many files as he likes.
 * Thread-safe.
 */
#ifndef PROF_ELF_UNPACK_BUDGET_H
#define PROF_ELF_UNPACK_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Of files that are foreign (file_origin.h): those of users are small, or not compressed. */
enum { UNPACK_FOREIGN_BYTES_MAX = 96 << 20 };

struct unpack_budget {
	/* A fourth of the machine's memory: compressed debug information of browsers takes 5 GB. */
	atomic_uint_fast64_t own_left;
	atomic_uint_fast64_t foreign_left;
};

void unpack_budget_init(struct unpack_budget *budget);
/* For a process whose memory the kernel limits (sandbox/confined.h). */
void unpack_budget_init_unlimited(struct unpack_budget *budget);
/* False if so much is not left. */
bool unpack_budget_take(struct unpack_budget *budget, bool is_foreign, uint64_t size_bytes);
void unpack_budget_give(struct unpack_budget *budget, bool is_foreign, uint64_t size_bytes);

#endif
