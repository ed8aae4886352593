/* Fuzzes linkage names: the bytes up to the first NUL. */
#include "symbol/demangle.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_ptr) char *name = xstrndup((const char *)data, size);

	free(demangle(name));
	free(demangle_ada(name));
	return 0;
}
