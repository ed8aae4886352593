#include "report/name_parts.h"

#include <string.h>

enum { NAME_PARTS_MOST_LEVELS = 128 };

struct span span_of(const char *text)
{
	return (struct span){text, text + strlen(text)};
}

size_t span_bytes(struct span span)
{
	return (size_t)(span.end - span.at);
}

bool span_is_one_of(struct span span, const char *const *words)
{
	for (; *words; words++)
		if (span_is(span, *words))
			return true;
	return false;
}

bool span_begins(struct span span, const char *text)
{
	size_t len = strlen(text);

	return span_bytes(span) >= len && !memcmp(span.at, text, len);
}

bool span_is(struct span span, const char *text)
{
	return span_bytes(span) == strlen(text) && span_begins(span, text);
}

bool name_is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c & 0x80;
}

static char closing(char opening)
{
	switch (opening) {
	case '<':
		return '>';
	case '(':
		return ')';
	case '[':
		return ']';
	case '{':
		return '}';
	default:
		return 0;
	}
}

/* Returns the length of "operator<<" or "operator()", or 0. */
static size_t operator_bytes(struct span at)
{
	static const char *const signs[] = {"()", "[]", "->*", "->", "<=>", "<<=", ">>=", "<<",
					    ">>", "<=", ">=",  "<",  ">",   "==",  "!=",  "="};
	size_t len = strlen("operator");

	if (!span_begins(at, "operator") || (span_bytes(at) > len && name_is_word(at.at[len])))
		return 0;
	at.at += len;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (span_begins(at, signs[i]))
			return len + strlen(signs[i]);
	return len;
}

/*
 * Returns the length of "operator bool" or "operator new[]", including the
 * target type of a conversion.
 */
static size_t long_operator_bytes(struct span at)
{
	size_t len = operator_bytes(at), group;
	struct span rest = {at.at + len, at.end};

	if (!len || !span_begins(rest, " ") || span_begins(rest, " <"))
		return len;
	while (rest.at < rest.end && *rest.at != '(') {
		group = *rest.at == '<' ? name_bracket_bytes(rest) : 1;
		if (!group)
			break;
		rest.at += group;
	}
	return (size_t)(rest.at - at.at);
}

/*
 * Returns the length of text that looks like a bracket but is not one: "->",
 * '<' as a constant, "operator<".
 */
static size_t name_parts_plain_bytes(struct span at)
{
	size_t left = span_bytes(at);

	if (*at.at == 'o')
		return operator_bytes(at);
	if (span_begins(at, "->"))
		return 2;
	if (*at.at == '\'' && left > 2 && at.at[2] == '\'')
		return 3;
	return 0;
}

size_t name_bracket_bytes(struct span from)
{
	char open[NAME_PARTS_MOST_LEVELS];
	size_t depth = 0;
	struct span at = from;

	while (at.at < at.end) {
		size_t plain = depth && (at.at == from.at || !name_is_word(at.at[-1]))
				       ? name_parts_plain_bytes(at)
				       : 0;
		char c = *at.at;

		if (plain) {
			at.at += plain;
			continue;
		}
		at.at++;
		if (closing(c)) {
			if (depth == NAME_PARTS_MOST_LEVELS)
				return 0;
			open[depth++] = closing(c);
		} else if (depth && c == open[depth - 1]) {
			depth--;
		} else if (c == ')' || c == ']' || c == '}') {
			/* That "<" was not a bracket. */
			while (depth && open[depth - 1] == '>')
				depth--;
			if (!depth || open[--depth] != c)
				return 0;
		}
		if (!depth)
			return span_bytes(from) - span_bytes(at);
	}
	return 0;
}

struct span name_take_item(struct span *list)
{
	struct span item = {list->at, list->end};

	while (list->at < list->end && *list->at != ',') {
		size_t group = closing(*list->at) ? name_bracket_bytes(*list) : 0;

		list->at += group ? group : 1;
	}
	item.end = list->at;
	list->at += list->at < list->end;
	while (item.at < item.end && *item.at == ' ')
		item.at++;
	while (item.at < item.end && item.end[-1] == ' ')
		item.end--;
	return item;
}

bool name_part_is_type(const struct name_part *part)
{
	return span_begins(part->word, "<") && !span_begins(part->word, "<lambda");
}

