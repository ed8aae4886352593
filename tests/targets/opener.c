/*
 * opener SECONDS LIBRARY FUNCTION …
 *
 * Opens each library, calls its function and closes it again, so that the next
 * library is probably mapped at the same address.
 *
 *	_start … main
 *	  use
 *	    FUNCTION
 *	      spend
 *	        burn  (spin inlined)
 */
#include "work.h"

#include <dlfcn.h>
#include <stdio.h>

static NOINLINE int use(const char *library, const char *function, double seconds)
{
	void *handle = dlopen(library, RTLD_NOW);
	void *symbol = handle ? dlsym(handle, function) : NULL;

	if (!symbol) {
		fprintf(stderr, "opener: %s\n", dlerror());
		return 1;
	}
	((void (*)(double))symbol)(seconds);
	dlclose(handle);
	return 0;
}

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv);

	for (int i = 2; i + 1 < argc; i += 2)
		if (use(argv[i], argv[i + 1], seconds))
			return 1;
	return 0;
}
