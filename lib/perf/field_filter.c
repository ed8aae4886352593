#include "perf/field_filter.h"

#include "base/alloc.h"
#include "base/text.h"
#include "perf/field_names.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Same nesting limit as the kernel's. */
enum { FIELD_FILTER_DEPTH_MAX = 64 };

struct field_filter_check {
	const char *text, *at;
	const char *tracepoint;
	const struct tracepoint_format *format;
	unsigned depth;
	FILE *out;	    /* stream of the translation */
	const char *copied; /* end of the part that was already written to `out` */
};

static struct error *check_or(struct field_filter_check *check);

static void field_filter_skip_spaces(struct field_filter_check *check)
{
	while (isspace((unsigned char)*check->at))
		check->at++;
}

/* Adds a hint with a caret. Takes ownership of err. */
static struct error *point(const struct field_filter_check *check, const char *at,
			   struct error *err)
{
	CLEANUP(free_ptr) char *names = tracepoint_format_names(check->format);

	return error_hint(err, "%s\n%*s^\nfields of %s: %s", check->text, (int)(at - check->text),
			  "", check->tracepoint, names);
}

static bool field_filter_take(struct field_filter_check *check, const char *word)
{
	field_filter_skip_spaces(check);
	if (!text_begins(check->at, word))
		return false;
	check->at += strlen(word);
	return true;
}

static size_t field_filter_name_len(const char *at)
{
	size_t len = 0;

	while (isalnum((unsigned char)at[len]) || at[len] == '_')
		len++;
	return len;
}

/* Finds a field that every tracepoint has, in addition to those of its
 * format. */
