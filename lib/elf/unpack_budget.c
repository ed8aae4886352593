#include "elf/unpack_budget.h"

#include <unistd.h>

/* Where a sandbox hides how much memory there is. */
enum { MEMORY_BYTES_DEFAULT = 1 << 30 };

void unpack_budget_init(struct unpack_budget *budget)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	uint64_t memory = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE)
				    : MEMORY_BYTES_DEFAULT;

	atomic_init(&budget->own_left, memory / 4);
	atomic_init(&budget->foreign_left, UNPACK_FOREIGN_BYTES_MAX);
}

void unpack_budget_init_unlimited(struct unpack_budget *budget)
{
	/* Half of all numbers, so that giving back cannot overflow. */
	atomic_init(&budget->own_left, UINT64_MAX / 2);
	atomic_init(&budget->foreign_left, UINT64_MAX / 2);
}

static atomic_uint_fast64_t *left(struct unpack_budget *budget, bool is_foreign)
{
	return is_foreign ? &budget->foreign_left : &budget->own_left;
}

bool unpack_budget_take(struct unpack_budget *budget, bool is_foreign, uint64_t size_bytes)
{
	atomic_uint_fast64_t *from = left(budget, is_foreign);
	uint_fast64_t now = atomic_load(from);

	while (now >= size_bytes)
		if (atomic_compare_exchange_weak(from, &now, now - size_bytes))
			return true;
	return false;
}

void unpack_budget_give(struct unpack_budget *budget, bool is_foreign, uint64_t size_bytes)
{
	atomic_fetch_add(left(budget, is_foreign), size_bytes);
}
