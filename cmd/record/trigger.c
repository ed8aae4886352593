#include "cmd/record/trigger.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "cmd/ui/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct option_choice trigger_kinds[] = {
	{"cpu", TRIGGER_CPU}, {"rss", TRIGGER_RSS}, {"load", TRIGGER_LOAD}, {0}};

static bool trigger_take_number(const char *text, bool is_percentage, double *ret)
{
	char *end;
	double number = *text >= '0' && *text <= '9' ? strtod(text, &end) : NAN;

	if (!isfinite(number))
		return false;
	if (is_percentage && *end == '%')
		end++;
	*ret = is_percentage ? number / 100 : number;
	return !*end;
}

static bool take_limit(struct trigger *trigger, const char *text)
{
	uint64_t bytes = 0;
	CLEANUP(error_cleanup) struct error *err = NULL;

	if (trigger->kind != TRIGGER_RSS)
		return trigger_take_number(text, trigger->kind == TRIGGER_CPU, &trigger->limit);
	err = option_size(&bytes, text);
	trigger->limit = (double)bytes;
	return !err;
}

struct error *trigger_append(void *field, const char *argument)
{
	struct triggers *triggers = field;
	size_t len = strcspn(argument, ">");
	CLEANUP(free_ptr) char *name = xstrndup(argument, len);
	const struct option_choice *kind = option_choice_find(trigger_kinds, name);
	struct trigger trigger = {.kind = kind ? (enum trigger_kind)kind->value : TRIGGER_CPU};

	if (!kind || !argument[len] || !take_limit(&trigger, argument + len + 1))
		return error_hint(error_new("invalid condition \"%s\"", argument),
				  "'cpu>90%%', 'rss>2G' or 'load>8', in quotes because of the "
				  "shell");
	trigger.text = xstrdup(argument);
	GROW(triggers->items, triggers->count, triggers->room);
	triggers->items[triggers->count++] = trigger;
	return NULL;
}

void triggers_deinit(struct triggers *triggers)
{
	for (size_t i = 0; i < triggers->count; i++)
		free(triggers->items[i].text);
	free(triggers->items);
}

static double trigger_value_of(const struct trigger *trigger, const struct trigger_facts *facts)
{
	switch (trigger->kind) {
	case TRIGGER_CPU:
		return facts->cpu;
	case TRIGGER_RSS:
		return facts->rss_bytes;
	case TRIGGER_LOAD:
		break;
	}
	return facts->load;
}

bool trigger_fires(struct trigger *trigger, const struct trigger_facts *facts, uint64_t now_ns,
		   uint64_t rest_ns)
{
	double value = trigger_value_of(trigger, facts);

	/* Unknown: neither true nor false. */
	if (isnan(value))
		return false;
	if (value <= trigger->limit) {
		trigger->was_met = false;
		return false;
	}
	if (trigger->was_met || now_ns < trigger->rest_ns)
		return false;
	trigger->was_met = true;
	trigger->rest_ns = now_ns + rest_ns;
	return true;
}

char *trigger_reason(const struct trigger *trigger, const struct trigger_facts *facts)
{
	double value = trigger_value_of(trigger, facts);

	switch (trigger->kind) {
	case TRIGGER_CPU:
		return xasprintf("%s: %.0f %%", trigger->text, value * 100);
	case TRIGGER_RSS:
		return xasprintf("%s: %s", trigger->text, humanize_bytes((uint64_t)value).text);
	case TRIGGER_LOAD:
		break;
	}
	return xasprintf("%s: %.2f", trigger->text, value);
}

struct trigger_facts trigger_read(struct trigger_reader *reader, uint64_t now_ns)
{
	struct usage usage = reader->pid_count ? usage_of_processes(reader->proc, reader->pids,
								    reader->pid_count)
					       : usage_of_machine(reader->proc);
	struct trigger_facts facts = {
		.cpu = NAN,
		.rss_bytes = (double)usage.memory_bytes,
		.load = usage_load(reader->proc),
	};

	/* The CPU time decreases if a descendant ends that no process of the
	 * target waits for. */
	if (reader->last_ns && now_ns > reader->last_ns && usage.cpu_ns >= reader->last.cpu_ns)
		facts.cpu = (double)(usage.cpu_ns - reader->last.cpu_ns) /
			    (double)(now_ns - reader->last_ns);
	reader->last = usage;
	reader->last_ns = now_ns;
	return facts;
}
