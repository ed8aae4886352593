#include "perf/field_names.h"

#include "base/alloc.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	/* Maximum nesting of expressions; the kernel's reach about 20. */
	FIELD_NAMES_DEPTH_MAX = 128,
	ADJACENT_MAX = 4, /* maximum number of adjacent arguments */
	/* Maximum length of the name of one value in a table. */
	NAME_BYTES_MAX = 64,
};

/* Called for each entry of a table. */
typedef void visit_name(void *user, uint64_t value, struct bytes name);

/* The evaluation of one argument for one value of the field. */
struct evaluation {
	const char *at; /* NUL-terminated */
	const char *field;
	uint64_t value; /* value of the field */
	bool uses_field, has_table;
	/* The expression is malformed or unsupported, and the result is
	 * meaningless. */
	bool is_wrong;
	bool is_quiet; /* inside a branch that is not taken */
	unsigned depth;
	char *text;
	size_t len, size;
	visit_name *visit; /* may be NULL */
	void *user;
};

/* A text is written into evaluation.text. */
struct result {
	bool is_text;
	uint64_t number;
};

static struct result field_names_evaluate(struct evaluation *e);
static struct result evaluate_operand(struct evaluation *e);

static struct result field_names_fail(struct evaluation *e)
{
	e->is_wrong = true;
	return (struct result){0};
}

static bool field_names_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void field_names_skip_spaces(struct evaluation *e)
{
	while (isspace((unsigned char)*e->at))
		e->at++;
}

static bool field_names_take(struct evaluation *e, const char *literal)
{
	field_names_skip_spaces(e);
	if (!text_begins(e->at, literal))
		return false;
	e->at += strlen(literal);
	return true;
}

static void field_names_expect(struct evaluation *e, const char *literal)
{
	if (!field_names_take(e, literal))
		e->is_wrong = true;
}

static void field_names_put(struct evaluation *e, struct bytes text)
{
	size_t len = bytes_left(&text);

	if (e->is_quiet)
		return;
	if (len > e->size - e->len)
		len = e->size - e->len;
	if (len)
		memcpy(e->text + e->len, text.at, len);
	e->len += len;
}

/* Takes a quoted string. Escapes are not processed. */
static struct bytes field_names_take_string(struct evaluation *e)
{
	const char *start, *end;

	field_names_expect(e, "\"");
	start = e->at;
	end = strchr(start, '"');
	if (e->is_wrong || !end) {
		e->is_wrong = true;
		return (struct bytes){0};
	}
	e->at = end + 1;
	return bytes_of(start, (size_t)(end - start));
}

static struct result evaluate_number(struct evaluation *e)
{
	struct result result = {0};
	char *end;

	errno = 0;
	result.number = strtoull(e->at, &end, 0);
	if (errno)
		return field_names_fail(e);
	e->at = end + strspn(end, "uUlL");
	return field_names_is_word(*e->at) ? field_names_fail(e) : result;
}

static uint64_t evaluate_integer(struct evaluation *e)
{
	struct result result = field_names_evaluate(e);

	return result.is_text ? field_names_fail(e).number : result.number;
}

/* The part of a value whose names have not been written yet. */
struct rest {
	uint64_t value;
	bool is_flags, is_named; /* is_named: a name has been written */
	bool is_complete;	 /* no more names may follow */
	struct bytes separator;
};

static void field_names_put_name(struct evaluation *e, struct rest *rest, struct bytes name)
{
	if (rest->is_named)
		field_names_put(e, rest->separator);
	field_names_put(e, name);
	rest->is_named = true;
}

