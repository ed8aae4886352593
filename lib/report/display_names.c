#include "report/display_names.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strtab.h"
#include "report/short_name.h"
#include "report/shorten.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

enum { MOST_ROUNDS = 32 };

/* How much of a name is shown. */
enum detail { SHORT, CLONE, GENERICS, UNSCOPED, FULL };

struct resolver {
	struct display_name *names;
	uint32_t count;
	enum name_style style;
	struct arena *arena;
	unsigned char *details; /* by name */
	bool *lines;		/* by name: whether it shows its line */
};

static char *name_in_detail(const struct resolver *resolver, const struct display_name *name,
			    enum detail detail)
{
	bool has_generics = resolver->style != NAMES_NO_GENERICS;
	const char *clone = strstr(name->full, " [clone ");
	CLEANUP(free_ptr) char *text = NULL;

	if (detail == SHORT)
		return short_name(name->full, has_generics ? GENERICS_SHORT : GENERICS_NONE);
	if (!has_generics || detail == FULL)
		return xstrdup(name->plain);
	if (detail == UNSCOPED)
		return shorten_types(name->full);
	text = short_name(name->full, detail == CLONE ? GENERICS_SHORT : GENERICS_ALL);
	return xasprintf("%s%s", text, clone ? clone : "");
}

/* "main::{{closure}}" → "main::{closure:41}"; "main::{closure#0}" → "main::{closure#0:41}";
 * "main (async block)" → "main (async block:41)". */
static char *with_line(const char *name, uint32_t line)
{
	const char *end = strstr(name, " (async") ? strrchr(name, ')') : strrchr(name, '}');

	if (!end)
		return xasprintf("%s:%" PRIu32, name, line);
	if (end > name && end[-1] == '}')
		end--;
	return xasprintf("%.*s:%" PRIu32 "%s", (int)(end - name), name, line, end);
}

static void display_names_show_text(struct resolver *resolver, uint32_t i)
{
	struct display_name *name = &resolver->names[i];
	CLEANUP(free_ptr)
	char *text = name_in_detail(resolver, name, resolver->details[i]);
	CLEANUP(free_ptr) char *lined = resolver->lines[i] ? with_line(text, name->line) : NULL;
	const char *shown = lined ? lined : text;

	name->shown = strcmp(shown, name->plain) != 0
			      ? arena_strndup(resolver->arena, shown, strlen(shown))
			      : name->plain;
}

/*
 * Returns whether the name is a C identifier, which is the same at every level
 * of detail.
 */
static bool is_identifier(const char *name)
{
	while ((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
	       (*name >= '0' && *name <= '9') || *name == '_')
		name++;
	return !*name;
}

static void display_names_show(struct resolver *resolver, uint32_t i)
{
	struct display_name *name = &resolver->names[i];

	if (!resolver->lines[i] && is_identifier(name->full)) {
		name->shown = name->plain;
		return;
	}
	display_names_show_text(resolver, i);
}

/* Names grouped by one of their strings. */
struct groups {
	struct strtab *texts;
	uint32_t *of_name; /* the group of each name */
	uint32_t *first;   /* the first name of each group */
	bool *differ;	   /* whether the names of a group differ */
};

static void groups_init(struct groups *groups, uint32_t count)
{
	groups->texts = strtab_new();
	groups->of_name = xcalloc(count, sizeof(*groups->of_name));
	groups->first = xcalloc((size_t)count + 1, sizeof(*groups->first));
	groups->differ = xcalloc((size_t)count + 1, sizeof(*groups->differ));
	memset(groups->first, 0xff, ((size_t)count + 1) * sizeof(*groups->first));
}

static void groups_deinit(struct groups *groups)
{
	strtab_free(groups->texts);
	free(groups->of_name);
	free(groups->first);
	free(groups->differ);
}

static uint32_t add_to_group(struct groups *groups, uint32_t name, const char *text)
{
	uint32_t group = groups->of_name[name] = strtab_add(groups->texts, text);

	if (groups->first[group] == NONE)
		groups->first[group] = name;
	return group;
}

/* Closures with the same name and different lines show the line. */
static void display_names_find_lines(struct resolver *resolver)
{
	CLEANUP(groups_deinit) struct groups groups;

	groups_init(&groups, resolver->count);
	for (uint32_t i = 0; i < resolver->count; i++) {
		uint32_t group = add_to_group(&groups, i, resolver->names[i].plain);

		groups.differ[group] |= resolver->names[groups.first[group]].line !=
					resolver->names[i].line;
	}
	for (uint32_t i = 0; i < resolver->count; i++)
		resolver->lines[i] = groups.differ[groups.of_name[i]] && resolver->names[i].line;
}

/*
 * Adds one level of detail to names that differ but look the same. Returns
 * false if there are none.
 */
static bool add_detail(struct resolver *resolver)
{
	CLEANUP(groups_deinit) struct groups groups;
	bool any = false;

	groups_init(&groups, resolver->count);
	for (uint32_t i = 0; i < resolver->count; i++) {
		uint32_t group = add_to_group(&groups, i, resolver->names[i].shown);

		groups.differ[group] |= strcmp(resolver->names[groups.first[group]].plain,
					       resolver->names[i].plain) != 0;
	}
	for (uint32_t i = 0; i < resolver->count; i++)
		if (groups.differ[groups.of_name[i]] && resolver->details[i] < FULL) {
			resolver->details[i]++;
			display_names_show(resolver, i);
			any = true;
		}
	return any;
}

static void show_in_full(struct resolver *resolver)
{
	for (uint32_t i = 0; i < resolver->count; i++) {
		resolver->details[i] = FULL;
		display_names_show(resolver, i);
	}
}

void display_names_resolve(struct display_name *names, uint32_t count, enum name_style style,
			   struct arena *arena)
{
	struct resolver resolver = {names, count, style, arena, NULL, NULL};

	for (uint32_t i = 0; i < count; i++)
		names[i].shown = names[i].plain;
	if (style == NAMES_FULL)
		return;
	resolver.details = xcalloc(count, sizeof(*resolver.details));
	resolver.lines = xcalloc(count, sizeof(*resolver.lines));
	display_names_find_lines(&resolver);
	for (uint32_t i = 0; i < count; i++)
		display_names_show(&resolver, i);
	/*
	 * A name with more detail can equal another short name, so a few more
	 * rounds may be needed.
	 */
	for (unsigned round = 0; add_detail(&resolver); round++)
		if (round == MOST_ROUNDS)
			show_in_full(&resolver);
	free(resolver.details);
	free(resolver.lines);
}
