#include "push/labels.h"

#include "base/alloc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void push_labels_deinit(struct push_labels *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		free(labels->items[i].key);
		free(labels->items[i].text);
	}
	free(labels->items);
	*labels = (struct push_labels){0};
}

void push_labels_add(struct push_labels *labels, const char *key, const char *text)
{
	for (size_t i = 0; i < labels->count; i++)
		if (!strcmp(labels->items[i].key, key))
			return;
	GROW(labels->items, labels->count, labels->room);
	labels->items[labels->count++] = (struct push_label){xstrdup(key), xstrdup(text)};
}

static const char *main_path(const struct profile *profile)
{
	for (uint32_t i = 0; i < profile_module_count(profile); i++) {
		const struct profile_module *module = profile_get_module(profile, i);

		if (module->is_main && module->path)
			return profile_string(profile, module->path);
	}
	return NULL;
}

void push_labels_add_profile(struct push_labels *labels, const struct profile *profile)
{
	const char *path = main_path(profile), *host = profile_get_info(profile)->host;

	push_labels_add(labels, "service.name", path ? basename(path) : "system");
	if (host && *host)
		push_labels_add(labels, "host.name", host);
	if (!path)
		return;
	push_labels_add(labels, "process.executable.name", basename(path));
	push_labels_add(labels, "process.executable.path", path);
}

static char *series_name(const char *key)
{
	char *name = isdigit((unsigned char)*key) ? xasprintf("_%s", key) : xstrdup(key);

	for (char *at = name; *at; at++)
		if (!isascii((unsigned char)*at) || !isalnum((unsigned char)*at))
			*at = '_';
	return name;
}

static const char *profile_name(const struct profile *profile)
{
	if (!profile_event_count(profile))
		return "process_cpu";
	switch (profile_get_event(profile, 0)->kind) {
	case VALUE_WALL_TIME:
		return "wall";
	case VALUE_OFF_CPU_TIME:
		return "off_cpu";
	case VALUE_BYTES:
	case VALUE_OBJECTS:
		return "memory";
	default:
		return "process_cpu";
	}
}

static int push_labels_compare(const void *a, const void *b)
{
	const struct push_label *left = a, *right = b;

	return strcmp(left->key, right->key);
}

void push_labels_series(const struct push_labels *labels, const struct profile *profile,
			struct push_labels *ret)
{
	*ret = (struct push_labels){0};
	push_labels_add(ret, "__name__", profile_name(profile));
	for (size_t i = 0; i < labels->count; i++) {
		CLEANUP(free_ptr) char *name = series_name(labels->items[i].key);

		push_labels_add(ret, name, labels->items[i].text);
	}
	qsort(ret->items, ret->count, sizeof(*ret->items), push_labels_compare);
}
