#include "report/short_name.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "report/name_parts.h"

#include <stdint.h>
#include <string.h>

enum {
	/* Longer names stay as they are: the time for some texts grows with the square. */
	LONGEST = 8 * 1024,
	/* Arguments of a type that are shown. */
	MOST_ARGUMENTS = 20,
};

struct text {
	char *chars;
	size_t len, room;
};

static void add_span(struct text *text, struct span span)
{
	size_t len = span_bytes(span);

	if (text->room - text->len <= len) {
		text->room = 2 * text->room + len + 64;
		text->chars = xreallocarray(text->chars, text->room, 1);
	}
	if (len)
		memcpy(text->chars + text->len, span.at, len);
	text->len += len;
	text->chars[text->len] = '\0';
}

static struct span span_of(const char *text)
{
	return (struct span){text, text + strlen(text)};
}

static void add(struct text *text, const char *more)
{
	add_span(text, span_of(more));
}

static bool is_one_of(struct span span, const char *const *words)
{
	for (; *words; words++)
		if (span_is(span, *words))
			return true;
	return false;
}

static bool is_std_crate(struct span word)
{
	static const char *const crates[] = {"core", "alloc", "std", NULL};

	return is_one_of(word, crates);
}

/* Namespaces that are in names for the linker's sake. */
static bool is_inline_namespace(struct span word)
{
	static const char *const names[] = {"__cxx11", "__1", "__ndk1", "_V2", "__rustc", NULL};

	return is_one_of(word, names);
}

static bool is_primitive(struct span word)
{
	static const char *const names[] = {"u8",   "u16",	"u32",	"u64",	 "u128",  "usize",
					    "i8",   "i16",	"i32",	"i64",	 "i128",  "isize",
					    "f16",  "f32",	"f64",	"f128",	 "bool",  "char",
					    "str",  "int",	"long", "short", "float", "double",
					    "void", "unsigned", "_",	"!",	 NULL};

	return is_one_of(word, names);
}

/* "T": a type parameter, which Rust's older mangling does not fill in. Types have paths. */
static bool is_parameter(struct span type)
{
	for (const char *at = type.at; at < type.end; at++)
		if (!name_is_word(*at))
			return false;
	return span_bytes(type) && !is_primitive(type) && !(*type.at >= '0' && *type.at <= '9');
}

/* What C++ and Rust fill in where the program says nothing. */
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

/* Of "std::vector<int>" the last part; at is moved past all of it. */
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

/* "{{closure}}" → "{closure}"; "{lambda(int)#1}" → "{lambda#1}". */
static void add_closure(struct text *text, struct span word)
{
	const char *open, *close;

	if (span_begins(word, "{{") && span_bytes(word) > 4)
		word = (struct span){word.at + 1, word.end - 1};
	open = memchr(word.at, '(', span_bytes(word));
	close = open ? memrchr(open, ')', (size_t)(word.end - open)) : NULL;
	if (!close) {
		add_span(text, word);
		return;
	}
	add_span(text, (struct span){word.at, open});
	add_span(text, (struct span){close + 1, word.end});
}

/* "basic_string<char>" is std::string. */
static bool leave_out_characters(struct name_part *type)
{
	if (!span_is(type->word, "basic_string") || !span_begins(type->args, "<char"))
		return false;
	type->args = (struct span){0};
	return true;
}

static void add_list(struct text *text, struct span args, bool is_rust, bool nested, size_t most);

/*
 * Types, each with its own name alone: "&[Item]", "dyn Fn(u64)", "char const*"; nested: with their
 * arguments, "Vec<Item>". Brackets limit how deep this goes.
 */
static void add_types(struct text *text, struct span types, bool is_rust, bool nested)
{
	while (types.at < types.end) {
		const char *start = types.at;
		struct name_part type;

		if (!name_is_word(*start) && *start != '<' && *start != '{') {
			types.at++;
			add_span(text, (struct span){start, types.at});
			continue;
		}
		type = take_type_path(&types);
		if (leave_out_characters(&type))
			add(text, "string");
		else if (span_begins(type.word, "{"))
			add_closure(text, type.word);
		else
			add_span(text, type.word);
		if (nested)
			add_list(text, type.args, is_rust, true, SIZE_MAX);
		if (types.at == start)
			types.at++;
	}
}

