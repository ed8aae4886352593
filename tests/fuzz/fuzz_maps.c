/* Fuzzes /proc/PID/maps. Mappings must be well-formed. */
#include "proc/maps.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct maps maps = {.rest = bytes_of(data, size)};
	struct mapping mapping;

	while (maps_next(&maps, &mapping))
		if (mapping.start >= mapping.end || strlen(mapping.path) >= MAPS_PATH_MAX)
			abort();
	return 0;
}
