#include "perf/field_names.h"

#include "base/alloc.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	DEPTH_MAX = 128,     /* of expressions; the kernel's nest 20 deep */
	ADJACENT_MAX = 4,    /* arguments */
	NAME_BYTES_MAX = 64, /* of one value in a table */
};

/* An entry of a table. */
typedef void visit_name(void *user, uint64_t value, struct bytes name);

/* Of one argument, for one value of the field. */
struct evaluation {
	const char *at; /* NUL-terminated */
	const char *field;
	uint64_t value; /* of the field */
	bool uses_field, has_table;
	bool is_wrong; /* it cannot be understood; what was computed means nothing */
	bool is_quiet; /* in a branch that is not taken */
	unsigned depth;
	char *text;
	size_t len, size;
	visit_name *visit; /* NULL: nobody */
	void *user;
};

/* A text is written into the evaluation's. */
struct result {
	bool is_text;
	uint64_t number;
};

static struct result evaluate(struct evaluation *e);
static struct result evaluate_operand(struct evaluation *e);

static struct result fail(struct evaluation *e)
{
	e->is_wrong = true;
	return (struct result){0};
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void skip_spaces(struct evaluation *e)
{
	while (isspace((unsigned char)*e->at))
		e->at++;
}

static bool take(struct evaluation *e, const char *literal)
{
	skip_spaces(e);
	if (!text_begins(e->at, literal))
		return false;
	e->at += strlen(literal);
	return true;
}

static void expect(struct evaluation *e, const char *literal)
{
	if (!take(e, literal))
		e->is_wrong = true;
}

static void put(struct evaluation *e, struct bytes text)
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

/* Between quotes; it has no escapes that matter. */
static struct bytes take_string(struct evaluation *e)
{
	const char *start, *end;

	expect(e, "\"");
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
		return fail(e);
	e->at = end + strspn(end, "uUlL");
	return is_word(*e->at) ? fail(e) : result;
}

static uint64_t evaluate_integer(struct evaluation *e)
{
	struct result result = evaluate(e);

	return result.is_text ? fail(e).number : result.number;
}

/* What is left of a value while its names are written. */
struct rest {
	uint64_t value;
	bool is_flags, is_named; /* a name has been written */
	bool is_complete;	 /* no name follows */
	struct bytes separator;
};

static void put_name(struct evaluation *e, struct rest *rest, struct bytes name)
{
	if (rest->is_named)
		put(e, rest->separator);
	put(e, name);
	rest->is_named = true;
}

static void take_entry(struct evaluation *e, struct rest *rest)
{
	struct bytes name;
	uint64_t value;
	bool is_last;

	expect(e, "{");
	value = evaluate_integer(e);
	expect(e, ",");
	skip_spaces(e);
	/* The last entry may lack a name: "{ -1, ((void *)0) }". */
	is_last = *e->at != '"' && !evaluate_integer(e);
	name = is_last ? (struct bytes){0} : take_string(e);
	expect(e, "}");
	if (is_last || e->is_wrong)
		return;
	if (e->visit)
		e->visit(e->user, value, name);
	if (rest->is_complete ||
	    (rest->is_flags ? !value || (rest->value & value) != value : rest->value != value))
		return;
	put_name(e, rest, name);
	rest->value &= ~value;
	rest->is_complete = !rest->value;
}

/* "REC->vec, { 0, "HI" }, { 1, "TIMER" })"; flags have a separator after the value. */
static struct result evaluate_table(struct evaluation *e, bool is_flags)
{
	struct rest rest = {.value = evaluate_integer(e), .is_flags = is_flags};
	char digits[sizeof("0x") + 16];

	e->has_table = true;
	if (is_flags) {
		expect(e, ",");
		rest.separator = take_string(e);
		rest.is_complete = !rest.value;
	}
	while (!e->is_wrong && take(e, ","))
		take_entry(e, &rest);
	expect(e, ")");
	if (!rest.is_complete) {
		snprintf(digits, sizeof(digits), "0x%" PRIx64, rest.value);
		put_name(e, &rest, bytes_of(digits, strlen(digits)));
	}
	return (struct result){.is_text = true};
}

/* A parenthesis is a cast if it holds words alone. */
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
	result = evaluate(e);
	expect(e, ")");
	return result;
}

static struct result evaluate_field(struct evaluation *e)
{
	size_t len = strlen(e->field);

	if (!text_begins(e->at, e->field) || is_word(e->at[len]))
		return fail(e);
	e->at += len;
	e->uses_field = true;
	return (struct result){.number = e->value};
}

static struct result negate(struct evaluation *e, char sign)
{
	struct result result = evaluate_operand(e);

	if (result.is_text)
		return fail(e);
	result.number = sign == '~'   ? ~result.number
			: sign == '!' ? !result.number
				      : -result.number;
	return result;
}

static struct result evaluate_known(struct evaluation *e)
{
	skip_spaces(e);
	if (isdigit((unsigned char)*e->at))
		return evaluate_number(e);
	if (*e->at == '"') {
		put(e, take_string(e));
		return (struct result){.is_text = true};
	}
	if (*e->at == '~' || *e->at == '!' || *e->at == '-')
		return negate(e, *e->at++);
	if (take(e, "("))
		return evaluate_parenthesis(e);
	if (take(e, "REC->"))
		return evaluate_field(e);
	if (take(e, "__print_symbolic("))
		return evaluate_table(e, false);
	if (take(e, "__print_flags("))
		return evaluate_table(e, true);
	return fail(e);
}

