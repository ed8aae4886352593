/* Fuzzes criterion's estimates.json: the text is refused, or gives a finite
 * positive time. */
#include "report/iteration_time.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* In an allocation of its own, so that reads beyond its end are
	 * detected. */
	char *text = malloc(size ? size : 1);
	struct iteration_time time;

	memcpy(text, data, size);
	if (iteration_time_read(text, size, &time) &&
	    (!(time.ns > 0) || !isfinite(time.ns) || !(time.error >= 0) || !isfinite(time.error)))
		abort();
	free(text);
	return 0;
}
