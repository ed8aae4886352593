#include "profile/cpu_records.h"

#include <string.h>

static const struct {
	const char *name, *unit;
} cpu_record_events[CPU_RECORDS] = {
	[CPU_BRANCHES] = {"taken-branches", ""},
	[CPU_BRANCH_CYCLES] = {"branch-cycles", "cycles"},
	[CPU_MEMORY_LATENCY] = {"mem-latency", "cycles"},
};

const char *cpu_record_name(enum cpu_record which)
{
	return cpu_record_events[which].name;
}

static bool cpu_records_is_named(const struct profile *profile, event_id event,
				 enum cpu_record which)
{
	const char *name = profile_string(profile, profile_get_event(profile, event)->name);

	return !strcmp(name, cpu_record_events[which].name);
}

bool cpu_record_find(const struct profile *profile, enum cpu_record which, event_id *ret)
{
	for (event_id i = 0; i < profile_event_count(profile); i++) {
		if (cpu_records_is_named(profile, i, which)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

event_id cpu_record_event(struct profile *profile, enum cpu_record which)
{
	struct strtab *strings = profile_strings(profile);
	event_id known;

	if (cpu_record_find(profile, which, &known))
		return known;
	return profile_add_event(profile,
				 &(struct profile_event){
					 .name = strtab_add(strings, cpu_record_events[which].name),
					 .unit = strtab_add(strings, cpu_record_events[which].unit),
					 .kind = VALUE_COUNT,
				 });
}

bool cpu_record_is(const struct profile *profile, event_id event)
{
	for (enum cpu_record i = 0; i < CPU_RECORDS; i++)
		if (cpu_records_is_named(profile, event, i))
			return true;
	return false;
}
