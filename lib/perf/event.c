#include "perf/event.h"

#include "base/alloc.h"
#include "perf/event_terms.h"
#include "perf/field_filter.h"
#include "perf/field_reader.h"
#include "perf/known_event.h"
#include "perf/pmu_event.h"
#include "perf/tracepoint.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char modifier_letters[] = "ukhGHpP";

static const char *const common_terms[] = {"period",	 "freq",  "name",  "call-graph",
					   "stack-size", "label", "weight"};

static bool is_common_term(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(common_terms); i++)
		if (strcmp(common_terms[i], name) == 0)
			return true;
	return false;
}

static bool is_generic(uint32_t type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE;
}

char *event_name_of(uint32_t type, uint64_t config)
{
	char *known = known_event_name(type, is_generic(type) ? config & UINT32_MAX : config);

	if (known)
		return known;
	if (type == PERF_TYPE_RAW)
		return xasprintf("r%" PRIx64, config);
	return xasprintf("type %" PRIu32 " config 0x%" PRIx64, type, config);
}

bool event_is_of_memory(const struct event *event)
{
	static const char *const names[] = {"mem-loads", "mem-stores", "mem-ldst"};

	for (size_t i = 0; event->precise && i < ARRAY_SIZE(names); i++)
		if (strstr(event->name, names[i]))
			return true;
	return false;
}

bool event_is_software(const struct event *event)
{
	return event->type == PERF_TYPE_SOFTWARE;
}

bool event_counts_occurrences(uint32_t type, uint64_t config, uint64_t period)
{
	if (type == PERF_TYPE_SOFTWARE)
		return event_value_kind(type, config) != VALUE_CPU_TIME;
	return type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT || period == 1;
}

enum value_kind event_value_kind(uint32_t type, uint64_t config)
{
	bool is_clock = type == PERF_TYPE_SOFTWARE &&
			(config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK);

	return is_clock ? VALUE_CPU_TIME : VALUE_COUNT;
}

/* The parts of "NAME", "NAME:MODIFIERS" and "NAME/TERMS/MODIFIERS". */
struct spec {
	char *name;
	const char *terms; /* NULL without slashes */
	size_t terms_len;
	const char *modifiers; /* may be empty */
};

static void spec_deinit(struct spec *spec)
{
	free(spec->name);
}

static bool is_tracepoint_spec(const struct spec *spec)
{
	return tracepoint_is_name(spec->name) || tracepoint_is_pattern(spec->name);
}

/* Finds a generic event or parses a raw number. */
static bool find_plain(const char *name, struct event *ret)
{
	if (known_event_find(name, &ret->type, &ret->config))
		return true;
	ret->type = PERF_TYPE_RAW;
	return pmu_event_parse_raw(name, &ret->config);
}

/*
 * Removes modifiers such as ":uk" from the name. "sched:p" is a tracepoint
 * without modifiers, because "sched" is neither an event nor similar to one.
 */
static void cut_modifiers(const char *text, struct spec *spec)
{
	char *colon = strrchr(spec->name, ':');
	struct event ignored;

	if (!colon || colon[1] == '\0' || colon[1 + strspn(colon + 1, modifier_letters)] != '\0')
		return;
	*colon = '\0';
	if (find_plain(spec->name, &ignored) || is_tracepoint_spec(spec) ||
	    known_event_nearest(spec->name))
		spec->modifiers = text + (colon + 1 - spec->name);
	else
		*colon = ':';
}

static struct error *split_spec(const char *text, struct spec *ret)
{
	size_t name_len = strcspn(text, "/");
	const char *end = NULL;

	*ret = (struct spec){.name = xstrndup(text, name_len), .modifiers = ""};
	if (text[name_len] == '\0') {
		cut_modifiers(text, ret);
		return NULL;
	}
	ret->terms = text + name_len + 1;
	end = strchr(ret->terms, '/');
	if (!end)
		return error_new("event '%s' lacks the second slash", text);
	ret->terms_len = (size_t)(end - ret->terms);
	ret->modifiers = end + 1;
	return NULL;
}

size_t event_spec_len(const char *list)
{
	bool is_between_slashes = false, is_in_group = false;
	size_t len = 0;

	for (; list[len] && (list[len] != ',' || is_between_slashes || is_in_group); len++) {
		is_between_slashes ^= list[len] == '/';
		is_in_group = list[len] == '{' || (is_in_group && list[len] != '}');
	}
	return len;
}

