#include "serve/request_target.h"

#include "base/alloc.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
	DEFAULT_SECONDS = 30, /* the same as in Go */
	FLAME_SECONDS = 5,
	KEY_MAX = 16,
};

struct request_target_pair {
	char key[KEY_MAX + 1];
	char value[SERVE_CGROUP_MAX + 1];
};

static const char below[] = "/debug/pprof/";

enum serve_route serve_route_of(const char *target)
{
	static const struct {
		const char *path;
		enum serve_route route;
	} routes[] = {
		{"/", SERVE_ROOT},
		{"/flame", SERVE_FLAME},
		{"/metrics", SERVE_METRICS},
		{"/healthz", SERVE_HEALTH},
		{"/debug/pprof", SERVE_INDEX},
		{"/debug/pprof/", SERVE_INDEX},
		{"/debug/pprof/profile", SERVE_PROFILE},
		{"/debug/pprof/cmdline", SERVE_CMDLINE},
		{"/debug/pprof/symbol", SERVE_SYMBOL},
	};
	size_t len = strcspn(target, "?");

	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		if (strlen(routes[i].path) == len && !memcmp(routes[i].path, target, len))
			return routes[i].route;
	return text_begins(target, below) ? SERVE_UNKNOWN_PROFILE : SERVE_UNKNOWN;
}

static int request_target_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Returns one decoded byte and moves *at past it. Returns -1 if it is not a
 * percent-encoded byte.
 */
static int decode_byte(const char **at)
{
	const char *c = *at;
	int high, low;

	*at = c + 1;
	if (*c != '%')
		return *c == '+' ? ' ' : (unsigned char)*c;
	high = request_target_hex_digit(c[1]);
	low = high < 0 ? -1 : request_target_hex_digit(c[2]);
	*at = c + 3;
	return low < 0 ? -1 : high << 4 | low;
}

/*
 * Decodes up to one of the end characters, or the end of the text. room:
 * including the NUL. Returns false if the text does not fit, is not encoded
 * correctly or has control characters.
 */
static bool request_target_decode(const char **at, const char *ends, char *to, size_t room)
{
	size_t len = 0;

	while (!strchr(ends, **at)) {
		int byte = decode_byte(at);

		if (byte < 0x20 || byte == 0x7f || len + 1 == room)
			return false;
		to[len++] = (char)byte;
	}
	to[len] = '\0';
	return true;
}

/* *at: the query; moved past the pair. */
static bool request_target_next_pair(const char **at, struct request_target_pair *ret)
{
	*ret = (struct request_target_pair){0};
	if (!request_target_decode(at, "=&", ret->key, sizeof(ret->key)))
		return false;
	if (**at == '=') {
		++*at;
		if (!request_target_decode(at, "&", ret->value, sizeof(ret->value)))
			return false;
	}
	if (**at == '&')
		++*at;
	return true;
}

static bool request_target_number_of(const char *text, uint64_t most, uint64_t *ret)
{
	uint64_t value = 0;

	for (const char *c = text; *c; c++) {
		if (*c < '0' || *c > '9' || value > most)
			return false;
		value = value * 10 + (uint64_t)(*c - '0');
	}
	*ret = value;
	return *text && value <= most;
}

static struct error *take_seconds(struct serve_wish *wish, const char *value)
{
	uint64_t seconds = 0;

	if (!*value)
		return NULL;
	if (!request_target_number_of(value, SERVE_SECONDS_MAX, &seconds))
		return error_new("seconds=%s is not a number of seconds up to %d", value,
				 SERVE_SECONDS_MAX);
	/* In Go, 0 means the default, too. */
	if (seconds)
		wish->seconds = (unsigned)seconds;
	return NULL;
}

static struct error *take_hz(struct serve_wish *wish, const char *value)
{
	uint64_t hz;

	if (!request_target_number_of(value, SERVE_HZ_MAX, &hz) || !hz)
		return error_new("hz=%s is not a number of samples per second from 1 to %d", value,
				 SERVE_HZ_MAX);
	wish->hz = (unsigned)hz;
	return NULL;
}

