#include "report/short_type.h"

#include <stdint.h>
#include <string.h>

/* The maximum size of a type's arguments in bytes. */
enum { MOST_ARGUMENTS = 20 };

static bool is_primitive(struct span word)
{
	static const char *const names[] = {"u8",   "u16",	"u32",	"u64",	 "u128",  "usize",
					    "i8",   "i16",	"i32",	"i64",	 "i128",  "isize",
					    "f16",  "f32",	"f64",	"f128",	 "bool",  "char",
					    "str",  "int",	"long", "short", "float", "double",
					    "void", "unsigned", "_",	"!",	 NULL};

	return span_is_one_of(word, names);
}

bool short_type_is_parameter(struct span type)
{
	for (const char *at = type.at; at < type.end; at++)
		if (!name_is_word(*at))
			return false;
	return span_bytes(type) && !is_primitive(type) && !(*type.at >= '0' && *type.at <= '9');
}

/* Returns whether the type is a default that C++ or Rust adds. */
static bool is_default(struct span type)
{
	static const char *const names[] = {"std::allocator<",
					    "std::char_traits<",
					    "std::less<",
					    "std::hash<",
					    "std::equal_to<",
					    "std::default_delete<",
					    "alloc::alloc::Global",
					    "&alloc::alloc::Global",
					    "std::hash::random::RandomState",
					    "'",
					    NULL};

	for (size_t i = 0; names[i]; i++)
		if (span_begins(type, names[i]))
			return true;
	return false;
}

/* Moves at past the word or the brackets, and past the arguments of a word. */
static struct name_part take_segment(struct span *at)
{
	struct name_part segment = {{at->at, at->at}, {at->at, at->at}};
	bool is_group = *at->at == '<' || *at->at == '{';
	size_t group = is_group ? name_bracket_bytes(*at) : 0;

	at->at += group ? group : is_group;
	while (!group && at->at < at->end && name_is_word(*at->at))
		at->at++;
	segment.word.end = segment.args.at = at->at;
	if (!is_group && span_begins(*at, "<"))
		at->at += name_bracket_bytes(*at);
	segment.args.end = at->at;
	return segment;
}

/*
 * Returns the last part of "std::vector<int>" and moves at past the whole path.
 */
static struct name_part take_type_path(struct span *at)
{
	struct name_part last = take_segment(at);

	while (span_begins(*at, "::")) {
		struct name_part segment;

		at->at += 2;
		if (at->at == at->end)
			break;
		segment = take_segment(at);
		if (span_bytes(segment.word) && *segment.word.at != '<')
			last = segment;
	}
	return last;
}

void short_type_add_closure(struct name_text *text, struct span word)
{
	const char *open, *close;

	if (span_begins(word, "{{") && span_bytes(word) > 4)
		word = (struct span){word.at + 1, word.end - 1};
	open = memchr(word.at, '(', span_bytes(word));
	close = open ? memrchr(open, ')', (size_t)(word.end - open)) : NULL;
	if (!close) {
		name_text_add_span(text, word);
		return;
	}
	name_text_add_span(text, (struct span){word.at, open});
	name_text_add_span(text, (struct span){close + 1, word.end});
}

bool short_type_is_string(const struct name_part *type)
{
	return span_is(type->word, "basic_string") && span_begins(type->args, "<char");
}

static void short_type_add_list(struct name_text *text, struct span args, bool is_rust, bool nested,
				size_t most);

void short_type_add(struct name_text *text, struct span types, bool is_rust, bool nested)
{
	while (types.at < types.end) {
		const char *start = types.at;
		struct name_part type;

		if (!name_is_word(*start) && *start != '<' && *start != '{') {
			types.at++;
			name_text_add_span(text, (struct span){start, types.at});
			continue;
		}
		type = take_type_path(&types);
		if (short_type_is_string(&type))
			name_text_add(text, "string");
		else if (span_begins(type.word, "{"))
			short_type_add_closure(text, type.word);
		else
			name_text_add_span(text, type.word);
		if (nested && !short_type_is_string(&type))
			short_type_add_list(text, type.args, is_rust, true, SIZE_MAX);
		if (types.at == start)
			types.at++;
	}
}

static bool says_something(struct span argument, bool is_rust)
{
	return span_bytes(argument) && !span_is(argument, "_") && !is_default(argument) &&
	       !(is_rust && short_type_is_parameter(argument));
}

/*
 * Adds "<…>", or nothing if no argument is informative or the list takes more
 * than `most` bytes.
 */
static void short_type_add_list(struct name_text *text, struct span args, bool is_rust, bool nested,
				size_t most)
{
	size_t before = text->len, first;

	if (span_bytes(args) < 2)
		return;
	args = (struct span){args.at + 1, args.end - 1};
	name_text_add(text, "<");
	first = text->len;
	while (args.at < args.end) {
		struct span argument = name_take_item(&args);

		if (!says_something(argument, is_rust))
			continue;
		if (text->len > first)
			name_text_add(text, ", ");
		short_type_add(text, argument, is_rust, nested);
	}
	if (text->len == first || text->len - first > most)
		name_text_cut(text, before);
	else
		name_text_add(text, ">");
}

void short_type_add_arguments(struct name_text *text, struct span args, bool is_rust, bool all)
{
	size_t before = text->len;

	short_type_add_list(text, args, is_rust, true, all ? SIZE_MAX : MOST_ARGUMENTS);
	if (text->len == before)
		short_type_add_list(text, args, is_rust, false, MOST_ARGUMENTS);
}