static void field_names_take_entry(struct evaluation *e, struct rest *rest)
{
	struct bytes name;
	uint64_t value;
	bool is_last;

	field_names_expect(e, "{");
	value = evaluate_integer(e);
	field_names_expect(e, ",");
	field_names_skip_spaces(e);
	/* The last entry may lack a name: "{ -1, ((void *)0) }". */
	is_last = *e->at != '"' && !evaluate_integer(e);
	name = is_last ? (struct bytes){0} : field_names_take_string(e);
	field_names_expect(e, "}");
	if (is_last || e->is_wrong)
		return;
	if (e->visit)
		e->visit(e->user, value, name);
	if (rest->is_complete ||
	    (rest->is_flags ? !value || (rest->value & value) != value : rest->value != value))
		return;
	field_names_put_name(e, rest, name);
	rest->value &= ~value;
	rest->is_complete = !rest->value;
}

/* Evaluates the arguments "REC->vec, { 0, "HI" }, { 1, "TIMER" })". Flags have
 * a separator after the value. */
static struct result evaluate_table(struct evaluation *e, bool is_flags)
{
	struct rest rest = {.value = evaluate_integer(e), .is_flags = is_flags};
	char digits[sizeof("0x") + 16];

	e->has_table = true;
	if (is_flags) {
		field_names_expect(e, ",");
		rest.separator = field_names_take_string(e);
		rest.is_complete = !rest.value;
	}
	while (!e->is_wrong && field_names_take(e, ","))
		field_names_take_entry(e, &rest);
	field_names_expect(e, ")");
	if (!rest.is_complete) {
		snprintf(digits, sizeof(digits), "0x%" PRIx64, rest.value);
		field_names_put_name(e, &rest, bytes_of(digits, strlen(digits)));
	}
	return (struct result){.is_text = true};
}

/* A parenthesis is a cast if it contains only words. */
static bool take_cast(struct evaluation *e)
{
	size_t words = strspn(e->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_ "
				     "0123456789*");

	if (e->at[words] != ')' || isdigit((unsigned char)e->at[strspn(e->at, " ")]))
		return false;
	e->at += words + 1;
	return true;
}

static struct result evaluate_parenthesis(struct evaluation *e)
{
	struct result result;

	if (take_cast(e))
		return evaluate_operand(e);
	result = field_names_evaluate(e);
	field_names_expect(e, ")");
	return result;
}

static struct result evaluate_field(struct evaluation *e)
{
	size_t len = strlen(e->field);

	if (!text_begins(e->at, e->field) || field_names_is_word(e->at[len]))
		return field_names_fail(e);
	e->at += len;
	e->uses_field = true;
	return (struct result){.number = e->value};
}

static struct result negate(struct evaluation *e, char sign)
{
	struct result result = evaluate_operand(e);

	if (result.is_text)
		return field_names_fail(e);
	result.number = sign == '~'   ? ~result.number
			: sign == '!' ? !result.number
				      : -result.number;
	return result;
}

static struct result evaluate_known(struct evaluation *e)
{
	field_names_skip_spaces(e);
	if (isdigit((unsigned char)*e->at))
		return evaluate_number(e);
	if (*e->at == '"') {
		field_names_put(e, field_names_take_string(e));
		return (struct result){.is_text = true};
	}
	if (*e->at == '~' || *e->at == '!' || *e->at == '-')
		return negate(e, *e->at++);
	if (field_names_take(e, "("))
		return evaluate_parenthesis(e);
	if (field_names_take(e, "REC->"))
		return evaluate_field(e);
	if (field_names_take(e, "__print_symbolic("))
		return evaluate_table(e, false);
	if (field_names_take(e, "__print_flags("))
		return evaluate_table(e, true);
	return field_names_fail(e);
}

static struct result evaluate_operand(struct evaluation *e)
{
	struct result result;

	if (e->is_wrong || e->depth == FIELD_NAMES_DEPTH_MAX)
		return field_names_fail(e);
	e->depth++;
	result = evaluate_known(e);
	e->depth--;
	return result;
}

enum operation {
	OR,
	AND,
	BIT_OR,
	BIT_AND,
	EQ,
	NE,
	LE,
	GE,
	LEFT,
	LT,
	GT,
	ADD,
	SUB,
};

