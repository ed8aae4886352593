/* Fuzzes layouts of tasks, and what a reader finds in this process with them. */
#include "tasks/task_reader.h"

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

static void ignore(void *user, const struct task_wait *wait)
{
	(void)user;
	(void)wait;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(task_layout_cleanup) struct task_layout *layout = task_layout_read(data, size);
	CLEANUP(task_reader_cleanup) struct task_reader *reader = NULL;

	if (!layout)
		return 0;
	reader = task_reader_new(getpid(), layout, 0);
	task_reader_find_lists(reader);
	task_reader_read(reader, ignore, NULL);
	return 0;
}
