#include "probe/spec.h"

#include "base/alloc.h"
#include "base/text.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *prefix;
	enum probe_kind kind;
	bool is_return, measures_calls;
} kinds[] = {
	{"uprobe:", PROBE_FUNCTION, false, false}, {"uretprobe:", PROBE_FUNCTION, true, false},
	{"latency:", PROBE_FUNCTION, false, true}, {"usdt:", PROBE_STATIC, false, false},
	{"kprobe:", PROBE_KERNEL, false, false},   {"kretprobe:", PROBE_KERNEL, true, false},
};

/* The terms that can follow a spec after a slash. */
static const char *const terms[] = {"period=", "freq=", "name=", "call-graph=", "stack-size="};

bool probe_is_spec(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (text_begins(text, kinds[i].prefix))
			return true;
	return false;
}

static bool begins_term(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(terms); i++)
		if (text_begins(text, terms[i]))
			return true;
	return false;
}

/*
 * Commas in brackets belong to the name, and commas between terms to the event.
 */
size_t probe_spec_len(const char *list)
{
	int depth = 0;
	size_t len = 0;

	for (; list[len]; len++) {
		char c = list[len];

		/* The '>' of "operator->" and "->" is not a bracket. */
		if (c == '(' || c == '<' || c == '{' || c == '[')
			depth++;
		else if ((c == ')' || c == '}' || c == ']' ||
			  (c == '>' && (!len || list[len - 1] != '-'))) &&
			 depth)
			depth--;
		else if (c == ',' && !depth && !begins_term(list + len + 1))
			break;
	}
	return len;
}

static bool spec_is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

static struct error *malformed(const char *text)
{
	return error_hint(error_new("\"%s\" is not a probe", text),
			  "probes are uprobe:PROGRAM:FUNCTION, uretprobe:PROGRAM:FUNCTION, "
			  "uprobe:PROGRAM:FILE:LINE, usdt:PROGRAM:PROVIDER:NAME, kprobe:FUNCTION");
}

/*
 * Returns the colon after a target, or NULL if there is none. The colons of
 * "::" belong to names, and the text before a C++ function is not a target.
 */
static char *target_end(char *text)
{
	for (char *at = text; *at && !strchr("<>()*&{ ", *at); at++) {
		if (*at != ':')
			continue;
		return at[1] == ':' || at == text ? NULL : at;
	}
	return NULL;
}

/*
 * Parses a 64-bit number, hexadecimal after 0x or else decimal. Returns false
 * unless this is the whole text.
 */
static bool spec_take_number(const char *text, uint64_t *ret)
{
	char *end = NULL;

	if (text_begins(text, "0x"))
		return text_hex(&text, ret) && !*text;
	if (!spec_is_number(text) || strlen(text) > 18)
		return false;
	*ret = strtoull(text, &end, 10);
	return true;
}

/* Parses "FILE:LINE", "0x1234", "NAME+0x12" or "NAME". */
static bool spec_take_place(char *text, struct probe_spec *spec)
{
	char *colon = strrchr(text, ':'), *plus = strrchr(text, '+');
	uint64_t line = 0;

	spec->place = PROBE_BY_NAME;
	if (text_begins(text, "0x")) {
		spec->place = PROBE_BY_ADDRESS;
		return spec_take_number(text, &spec->offset);
	}
	if (colon && colon > text && colon[-1] != ':' && spec_is_number(colon + 1)) {
		spec->place = PROBE_BY_LINE;
		*colon = '\0';
		spec->file = xstrdup(text);
		if (!spec_take_number(colon + 1, &line) || !line || line > UINT32_MAX)
			return false;
		spec->line = (uint32_t)line;
		return true;
	}
	if (plus && plus > text && spec_take_number(plus + 1, &spec->offset))
		*plus = '\0';
	spec->function = xstrdup(text);
	return *text;
}

static bool take_target(char *text, struct probe_spec *spec)
{
	if (spec_is_number(text)) {
		unsigned long pid = strtoul(text, NULL, 10);

		spec->pid = (pid_t)pid;
		return pid && pid <= INT_MAX;
	}
	spec->target = xstrdup(text);
	return *text;
}

/*
 * Returns true for "src/main.rs:120", which is a line of the recorded program.
 */
static bool is_line(const char *colon)
{
	return spec_is_number(colon + 1);
}

static bool spec_take_words(char *text, struct probe_spec *spec)
{
	char *colon = spec->kind == PROBE_KERNEL ? NULL : target_end(text);

	if (colon && !(spec->kind == PROBE_FUNCTION && is_line(colon))) {
		*colon = '\0';
		if (!take_target(text, spec))
			return false;
		text = colon + 1;
		colon = spec->kind == PROBE_STATIC ? target_end(text) : NULL;
		if (colon) {
			*colon = '\0';
			spec->provider = xstrdup(text);
			text = colon + 1;
		}
	}
	if (spec->kind != PROBE_STATIC)
		return spec_take_place(text, spec);
	spec->function = xstrdup(text);
	return *text;
}

/* Cuts off "/period=1/". Returns false if it is malformed. */
static bool cut_terms(char *text, struct probe_spec *spec)
{
	size_t len = strlen(text);
	char *slash;

	if (!len || text[len - 1] != '/')
		return true;
	text[len - 1] = '\0';
	slash = strrchr(text, '/');
	if (!slash)
		return false;
	*slash = '\0';
	spec->terms = xstrdup(slash + 1);
	return true;
}

/* Returns the value of the `name` term, or the spec itself. */
static char *spec_name_of(const char *text, const struct probe_spec *spec)
{
	const char *at = spec->terms ? strstr(spec->terms, "name=") : NULL;

	if (!at || (at > spec->terms && at[-1] != ','))
		return xstrdup(text);
	at += strlen("name=");
	return xstrndup(at, strcspn(at, ","));
}

struct error *probe_spec_parse(const char *text, struct probe_spec *ret)
{
	CLEANUP(probe_spec_deinit) struct probe_spec spec = {0};
	CLEANUP(free_ptr) char *words = xstrdup(text);
	size_t kind = 0;

	while (kind < ARRAY_SIZE(kinds) && !text_begins(text, kinds[kind].prefix))
		kind++;
	if (kind == ARRAY_SIZE(kinds))
		return malformed(text);
	spec.kind = kinds[kind].kind;
	spec.is_return = kinds[kind].is_return;
	spec.measures_calls = kinds[kind].measures_calls;
	if (!cut_terms(words, &spec))
		return malformed(text);
	spec.name = spec_name_of(words, &spec);
	if (!spec_take_words(words + strlen(kinds[kind].prefix), &spec))
		return malformed(text);
	if (spec.kind == PROBE_KERNEL && spec.place != PROBE_BY_NAME)
		return error_new("\"%s\": a kernel probe must be at a function", text);
	if ((spec.is_return || spec.measures_calls) && (spec.place != PROBE_BY_NAME || spec.offset))
		return error_hint(error_new("\"%s\" is not a function, so it has no return", text),
				  "for lines, offsets and addresses, use uprobe:");
	*ret = spec;
	spec = (struct probe_spec){0};
	return NULL;
}

void probe_spec_deinit(struct probe_spec *spec)
{
	free(spec->target);
	free(spec->provider);
	free(spec->function);
	free(spec->file);
	free(spec->name);
	free(spec->terms);
	*spec = (struct probe_spec){0};
}
