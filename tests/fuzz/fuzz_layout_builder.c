/* Layouts of tasks from ELF files with any debug information; what is built can be read again. */
#include "tasks/layout_builder.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
	CLEANUP(task_layout_cleanup) struct task_layout *layout = NULL, *again = NULL;
	struct error *err = elf_file_from_memory(data, size, "input", &elf);
	char *bytes;
	size_t len;

	if (!err)
		err = layout_build(elf, &layout);
	error_free(err);
	if (!layout)
		return 0;
	bytes = task_layout_write(layout, &len);
	again = task_layout_read(bytes, len);
	free(bytes);
	return 0;
}