static struct error *request_target_take_event(struct serve_wish *wish, const char *value)
{
	static const char *const names[] = {"cpu", "off-cpu", "alloc"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(value, names[i]) != 0)
			continue;
		wish->event = (enum serve_event)i;
		return NULL;
	}
	return error_new("unknown event \"%s\" (cpu, off-cpu, alloc)", value);
}

char *serve_format_names(void)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (const struct format *const *format = formats; *format; format++)
		if ((*format)->media_type)
			fprintf(out, "%s%s", ftell(out) ? ", " : "", (*format)->name);
	fclose(out);
	return text;
}

static struct error *take_format(struct serve_wish *wish, const char *value)
{
	const struct format *format = format_by_name(value);
	CLEANUP(free_ptr) char *names = NULL;

	if (format && format->media_type) {
		wish->format = format;
		return NULL;
	}
	names = serve_format_names();
	return error_new("unknown format \"%s\" (%s)", value, names);
}

static struct error *take_scope(struct serve_wish *wish, enum serve_scope scope)
{
	if (wish->scope != SERVE_EVERYTHING)
		return error_new("pid, comm and cgroup exclude each other");
	wish->scope = scope;
	return NULL;
}

static struct error *request_target_take_pid(struct serve_wish *wish, const char *value)
{
	uint64_t pid;

	if (!request_target_number_of(value, INT32_MAX, &pid) || !pid)
		return error_new("pid=%s is not a process id", value);
	wish->pid = (int32_t)pid;
	return take_scope(wish, SERVE_PID);
}

/* A comma would end the name. */
static struct error *take_comm(struct serve_wish *wish, const char *value)
{
	if (!*value || strlen(value) > SERVE_COMM_MAX || strchr(value, ','))
		return error_new("comm=%s is not the name of a process", value);
	strcpy(wish->name, value);
	return take_scope(wish, SERVE_COMM);
}

static bool goes_up(const char *path)
{
	for (const char *part = path; part; part = strchr(part + 1, '/'))
		if (text_begins(part, "/..") && (part[3] == '/' || !part[3]))
			return true;
	return false;
}

static struct error *take_cgroup(struct serve_wish *wish, const char *value)
{
	if (*value != '/' || goes_up(value))
		return error_new("cgroup=%s is not a path as in /proc/PID/cgroup", value);
	strcpy(wish->name, value);
	return take_scope(wish, SERVE_CGROUP);
}

static struct error *take_nothing(struct serve_wish *wish, const char *value)
{
	(void)wish;
	(void)value;
	return NULL;
}

static const struct parameter {
	const char *key;
	struct error *(*take)(struct serve_wish *wish, const char *value);
} parameters[] = {
	{"seconds", take_seconds},
	{"pid", request_target_take_pid},
	{"comm", take_comm},
	{"cgroup", take_cgroup},
	{"hz", take_hz},
	{"event", request_target_take_event},
	/* Parameters of Go's other profiles. */
	{"format", take_format},
	{"debug", take_nothing},
};

/* taken: one bit for each parameter. */
static struct error *request_target_take(struct serve_wish *wish,
					 const struct request_target_pair *pair, unsigned *taken)
{
	for (size_t i = 0; i < ARRAY_SIZE(parameters); i++) {
		if (strcmp(pair->key, parameters[i].key) != 0)
			continue;
		if (*taken & 1U << i)
			return error_new("%s is given twice", pair->key);
		*taken |= 1U << i;
		return parameters[i].take(wish, pair->value);
	}
	return error_new("unknown parameter \"%s\" (seconds, pid, comm, cgroup, hz, event, format)",
			 pair->key);
}

struct error *serve_wish_of(const char *target, struct serve_wish *ret)
{
	bool is_flame = serve_route_of(target) == SERVE_FLAME;
	struct serve_wish wish = {
		.seconds = is_flame ? FLAME_SECONDS : DEFAULT_SECONDS,
		.format = is_flame ? &format_html : &format_pprof,
	};
	const char *at = strchr(target, '?');
	unsigned taken = 0;

	for (at = at ? at + 1 : ""; *at;) {
		struct request_target_pair pair;
		struct error *err = NULL;

		if (!request_target_next_pair(&at, &pair))
			return error_new("the query is malformed");
		if (*pair.key || *pair.value)
			err = request_target_take(&wish, &pair, &taken);
		if (err)
			return err;
	}
	*ret = wish;
	return NULL;
}