static bool says_something(struct span argument, bool is_rust)
{
	return span_bytes(argument) && !span_is(argument, "_") && !is_default(argument) &&
	       !(is_rust && is_parameter(argument));
}

/* "<…>"; nothing if no argument says something, or if it takes more than `most` bytes. */
static void add_list(struct text *text, struct span args, bool is_rust, bool nested, size_t most)
{
	size_t before = text->len, first;

	if (span_bytes(args) < 2)
		return;
	args = (struct span){args.at + 1, args.end - 1};
	add(text, "<");
	first = text->len;
	while (args.at < args.end) {
		struct span argument = name_take_item(&args);

		if (!says_something(argument, is_rust))
			continue;
		if (text->len > first)
			add(text, ", ");
		add_types(text, argument, is_rust, nested);
	}
	if (text->len == first || text->len - first > most)
		text->chars[text->len = before] = '\0';
	else
		add(text, ">");
}

/* The arguments of a type, with theirs if they are short. */
static void add_arguments(struct text *text, struct span args, bool is_rust,
			  enum name_generics generics)
{
	size_t before = text->len;

	if (generics == GENERICS_NONE)
		return;
	add_list(text, args, is_rust, true, generics == GENERICS_ALL ? SIZE_MAX : MOST_ARGUMENTS);
	if (text->len == before)
		add_list(text, args, is_rust, false, MOST_ARGUMENTS);
}

struct naming {
	struct text text;
	enum name_generics generics;
	bool is_rust;
};

static void add_joint(struct text *text)
{
	if (text->len)
		add(text, "::");
}

static bool shows_arguments(const struct naming *naming, const struct name_part *part, bool is_own)
{
	return !naming->is_rust || !is_own || naming->generics == GENERICS_ALL ||
	       span_is(part->word, "drop_in_place");
}

/* is_own: the function's own name, the last one. */
static void add_part(struct naming *naming, const struct name_part *part, bool is_own)
{
	struct name_part copy = *part;

	add_joint(&naming->text);
	if (leave_out_characters(&copy)) {
		add(&naming->text, "string");
		return;
	}
	if (name_part_is_closure(part))
		add_closure(&naming->text, part->word);
	else
		add_span(&naming->text, part->word);
	if (!shows_arguments(naming, part, is_own))
		return;
	if (span_is(part->word, "operator<"))
		add(&naming->text, " ");
	add_arguments(&naming->text, part->args, naming->is_rust, naming->generics);
}

/* References and pointers are left out: "&mut T" → "T". */
static struct span pointed_to(struct span type)
{
	static const char *const marks[] = {"&", "*const ", "*mut ", "mut ", " ", NULL};
	bool found = true;

	while (found) {
		found = false;
		for (size_t i = 0; marks[i]; i++)
			if (span_begins(type, marks[i])) {
				type.at += strlen(marks[i]);
				found = true;
			}
		if (span_begins(type, "'")) {
			while (type.at < type.end && *type.at != ' ')
				type.at++;
			found = true;
		}
	}
	return type;
}

/* The type that methods belong to, and the trait that they belong to, if any. */
struct owner {
	struct span type, trait;
	bool has_trait;
};

/* Finds text outside inner brackets. */
static const char *find_outside(struct span in, const char *text)
{
	while (in.at < in.end) {
		size_t group = 0;

		if (span_begins(in, text))
			return in.at;
		if (strchr("<([{", *in.at))
			group = name_bracket_bytes(in);
		in.at += group ? group : 1;
	}
	return NULL;
}

/* "<Type as Trait>", "<Type>", "<impl Trait for Type>", "<impl Type>". */
static struct owner owner_of(struct span group)
{
	struct span inner = {group.at + 1, group.end - 1};
	bool is_impl = span_begins(inner, "impl ");
	const char *joint;

	if (is_impl)
		inner.at += strlen("impl ");
	joint = find_outside(inner, is_impl ? " for " : " as ");
	if (!joint)
		return (struct owner){.type = inner};
	if (is_impl)
		return (struct owner){.trait = {inner.at, joint},
				      .type = {joint + strlen(" for "), inner.end},
				      .has_trait = true};
	return (struct owner){.type = {inner.at, joint},
			      .trait = {joint + strlen(" as "), inner.end},
			      .has_trait = true};
}

