/* Fuzzes the listing that a confined process sends. */
#include "symbol/code_listing.h"

#include "base/alloc.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = xmalloc(size);
	CLEANUP(code_listing_cleanup) struct code_listing *listing = NULL;

	if (size)
		memcpy(copy, data, size);
	listing = code_listing_read(copy, size);
	for (size_t i = 0; listing && i < listing->count; i++) {
		const struct listed_function *function = &listing->functions[i];

		for (size_t j = 0; j < function->count; j++) {
			const struct listed_instruction *item = &function->items[j];

			assert(item->vaddr >= function->vaddr && item->vaddr < function->end);
			assert(strlen(item->text) + strlen(item->target) < size);
		}
	}
	return 0;
}
