#include "report/process.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* The program that was asked about; NULL when that is not known. */
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

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_names(struct processes *processes)
{
	uint32_t count = 0;

	if (processes->count)
		qsort(processes->names, processes->count, sizeof(*processes->names), compare_names);
	for (uint32_t i = 0; i < processes->count; i++)
		if (!count || strcmp(processes->names[count - 1], processes->names[i]) != 0)
			processes->names[count++] = processes->names[i];
	processes->count = count;
}

static uint32_t index_of(const struct processes *processes, const char *name)
{
	const char **found = bsearch(&name, processes->names, processes->count,
				     sizeof(*processes->names), compare_names);

	return (uint32_t)(found - processes->names);
}

void processes_init(struct processes *processes, const struct profile *profile)
{
	uint32_t threads = profile_thread_count(profile);

	*processes = (struct processes){0};
	processes->names = xcalloc(threads, sizeof(*processes->names));
	processes->of_thread = xcalloc(threads, sizeof(*processes->of_thread));
	for (thread_id i = 0; i < threads; i++) {
		const char *name = process_name(profile, profile_get_thread(profile, i));

		if (name)
			processes->names[processes->count++] = name;
	}
	sort_names(processes);
	for (thread_id i = 0; i < threads; i++) {
		const char *name = process_name(profile, profile_get_thread(profile, i));

		processes->of_thread[i] = name ? index_of(processes, name) : processes->count;
	}
}

void processes_deinit(struct processes *processes)
{
	free(processes->names);
	free(processes->of_thread);
	*processes = (struct processes){0};
}