/* The name of a built-in type with methods, as its documentation has it; NULL: is not one. */
static const char *built_in_name(struct span type)
{
	if (span_begins(type, "["))
		return find_outside((struct span){type.at + 1, type.end - 1}, ";") ? "array"
										   : "slice";
	if (span_begins(type, "("))
		return "tuple";
	return span_begins(type, "*") ? "pointer" : NULL;
}

static bool is_named_type(struct span type, struct name_parts *parts)
{
	return name_is_word(*type.at) && !span_begins(type, "dyn ") && !span_begins(type, "fn(") &&
	       !span_begins(type, "unsafe ") && !span_begins(type, "extern ") &&
	       !span_begins(type, "impl ") && name_parts_parse(type, parts) &&
	       !parts->has_parameters && !name_part_is_type(&parts->items[0]) &&
	       !name_part_is_closure(&parts->items[parts->count - 1]);
}

/* `fmt` is a method of Debug, Display and seven more. */
static bool is_of_many_traits(struct span method)
{
	static const char *const names[] = {"fmt", "write_fmt", NULL};

	return is_one_of(method, names);
}

/* "tokio::Context<T>": the crate and the type's own name. */
static void add_named_type(struct naming *naming, const struct name_parts *parts)
{
	if (parts->count > 1 && !is_std_crate(parts->items[0].word)) {
		add_span(&naming->text, parts->items[0].word);
	}
	add_joint(&naming->text);
	add_span(&naming->text, parts->items[parts->count - 1].word);
	add_arguments(&naming->text, parts->items[parts->count - 1].args, true, naming->generics);
}

/* The index of the last part that is not a closure. */
static size_t last_named(const struct name_parts *parts)
{
	size_t i = parts->count - 1;

	while (i && name_part_is_closure(&parts->items[i]))
		i--;
	return i;
}

/* The function that a closure is in, and the closure: "main::{closure#0}". */
static bool add_closure_path(struct naming *naming, struct span type)
{
	struct name_parts parts;

	if (!span_bytes(type) || !name_parts_parse(type, &parts) ||
	    !name_part_is_closure(&parts.items[parts.count - 1]))
		return false;
	for (size_t i = last_named(&parts); i < parts.count; i++) {
		if (i > last_named(&parts))
			add(&naming->text, "::");
		add_closure(&naming->text, parts.items[i].word);
	}
	return true;
}

static void add_type(struct naming *naming, struct span type)
{
	if (!add_closure_path(naming, type))
		add_types(&naming->text, type, true, naming->generics == GENERICS_ALL);
}

static void add_trait_and_type(struct naming *naming, const struct owner *owner)
{
	add(&naming->text, "<");
	add_type(naming, owner->type);
	add(&naming->text, " as ");
	add_type(naming, owner->trait);
	add(&naming->text, ">");
}

static void add_owner(struct naming *naming, const struct owner *owner, struct span method)
{
	struct span type = pointed_to(owner->type);
	const char *built_in = built_in_name(owner->type);
	struct name_parts parts;

	if (owner->has_trait && is_parameter(type)) {
		add_type(naming, owner->trait);
		return;
	}
	if (owner->has_trait && (is_of_many_traits(method) || !span_bytes(type) ||
				 !is_named_type(type, &parts) || parts.count < 2)) {
		add_trait_and_type(naming, owner);
		return;
	}
	if (built_in)
		add(&naming->text, built_in);
	else if (span_bytes(type) && is_named_type(type, &parts))
		add_named_type(naming, &parts);
	else {
		add(&naming->text, "<");
		add_type(naming, owner->type);
		add(&naming->text, ">");
	}
}

/* C++ calls a lambda's operator(). */
static void leave_out_calls_of_lambdas(struct name_parts *parts)
{
	size_t last = parts->count - 1;

	if (last && span_is(parts->items[last].word, "operator()") &&
	    name_part_is_closure(&parts->items[last - 1]))
		parts->count--;
}

