/* A library that is opened at run time and allocates for some seconds of CPU
 * time. */
#include <stdlib.h>
#include <time.h>

void plugin_allocates(double seconds)
{
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);

	while (clock() < end) {
		void *block = calloc(1, 5000);

		__asm__ volatile("" : "+r"(block) : : "memory");
		free(block);
	}
}
