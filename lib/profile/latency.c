#include "profile/latency.h"

#include <stdio.h>
#include <string.h>

/* The number of buckets of each unit except the last. */
enum { OF_UNIT = 10, UNITS = 4 };

static const char *const units[UNITS] = {"ns", "us", "ms", "s"};

unsigned latency_class(uint64_t ns)
{
	unsigned unit = 0, power = 0;

	while (ns >= 1000 && unit < UNITS - 1) {
		ns /= 1000;
		unit++;
	}
	while (ns >> 1 >> power)
		power++;
	power += unit * OF_UNIT;
	return power < LATENCY_CLASSES ? power : LATENCY_CLASSES - 1;
}

static void name_bound(unsigned class_number, char *ret, size_t room)
{
	unsigned unit = class_number / OF_UNIT;

	if (unit >= UNITS)
		unit = UNITS - 1;
	snprintf(ret, room, "%u%s", 1U << (class_number - unit * OF_UNIT), units[unit]);
}

void latency_class_name(unsigned class_number, char ret[LATENCY_NAME_BYTES])
{
	char low[LATENCY_NAME_BYTES / 2], high[LATENCY_NAME_BYTES / 2];

	name_bound(class_number, low, sizeof(low));
	name_bound(class_number + 1, high, sizeof(high));
	snprintf(ret, LATENCY_NAME_BYTES, "%s-%s", low, high);
}

bool latency_class_find(const char *name, unsigned *ret)
{
	char known[LATENCY_NAME_BYTES];

	for (unsigned i = 0; i < LATENCY_CLASSES; i++) {
		latency_class_name(i, known);
		if (!strcmp(known, name)) {
			*ret = i;
			return true;
		}
	}
	return false;
}
