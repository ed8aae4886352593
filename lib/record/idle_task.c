#include "record/idle_task.h"

#include "base/cleanup.h"

void idle_task_deinit(struct idle_task *idle)
{
	interrupt_code_free(idle->code);
	*idle = (struct idle_task){0};
}

static void read_code(struct idle_task *idle)
{
	CLEANUP(close_file) FILE *kallsyms = NULL;

	idle->was_read = true;
	if (idle->kallsyms)
		kallsyms = fopen(idle->kallsyms, "re");
	idle->code = interrupt_code_read(kallsyms);
}

bool idle_task_works(struct idle_task *idle, const struct record_sample *sample)
{
	if (!idle->was_read)
		read_code(idle);
	return interrupt_code_is_in(idle->code,
				    bytes_left(&sample->kernel_chain)
					    ? sample->kernel_chain
					    : bytes_of(&sample->ip, sizeof(sample->ip)));
}
