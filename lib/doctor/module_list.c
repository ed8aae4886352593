#include "doctor/module_list.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_SHARE = 100 };

struct listed_module *module_list_add(struct module_list *list, enum profile_module_kind kind,
				      const char *path, const char *build_id)
{
	GROW(list->items, list->count, list->room);
	list->items[list->count] = (struct listed_module){
		.kind = kind,
		.path = xstrdup(path),
		.build_id = xstrdup(build_id),
	};
	return &list->items[list->count++];
}

static const struct symbolized_module *
module_list_find_module(const struct symbolize_outcome *outcome, uint32_t id)
{
	for (size_t i = 0; i < outcome->module_count; i++)
		if (outcome->modules[i].module == id)
			return &outcome->modules[i];
	return NULL;
}

static const char *find_problem(const struct symbolize_outcome *outcome, uint32_t id)
{
	for (size_t i = 0; i < outcome->problem_count; i++)
		if (outcome->problems[i].module == id)
			return outcome->problems[i].text;
	return NULL;
}

/* If a file is two modules, one may have found more than the other. */
static void add_sources(struct listed_module *module, const struct symbolized_module *symbolized)
{
	module->is_read = true;
	module->sources.present |= symbolized->sources.present;
	module->sources.is_rust |= symbolized->sources.is_rust;
	module->sources.split_units += symbolized->sources.split_units;
	module->sources.missing_units += symbolized->sources.missing_units;
	if (symbolized->debug_file && !module->debug_file)
		module->debug_file = xstrdup(symbolized->debug_file);
	module->sources.debug_file = module->debug_file;
}

void listed_module_set_sources(struct listed_module *module,
			       const struct symbolize_outcome *outcome, uint32_t id)
{
	const struct symbolized_module *symbolized = module_list_find_module(outcome, id);
	const char *problem = find_problem(outcome, id);

	if (symbolized && symbolized->is_read)
		add_sources(module, symbolized);
	if (problem && !module->problem)
		module->problem = xstrdup(problem);
}

bool module_list_matters(const struct module_list *list, const struct listed_module *module)
{
	return module->state != FINDING_OK && module->samples * LEAST_SHARE >= list->samples;
}

enum runtime module_list_runtime(const struct module_list *list, const char **path)
{
	for (size_t i = 0; i < list->count; i++) {
		enum runtime runtime = list->items[i].kind == PROFILE_MODULE_FILE
					       ? runtime_of_path(list->items[i].path)
					       : RUNTIME_NONE;

		*path = list->items[i].path;
		if (runtime)
			return runtime;
	}
	*path = NULL;
	return RUNTIME_NONE;
}

static int module_list_compare(uint64_t left, uint64_t right)
{
	return (left < right) - (left > right);
}

static int by_cost(const void *left, const void *right)
{
	const struct listed_module *a = left, *b = right;
	int order = module_list_compare(a->unnamed, b->unnamed);

	if (!order)
		order = module_list_compare(a->state, b->state);
	if (!order)
		order = module_list_compare(a->lineless, b->lineless);
	if (!order)
		order = module_list_compare(a->samples, b->samples);
	if (!order)
		order = module_list_compare(a->size_bytes, b->size_bytes);
	return order ? order : strcmp(a->path, b->path);
}

void module_list_sort(struct module_list *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), by_cost);
}

void module_list_deinit(struct module_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct listed_module *module = &list->items[i];

		free(module->path);
		free(module->build_id);
		free(module->debug_file);
		free(module->problem);
		free(module->package);
		free(module->missing);
		free(module->command);
	}
	free(list->items);
	*list = (struct module_list){0};
}
