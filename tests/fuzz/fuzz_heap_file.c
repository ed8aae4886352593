/* Fuzzes heap files. Stacks must be within bounds, and a second read must give
 * the same stacks. */
#include "heapfile/heap_file.h"
#include "replay.h"

#include <stdlib.h>

/* Returns a hash of all stacks until one is refused. */
static uint64_t read_stacks(struct heap_file *file)
{
	struct heap_file_stack stack;
	uint64_t sum = 0;
	bool got = true;

	while (got) {
		CLEANUP(error_cleanup) struct error *err = heap_file_next(file, &stack, &got);

		if (err)
			return sum;
		if (stack.depth > HEAP_FILE_DEPTH_MAX)
			abort();
		for (size_t i = 0; i < stack.depth; i++)
			sum = sum * 31 + stack.pcs[i];
		sum = sum * 31 + stack.inuse.bytes + stack.allocated.objects;
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(heap_file_deinit) struct heap_file file = {0};
	struct bytes text = bytes_of(data, size);
	CLEANUP(error_cleanup) struct error *err = heap_file_open(text, &file);
	uint64_t first;

	if (err)
		return 0;
	first = read_stacks(&file);
	note_number("stacks", first);
	heap_file_rewind(&file, text);
	if (read_stacks(&file) != first)
		abort();
	return 0;
}
