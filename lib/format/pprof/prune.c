#include "format/pprof/prune.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "format/pprof/wire.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * An expression is compiled again after this much text, because glibc keeps a
 * state of some kB for each distinct position that it has reached.
 */
enum { BYTES_PER_COMPILATION = 4096 };

/*
 * Returns whether the product of the largest numbers in all {} is within the
 * limit.
 */
static bool has_few_repetitions(const char *text)
{
	unsigned long all = 1;

	while (all <= PPROF_REPETITIONS_MAX && (text = strchr(text, '{'))) {
		char *end;
		unsigned long most = strtoul(text + 1, &end, 10);

		if (*end == ',' && isdigit((unsigned char)end[1]))
			most = strtoul(end + 1, &end, 10);
		if (most > PPROF_REPETITIONS_MAX)
			return false;
		all *= most ? most : 1;
		text = end;
	}
	return all <= PPROF_REPETITIONS_MAX;
}

static bool has_few_repeated_groups(const char *text)
{
	unsigned count = 0;

	for (; (text = strchr(text, ')')); text++)
		count += text[1] == '*' || text[1] == '+' || text[1] == '{';
	return count <= PPROF_REPEATED_GROUPS_MAX;
}

static bool has_back_reference(const char *text)
{
	for (; (text = strchr(text, '\\')) && text[1]; text += 2)
		if (text[1] >= '1' && text[1] <= '9')
			return true;
	return false;
}

/* Returns the end of the set of characters that starts here. */
static const char *set_end(const char *text)
{
	text += text[1] == '^' ? 2 : 1;
	if (*text)
		text++; /* the first character may be a ']' */
	while (*text && *text != ']')
		text += *text == '\\' && text[1] ? 2 : 1;
	return text;
}

/*
 * Returns whether a repetition is repeated, as in "a+*". This is an error in
 * Go's syntax, except that '?' makes a repetition lazy. Each one doubles the
 * size of glibc's compiled expression.
 */
static bool has_repeated_repetition(const char *text)
{
	enum { NONE, REPETITION, LAZY } before = NONE;

	for (; *text; text++) {
		bool is_lazy = *text == '?' && before == REPETITION;

		if (strchr("*+?{", *text)) {
			if (before != NONE && !is_lazy)
				return true;
			before = is_lazy ? LAZY : REPETITION;
			text += *text == '{' ? strcspn(text, "}") : 0;
		} else {
			before = NONE;
			if (*text == '[')
				text = set_end(text);
			text += *text == '\\' && text[1];
		}
		if (!*text)
			break;
	}
	return false;
}

static const char *why_not(const char *text)
{
	if (strlen(text) > PPROF_EXPRESSION_BYTES_MAX)
		return "too many bytes";
	if (!has_few_repetitions(text) || !has_few_repeated_groups(text))
		return "too many repetitions";
	if (has_repeated_repetition(text))
		return "unknown syntax";
	return has_back_reference(text) ? "back references" : NULL;
}

/* Translates Go's syntax to POSIX syntax. */
static char *translate(const char *text)
{
	size_t room = 5 * strlen(text) + 5, len = 0;
	char *to = xmalloc(room);

	to[len++] = '^';
	to[len++] = '(';
	for (const char *at = text; *at; at++) {
		bool is_repetition = at > text && strchr("*+?}", at[-1]) &&
				     (at < text + 2 || at[-2] != '\\');

		if (*at == '?' && is_repetition)
			continue;
		if (text_begins(at, "\\d")) {
			len += (size_t)sprintf(to + len, "[0-9]");
			at++;
		} else if (*at == '\\' && at[1]) {
			to[len++] = *at++;
			to[len++] = *at;
		} else {
			to[len++] = *at;
			at += text_begins(at, "(?:") ? 2 : 0;
		}
	}
	strcpy(to + len, ")$");
	return to;
}

static bool prune_compile(struct pprof_expression *expression)
{
	return regcomp(&expression->regex, expression->text, REG_EXTENDED | REG_NOSUB) == 0;
}

static void expression_deinit(struct pprof_expression *expression)
{
	if (!expression->text)
		return;
	regfree(&expression->regex);
	free(STEAL(expression->text));
}

static const char *expression_init(struct pprof_expression *expression, const char *text)
{
	const char *why = *text ? why_not(text) : NULL;

	if (why || !*text)
		return why;
	expression->text = translate(text);
	if (prune_compile(expression))
		return NULL;
	free(STEAL(expression->text));
	return "unknown syntax";
}

const char *pprof_prune_init(struct pprof_prune *prune, const char *drop, const char *keep,
			     uint64_t count)
{
	const char *why;

	*prune = (struct pprof_prune){.started_ns = clock_thread_cpu_ns()};
	why = expression_init(&prune->drop, drop);
	if (!why && prune->drop.text)
		why = expression_init(&prune->keep, keep);
	if (why)
		expression_deinit(&prune->drop);
	else if (prune->drop.text)
		id_table_init(&prune->locations, count);
	return why;
}

void pprof_prune_deinit(struct pprof_prune *prune)
{
	if (pprof_prunes(prune))
		id_table_deinit(&prune->locations);
	expression_deinit(&prune->drop);
	expression_deinit(&prune->keep);
}

static bool prune_matches(struct pprof_expression *expression, const char *name, size_t len)
{
	if (!expression->text)
		return false;
	expression->matched_bytes += len;
	if (expression->matched_bytes > BYTES_PER_COMPILATION) {
		regfree(&expression->regex);
		expression->matched_bytes = len;
		if (!prune_compile(expression)) {
			free(STEAL(expression->text));
			return false;
		}
	}
	return regexec(&expression->regex, name, 0, NULL, 0) == 0;
}

/* Returns the length of a name without its arguments. */
static size_t simple_length(const char *name)
{
	static const char *const no_arguments[] = {"(anonymous namespace)", "operator()"};
	size_t len = 0;

	while (name[len]) {
		size_t same = 0;

		for (size_t i = 0; i < ARRAY_SIZE(no_arguments); i++)
			if (text_begins(name + len, no_arguments[i]))
				same = strlen(no_arguments[i]);
		if (!same && name[len] == '(')
			break;
		len += same ? same : 1;
	}
	return len;
}

bool pprof_prune_matches(struct pprof_prune *prune, const char *name)
{
	char simple[PPROF_PRUNED_NAME_BYTES_MAX + 1];
	size_t len;

	prune->is_late |= clock_thread_cpu_ns() - prune->started_ns > PPROF_PRUNE_NS;
	name += *name == '.';
	len = simple_length(name);
	if (prune->is_late || len > PPROF_PRUNED_NAME_BYTES_MAX)
		return false;
	memcpy(simple, name, len);
	simple[len] = '\0';
	return prune_matches(&prune->drop, simple, len) &&
	       !prune_matches(&prune->keep, simple, len);
}

void pprof_prune_stack(const struct pprof_prune *prune, struct bytes *locations)
{
	const unsigned char *end = locations->end, *start;
	bool has_frame = false;

	for (; end > locations->at; end = start) {
		struct bytes number;
		uint32_t what;

		for (start = end - 1; start > locations->at && start[-1] & WIRE_GOES_ON;)
			start--;
		number = bytes_of(start, (size_t)(end - start));
		what = id_table_get(&prune->locations, bytes_uleb(&number));
		if (what == IDMAP_NONE) {
			has_frame = true;
		} else if (has_frame) {
			locations->at = what == PPROF_PRUNED ? end : start;
			return;
		}
	}
}