static void leave_out_parts(struct name_parts *parts)
{
	size_t kept = 0;

	for (size_t i = 0; i < parts->count; i++)
		if (!is_inline_namespace(parts->items[i].word) &&
		    !span_begins(parts->items[i].word, "{impl"))
			parts->items[kept++] = parts->items[i];
	parts->count = kept;
}

static bool is_rust(const struct name_parts *parts)
{
	if (parts->has_parameters)
		return false;
	for (size_t i = 0; i < parts->count; i++)
		if (name_part_is_type(&parts->items[i]) ||
		    span_begins(parts->items[i].word, "{closure") ||
		    span_begins(parts->items[i].word, "{{"))
			return true;
	return parts->count > 1;
}

static bool is_async_function(const struct name_part *part)
{
	return span_begins(part->word, "{async_fn#");
}

/* The body of an async function is that function. True if the last part was one. */
static bool leave_out_async_functions(struct name_parts *parts)
{
	bool is_last = is_async_function(&parts->items[parts->count - 1]);
	size_t kept = 0;

	for (size_t i = 0; i < parts->count; i++)
		if (!is_async_function(&parts->items[i]) || !kept)
			parts->items[kept++] = parts->items[i];
	parts->count = kept;
	return is_last && parts->count && !is_async_function(&parts->items[parts->count - 1]);
}

/*
 * An async block is one of the function around it, through whatever closures. Returns the number
 * with which its part begins, "0}", or an empty span if the last part is not such a block.
 */
static struct span take_async_block(struct name_parts *parts)
{
	static const char begin[] = "{async_block#";
	struct span word = parts->items[parts->count - 1].word;
	size_t kept = parts->count;

	if (!span_begins(word, begin))
		return (struct span){0};
	while (kept && name_part_is_closure(&parts->items[kept - 1]))
		kept--;
	if (!kept)
		return (struct span){0};
	parts->count = kept;
	return (struct span){word.at + strlen(begin), word.end};
}

/* " (async block)" for the first one, " (async block #1)". */
static void add_async_block(struct text *text, struct span number)
{
	bool is_first = span_is(number, "0}");

	add(text, is_first ? " (async block" : " (async block #");
	if (!is_first)
		add_span(text, (struct span){number.at, number.end - 1});
	add(text, ")");
}

/* The first part and the last two, with the closures after them. */
static void add_path(struct naming *naming, const struct name_parts *parts)
{
	size_t named = last_named(parts), first = named ? named - 1 : 0;

	if (first > 0 && !(naming->is_rust && is_std_crate(parts->items[0].word)))
		add_part(naming, &parts->items[0], false);
	for (size_t i = first; i < parts->count; i++)
		add_part(naming, &parts->items[i], i >= named);
}

static void add_name(struct naming *naming, struct name_parts *parts)
{
	size_t type = parts->count;

	leave_out_calls_of_lambdas(parts);
	naming->is_rust = is_rust(parts);
	for (size_t i = 0; i + 1 < parts->count; i++)
		if (name_part_is_type(&parts->items[i]))
			type = i;
	if (type == parts->count || type + 1 >= parts->count) {
		add_path(naming, parts);
		return;
	}
	struct owner owner = owner_of(parts->items[type].word);

	/* "alloc::slice::<impl [T]>::to_vec" */
	add_owner(naming, &owner, parts->items[type + 1].word);
	for (size_t i = type + 1; i < parts->count; i++)
		add_part(naming, &parts->items[i], true);
}

/* Go: "github.com/x/y.(*T).M[...]". Its names have dots for "::". */
static char *short_go_name(const char *name)
{
	char *copy = xstrdup(name), *to = copy, *slash;
	unsigned depth = 0;

	for (const char *at = name; *at; at++) {
		if (*at == '[')
			depth++;
		else if (*at == ']')
			depth -= depth > 0;
		else if (!depth)
			*to++ = *at;
	}
	*to = '\0';
	slash = strrchr(copy, '/');
	if (slash)
		memmove(copy, slash + 1, strlen(slash + 1) + 1);
	return copy;
}