/* The terms of a tracepoint select labels and weights and are not part of its
 * name. */
static char *usual_name(const char *text, const struct spec *spec)
{
	if (!spec->terms || !is_tracepoint_spec(spec))
		return xstrdup(text);
	return xasprintf("%s%s%s", spec->name, *spec->modifiers ? ":" : "", spec->modifiers);
}

char *event_spec_name(const char *text)
{
	CLEANUP(spec_deinit) struct spec spec = {0};
	CLEANUP(event_terms_deinit) struct event_terms terms = {0};
	CLEANUP(error_cleanup) struct error *err = split_spec(text, &spec);
	const struct event_term *name = NULL;

	if (!err && spec.terms)
		err = event_terms_parse(spec.terms, spec.terms_len, &terms);
	if (!err)
		name = event_terms_find(&terms, "name");
	return name && *name->value ? xstrdup(name->value) : usual_name(text, &spec);
}

static struct error *apply_modifiers(const char *text, const char *modifiers, struct event *event)
{
	const char *odd = modifiers + strspn(modifiers, modifier_letters);

	if (*odd)
		return error_hint(error_new("unknown modifier '%s' of event '%s'", odd, text),
				  "modifiers are u, k, h, G, H, p, P");
	if (strpbrk(modifiers, "ukh")) {
		event->exclude_user = !strchr(modifiers, 'u');
		event->exclude_kernel = !strchr(modifiers, 'k');
		event->exclude_hypervisor = !strchr(modifiers, 'h');
	}
	if (strpbrk(modifiers, "GH")) {
		event->exclude_guest = !strchr(modifiers, 'G');
		event->exclude_host = !strchr(modifiers, 'H');
	}
	for (const char *at = modifiers; *at; at++)
		event->precise += *at == 'p';
	if (event->precise > 3)
		return error_new("%s has more than three modifiers p", event->name);
	event->may_be_less_precise = strchr(modifiers, 'P');
	if (event->may_be_less_precise)
		event->precise = 3;
	return NULL;
}

static struct error *take_positive(const struct event_term *term, uint64_t *ret)
{
	struct error *err = event_term_number(term, ret);

	return !err && *ret == 0 ? error_new("%s must be at least 1", term->name) : err;
}

static struct error *take_call_graph(const char *value, struct event *event)
{
	static const struct {
		const char *name;
		enum call_graph kind;
	} kinds[] = {
		{"auto", CALL_GRAPH_AUTO}, {"dwarf", CALL_GRAPH_DWARF}, {"fp", CALL_GRAPH_FP},
		{"lbr", CALL_GRAPH_LBR},   {"no", CALL_GRAPH_NO},	{"none", CALL_GRAPH_NO},
	};

	for (size_t i = 0; value && i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].name, value) != 0)
			continue;
		event->has_call_graph = true;
		event->call_graph = kinds[i].kind;
		return NULL;
	}
	return error_new("call-graph is auto, dwarf, fp, lbr or no");
}

bool event_take_stack_bytes(uint64_t bytes, uint32_t *ret)
{
	if (bytes < STACK_BYTES_MIN || bytes > STACK_BYTES_MAX)
		return false;
	*ret = ((uint32_t)bytes + 7) & ~UINT32_C(7);
	return true;
}

static struct error *take_stack_size(const struct event_term *term, struct event *event)
{
	uint64_t bytes = 0;
	struct error *err = event_term_number(term, &bytes);

	if (err)
		return err;
	return event_take_stack_bytes(bytes, &event->stack_bytes)
		       ? NULL
		       : error_new("stack-size is %d to %d", STACK_BYTES_MIN, STACK_BYTES_MAX);
}

static struct error *take_common_term(const struct event_term *term, struct event *event)
{
	if (strcmp(term->name, "period") == 0) {
		event->frequency_hz = 0;
		return take_positive(term, &event->period);
	}
	if (strcmp(term->name, "freq") == 0) {
		event->period = 0;
		return take_positive(term, &event->frequency_hz);
	}
	if (strcmp(term->name, "call-graph") == 0)
		return take_call_graph(term->value, event);
	if (strcmp(term->name, "stack-size") == 0)
		return take_stack_size(term, event);
	/* event_spec_name() uses name; take_field_terms() uses label and
	 * weight. */
	return term->value && *term->value ? NULL : error_new("%s needs a value", term->name);
}

