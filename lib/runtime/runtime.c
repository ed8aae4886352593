#include "runtime/runtime.h"

#include "base/alloc.h"

bool runtime_detect(struct elf_file *elf, struct runtime_image *ret)
{
	static const struct script_runtime *const runtimes[] = {
		&cpython_runtime,
	};

	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (runtimes[i]->detect(elf, ret))
			return true;
	return false;
}

bool runtime_is_loop(const struct runtime_image *image, uint64_t vaddr)
{
	for (unsigned i = 0; i < image->loop_count; i++)
		if (vaddr >= image->loops[i].start && vaddr < image->loops[i].end)
			return true;
	return false;
}

void runtime_add_loop(struct runtime_image *image, uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < image->loop_count; i++)
		if (image->loops[i].start == start)
			return;
	if (image->loop_count < RUNTIME_LOOPS_MAX)
		image->loops[image->loop_count++] = (struct runtime_range){start, end};
}