static uint64_t compute(enum operation operation, uint64_t a, uint64_t b)
{
	switch (operation) {
	case OR:
		return a || b;
	case AND:
		return a && b;
	case BIT_OR:
		return a | b;
	case BIT_AND:
		return a & b;
	case EQ:
		return a == b;
	case NE:
		return a != b;
	case LE:
		return a <= b;
	case GE:
		return a >= b;
	case LT:
		return a < b;
	case GT:
		return a > b;
	case LEFT:
		return b < 64 ? a << b : 0;
	case ADD:
		return a + b;
	case SUB:
		return a - b;
	}
	return 0;
}

/* Takes an operator of at least this priority. */
static bool field_names_take_operator(struct evaluation *e, unsigned *priority, enum operation *ret)
{
	/* Longer operators must come first. Right shifts are not supported: a
	 * shift selects a part of a field (such as the class of a priority),
	 * whose name is not the field's. */
	static const struct {
		const char *literal;
		unsigned priority;
		enum operation operation;
	} operators[] = {
		{"||", 1, OR}, {"&&", 2, AND}, {"==", 6, EQ},	 {"!=", 6, NE},	    {"<<", 8, LEFT},
		{"<=", 7, LE}, {">=", 7, GE},  {"|", 3, BIT_OR}, {"&", 5, BIT_AND}, {"<", 7, LT},
		{">", 7, GT},  {"+", 9, ADD},  {"-", 9, SUB},
	};

	field_names_skip_spaces(e);
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		if (!text_begins(e->at, operators[i].literal))
			continue;
		if (operators[i].priority < *priority)
			return false;
		e->at += strlen(operators[i].literal);
		*priority = operators[i].priority;
		*ret = operators[i].operation;
		return true;
	}
	return false;
}

static struct result evaluate_operators(struct evaluation *e, unsigned priority)
{
	struct result left = evaluate_operand(e);
	unsigned found = priority;
	enum operation operation;

	while (!e->is_wrong && field_names_take_operator(e, &found, &operation)) {
		struct result right = evaluate_operators(e, found + 1);

		if (left.is_text || right.is_text)
			return field_names_fail(e);
		left.number = compute(operation, left.number, right.number);
		found = priority;
	}
	return left;
}

static struct result evaluate_branch(struct evaluation *e, bool is_taken)
{
	bool was_quiet = e->is_quiet;
	struct result result;

	e->is_quiet |= !is_taken;
	result = field_names_evaluate(e);
	e->is_quiet = was_quiet;
	return result;
}

static struct result evaluate_condition(struct evaluation *e)
{
	struct result result = evaluate_operators(e, 1), yes, no;

	if (e->is_wrong || !field_names_take(e, "?"))
		return result;
	yes = evaluate_branch(e, result.number);
	field_names_expect(e, ":");
	no = evaluate_branch(e, !result.number);
	if (result.is_text || yes.is_text != no.is_text)
		return field_names_fail(e);
	return result.number ? yes : no;
}

static struct result field_names_evaluate(struct evaluation *e)
{
	struct result result;

	if (e->is_wrong || e->depth == FIELD_NAMES_DEPTH_MAX)
		return field_names_fail(e);
	e->depth++;
	result = evaluate_condition(e);
	e->depth--;
	return result;
}

/* Returns the comma after the argument, or the end of the text. */
static const char *end_of_argument(const char *at)
{
	unsigned depth = 0;

	for (; *at && (depth || *at != ','); at++) {
		if (*at == '"') {
			at = strchr(at + 1, '"');
			if (!at)
				return "";
		}
		if (*at == '(' || *at == '{')
			depth++;
		else if ((*at == ')' || *at == '}') && depth)
			depth--;
	}
	return at;
}

/* Returns the conversion ("%s") of the argument with this index, counted from
 * 0, or NULL. */
static const char *find_conversion(const char *format, const char *end, size_t argument)
{
	for (const char *at = format; at < end; at++) {
		size_t arguments = 1;

		if (*at != '%')
			continue;
		if (at[1] == '%') {
			at++;
			continue;
		}
		for (size_t i = 1, len = strspn(at + 1, "-+ #0123456789.*"); i <= len; i++)
			arguments += at[i] == '*';
		if (argument < arguments)
			return at;
		argument -= arguments;
	}
	return NULL;
}