static struct error *take_common_terms(const struct event_terms *terms, struct event *event)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < terms->count; i++)
		if (is_common_term(terms->items[i].name))
			err = take_common_term(&terms->items[i], event);
	return err;
}

static struct error *check_common_terms(const char *name, const struct event_terms *terms)
{
	for (size_t i = 0; i < terms->count; i++)
		if (!is_common_term(terms->items[i].name))
			return error_hint(
				error_new("%s has no term '%s'", name, terms->items[i].name),
				"terms are period, freq, name, call-graph, stack-size; of "
				"tracepoints also label and weight");
	return NULL;
}

static struct error *unknown_event(const char *text, const struct spec *spec,
				   const struct pmus *pmus)
{
	CLEANUP(free_ptr) char *names = pmus_names(pmus);
	const char *near = known_event_nearest(spec->name);
	struct error *err = spec->terms
				    ? error_new("unknown PMU '%s' of event '%s'", spec->name, text)
				    : error_new("unknown event '%s'", text);

	/* Avoids the suggestion "cs" for "cpu". */
	if (near && (!spec->terms || strlen(spec->name) > 4))
		return error_hint(err, "did you mean %s?", near);
	if (spec->terms)
		return error_hint(err, "PMUs of this machine: %s", names);
	return error_hint(err, "events are cycles, instructions, cache-misses, LLC-load-misses, "
			       "cpu-clock, page-faults, context-switches, tracepoints as "
			       "sched:sched_switch, raw numbers as r1a8, PMUs with terms as "
			       "cpu/event=0x3c/");
}

static void event_add_variant(struct event *event, const struct pmu *pmu, uint32_t type,
			      uint64_t config)
{
	struct event_variant *variant = &event->variants[event->variant_count++];

	*variant =
		(struct event_variant){.type = type, .config = config, .pmu = xstrdup(pmu->name)};
	if (!pmu->cpus)
		return;
	variant->cpu_count = pmu->cpu_count;
	variant->cpus = xreallocarray(NULL, pmu->cpu_count, sizeof(*pmu->cpus));
	memcpy(variant->cpus, pmu->cpus, pmu->cpu_count * sizeof(*pmu->cpus));
}

/* Raw numbers use the PMU's own type. Generic events have the PMU's type in the
 * upper half of the config. */
static void split_by_kind(struct event *event, const struct pmus *pmus)
{
	bool is_raw = event->type == PERF_TYPE_RAW;

	if ((!is_raw && !is_generic(event->type)) || !pmus_are_hybrid(pmus))
		return;
	event->variants = xcalloc(pmus->count, sizeof(*event->variants));
	for (size_t i = 0; i < pmus->count; i++) {
		const struct pmu *pmu = &pmus->items[i];

		if (pmu->kind == PMU_CORE && pmu->cpus)
			event_add_variant(event, pmu, is_raw ? pmu->type : event->type,
					  is_raw ? event->config
						 : pmu_event_generic_config(pmu, event->config));
	}
}

size_t event_variant_count(const struct event *event)
{
	return event->variant_count ? event->variant_count : 1;
}

static bool counts_on(const struct event_variant *variant, unsigned cpu)
{
	for (size_t i = 0; i < variant->cpu_count; i++)
		if (variant->cpus[i] == cpu)
			return true;
	return !variant->cpus;
}

bool event_variant_is_of(const struct event *event, size_t variant, unsigned cpu)
{
	if (event->is_pattern || event->is_probe)
		return true;
	for (size_t i = 0; i < event->variant_count; i++)
		if (counts_on(&event->variants[i], cpu))
			return i == variant;
	return !event->variant_count;
}

/* Reads the formats of the event's tracepoints unless that was done already. */
static struct error *open_reader(struct event *event)
{
	struct tracepoint_format format;
	struct error *err = NULL;

	if (event->reader)
		return NULL;
	event->reader = field_reader_new();
	for (size_t i = 0; !err && i < event_variant_count(event); i++) {
		const char *tracepoint = event->is_pattern ? event->variants[i].pmu
							   : event->tracepoint;

		err = tracepoint_read_format(tracepoint, NULL, &format);
		if (!err)
			field_reader_add(event->reader, tracepoint, &format);
	}
	if (event->is_pattern)
		field_reader_label_event(event->reader);
	return err;
}

static struct error *add_tracepoint(struct event *event, const char *name)
{
	struct event_variant *variant = &event->variants[event->variant_count];
	struct error *err = tracepoint_id(name, NULL, &variant->config);

