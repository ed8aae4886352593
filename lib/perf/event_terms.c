#include "perf/event_terms.h"

#include "base/alloc.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void event_terms_deinit(struct event_terms *terms)
{
	free(terms->text);
}

static char *without_spaces(char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return text;
}

static struct error *add_term(struct event_terms *terms, char *text)
{
	char *equals = strchr(text, '=');

	if (equals)
		*equals = '\0';
	text = without_spaces(text);
	if (!*text)
		return error_new("a term has no name");
	if (terms->count == EVENT_TERMS_MAX)
		return error_new("more than %d terms", EVENT_TERMS_MAX);
	terms->items[terms->count++] = (struct event_term){
		.name = text, .value = equals ? without_spaces(equals + 1) : NULL};
	return NULL;
}

struct error *event_terms_parse(const char *text, size_t len, struct event_terms *ret)
{
	CLEANUP(event_terms_deinit) struct event_terms terms = {.text = xstrndup(text, len)};
	char *rest = without_spaces(terms.text), *term;
	struct error *err = NULL;

	if (!*rest)
		rest = NULL;
	while (!err && (term = strsep(&rest, ",")))
		err = add_term(&terms, term);
	if (err)
		return err;
	*ret = terms;
	terms.text = NULL;
	return NULL;
}

const struct event_term *event_terms_find(const struct event_terms *terms, const char *name)
{
	for (size_t i = terms->count; i > 0; i--)
		if (terms->items[i - 1].value && strcmp(terms->items[i - 1].name, name) == 0)
			return &terms->items[i - 1];
	return NULL;
}

static bool event_terms_parse_number(const char *text, uint64_t *ret)
{
	char *end = NULL;

	if (text[0] == '0' && (text[1] | 0x20) == 'x')
		return text_hex(&text, ret) && *text == '\0';
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return *end == '\0' && !errno;
}

struct error *event_term_number(const struct event_term *term, uint64_t *ret)
{
	if (!term->value || !*term->value)
		return error_new("%s needs a value", term->name);
	return event_terms_parse_number(term->value, ret)
		       ? NULL
		       : error_new("%s=%s is not a number of 64 bits", term->name, term->value);
}
