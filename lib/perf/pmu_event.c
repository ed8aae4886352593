#include "perf/pmu_event.h"

#include "base/alloc.h"
#include "perf/known_event.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* PERF_PMU_TYPE_SHIFT: position of the PMU's type in the config of a generic
 * event (Linux 5.13). */
enum { PMU_TYPE_SHIFT = 32 };

bool pmu_event_parse_raw(const char *text, uint64_t *ret)
{
	size_t digits = text[0] == 'r' ? strspn(text + 1, "0123456789abcdefABCDEF") : 0;

	if (digits == 0 || digits > 16 || text[1 + digits] != '\0')
		return false;
	*ret = strtoull(text + 1, NULL, 16);
	return true;
}

uint64_t pmu_event_generic_config(const struct pmu *pmu, uint64_t config)
{
	/* A PMU of all CPUs needs no type in the config, which older kernels
	 * would reject. */
	return pmu->cpus ? (uint64_t)pmu->type << PMU_TYPE_SHIFT | config : config;
}

/* Returns 0 to 3 for config to config3, and 4 for any other term. */
static unsigned config_number(const char *term)
{
	static const char *const names[] = {"config", "config1", "config2", "config3"};
	unsigned number = 0;

	while (number < ARRAY_SIZE(names) && strcmp(term, names[number]) != 0)
		number++;
	return number;
}

static struct error *put_bits(const struct event_term *term, uint64_t value,
			      const struct pmu_format *format, struct pmu_event *event)
{
	uint64_t *field = &event->config[format->field], rest = value, max = 0;

	*field &= ~format->bits;
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(format->bits >> bit & 1))
			continue;
		*field |= (rest & 1) << bit;
		rest >>= 1;
		max = max << 1 | 1;
	}
	return rest ? error_new("%s=0x%" PRIx64 " is too large: the most is 0x%" PRIx64, term->name,
				value, max)
		    : NULL;
}

static struct error *unknown_term(const struct pmu *pmu, const char *term)
{
	CLEANUP(free_ptr) char *events = pmu_event_names(pmu);
	CLEANUP(free_ptr) char *terms = pmu_term_names(pmu);

	return error_hint(error_new("the PMU %s has no event or term '%s'", pmu->name, term),
			  "events of %s: %s; terms: %s; and config to config3, period, freq, name, "
			  "call-graph, stack-size",
			  pmu->name, events, terms);
}

/* Applies a term without a value that is neither an event in sysfs nor a
 * format. */
static struct error *pmu_event_put_name(const struct pmu *pmu, const char *name,
					struct pmu_event *event)
{
	uint64_t config = 0;
	uint32_t type = 0;

	if (pmu->kind == PMU_CORE && known_event_find(name, &type, &config) &&
	    type != PERF_TYPE_SOFTWARE) {
		event->type = type;
		event->config[0] = pmu_event_generic_config(pmu, config);
		return NULL;
	}
	return pmu_event_parse_raw(name, &event->config[0]) ? NULL : unknown_term(pmu, name);
}

static struct error *put_term(const struct pmu *pmu, const struct event_term *term,
			      struct pmu_event *event)
{
	unsigned field = config_number(term->name);
	struct pmu_format format;
	struct error *err = NULL;
	uint64_t value = 1;

	if (term->value || field < ARRAY_SIZE(event->config))
		err = event_term_number(term, &value);
	if (err)
		return err;
	if (field < ARRAY_SIZE(event->config)) {
		event->config[field] = value;
		return NULL;
	}
	err = pmu_find_format(pmu, term->name, &format);
	if (err)
		return err;
	if (format.bits)
		return put_bits(term, value, &format, event);
	return term->value ? unknown_term(pmu, term->name)
			   : pmu_event_put_name(pmu, term->name, event);
}

/* Applies the terms of an event in sysfs. `given` are the user's terms. */
static struct error *pmu_event_put_event(const struct pmu *pmu, const char *name, const char *text,
					 const struct event_terms *given, struct pmu_event *event)
{
	CLEANUP(event_terms_deinit) struct event_terms terms = {0};
	struct error *err = event_terms_parse(text, strlen(text), &terms);

	for (size_t i = 0; !err && i < terms.count; i++) {
		const struct event_term *term = &terms.items[i];

		if (term->value && strcmp(term->value, "?") == 0)
			term = event_terms_find(given, term->name);
		err = term ? put_term(pmu, term, event)
			   : error_new("%s needs %s=VALUE", name, terms.items[i].name);
	}
	return error_wrap(err, "event %s of the PMU %s", name, pmu->name);
}

/* Applies the terms of the named events in sysfs. Sets is_event for each term
 * that names one. */
static struct error *pmu_event_put_events(const struct pmu *pmu, const struct event_terms *terms,
					  bool is_event[EVENT_TERMS_MAX], struct pmu_event *event)
{
	for (size_t i = 0; i < terms->count; i++) {
		CLEANUP(free_ptr) char *text = NULL;
		struct error *err = NULL;

		if (!terms->items[i].value)
			err = pmu_find_event(pmu, terms->items[i].name, &text);
		if (!err && text) {
			is_event[i] = true;
			err = pmu_event_put_event(pmu, terms->items[i].name, text, terms, event);
		}
		if (err)
			return err;
	}
	return NULL;
}

/* Terms that set a whole config come first, because other terms change its
 * bits. */
static struct error *put_terms(const struct pmu *pmu, const struct event_terms *terms,
			       const bool is_event[EVENT_TERMS_MAX],
			       bool (*is_common)(const char *term), struct pmu_event *event)
{
	struct error *err = NULL;

	for (unsigned pass = 0; pass < 2; pass++) {
		for (size_t i = 0; !err && i < terms->count; i++) {
			const struct event_term *term = &terms->items[i];
			bool is_config = config_number(term->name) < ARRAY_SIZE(event->config);

			if (!is_event[i] && !is_common(term->name) && is_config == (pass == 0))
				err = put_term(pmu, term, event);
		}
	}
	return err;
}

struct error *pmu_event_configure(const struct pmu *pmu, const struct event_terms *terms,
				  bool (*is_common)(const char *term), struct pmu_event *ret)
{
	struct pmu_event event = {.type = pmu->type};
	bool is_event[EVENT_TERMS_MAX] = {false};
	struct error *err = pmu_event_put_events(pmu, terms, is_event, &event);
	size_t own = 0;

	if (!err)
		err = put_terms(pmu, terms, is_event, is_common, &event);
	if (err)
		return err;
	for (size_t i = 0; i < terms->count; i++)
		own += !is_common(terms->items[i].name);
	if (event.type != pmu->type && own > 1)
		return error_new("a generic event takes no terms of the PMU %s", pmu->name);
	*ret = event;
	return NULL;
}