	if (err)
		return err;
	variant->type = PERF_TYPE_TRACEPOINT;
	variant->pmu = xstrdup(name);
	event->variant_count++;
	return NULL;
}

static struct error *set_pattern(const char *pattern, struct event *event)
{
	CLEANUP(tracepoint_names_deinit) struct tracepoint_names names = {0};
	struct error *err = tracepoint_list(pattern, NULL, &names);

	if (err)
		return err;
	if (!names.count)
		return error_hint(error_new("no tracepoint matches %s", pattern),
				  "prof list tracepoint shows all");
	if (names.count > TRACEPOINTS_MAX)
		return error_hint(error_new("%s matches %zu tracepoints: more than %d", pattern,
					    names.count, TRACEPOINTS_MAX),
				  "raw_syscalls:sys_enter is one for all system calls");
	event->is_pattern = true;
	event->variants = xcalloc(names.count, sizeof(*event->variants));
	for (size_t i = 0; !err && i < names.count; i++)
		err = add_tracepoint(event, names.items[i]);
	return err ? err : open_reader(event);
}

static struct error *set_tracepoint(const char *name, struct event *event)
{
	event->type = PERF_TYPE_TRACEPOINT;
	event->tracepoint = xstrdup(name);
	return tracepoint_is_pattern(name) ? set_pattern(name, event)
					   : tracepoint_id(name, NULL, &event->config);
}

/* Applies the terms that make labels and weights of a tracepoint's fields. */
static struct error *take_field_terms(const struct event_terms *terms, struct event *event)
{
	const struct event_term *weight = event_terms_find(terms, "weight");
	const struct event_term *label = event_terms_find(terms, "label");
	struct error *err = NULL;

	if (!weight && !label)
		return NULL;
	if (event->is_probe && weight && !label)
		return event_set_weight(event, weight->value);
	if (event->type != PERF_TYPE_TRACEPOINT)
		return error_new("%s selects a field, and only tracepoints have fields",
				 weight && !event->is_probe ? "weight" : "label");
	err = open_reader(event);
	if (!err && label)
		err = field_reader_add_labels(event->reader, label->value);
	return err || !weight ? err : event_set_weight(event, weight->value);
}

struct error *event_take_terms(const struct event_terms *terms, struct event *event)
{
	struct error *err = check_common_terms(event->name, terms);

	if (!err)
		err = take_common_terms(terms, event);
	return err ? err : take_field_terms(terms, event);
}

static struct error *set_plain(const char *text, const struct spec *spec,
			       const struct event_terms *terms, const struct pmus *pmus,
			       struct event *event)
{
	if (!find_plain(spec->name, event)) {
		struct error *err;

		if (!is_tracepoint_spec(spec))
			return unknown_event(text, spec, pmus);
		err = set_tracepoint(spec->name, event);
		if (err)
			return err;
	}
	split_by_kind(event, pmus);
	return check_common_terms(spec->name, terms);
}

static struct error *set_of_pmu(const struct pmu *pmu, const struct event_terms *terms,
				struct event *event)
{
	struct pmu_event found = {0};
	struct error *err = pmu_event_configure(pmu, terms, is_common_term, &found);

	if (err)
		return err;
	event->type = found.type;
	event->config = found.config[0];
	event->config1 = found.config[1];
	event->config2 = found.config[2];
	event->config3 = found.config[3];
	event->pmu_kind = pmu->kind;
	event->variants = xcalloc(1, sizeof(*event->variants));
	event_add_variant(event, pmu, event->type, event->config);
	return NULL;
}

struct error *event_parse(const char *text, const struct pmus *pmus, struct event *ret)
{
	CLEANUP(event_deinit) struct event event = {.name = event_spec_name(text)};
	CLEANUP(spec_deinit) struct spec spec = {0};
	CLEANUP(event_terms_deinit) struct event_terms terms = {0};
	const struct pmu *pmu = NULL;
	struct error *err = split_spec(text, &spec);