static const struct tracepoint_field *find_general(const char *name)
{
	static char cpu[] = "CPU", command[] = "COMM";
	static const struct tracepoint_field fields[] = {
		{.name = cpu, .kind = FIELD_NUMBER, .bytes = 4},
		{.name = command, .kind = FIELD_TEXT},
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (!strcasecmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

static struct error *field_filter_take_field(struct field_filter_check *check,
					     const struct tracepoint_field **ret, bool *has_suffix)
{
	const char *start = check->at;
	size_t len = field_filter_name_len(start);
	CLEANUP(free_ptr) char *name = xstrndup(start, len);

	if (!len)
		return point(check, start, error_new("a field is missing here"));
	*ret = tracepoint_format_find(check->format, name);
	if (!*ret)
		*ret = find_general(name);
	if (!*ret)
		return point(check, start,
			     error_new("%s has no field %s", check->tracepoint, name));
	check->at += len;
	*has_suffix = *check->at == '.'; /* .ustring, .function: Linux 5.16, 6.1 */
	if (*has_suffix)
		check->at += 1 + field_filter_name_len(check->at + 1);
	return NULL;
}

enum operator_kind { FOR_BOTH, FOR_NUMBERS, FOR_TEXTS };

static struct error *field_filter_take_operator(struct field_filter_check *check,
						enum operator_kind *ret)
{
	/* Longer operators must come first. */
	static const struct {
		const char *word;
		enum operator_kind kind;
	} operators[] = {
		{"==", FOR_BOTH},   {"!=", FOR_BOTH},	{"<=", FOR_NUMBERS}, {">=", FOR_NUMBERS},
		{"<", FOR_NUMBERS}, {">", FOR_NUMBERS}, {"~", FOR_TEXTS},
	};

	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		if (!field_filter_take(check, operators[i].word))
			continue;
		*ret = operators[i].kind;
		return NULL;
	}
	*ret = FOR_NUMBERS;
	field_filter_skip_spaces(check);
	if (check->at[0] == '&' && check->at[1] != '&') {
		check->at++;
		return NULL;
	}
	return point(check, check->at,
		     error_new("an operator is missing here (== != < <= > >= & ~)"));
}

static struct error *field_filter_take_string(struct field_filter_check *check)
{
	const char *start = check->at, *end;

	if (*start != '"' && *start != '\'')
		return point(check, start, error_new("a string is compared with a quoted value"));
	end = strchr(start + 1, *start);
	if (!end)
		return point(check, start, error_new("the string lacks its second quote"));
	check->at = end + 1;
	return NULL;
}

static struct error *no_such_value(const struct field_filter_check *check, const char *start,
				   struct bytes name, const struct tracepoint_field *field,
				   const struct field_names *names)
{
	CLEANUP(free_ptr) char *list = field_names_list(names);
	struct error *err = error_new("%s has no value %.*s", field->name, (int)bytes_left(&name),
				      (const char *)name.at);

	return error_hint(err, "%s\n%*s^\nvalues of %s: numbers, %s", check->text,
			  (int)(start - check->text), "", field->name, list);
}

/* Takes a word or a quoted string. */
static struct error *field_filter_take_name(struct field_filter_check *check,
					    const struct tracepoint_field *field)
{
	struct field_names names = field_names_of(check->format, field);
	const char *start = check->at;
	bool is_quoted = *start == '"' || *start == '\'';
	struct bytes name = bytes_of(start, field_filter_name_len(start));
	struct error *err = is_quoted ? field_filter_take_string(check) : NULL;
	uint64_t value;

	if (err)
		return err;
	if (is_quoted)
		name = bytes_of(start + 1, (size_t)(check->at - start) - 2);
	else
		check->at += bytes_left(&name);
	if (!names.count || !bytes_left(&name))
		return point(check, start, error_new("a number is compared with a number"));
	if (!field_names_find(&names, name, &value))
		return no_such_value(check, start, name, field, &names);
	fprintf(check->out, "%.*s%" PRIu64, (int)(start - check->copied), check->copied, value);
	check->copied = check->at;
	return NULL;
}

static struct error *field_filter_take_number(struct field_filter_check *check,
					      const struct tracepoint_field *field)
{
	const char *start = check->at;
	char *end = NULL;

	if (!isdigit((unsigned char)*start) && *start != '-')
		return field_filter_take_name(check, field);
	errno = 0;
	if (*start == '-')
		strtoll(start, &end, 0);
	else
		strtoull(start, &end, 0);
	if (errno || end == start || field_filter_name_len(end))
		return point(check, start, error_new("this is not a number of 64 bits"));
	check->at = end;
	return NULL;
}

static struct error *check_comparison(struct field_filter_check *check)
{
	const struct tracepoint_field *field = NULL;
	const char *operator_at;
	enum operator_kind kind = FOR_BOTH;
	bool has_suffix = false, is_text;
	struct error *err = field_filter_take_field(check, &field, &has_suffix);

	field_filter_skip_spaces(check);
	operator_at = check->at;
	if (!err)
		err = field_filter_take_operator(check, &kind);
	if (err)
		return err;
	field_filter_skip_spaces(check);
	/* The kernel checks field suffixes and CPU masks (CPUS{0-3}). */
	if (has_suffix || text_begins(check->at, "CPUS{")) {
		check->at += strcspn(check->at, "&|)");
		return NULL;
	}
	is_text = field->kind == FIELD_TEXT || (field->is_pointer && *check->at == '"');
	if (field->kind == FIELD_BYTES)
		return point(check, operator_at,
			     error_new("%s is an array, which cannot be compared", field->name));
	if (kind == (is_text ? FOR_NUMBERS : FOR_TEXTS))
		return point(check, operator_at,
			     error_new("%s is a %s, which does not have this operator", field->name,
				       is_text ? "string" : "number"));
	return is_text ? field_filter_take_string(check) : field_filter_take_number(check, field);
}

static struct error *check_term(struct field_filter_check *check)
{
	const char *start;
	struct error *err;

	while (field_filter_take(check, "!"))
		continue;
	start = check->at;
	if (!field_filter_take(check, "("))
		return check_comparison(check);
	if (++check->depth > FIELD_FILTER_DEPTH_MAX)
		return point(check, start, error_new("parentheses are nested too deeply"));
	err = check_or(check);
	check->depth--;
	if (err || field_filter_take(check, ")"))
		return err;
	return point(check, start, error_new("the parenthesis is not closed"));
}

static struct error *check_and(struct field_filter_check *check)
{
	struct error *err = check_term(check);

	while (!err && field_filter_take(check, "&&"))
		err = check_term(check);
	return err;
}

static struct error *check_or(struct field_filter_check *check)
{
	struct error *err = check_and(check);

	while (!err && field_filter_take(check, "||"))
		err = check_and(check);
	return err;
}

struct error *field_filter_translate(const char *filter, const char *tracepoint,
				     const struct tracepoint_format *format, char **ret)
{
	CLEANUP(free_ptr) char *translation = NULL;
	size_t len;
	struct field_filter_check check = {.text = filter,
					   .at = filter,
					   .copied = filter,
					   .tracepoint = tracepoint,
					   .format = format,
					   .out = open_memstream(&translation, &len)};
	struct error *err = check_or(&check);

	field_filter_skip_spaces(&check);
	if (!err && *check.at)
		err = point(&check, check.at, error_new("&& or || is missing here"));
	fputs(check.copied, check.out);
	fclose(check.out);
	if (err)
		return error_wrap(err, "the filter of %s", tracepoint);
	*ret = STEAL(translation);
	return NULL;
}
