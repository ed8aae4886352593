/* A library that allocates when it is opened and when it is closed at run time. */
#include <stdlib.h>
#include <string.h>

static void *kept[50];

static __attribute__((constructor)) void begin(void)
{
	for (int i = 0; i < 50; i++)
		kept[i] = malloc(4096);
}

static __attribute__((destructor)) void end(void)
{
	for (int i = 0; i < 50; i++)
		free(kept[i]);
}

char *make_text(void)
{
	return strdup("of a plugin");
}
