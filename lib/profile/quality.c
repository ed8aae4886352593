#include "profile/quality.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char quality_mark[] = "prof: ";
static const char event_key[] = "event=";
static const char waiting_mark[] = "prof: waiting ";

#define COUNT_OF(type, name, flags, text) {#name, offsetof(struct type, name), flags, text},
#define OF_PROFILE(...) COUNT_OF(profile_quality, __VA_ARGS__)
#define OF_EVENT(...) COUNT_OF(event_quality, __VA_ARGS__)
#define OF_WAITING(...) COUNT_OF(waiting_quality, __VA_ARGS__)

const struct quality_count profile_quality_counts[] = {PROFILE_QUALITY_COUNTS(OF_PROFILE){0}};
const struct quality_count event_quality_counts[] = {EVENT_QUALITY_COUNTS(OF_EVENT){0}};
const struct quality_count waiting_quality_counts[] = {WAITING_QUALITY_COUNTS(OF_WAITING){0}};

static uint64_t *profile_quality_value_of(void *of, const struct quality_count *count)
{
	return (uint64_t *)((char *)of + count->offset);
}

uint64_t quality_count_value(const void *quality, const struct quality_count *count)
{
	uint64_t value;

	memcpy(&value, (const char *)quality + count->offset, sizeof(value));
	return value;
}

/* The caller frees the result. */
static char *profile_quality_encode(const char *between, const void *of,
				    const struct quality_count *count)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (; count->key; count++) {
		uint64_t value = quality_count_value(of, count);

		if (!value && !(count->flags & COUNT_ALWAYS))
			continue;
		fprintf(out, "%s%s=%" PRIu64, between, count->key, value);
		between = " ";
	}
	fclose(out);
	return text;
}

static void profile_quality_add(void *to, const void *more, const struct quality_count *count)
{
	for (; count->key; count++)
		*profile_quality_value_of(to, count) += quality_count_value(more, count);
}

void quality_add(struct profile_quality *quality, const struct profile_quality *more)
{
	quality->is_known &= more->is_known;
	profile_quality_add(quality, more, profile_quality_counts);
}

void event_quality_add(struct event_quality *quality, const struct event_quality *more)
{
	profile_quality_add(quality, more, event_quality_counts);
}

void waiting_quality_add(struct waiting_quality *quality, const struct waiting_quality *more)
{
	profile_quality_add(quality, more, waiting_quality_counts);
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
	return profile_quality_encode(quality_mark, quality, profile_quality_counts);
}

char *quality_encode_event(const struct event_quality *quality)
{
	CLEANUP(free_ptr)
	char *counts = profile_quality_encode(quality_mark, quality, event_quality_counts);

	return xasprintf("%s %s%s", counts, event_key, quality->event);
}

char *quality_encode_waiting(const struct waiting_quality *waiting)
{
	return waiting->threads
		       ? profile_quality_encode(waiting_mark, waiting, waiting_quality_counts)
		       : xstrdup("");
}

static const struct quality_count *find_count(const struct quality_count *count, const char *key,
					      size_t len)
{
	while (count->key && (strlen(count->key) != len || strncmp(count->key, key, len) != 0))
		count++;
	return count->key ? count : NULL;
}

static bool profile_quality_take_number(const char **at, uint64_t *ret)
{
	const char *first = *at;

	for (*ret = 0; **at >= '0' && **at <= '9'; ++*at)
		if (__builtin_mul_overflow(*ret, 10, ret) ||
		    __builtin_add_overflow(*ret, **at - '0', ret))
			return false;
	return *at > first;
}

/* Parses "lost=12" and stores the number in the count with that key. */
static bool profile_quality_take_pair(const char **at, const struct quality_count *known,
				      void *into)
{
	size_t len = strspn(*at, "abcdefghijklmnopqrstuvwxyz_");
	const struct quality_count *count = find_count(known, *at, len);
	uint64_t ignored;

	if (!len || (*at)[len] != '=')
		return false;
	*at += len + 1;
	return profile_quality_take_number(at, count ? profile_quality_value_of(into, count)
						     : &ignored);
}

/*
 * Parses the text after a mark, up to the end or to `event`, which *rest then
 * points to.
 */
static bool profile_quality_decode(const char *begin, const char *text,
				   const struct quality_count *known, void *into, const char **rest)
{
	*rest = NULL;
	if (!text_begins(text, begin))
		return false;
	for (text += strlen(begin); !*rest; text++) {
		if (text_begins(text, event_key))
			*rest = text + strlen(event_key);
		else if (!profile_quality_take_pair(&text, known, into) || (*text && *text != ' '))
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

	if (!profile_quality_decode(quality_mark, text, profile_quality_counts, &quality, &event) ||
	    event)
		return false;
	*ret = quality;
	return true;
}

bool quality_decode_event(const char *text, struct event_quality *ret)
{
	struct event_quality quality = {0};

	if (!profile_quality_decode(quality_mark, text, event_quality_counts, &quality,
				    &quality.event) ||
	    !quality.event || !*quality.event)
		return false;
	*ret = quality;
	return true;
}

bool quality_decode_waiting(const char *text, struct waiting_quality *ret)
{
	struct waiting_quality waiting = {0};
	const char *event;

	if (!profile_quality_decode(waiting_mark, text, waiting_quality_counts, &waiting, &event) ||
	    event || !waiting.threads)
		return false;
	*ret = waiting;
	return true;
}