bool name_part_is_closure(const struct name_part *part)
{
	return (span_begins(part->word, "{") && !span_begins(part->word, "{impl")) ||
	       span_begins(part->word, "<lambda");
}

/*
 * Returns the length of the text after the parameters: " const", " [clone
 * .cold]".
 */
static size_t qualifier_bytes(struct span at)
{
	static const char *const words[] = {" const", " volatile", " &&",
					    " &",     " noexcept", " restrict"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (span_begins(at, words[i]))
			return strlen(words[i]);
	if (span_begins(at, " [") ||
	    (span_begins(at, " (") && !span_begins(at, " (anonymous namespace)")))
		return span_bytes(at);
	return 0;
}

struct parser {
	struct name_parts *parts;
	struct span rest;
	struct name_part part;
};

static bool end_part(struct parser *parser)
{
	struct name_parts *parts = parser->parts;
	struct name_part part = parser->part;

	parser->part = (struct name_part){{parser->rest.at, parser->rest.at}, {0}};
	if (!span_bytes(part.word)) {
		/* In Rust, "::<T>" are the arguments of the previous part. */
		if (span_bytes(part.args) && parts->count)
			parts->items[parts->count - 1].args = part.args;
		return true;
	}
	if (parts->count == NAME_PARTS_MAX)
		return false;
	parts->items[parts->count++] = part;
	return true;
}

/*
 * Parses "<…>": a type at the start, or after "::" if another part follows;
 * otherwise arguments.
 */
static void take_angles(struct parser *parser, size_t len)
{
	struct span group = {parser->rest.at, parser->rest.at + len};
	struct span after = {group.end, parser->rest.end};
	bool is_impl = span_begins(group, "<impl ") || span_begins(group, "<lambda");

	parser->rest.at += len;
	if (!span_bytes(parser->part.word) &&
	    (is_impl || (!parser->parts->count && span_begins(after, "::"))))
		parser->part.word = group;
	else
		parser->part.args = group;
}

/* Parses "(anonymous namespace)" or parameters. */
static void take_parentheses(struct parser *parser, size_t len)
{
	struct span group = {parser->rest.at, parser->rest.at + len};

	parser->rest.at += len;
	if (span_is(group, "(anonymous namespace)"))
		parser->part.word = (struct span){parser->rest.at, parser->rest.at};
	else
		parser->parts->has_parameters = true;
}

static void name_parts_take_word(struct parser *parser, size_t len)
{
	if (!span_bytes(parser->part.word))
		parser->part.word.at = parser->rest.at;
	parser->rest.at += len;
	parser->part.word.end = parser->rest.at;
}

/*
 * After a space: a qualifier follows, or the text so far was the return type.
 */
static void take_space(struct parser *parser)
{
	size_t len = qualifier_bytes(parser->rest);
	bool is_operator = span_begins(parser->part.word, "operator") &&
			   span_begins(parser->rest, " <");

	parser->rest.at += len ? len : 1;
	if (len || is_operator)
		return;
	parser->parts->count = 0;
	parser->parts->has_parameters = false;
	parser->part = (struct name_part){{parser->rest.at, parser->rest.at}, {0}};
}

static bool take_any(struct parser *parser)
{
	char c = *parser->rest.at;
	size_t group = closing(c) ? name_bracket_bytes(parser->rest) : 0;
	size_t plain = span_bytes(parser->part.word) ? 0 : long_operator_bytes(parser->rest);

	if (closing(c) && !group)
		return false;
	if (c == '>' || c == ')' || c == ']' || c == '}')
		return false;
	if (c == '<')
		take_angles(parser, group);
	else if (c == '(')
		take_parentheses(parser, group);
	else if (c == ' ')
		take_space(parser);
	else if (c == '[' && span_bytes(parser->part.word))
		parser->rest.at += group; /* "[abi:cxx11]" */
	else
		name_parts_take_word(parser, group ? group : plain ? plain : 1);
	return true;
}

bool name_parts_parse(struct span name, struct name_parts *ret)
{
	struct parser parser = {.parts = ret, .rest = name, .part.word = {name.at, name.at}};

	ret->count = 0;
	ret->has_parameters = false;
	while (parser.rest.at < parser.rest.end) {
		if (!span_begins(parser.rest, "::")) {
			if (!take_any(&parser))
				return false;
			continue;
		}
		parser.rest.at += 2;
		if (!end_part(&parser))
			return false;
	}
	return end_part(&parser) && ret->count;
}
