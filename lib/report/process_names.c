#include "report/process_names.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Returns the name of the main program, or NULL if it is unknown. */
static const char *main_name(const struct profile *profile)
{
	for (uint32_t i = 0; i < profile_module_count(profile); i++) {
		const struct profile_module *module = profile_get_module(profile, i);

		if (module->is_main)
			return basename(profile_string(profile, module->path));
	}
	return NULL;
}

const char *process_name(const struct profile *profile, const struct profile_thread *thread)
{
	const char *name = thread->process ? profile_string(profile, thread->process)
					   : main_name(profile);

	return name || thread->pid < 0 ? name : "";
}

static int process_names_compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_names(struct process_names *processes)
{
	uint32_t count = 0;

	if (processes->count)
		qsort(processes->names, processes->count, sizeof(*processes->names),
		      process_names_compare_names);
	for (uint32_t i = 0; i < processes->count; i++)
		if (!count || strcmp(processes->names[count - 1], processes->names[i]) != 0)
			processes->names[count++] = processes->names[i];
	processes->count = count;
}

static uint32_t process_names_index_of(const struct process_names *processes, const char *name)
{
	const char **found = bsearch(&name, processes->names, processes->count,
				     sizeof(*processes->names), process_names_compare_names);

	return (uint32_t)(found - processes->names);
}

void process_names_init(struct process_names *processes, const struct profile *profile)
{
	uint32_t count = profile_label_set_count(profile);

	*processes = (struct process_names){0};
	processes->names = xcalloc(count, sizeof(*processes->names));
	processes->of_labels = xcalloc(count, sizeof(*processes->of_labels));
	for (label_set_id i = 0; i < count; i++) {
		const char *name = process_name(profile, profile_thread_of(profile, i));

		if (name)
			processes->names[processes->count++] = name;
	}
	sort_names(processes);
	for (label_set_id i = 0; i < count; i++) {
		const char *name = process_name(profile, profile_thread_of(profile, i));

		processes->of_labels[i] = name ? process_names_index_of(processes, name)
					       : processes->count;
	}
}

void process_names_deinit(struct process_names *processes)
{
	free(processes->names);
	free(processes->of_labels);
	*processes = (struct process_names){0};
}
