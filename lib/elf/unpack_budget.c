#include "elf/unpack_budget.h"

#include <unistd.h>

/* Used if a sandbox hides the size of the memory. */
enum { MEMORY_BYTES_DEFAULT = 1 << 30 };

void unpack_budget_init(struct unpack_budget *budget)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	uint64_t memory = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE)
				    : MEMORY_BYTES_DEFAULT;

	atomic_init(&budget->own_left, memory / 4);
	atomic_init(&budget->untrusted_left, UNPACK_UNTRUSTED_BYTES_MAX);
}

void unpack_budget_init_unlimited(struct unpack_budget *budget)
{
	/* Half of the range, so that unpack_budget_give() cannot overflow. */
	atomic_init(&budget->own_left, UINT64_MAX / 2);
	atomic_init(&budget->untrusted_left, UINT64_MAX / 2);
}

static atomic_uint_fast64_t *left(struct unpack_budget *budget, bool is_untrusted)
{
	return is_untrusted ? &budget->untrusted_left : &budget->own_left;
}

bool unpack_budget_take(struct unpack_budget *budget, bool is_untrusted, uint64_t size_bytes)
{
	atomic_uint_fast64_t *from = left(budget, is_untrusted);
	uint_fast64_t now = atomic_load(from);

	while (now >= size_bytes)
		if (atomic_compare_exchange_weak(from, &now, now - size_bytes))
			return true;
	return false;
}

void unpack_budget_give(struct unpack_budget *budget, bool is_untrusted, uint64_t size_bytes)
{
	atomic_fetch_add(left(budget, is_untrusted), size_bytes);
}
