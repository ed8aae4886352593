/* A library to open at run time, which allocates 100 MB. */
#include <stdlib.h>

void plugin_allocates(double seconds)
{
	(void)seconds;
	for (int i = 0; i < 20000; i++) {
		void *block = calloc(1, 5000);

		__asm__ volatile("" : "+r"(block) : : "memory");
		free(block);
	}
}