static struct result evaluate_operand(struct evaluation *e)
{
	struct result result;

	if (e->is_wrong || e->depth == DEPTH_MAX)
		return fail(e);
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

/* Takes an operator that binds at least so tightly. */
static bool take_operator(struct evaluation *e, unsigned *priority, enum operation *ret)
{
	/* Longer ones first. A shift to the right shows a part of a field (the class of a
	 * priority), which is not the field's name. */
	static const struct {
		const char *literal;
		unsigned priority;
		enum operation operation;
	} operators[] = {
		{"||", 1, OR}, {"&&", 2, AND}, {"==", 6, EQ},	 {"!=", 6, NE},	    {"<<", 8, LEFT},
		{"<=", 7, LE}, {">=", 7, GE},  {"|", 3, BIT_OR}, {"&", 5, BIT_AND}, {"<", 7, LT},
		{">", 7, GT},  {"+", 9, ADD},  {"-", 9, SUB},
	};

	skip_spaces(e);
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

	while (!e->is_wrong && take_operator(e, &found, &operation)) {
		struct result right = evaluate_operators(e, found + 1);

		if (left.is_text || right.is_text)
			return fail(e);
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
	result = evaluate(e);
	e->is_quiet = was_quiet;
	return result;
}

static struct result evaluate_condition(struct evaluation *e)
{
	struct result result = evaluate_operators(e, 1), yes, no;

	if (e->is_wrong || !take(e, "?"))
		return result;
	yes = evaluate_branch(e, result.number);
	expect(e, ":");
	no = evaluate_branch(e, !result.number);
	if (result.is_text || yes.is_text != no.is_text)
		return fail(e);
	return result.number ? yes : no;
}

static struct result evaluate(struct evaluation *e)
{
	struct result result;

	if (e->is_wrong || e->depth == DEPTH_MAX)
		return fail(e);
	e->depth++;
	result = evaluate_condition(e);
	e->depth--;
	return result;
}

/* The comma after the argument, or the end of the text. */
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

/* The conversion of an argument that is counted from 0, "%s"; NULL: there is none. */
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

/* Whether "NAME=" is before the conversion. */
static bool is_called(const char *format, const char *conversion, const char *name)
{
	size_t len = strlen(name);

	return (size_t)(conversion - format) > len + 1 && conversion[-1] == '=' &&
	       !strncmp(conversion - len - 1, name, len) &&
	       !is_word(conversion[-(ptrdiff_t)len - 2]);
}

/* Whether it is a text of this field alone. A condition can be about a part of the field, unless it
 * is printed by the field's name. */
static bool is_name(const char *argument, const char *field, bool is_called)
{
	struct evaluation e = {.at = argument, .field = field};
	struct result result = evaluate(&e);

	skip_spaces(&e);
	return !e.is_wrong && result.is_text && e.uses_field && (e.has_table || is_called) &&
	       (!*e.at || *e.at == ',');
}

struct field_names field_names_of(const struct tracepoint_format *format,
				  const struct tracepoint_field *field)
{
	struct field_names names = {.field = field->name};
	const char *text = format->print, *end, *at;
	bool follows = false; /* the argument is printed right after a name */

	if (!text || field->kind != FIELD_NUMBER)
		return (struct field_names){0};
	at = end = end_of_argument(text);
	for (size_t i = 0; *at && names.count < ADJACENT_MAX; i++) {
		const char *argument = at + 1, *conversion = find_conversion(text, end, i);

		if (!conversion)
			break;
		at = end_of_argument(argument);
		if (is_name(argument, field->name,
			    follows || is_called(text, conversion, field->name))) {
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
		evaluate(e);
		take(e, ",");
	}
	return e->is_wrong ? 0 : e->len;
}

size_t field_names_write(const struct field_names *names, uint64_t value, char *text, size_t size)
{
	struct evaluation e = {.value = value, .text = text, .size = size};

	return write_arguments(names, &e);
}

struct search {
	struct bytes name;
	uint64_t value;
	bool is_found;
};

static bool are_equal(struct bytes a, struct bytes b)
{
	size_t len = bytes_left(&a);

	return len && len == bytes_left(&b) && !memcmp(a.at, b.at, len);
}

static void compare(void *user, uint64_t value, struct bytes name)
{
	struct search *search = user;

	if (search->is_found || !are_equal(name, search->name))
		return;
	search->value = value;
	search->is_found = true;
}

bool field_names_find(const struct field_names *names, struct bytes name, uint64_t *ret)
{
	char zero[NAME_BYTES_MAX];
	struct search search = {.name = name};
	struct evaluation e = {
		.text = zero, .size = sizeof(zero), .visit = compare, .user = &search};

	compare(&search, 0, bytes_of(zero, write_arguments(names, &e)));
	*ret = search.value;
	return search.is_found;
}

static void list(void *user, uint64_t value, struct bytes name)
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
	struct evaluation e = {.visit = list, .user = out};

	write_arguments(names, &e);
	fclose(out);
	return text;
}
