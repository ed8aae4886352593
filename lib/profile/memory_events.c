#include "profile/memory_events.h"

#include <string.h>

static const struct {
	const char *name;
	enum value_kind kind;
} memory_event_table[MEMORY_EVENTS] = {
	[MEMORY_ALLOC_OBJECTS] = {"alloc_objects", VALUE_OBJECTS},
	[MEMORY_ALLOC_SPACE] = {"alloc_space", VALUE_BYTES},
	[MEMORY_INUSE_OBJECTS] = {"inuse_objects", VALUE_OBJECTS},
	[MEMORY_INUSE_SPACE] = {"inuse_space", VALUE_BYTES},
};

const char *memory_event_name(enum memory_event which)
{
	return memory_event_table[which].name;
}

struct profile_event memory_event_make(struct profile *profile, enum memory_event which)
{
	return (struct profile_event){
		.name = strtab_add(profile_strings(profile), memory_event_table[which].name),
		.kind = memory_event_table[which].kind,
	};
}

bool memory_event_of(const struct profile *profile, event_id event, enum memory_event *ret)
{
	const char *name;

	if (event >= profile_event_count(profile))
		return false;
	name = profile_string(profile, profile_get_event(profile, event)->name);
	for (enum memory_event i = 0; i < MEMORY_EVENTS; i++) {
		if (!strcmp(name, memory_event_table[i].name)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

bool memory_event_find(const struct profile *profile, enum memory_event which, event_id *ret)
{
	enum memory_event found;

	for (event_id i = 0; i < profile_event_count(profile); i++) {
		if (memory_event_of(profile, i, &found) && found == which) {
			*ret = i;
			return true;
		}
	}
	return false;
}

bool memory_is_got(const struct profile *profile, event_id event)
{
	enum memory_event which;

	return memory_event_of(profile, event, &which) ||
	       (event < profile_event_count(profile) &&
		!strcmp(profile_string(profile, profile_get_event(profile, event)->name),
			VALUE_GROWTH_EVENT));
}

bool memory_is_alone(const struct profile *profile)
{
	enum memory_event which;

	for (event_id i = 0; i < profile_event_count(profile); i++)
		if (!memory_event_of(profile, i, &which))
			return false;
	return profile_event_count(profile) > 0;
}

/*
 * Returns the memory event that prof has recorded, if the given event is of
 * memory, too.
 */
static event_id recorded_event(const struct profile *profile, event_id event,
			       enum memory_event which)
{
	enum memory_event given;
	event_id found;

	if (!profile_get_info(profile)->quality.is_known ||
	    !memory_event_of(profile, event, &given) || !memory_event_find(profile, which, &found))
		return event;
	return found;
}

event_id memory_shown_event(const struct profile *profile)
{
	return recorded_event(profile, 0, MEMORY_ALLOC_SPACE);
}

event_id memory_default_type(const struct profile *profile, event_id shown)
{
	return recorded_event(profile, shown, MEMORY_INUSE_SPACE);
}
