#include "base/nearest.h"

#include "base/alloc.h"

#include <limits.h>
#include <string.h>

static unsigned min(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * Returns the number of letters to change, insert or delete. Source: Wagner and
 * Fischer, one row at a time.
 */
static unsigned nearest_distance(const char *a, const char *b)
{
	size_t len = strlen(b);
	unsigned row[64];

	if (len >= ARRAY_SIZE(row))
		return UINT_MAX;
	for (unsigned j = 0; j <= len; j++)
		row[j] = j;
	for (unsigned i = 1; *a; a++, i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= len; j++) {
			unsigned change = diagonal + (*a != b[j - 1]);

			diagonal = row[j];
			row[j] = min(change, min(row[j], row[j - 1]) + 1);
		}
	}
	return row[len];
}

const char *nearest(const char *word, const char *const *candidates)
{
	unsigned best_distance = (unsigned)strlen(word) / 3 + 2;
	const char *best = NULL;

	for (; *candidates; candidates++) {
		unsigned candidate_distance = nearest_distance(word, *candidates);

		if (candidate_distance < best_distance) {
			best_distance = candidate_distance;
			best = *candidates;
		}
	}
	return best;
}