/* Returns whether the conversion is preceded by "NAME=". */
static bool field_names_is_called(const char *format, const char *conversion, const char *name)
{
	size_t len = strlen(name);

	return (size_t)(conversion - format) > len + 1 && conversion[-1] == '=' &&
	       !strncmp(conversion - len - 1, name, len) &&
	       !field_names_is_word(conversion[-(ptrdiff_t)len - 2]);
}

/* Returns whether the argument is a string that depends only on this field. A
 * condition may depend on a part of the field, unless the field's name is
 * printed before it. */
static bool field_names_is_name(const char *argument, const char *field, bool is_called)
{
	struct evaluation e = {.at = argument, .field = field};
	struct result result = field_names_evaluate(&e);

	field_names_skip_spaces(&e);
	return !e.is_wrong && result.is_text && e.uses_field && (e.has_table || is_called) &&
	       (!*e.at || *e.at == ',');
}

struct field_names field_names_of(const struct tracepoint_format *format,
				  const struct tracepoint_field *field)
{
	struct field_names names = {.field = field->name};
	const char *text = format->print, *end, *at;
	bool follows = false; /* the argument is printed directly after a name */

	if (!text || field->kind != FIELD_NUMBER)
		return (struct field_names){0};
	at = end = end_of_argument(text);
	for (size_t i = 0; *at && names.count < ADJACENT_MAX; i++) {
		const char *argument = at + 1, *conversion = find_conversion(text, end, i);

		if (!conversion)
			break;
		at = end_of_argument(argument);
		if (field_names_is_name(
			    argument, field->name,
			    follows || field_names_is_called(text, conversion, field->name))) {
			if (!names.count++)
				names.arguments = argument;
			follows = text_begins(conversion, "%s%s");
		} else {
			follows = false;
		}
		if (names.count && !follows)
			break;
	}
	return names;
}

static size_t write_arguments(const struct field_names *names, struct evaluation *e)
{
	e->field = names->field;
	e->at = names->arguments;
	for (unsigned i = 0; i < names->count && !e->is_wrong; i++) {
		field_names_evaluate(e);
		field_names_take(e, ",");
	}
	return e->is_wrong ? 0 : e->len;
}

size_t field_names_write(const struct field_names *names, uint64_t value, char *text, size_t size)
{
	struct evaluation e = {.value = value, .text = text, .size = size};

	return write_arguments(names, &e);
}

struct field_names_search {
	struct bytes name;
	uint64_t value;
	bool is_found;
};

static bool field_names_are_equal(struct bytes a, struct bytes b)
{
	size_t len = bytes_left(&a);

	return len && len == bytes_left(&b) && !memcmp(a.at, b.at, len);
}

static void field_names_compare(void *user, uint64_t value, struct bytes name)
{
	struct field_names_search *search = user;

	if (search->is_found || !field_names_are_equal(name, search->name))
		return;
	search->value = value;
	search->is_found = true;
}

bool field_names_find(const struct field_names *names, struct bytes name, uint64_t *ret)
{
	char zero[NAME_BYTES_MAX];
	struct field_names_search search = {.name = name};
	struct evaluation e = {
		.text = zero, .size = sizeof(zero), .visit = field_names_compare, .user = &search};

	field_names_compare(&search, 0, bytes_of(zero, write_arguments(names, &e)));
	*ret = search.value;
	return search.is_found;
}

static void field_names_list_one(void *user, uint64_t value, struct bytes name)
{
	FILE *out = user;

	(void)value;
	fprintf(out, "%s%.*s", ftell(out) ? ", " : "", (int)bytes_left(&name),
		(const char *)name.at);
}

char *field_names_list(const struct field_names *names)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct evaluation e = {.visit = field_names_list_one, .user = out};

	write_arguments(names, &e);
	fclose(out);
	return text;
}
