#include "report/label_values.h"

#include "base/alloc.h"

#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *label_text(const struct profile *profile, const struct profile_label *label)
{
	if (label->text)
		return xstrdup(profile_string(profile, label->text));
	return xasprintf("%" PRId64 "%s%s", label->number, label->unit ? " " : "",
			 profile_string(profile, label->unit));
}

enum well_known { COMM, THREAD, PID, TID, WELL_KNOWN };

static const char *const well_known[WELL_KNOWN] = {
	[COMM] = COMM_LABEL, [THREAD] = THREAD_LABEL, [PID] = PID_LABEL, [TID] = TID_LABEL};

static enum well_known well_known_of(const char *key)
{
	enum well_known i = 0;

	while (i < WELL_KNOWN && strcmp(key, well_known[i]) != 0)
		i++;
	return i;
}

bool label_is_well_known(const char *key)
{
	return well_known_of(key) < WELL_KNOWN;
}

/*
 * unit: "" for a text, and for a number without a unit. Returns false to stop.
 */
typedef bool visit_value(void *user, const char *text, const char *unit);

static bool visit_number(visit_value *visit, void *user, int64_t number, const char *unit)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, number);
	return visit(user, text, unit);
}

static bool visit_well_known(const struct profile *profile, const struct profile_thread *thread,
			     enum well_known key, visit_value *visit, void *user)
{
	string_id name = key == COMM ? thread->process : key == THREAD ? thread->name : 0;
	pid_t id = key == PID ? thread->pid : key == TID ? thread->tid : -1;

	if (name)
		return visit(user, profile_string(profile, name), "");
	return id < 0 || visit_number(visit, user, id, "");
}

static void visit_values(const struct profile *profile, label_set_id id, const char *key,
			 visit_value *visit, void *user)
{
	const struct profile_label_set *set = profile_get_label_set(profile, id);
	bool goes_on = visit_well_known(profile, profile_get_thread(profile, set->thread),
					well_known_of(key), visit, user);

	for (uint32_t i = 0; goes_on && i < set->count; i++) {
		const struct profile_label *label = &set->labels[i];

		if (strcmp(profile_string(profile, label->key), key) != 0)
			continue;
		goes_on = label->text ? visit(user, profile_string(profile, label->text), "")
				      : visit_number(visit, user, label->number,
						     profile_string(profile, label->unit));
	}
}

/* ---- keys ---- */

static bool has_value(void *user, const char *text, const char *unit)
{
	(void)text;
	(void)unit;
	*(bool *)user = true;
	return false;
}

static bool is_key(const struct profile *profile, const char *key)
{
	bool found = false;

	for (label_set_id i = 0; !found && i < profile_label_set_count(profile); i++)
		visit_values(profile, i, key, has_value, &found);
	return found;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns "bytes, comm, pid". The caller frees it. */
static char *list_keys(const struct profile *profile)
{
	CLEANUP(strtab_cleanup) struct strtab *keys = strtab_new();
	CLEANUP(free_ptr) const char **sorted = NULL;
	uint32_t count;
	char *list = NULL;
	size_t len;
	FILE *out;

	for (enum well_known i = 0; i < WELL_KNOWN; i++)
		if (is_key(profile, well_known[i]))
			strtab_add(keys, well_known[i]);
	for (label_set_id id = 0; id < profile_label_set_count(profile); id++) {
		const struct profile_label_set *set = profile_get_label_set(profile, id);

		for (uint32_t i = 0; i < set->count; i++)
			strtab_add(keys, profile_string(profile, set->labels[i].key));
	}
	count = strtab_count(keys) - 1; /* without "" */
	sorted = xcalloc(count, sizeof(*sorted));
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = strtab_get(keys, i + 1);
	qsort(sorted, count, sizeof(*sorted), compare_texts);
	out = open_memstream(&list, &len);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? ", " : "", sorted[i]);
	fclose(out);
	return list;
}

struct error *label_check_key(const struct profile *profile, const char *key)
{
	CLEANUP(free_ptr) char *keys = NULL;

	if (label_is_well_known(key) || is_key(profile, key))
		return NULL;
	keys = list_keys(profile);
	return error_hint(error_new("no sample has a label \"%s\"", key),
			  *keys ? "the labels are: %s" : "no sample has any label%s", keys);
}

/* ---- conditions ---- */

struct label_values_search {
	const char *glob; /* NULL matches any value */
	bool found;
};

/* Returns whether text is a number in the range "MIN-MAX". */
static bool label_values_is_within(const char *range, const char *text)
{
	uint64_t least, most, number;
	int end = 0, number_end = 0;

	return isdigit((unsigned char)*range) && isdigit((unsigned char)*text) &&
	       sscanf(range, "%" SCNu64 "-%" SCNu64 "%n", &least, &most, &end) == 2 &&
	       !range[end] && sscanf(text, "%" SCNu64 "%n", &number, &number_end) == 1 &&
	       !text[number_end] && least <= number && number <= most;
}

/*
 * Compares the text first, because a value with brackets does not match itself
 * as a pattern.
 */
static bool label_values_matches(const char *glob, const char *text)
{
	return !strcmp(glob, text) || fnmatch(glob, text, 0) == 0;
}

static bool match_value(void *user, const char *text, const char *unit)
{
	struct label_values_search *search = user;
	CLEANUP(free_ptr) char *with_unit = *unit ? xasprintf("%s %s", text, unit) : NULL;

	search->found = !search->glob || label_values_matches(search->glob, text) ||
			label_values_is_within(search->glob, text) ||
			(with_unit && label_values_matches(search->glob, with_unit));
	return !search->found;
}

struct error *label_filter(const struct profile *profile, const char *condition, bool *label_sets)
{
	CLEANUP(free_ptr) char *key = xstrndup(condition, strcspn(condition, "="));
	const char *glob = strchr(condition, '=');
	struct error *err = label_check_key(profile, key);

	for (label_set_id i = 0; !err && i < profile_label_set_count(profile); i++) {
		struct label_values_search search = {.glob = glob ? glob + 1 : NULL};

		if (!label_sets[i])
			continue;
		visit_values(profile, i, key, match_value, &search);
		label_sets[i] = search.found;
	}
	return err;
}

/* ---- groups ---- */

struct joined {
	char *text;
	size_t len, room;
};

static void label_values_append(struct joined *joined, const char *text)
{
	for (; *text; text++) {
		GROW(joined->text, joined->len, joined->room);
		joined->text[joined->len++] = *text;
	}
}

static bool append_value(void *user, const char *text, const char *unit)
{
	struct joined *joined = user;

	label_values_append(joined, joined->len ? ", " : "");
	label_values_append(joined, text);
	label_values_append(joined, *unit ? " " : "");
	label_values_append(joined, unit);
	return true;
}

struct error *label_values_init(struct label_values *values, const struct profile *profile,
				const char *key)
{
	uint32_t count = profile_label_set_count(profile);
	struct error *err = label_check_key(profile, key);
	struct joined joined = {0};

	*values = (struct label_values){0};
	if (err)
		return err;
	values->texts = strtab_new();
	values->of_set = xcalloc(count, sizeof(*values->of_set));
	for (label_set_id i = 0; i < count; i++) {
		joined.len = 0;
		visit_values(profile, i, key, append_value, &joined);
		values->of_set[i] = strtab_add_len(values->texts, joined.text, joined.len);
	}
	free(joined.text);
	return NULL;
}

void label_values_deinit(struct label_values *values)
{
	strtab_free(values->texts);
	free(values->of_set);
	*values = (struct label_values){0};
}
