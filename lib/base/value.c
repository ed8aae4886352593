#include "base/value.h"

#include "base/alloc.h"

#include <ctype.h>
#include <string.h>

static const struct {
	const char *name, *unit, *heading, *words;
	bool is_time;
} kinds[VALUE_KINDS] = {
	[VALUE_COUNT] = {"count", "count", NULL, NULL, false},
	[VALUE_CPU_TIME] = {"cpu-time", "nanoseconds", "CPU time", "CPU time", true},
	[VALUE_WALL_TIME] = {"wall-time", "nanoseconds", "Wall time", "wall time", true},
	[VALUE_OFF_CPU_TIME] = {"off-cpu-time", "nanoseconds", "Off-CPU time", "off-CPU time",
				true},
	[VALUE_BYTES] = {"bytes", "bytes", "Bytes", "bytes", false},
	[VALUE_OBJECTS] = {"objects", "count", "Objects", "objects", false},
};

/* Units of time (in nanoseconds) and memory (in bytes), with all names that profilers use. */
static const struct unit {
	const char *name;
	uint64_t scale;
	bool is_time;
} units[] = {
	{"nanoseconds", 1, true},
	{"nanosecond", 1, true},
	{"ns", 1, true},
	{"microseconds", 1000, true},
	{"microsecond", 1000, true},
	{"us", 1000, true},
	{"milliseconds", 1000000, true},
	{"millisecond", 1000000, true},
	{"ms", 1000000, true},
	{"seconds", 1000000000, true},
	{"second", 1000000000, true},
	{"s", 1000000000, true},
	{"bytes", 1, false},
	{"byte", 1, false},
	{"b", 1, false},
	{"kilobytes", 1024, false},
	{"kb", 1024, false},
	{"kib", 1024, false},
	{"megabytes", 1048576, false},
	{"mb", 1048576, false},
	{"mib", 1048576, false},
	{"gigabytes", 1073741824, false},
	{"gb", 1073741824, false},
	{"gib", 1073741824, false},
};

/* The kinds of events with this word in their name, if the unit is a time or a count. */
static const struct word {
	const char *word;
	enum value_kind kind;
} words[] = {
	/* The first match decides: off-cpu before cpu. */
	{"off", VALUE_OFF_CPU_TIME},
	{"offcpu", VALUE_OFF_CPU_TIME},
	{"delay", VALUE_OFF_CPU_TIME},
	{"wait", VALUE_OFF_CPU_TIME},
	{"block", VALUE_OFF_CPU_TIME},
	{"blocked", VALUE_OFF_CPU_TIME},
	{"lock", VALUE_OFF_CPU_TIME},
	{"mutex", VALUE_OFF_CPU_TIME},
	{"contention", VALUE_OFF_CPU_TIME},
	{"contentions", VALUE_OFF_CPU_TIME},
	{"sleep", VALUE_OFF_CPU_TIME},
	{"idle", VALUE_OFF_CPU_TIME},
	{"wall", VALUE_WALL_TIME},
	{"await", VALUE_WALL_TIME},
	{"cpu", VALUE_CPU_TIME},
	{"task", VALUE_CPU_TIME},
	{"objects", VALUE_OBJECTS},
	{"object", VALUE_OBJECTS},
	{"allocations", VALUE_OBJECTS},
	{"allocs", VALUE_OBJECTS},
};

static const struct unit *find_unit(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcasecmp(units[i].name, name))
			return &units[i];
	return NULL;
}

/* Returns whether a name contains the word: "alloc_objects", "off-cpu". */
static bool has_word(const char *name, const char *word)
{
	size_t len;

	for (; *name; name += len) {
		for (len = 0; isalnum((unsigned char)name[len]);)
			len++;
		if (len == strlen(word) && !strncasecmp(name, word, len))
			return true;
		len += !len;
	}
	return false;
}

enum value_kind value_kind_of(const char *name, const char *unit)
{
	const struct unit *known = find_unit(unit);
	bool is_time = known && known->is_time;

	if (known && !is_time)
		return VALUE_BYTES;
	if (!strcmp(unit, "objects"))
		return VALUE_OBJECTS;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (kinds[words[i].kind].is_time == is_time && has_word(name, words[i].word))
			return words[i].kind;
	return is_time ? VALUE_WALL_TIME : VALUE_COUNT;
}

const char *value_kind_name(enum value_kind kind)
{
	return kinds[kind].name;
}

const char *value_unit(enum value_kind kind)
{
	return kinds[kind].unit;
}

bool value_is_time(enum value_kind kind)
{
	return kinds[kind].is_time;
}

const char *value_heading(enum value_kind kind, const char *event)
{
	return kinds[kind].heading ? kinds[kind].heading : event;
}

const char *value_words(enum value_kind kind, const char *event)
{
	if (kind == VALUE_WALL_TIME && !strcmp(event, VALUE_ELAPSED_EVENT))
		return "elapsed time";
	if (kind == VALUE_WALL_TIME && !strcmp(event, VALUE_CRITICAL_PATH_EVENT))
		return "critical path";
	return kinds[kind].words ? kinds[kind].words : event;
}

uint64_t value_scaled(enum value_kind kind, const char *unit, uint64_t value)
{
	const struct unit *known = find_unit(unit);

	if (!known || !(kinds[kind].is_time || kind == VALUE_BYTES))
		return value;
	return __builtin_mul_overflow(value, known->scale, &value) ? UINT64_MAX : value;
}

struct humanized value_humanize(enum value_kind kind, const char *unit, uint64_t value)
{
	uint64_t scaled = value_scaled(kind, unit, value);

	if (kinds[kind].is_time)
		return humanize_time(scaled);
	return kind == VALUE_BYTES ? humanize_bytes(scaled) : humanize_count(scaled);
}