	if (err)
		return err;
	if (spec.terms) {
		pmu = pmus_find(pmus, spec.name);
		err = event_terms_parse(spec.terms, spec.terms_len, &terms);
	}
	if (!err)
		err = take_common_terms(&terms, &event);
	if (!err && pmu)
		err = set_of_pmu(pmu, &terms, &event);
	if (err)
		return error_wrap(err, "event '%s'", text);
	if (!pmu)
		err = set_plain(text, &spec, &terms, pmus, &event);
	event.kind = event_value_kind(event.type, event.config);
	if (!err)
		err = take_field_terms(&terms, &event);
	if (!strcmp(spec.name, VALUE_GROWTH_EVENT)) {
		event.kind = VALUE_BYTES;
		event.scale = (uint64_t)sysconf(_SC_PAGESIZE);
	}
	event.is_tracepoint = event.type == PERF_TYPE_TRACEPOINT;
	/* Addresses of virtual machine guests are meaningless here. */
	event.exclude_guest = pmu ? pmu->kind == PMU_CORE
				  : is_generic(event.type) || event.type == PERF_TYPE_RAW;
	if (!err)
		err = apply_modifiers(text, spec.modifiers, &event);
	if (err)
		return err;
	*ret = event;
	event = (struct event){0};
	return NULL;
}

void event_deinit(struct event *event)
{
	for (size_t i = 0; i < event->variant_count; i++) {
		free(event->variants[i].pmu);
		free(event->variants[i].cpus);
		free(event->variants[i].place);
	}
	free(event->variants);
	free(event->name);
	free(event->tracepoint);
	free(event->filter);
	field_reader_free(event->reader);
}

/* Fails for an event to which --filter or --weight does not apply. */
static struct error *refuse_fields(const struct event *event, const char *what)
{
	return error_hint(error_new("%s is not a tracepoint: its samples have no fields to %s",
				    event->name, what),
			  "prof list tracepoint shows the tracepoints of this machine");
}

/* *translation is that of the previous tracepoint, or NULL. */
static struct error *translate_filter(const struct event *event, const char *filter,
				      size_t tracepoint, char **translation)
{
	CLEANUP(free_ptr) char *other = NULL;
	const char *name = field_reader_name(event->reader, tracepoint);
	struct error *err = field_filter_translate(
		filter, name, field_reader_format(event->reader, tracepoint), &other);

	if (err)
		return err;
	if (*translation && strcmp(*translation, other) != 0)
		return error_hint(
			error_new("the filter of %s: a name in it has another value in %s",
				  event->tracepoint, name),
			"write numbers");
	free(*translation);
	*translation = STEAL(other);
	return NULL;
}

struct error *event_set_filter(struct event *event, const char *filter)
{
	CLEANUP(free_ptr) char *translation = NULL;
	struct error *err;

	if (event->type != PERF_TYPE_TRACEPOINT)
		return refuse_fields(event, "filter by");
	err = open_reader(event);
	for (size_t i = 0; !err && i < field_reader_count(event->reader); i++)
		err = translate_filter(event, filter, i, &translation);
	if (err)
		return err;
	free(event->filter);
	event->filter = STEAL(translation);
	return NULL;
}

/* Removes variants whose samples would all weigh 0. */
static void drop_weightless(struct event *event)
{
	size_t kept = 0;

	for (size_t i = 0; i < event->variant_count; i++) {
		if (field_reader_weighs(event->reader, event->variants[i].config))
			event->variants[kept++] = event->variants[i];
		else
			free(event->variants[i].pmu);
	}
	event->variant_count = kept;
}

static struct error *weigh_by_argument(struct event *event, const char *argument)
{
	if (event->measures_calls)
		return error_new("%s weighs calls by their time", event->name);
	if (!call_argument_parse(argument, &event->weight_argument))
		return error_hint(error_new("unknown weight \"%s\" of a probe", argument),
				  "arg1 to arg6 are the arguments of the function; bytes:arg1 if "
				  "they are bytes");
	event->kind = event->weight_argument.kind;
	return NULL;
}

struct error *event_set_weight(struct event *event, const char *field)
{
	struct error *err;

	if (event->is_probe)
		return weigh_by_argument(event, field);
	if (event->type != PERF_TYPE_TRACEPOINT)
		return refuse_fields(event, "weigh by");
	err = open_reader(event);
	if (!err)
		err = field_reader_set_weight(event->reader, field);
	if (err)
		return err;
	drop_weightless(event);
	event->kind = field_reader_kind(event->reader);
	return NULL;
}

uint64_t event_max_frequency_hz(void)
{
	CLEANUP(close_file) FILE *file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	uint64_t hz = 0;

	if (!file || fscanf(file, "%" SCNu64, &hz) != 1)
		return 0;
	return hz;
}
