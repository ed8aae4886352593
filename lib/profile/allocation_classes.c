#include "profile/allocation_classes.h"

#include "base/alloc.h"

#include <string.h>

/*
 * Indexed by the number of the highest bit, from 1 byte on. The first bucket is
 * for size 0.
 */
static const char *const sizes[] = {
	"0 B",
	"1 B",
	"2 B to 3 B",
	"4 B to 7 B",
	"8 B to 15 B",
	"16 B to 31 B",
	"32 B to 63 B",
	"64 B to 127 B",
	"128 B to 255 B",
	"256 B to 511 B",
	"512 B to 1,023 B",
	"1 KiB to 2 KiB",
	"2 KiB to 4 KiB",
	"4 KiB to 8 KiB",
	"8 KiB to 16 KiB",
	"16 KiB to 32 KiB",
	"32 KiB to 64 KiB",
	"64 KiB to 128 KiB",
	"128 KiB to 256 KiB",
	"256 KiB to 512 KiB",
	"512 KiB to 1 MiB",
	"1 MiB to 2 MiB",
	"2 MiB to 4 MiB",
	"4 MiB to 8 MiB",
	"8 MiB to 16 MiB",
	"16 MiB to 32 MiB",
	"32 MiB to 64 MiB",
	"64 MiB to 128 MiB",
	"128 MiB to 256 MiB",
	"256 MiB to 512 MiB",
	"512 MiB to 1 GiB",
	"1 GiB or more",
};

/*
 * The first bucket is below 1,000 ns. Each further limit is ten times as large.
 */
static const char *const lifetimes[] = {
	"below 1 µs",	 "1 µs to 10 µs",    "10 µs to 100 µs", "100 µs to 1 ms",
	"1 ms to 10 ms", "10 ms to 100 ms",  "100 ms to 1 s",	"1 s to 10 s",
	"10 s to 100 s", "100 s to 1,000 s", "1,000 s or more", "live",
};

enum { LIVE = ARRAY_SIZE(lifetimes) - 1 };

_Static_assert(LIVE == ALLOCATION_LIFETIMES, "all but live");

const char *allocation_size_class(uint64_t bytes)
{
	unsigned rank = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;

	return sizes[rank < ARRAY_SIZE(sizes) ? rank : ARRAY_SIZE(sizes) - 1];
}

const char *allocation_lifetime_class(uint64_t ns)
{
	unsigned rank = 0;

	for (uint64_t limit_ns = 1000; ns >= limit_ns && rank < LIVE - 1; limit_ns *= 10)
		rank++;
	return lifetimes[rank];
}

const char *allocation_lifetime_name(unsigned rank)
{
	return lifetimes[rank];
}

char *allocation_lifetime_span(unsigned from, unsigned to)
{
	static const char between[] = " to ";
	const char *begin = strstr(lifetimes[from], between), *end = strstr(lifetimes[to], between);

	if (from == to)
		return xstrdup(lifetimes[from]);
	return xasprintf("%.*s%s%s", begin ? (int)(begin - lifetimes[from]) : 1,
			 begin ? lifetimes[from] : "0", between,
			 end ? end + strlen(between) : lifetimes[to]);
}

const char *allocation_live_class(void)
{
	return lifetimes[LIVE];
}

static bool allocation_classes_find(const char *const *names, unsigned count, const char *name,
				    unsigned *ret)
{
	for (unsigned i = 0; i < count; i++) {
		if (!strcmp(names[i], name)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

bool allocation_class_rank(const char *name, unsigned *ret)
{
	return allocation_classes_find(sizes, ARRAY_SIZE(sizes), name, ret) ||
	       allocation_classes_find(lifetimes, ARRAY_SIZE(lifetimes), name, ret);
}
