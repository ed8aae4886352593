#include "record/idle_task.h"

#include "base/cleanup.h"

void idle_task_deinit(struct idle_task *idle)
{
	interrupt_code_free(idle->code);
	*idle = (struct idle_task){0};
}

static struct interrupt_code *read_code(const char *kallsyms)
{
	CLEANUP(close_file) FILE *file = kallsyms ? fopen(kallsyms, "re") : NULL;

	return interrupt_code_read(file);
}

bool idle_task_works(struct idle_task *idle, const struct record_sample *sample)
{
	if (!idle->code)
		idle->code = read_code(idle->kallsyms);
	return interrupt_code_is_in(idle->code,
				    bytes_left(&sample->kernel_chain)
					    ? sample->kernel_chain
					    : bytes_of(&sample->ip, sizeof(sample->ip)));
}
