#include "profile/quality.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char mark[] = "prof: ";
static const char event_key[] = "event=";
static const char waiting_mark[] = "prof: waiting ";

struct field {
	const char *key;
	size_t offset;
	bool is_optional; /* left out where it is 0 */
};

#define FIELD(name, is_optional)                                                                   \
	{                                                                                          \
#name, offsetof(struct profile_quality, name), is_optional                         \
	}
#define EVENT_FIELD(name, is_optional)                                                             \
	{                                                                                          \
#name, offsetof(struct event_quality, name), is_optional                           \
	}

#define WAITING_FIELD(name, is_optional)                                                           \
	{                                                                                          \
#name, offsetof(struct waiting_quality, name), is_optional                         \
	}

static const struct field fields[] = {
	FIELD(samples, false),
	FIELD(lost, false),
	FIELD(truncated, false),
	FIELD(unnamed, false),
	FIELD(completed, true),
	FIELD(spliced, true),
	FIELD(compat, true),
	FIELD(throttled, true),
	FIELD(own_cpu_ns, true),
	FIELD(shortened, true),
	FIELD(lost_changes, true),
	FIELD(idle, true),
	{0},
};

static const struct field event_fields[] = {
	EVENT_FIELD(samples, false),
	EVENT_FIELD(truncated, false),
	EVENT_FIELD(unnamed, false),
	EVENT_FIELD(lost, true),
	EVENT_FIELD(sampled, true),
	EVENT_FIELD(counted, true),
	{0},
};

static const struct field waiting_fields[] = {
	WAITING_FIELD(threads, false),	   WAITING_FIELD(thread_ns, false),
	WAITING_FIELD(running_ns, false),  WAITING_FIELD(wanted_ns, false),
	WAITING_FIELD(waiting_ns, false),  WAITING_FIELD(proved_ns, true),
	WAITING_FIELD(spread_ns, true),	   WAITING_FIELD(sampled_ns, true),
	WAITING_FIELD(placeless_ns, true), WAITING_FIELD(left_out_ns, true),
	WAITING_FIELD(lost, true),	   {0},
};

static uint64_t *value_of(void *of, const struct field *field)
{
	return (uint64_t *)((char *)of + field->offset);
}

/* To be freed. */
static char *encode(const char *between, const void *of, const struct field *field)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (; field->key; field++) {
		uint64_t value;

		memcpy(&value, (const char *)of + field->offset, sizeof(value));
		if (!value && field->is_optional)
			continue;
		fprintf(out, "%s%s=%" PRIu64, between, field->key, value);
		between = " ";
	}
	fclose(out);
	return text;
}

static void add(void *to, const void *more, const struct field *field)
{
	for (; field->key; field++) {
		uint64_t value;

		memcpy(&value, (const char *)more + field->offset, sizeof(value));
		*value_of(to, field) += value;
	}
}

void quality_add(struct profile_quality *quality, const struct profile_quality *more)
{
	quality->is_known &= more->is_known;
	add(quality, more, fields);
}

void event_quality_add(struct event_quality *quality, const struct event_quality *more)
{
	add(quality, more, event_fields);
}

uint64_t quality_unsampled(const struct event_quality *event)
{
	return event->counted > event->sampled ? event->counted - event->sampled : 0;
}

const struct event_quality *quality_of_event(const struct profile_quality *quality,
					     const char *event)
{
	for (size_t i = 0; i < quality->event_count; i++)
		if (!strcmp(quality->events[i].event, event))
			return &quality->events[i];
	return NULL;
}

char *quality_encode(const struct profile_quality *quality)
{
	return encode(mark, quality, fields);
}

char *quality_encode_event(const struct event_quality *quality)
{
	CLEANUP(free_ptr) char *counts = encode(mark, quality, event_fields);

	return xasprintf("%s %s%s", counts, event_key, quality->event);
}

char *quality_encode_waiting(const struct waiting_quality *waiting)
{
	return waiting->threads ? encode(waiting_mark, waiting, waiting_fields) : xstrdup("");
}

static const struct field *find_field(const struct field *field, const char *key, size_t len)
{
	while (field->key && (strlen(field->key) != len || strncmp(field->key, key, len) != 0))
		field++;
	return field->key ? field : NULL;
}

static bool take_number(const char **at, uint64_t *ret)
{
	const char *first = *at;

	for (*ret = 0; **at >= '0' && **at <= '9'; ++*at)
		if (__builtin_mul_overflow(*ret, 10, ret) ||
		    __builtin_add_overflow(*ret, **at - '0', ret))
			return false;
	return *at > first;
}

/* "lost=12", into the field of that key. */
static bool take_pair(const char **at, const struct field *known, void *into)
{
	size_t len = strspn(*at, "abcdefghijklmnopqrstuvwxyz_");
	const struct field *field = find_field(known, *at, len);
	uint64_t ignored;

	if (!len || (*at)[len] != '=')
		return false;
	*at += len + 1;
	return take_number(at, field ? value_of(into, field) : &ignored);
}

/* What follows a mark: up to the end, or to `event`, which is *rest then. */
static bool decode(const char *begin, const char *text, const struct field *known, void *into,
		   const char **rest)
{
	*rest = NULL;
	if (strncmp(text, begin, strlen(begin)) != 0)
		return false;
	for (text += strlen(begin); !*rest; text++) {
		if (!strncmp(text, event_key, strlen(event_key)))
			*rest = text + strlen(event_key);
		else if (!take_pair(&text, known, into) || (*text && *text != ' '))
			return false;
		else if (!*text)
			return true;
	}
	return true;
}

bool quality_decode(const char *text, struct profile_quality *ret)
{
	struct profile_quality quality = {.is_known = true,
					  .events = ret->events,
					  .event_count = ret->event_count,
					  .waiting = ret->waiting,
					  .stat = ret->stat};
	const char *event;

	if (!decode(mark, text, fields, &quality, &event) || event)
		return false;
	*ret = quality;
	return true;
}

bool quality_decode_event(const char *text, struct event_quality *ret)
{
	struct event_quality quality = {0};

	if (!decode(mark, text, event_fields, &quality, &quality.event) || !quality.event ||
	    !*quality.event)
		return false;
	*ret = quality;
	return true;
}

bool quality_decode_waiting(const char *text, struct waiting_quality *ret)
{
	struct waiting_quality waiting = {0};
	const char *event;

	if (!decode(waiting_mark, text, waiting_fields, &waiting, &event) || event ||
	    !waiting.threads)
		return false;
	*ret = waiting;
	return true;
}