static bool is_go(const char *name)
{
	return (strstr(name, ".(*") || strstr(name, "[go.shape") || strstr(name, "[...]")) &&
	       !strstr(name, "::") && !strstr(name, ", ");
}

/* "[unknown]", "<module>", "/src/x.js:3", "Function:~f": not of Rust or C++. */
static bool is_foreign(const char *name)
{
	size_t len = strlen(name);

	if (name[0] == '[' || len > LONGEST || strchr(name, '\\'))
		return true;
	if (strchr(name, '/') && !strstr(name, "operator/"))
		return true;
	return !strstr(name, "::") && !(len && name[len - 1] == ')' && !strchr(name, '.')) &&
	       !strstr(name, ") ") && !strchr(name, '<');
}

static const char *const thunks[] = {"non-virtual thunk to ", "virtual thunk to ",
				     "covariant return thunk to ", NULL};

static size_t thunk_bytes(const char *name)
{
	for (size_t i = 0; thunks[i]; i++)
		if (!strncmp(name, thunks[i], strlen(thunks[i])))
			return strlen(thunks[i]);
	return 0;
}

/* The words in parentheses that a name ends in, "tokio (runtime)"; 0: none. */
static size_t remark_bytes(struct span name)
{
	const char *at = name.end;

	if (!span_bytes(name) || at[-1] != ')')
		return 0;
	at--;
	while (at > name.at && (name_is_word(at[-1]) || at[-1] == ' '))
		at--;
	return at - name.at > 2 && at[-1] == '(' && at[-2] == ' ' ? (size_t)(name.end - at) + 2 : 0;
}

/* The name without what is kept after it: "foo(int)@plt", "tokio (runtime)". */
static struct span whole(const char *name)
{
	struct span span = span_of(name);
	size_t plt = strlen("@plt");

	if (span_bytes(span) > plt && !memcmp(span.end - plt, "@plt", plt))
		span.end -= plt;
	span.end -= remark_bytes(span);
	return span;
}

char *short_name(const char *name, enum name_generics generics)
{
	struct naming naming = {.generics = generics};
	struct name_parts parts;
	bool is_async;
	struct span span, block;

	if (is_go(name))
		return short_go_name(name);
	if (is_foreign(name))
		return xstrdup(name);
	span = whole(name);
	span.at += thunk_bytes(name);
	if (!name_parts_parse(span, &parts))
		return xstrdup(name);
	leave_out_parts(&parts);
	if (!parts.count)
		return xstrdup(name);
	block = take_async_block(&parts);
	is_async = leave_out_async_functions(&parts);
	add_name(&naming, &parts);
	if (block.at)
		add_async_block(&naming.text, block);
	else if (is_async)
		add(&naming.text, " (async)");
	add(&naming.text, span.end);
	return naming.text.chars;
}

bool name_is_closure(const char *name)
{
	struct name_parts parts;

	if (!strchr(name, '{') || strlen(name) > LONGEST || !name_parts_parse(whole(name), &parts))
		return false;
	leave_out_calls_of_lambdas(&parts);
	return name_part_is_closure(&parts.items[parts.count - 1]);
}

/* Types in an impl block: "<alloc::vec::Vec<T> as core::iter::Extend<T>>". */
static void add_without_brackets(struct text *text, struct span from)
{
	while (from.at < from.end) {
		size_t group = *from.at == '<' ? name_bracket_bytes(from) : 0;

		if (!group) {
			from.at++;
			add_span(text, (struct span){from.at - 1, from.at});
			continue;
		}
		from.at += group;
	}
}

static void add_owner_part(struct text *text, struct span group)
{
	add(text, "<");
	add_without_brackets(text, (struct span){group.at + 1, group.end - 1});
	add(text, ">");
}

char *name_without_generics(const char *name)
{
	struct text text = {0};
	struct name_parts parts;

	if (is_go(name) || is_foreign(name) || !name_parts_parse(whole(name), &parts))
		return xstrdup(name);
	for (size_t i = 0; i < parts.count; i++) {
		add_joint(&text);
		if (name_part_is_type(&parts.items[i]))
			add_owner_part(&text, parts.items[i].word);
		else
			add_span(&text, parts.items[i].word);
	}
	add(&text, whole(name).end);
	return text.chars;
}
