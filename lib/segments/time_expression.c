#include "segments/time_expression.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A parsed expression, not yet converted to a time. */
struct moment {
	struct tm fields;
	int days, seconds; /* length of the named range; both 0 if it has no end */
	bool is_utc;
	bool is_of_day; /* a time of day without a date */
};

static time_t seconds_of(const struct moment *moment)
{
	struct tm fields = moment->fields;

	fields.tm_isdst = -1;
	return moment->is_utc ? timegm(&fields) : mktime(&fields);
}

static uint64_t time_expression_ns_of(const struct moment *moment)
{
	time_t seconds = seconds_of(moment);

	return seconds < 0 ? 0 : (uint64_t)seconds * NS_PER_SECOND;
}

static uint64_t time_expression_end_of(struct moment moment)
{
	if (!moment.days && !moment.seconds)
		return UINT64_MAX;
	moment.fields.tm_mday += moment.days;
	moment.fields.tm_sec += moment.seconds;
	return time_expression_ns_of(&moment);
}

static void begin_day(struct moment *moment)
{
	moment->fields.tm_hour = moment->fields.tm_min = moment->fields.tm_sec = 0;
	moment->days = 1;
}

static bool time_expression_take_word(struct moment *moment, const char *text)
{
	if (!strcmp(text, "now"))
		return true;
	if (strcmp(text, "today") != 0 && strcmp(text, "yesterday") != 0)
		return false;
	begin_day(moment);
	moment->fields.tm_mday -= *text == 'y';
	return true;
}

static bool take_age(struct moment *moment, const char *text)
{
	static const struct {
		char letter;
		int seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	char *end;
	long number;

	if (text[0] != '-' || text[1] < '0' || text[1] > '9')
		return false;
	number = strtol(text + 1, &end, 10);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (end[0] != units[i].letter || end[1] || number > INT32_MAX / units[i].seconds)
			continue;
		moment->fields.tm_sec -= (int)number * units[i].seconds;
		return true;
	}
	return false;
}

/* Parses "14:05", also with seconds. */
static bool take_time_of_day(struct moment *moment, const char *text)
{
	const char *end;

	begin_day(moment);
	moment->days = 0;
	end = strptime(text, "%H:%M:%S", &moment->fields);
	moment->seconds = 1;
	if (!end) {
		moment->fields.tm_sec = 0;
		end = strptime(text, "%H:%M", &moment->fields);
		moment->seconds = 60;
	}
	return end && !*end;
}

static bool take_date(struct moment *moment, const char *text)
{
	struct tm fields = {0};
	const char *end = strptime(text, "%Y-%m-%d", &fields);
	time_t normal;
	int day = fields.tm_mday;

	if (!end)
		return false;
	begin_day(moment);
	moment->fields = fields;
	/* Rejects dates such as February 30. */
	normal = timegm(&fields);
	if (normal < 0 || fields.tm_mday != day)
		return false;
	return !*end || ((*end == ' ' || *end == 'T') && take_time_of_day(moment, end + 1));
}

static struct error *time_expression_parse_text(const char *text, uint64_t now_ns,
						struct moment *ret)
{
	size_t len = strlen(text);
	bool is_utc = len && text[len - 1] == 'Z';
	CLEANUP(free_ptr) char *words = xstrndup(text, len - is_utc);
	time_t now = (time_t)(now_ns / NS_PER_SECOND);

	*ret = (struct moment){.is_utc = is_utc};
	if (is_utc)
		gmtime_r(&now, &ret->fields);
	else
		localtime_r(&now, &ret->fields);
	if ((!is_utc && (time_expression_take_word(ret, words) || take_age(ret, words))) ||
	    take_date(ret, words))
		return NULL;
	ret->is_of_day = take_time_of_day(ret, words);
	if (!ret->is_of_day)
		return error_hint(error_new("\"%s\" is not a time", text),
				  "14:05, yesterday, -1h, 2026-11-24, \"2026-11-24 14:05\"");
	if (time_expression_ns_of(ret) > now_ns)
		ret->fields.tm_mday--;
	return NULL;
}

struct error *time_expression_parse(const char *text, uint64_t now_ns, struct time_range *ret)
{
	struct moment moment;
	struct error *err = time_expression_parse_text(text, now_ns, &moment);

	if (!err)
		*ret = (struct time_range){.from_ns = time_expression_ns_of(&moment),
					   .to_ns = time_expression_end_of(moment)};
	return err;
}

struct error *time_expression_between(const char *since, const char *until, uint64_t now_ns,
				      struct time_range *ret)
{
	struct time_range range = {.to_ns = UINT64_MAX};
	struct time_range first;
	struct moment last;
	struct error *err = since ? time_expression_parse(since, now_ns, &first) : NULL;

	if (!err && since)
		range.from_ns = first.from_ns;
	if (!err && until)
		err = time_expression_parse_text(until, now_ns, &last);
	if (err)
		return err;
	if (until && last.is_of_day && time_expression_ns_of(&last) <= range.from_ns)
		last.fields.tm_mday++;
	if (until)
		range.to_ns = time_expression_ns_of(&last);
	if (range.from_ns >= range.to_ns)
		return error_new("%s is not before %s", since ? since : "the beginning", until);
	*ret = range;
	return NULL;
}

struct error *time_expression_range(const char *text, uint64_t now_ns, struct time_range *ret)
{
	const char *dots = strstr(text, "..");
	CLEANUP(free_ptr) char *since = dots ? xstrndup(text, (size_t)(dots - text)) : NULL;

	if (!dots)
		return time_expression_parse(text, now_ns, ret);
	return time_expression_between(*since ? since : NULL, dots[2] ? dots + 2 : NULL, now_ns,
				       ret);
}

void time_text(char text[static TIME_TEXT_BYTES], uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / NS_PER_SECOND);
	struct tm local;

	localtime_r(&seconds, &local);
	strftime(text, TIME_TEXT_BYTES, "%Y-%m-%d %H:%M:%S", &local);
}
