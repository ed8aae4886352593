#include "report/short_name.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/managed_name.h"
#include "report/name_parts.h"
#include "report/name_text.h"
#include "report/short_type.h"

#include <string.h>

/*
 * Longer names stay as they are, because the time for some texts is quadratic.
 */
enum { LONGEST = 8 * 1024 };

static bool is_std_crate(struct span word)
{
	static const char *const crates[] = {"core", "alloc", "std", NULL};

	return span_is_one_of(word, crates);
}

/* Namespaces that exist only for the linker. */
static bool is_inline_namespace(struct span word)
{
	static const char *const names[] = {"__cxx11", "__1", "__ndk1", "_V2", "__rustc", NULL};

	return span_is_one_of(word, names);
}

struct naming {
	struct name_text text;
	enum name_generics generics;
	bool is_rust;
};

static void add_arguments(struct naming *naming, struct span args, bool is_rust)
{
	if (naming->generics != GENERICS_NONE)
		short_type_add_arguments(&naming->text, args, is_rust,
					 naming->generics == GENERICS_ALL);
}

static bool shows_arguments(const struct naming *naming, const struct name_part *part, bool is_own)
{
	return !naming->is_rust || !is_own || naming->generics == GENERICS_ALL ||
	       span_is(part->word, "drop_in_place");
}

/* is_own: the last part, the function's own name. */
static void short_name_add_part(struct naming *naming, const struct name_part *part, bool is_own)
{
	name_text_add_joint(&naming->text);
	if (short_type_is_string(part)) {
		name_text_add(&naming->text, "string");
		return;
	}
	if (name_part_is_closure(part))
		short_type_add_closure(&naming->text, part->word);
	else
		name_text_add_span(&naming->text, part->word);
	if (!shows_arguments(naming, part, is_own))
		return;
	if (span_is(part->word, "operator<"))
		name_text_add(&naming->text, " ");
	add_arguments(naming, part->args, naming->is_rust);
}

/* Removes references and pointers: "&mut T" becomes "T". */
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

/* The type that a method belongs to, and its trait, if any. */
struct short_name_owner {
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
static struct short_name_owner short_name_owner_of(struct span group)
{
	struct span inner = {group.at + 1, group.end - 1};
	bool is_impl = span_begins(inner, "impl ");
	const char *joint;

	if (is_impl)
		inner.at += strlen("impl ");
	joint = find_outside(inner, is_impl ? " for " : " as ");
	if (!joint)
		return (struct short_name_owner){.type = inner};
	if (is_impl)
		return (struct short_name_owner){.trait = {inner.at, joint},
						 .type = {joint + strlen(" for "), inner.end},
						 .has_trait = true};
	return (struct short_name_owner){.type = {inner.at, joint},
					 .trait = {joint + strlen(" as "), inner.end},
					 .has_trait = true};
}

/*
 * Returns the name of a built-in type with methods, as in its documentation, or
 * NULL for other types.
 */
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

	return span_is_one_of(method, names);
}

/* Adds the crate and the type's own name: "tokio::Context<T>". */
static void add_named_type(struct naming *naming, const struct name_parts *parts)
{
	if (parts->count > 1 && !is_std_crate(parts->items[0].word)) {
		name_text_add_span(&naming->text, parts->items[0].word);
	}
	name_text_add_joint(&naming->text);
	name_text_add_span(&naming->text, parts->items[parts->count - 1].word);
	add_arguments(naming, parts->items[parts->count - 1].args, true);
}

/* Returns the index of the last part that is not a closure. */
static size_t last_named(const struct name_parts *parts)
{
	size_t i = parts->count - 1;

	while (i && name_part_is_closure(&parts->items[i]))
		i--;
	return i;
}

/* Adds the function around a closure, and the closure: "main::{closure#0}". */
static bool add_closure_path(struct naming *naming, struct span type)
{
	struct name_parts parts;

	if (!span_bytes(type) || !name_parts_parse(type, &parts) ||
	    !name_part_is_closure(&parts.items[parts.count - 1]))
		return false;
	for (size_t i = last_named(&parts); i < parts.count; i++) {
		if (i > last_named(&parts))
			name_text_add(&naming->text, "::");
		short_type_add_closure(&naming->text, parts.items[i].word);
	}
	return true;
}

static void add_type(struct naming *naming, struct span type)
{
	if (!add_closure_path(naming, type))
		short_type_add(&naming->text, type, true, naming->generics == GENERICS_ALL);
}

static void add_trait_and_type(struct naming *naming, const struct short_name_owner *owner)
{
	name_text_add(&naming->text, "<");
	add_type(naming, owner->type);
	name_text_add(&naming->text, " as ");
	add_type(naming, owner->trait);
	name_text_add(&naming->text, ">");
}

static void add_owner(struct naming *naming, const struct short_name_owner *owner,
		      struct span method)
{
	struct span type = pointed_to(owner->type);
	const char *built_in = built_in_name(owner->type);
	struct name_parts parts;

	if (owner->has_trait && short_type_is_parameter(type)) {
		add_type(naming, owner->trait);
		return;
	}
	if (owner->has_trait && (is_of_many_traits(method) || !span_bytes(type) ||
				 !is_named_type(type, &parts) || parts.count < 2)) {
		add_trait_and_type(naming, owner);
		return;
	}
	if (built_in)
		name_text_add(&naming->text, built_in);
	else if (span_bytes(type) && is_named_type(type, &parts))
		add_named_type(naming, &parts);
	else {
		name_text_add(&naming->text, "<");
		add_type(naming, owner->type);
		name_text_add(&naming->text, ">");
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

static bool short_name_is_rust(const struct name_parts *parts)
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

static bool short_name_is_async_function(const struct name_part *part)
{
	return span_begins(part->word, "{async_fn#");
}

/*
 * Names the body of an async function after the function. Returns true if the
 * last part was one.
 */
static bool leave_out_async_functions(struct name_parts *parts)
{
	bool is_last = short_name_is_async_function(&parts->items[parts->count - 1]);
	size_t kept = 0;

	for (size_t i = 0; i < parts->count; i++)
		if (!short_name_is_async_function(&parts->items[i]) || !kept)
			parts->items[kept++] = parts->items[i];
	parts->count = kept;
	return is_last && parts->count &&
	       !short_name_is_async_function(&parts->items[parts->count - 1]);
}

/*
 * Removes an async block, which is named after the function around it, with any
 * closures in between. Returns the number with which its part starts, "0}", or
 * an empty span if the last part is not such a block.
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
static void add_async_block(struct name_text *text, struct span number)
{
	bool is_first = span_is(number, "0}");

	name_text_add(text, is_first ? " (async block" : " (async block #");
	if (!is_first)
		name_text_add_span(text, (struct span){number.at, number.end - 1});
	name_text_add(text, ")");
}

/* Adds the first part and the last two, with the closures after them. */
static void add_path(struct naming *naming, const struct name_parts *parts)
{
	size_t named = last_named(parts), first = named ? named - 1 : 0;

	if (first > 0 && !(naming->is_rust && is_std_crate(parts->items[0].word)))
		short_name_add_part(naming, &parts->items[0], false);
	for (size_t i = first; i < parts->count; i++)
		short_name_add_part(naming, &parts->items[i], i >= named);
}

static void short_name_add_name(struct naming *naming, struct name_parts *parts)
{
	size_t type = parts->count;

	leave_out_calls_of_lambdas(parts);
	naming->is_rust = short_name_is_rust(parts);
	for (size_t i = 0; i + 1 < parts->count; i++)
		if (name_part_is_type(&parts->items[i]))
			type = i;
	if (type == parts->count || type + 1 >= parts->count) {
		add_path(naming, parts);
		return;
	}
	struct short_name_owner owner = short_name_owner_of(parts->items[type].word);

	/* "alloc::slice::<impl [T]>::to_vec" */
	add_owner(naming, &owner, parts->items[type + 1].word);
	for (size_t i = type + 1; i < parts->count; i++)
		short_name_add_part(naming, &parts->items[i], true);
}

/*
 * Returns true for names that are not of Rust or C++: "[unknown]", "<module>",
 * "/src/x.js:3", "Function:~f".
 */
static bool is_untrusted(const char *name)
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
		if (text_begins(name, thunks[i]))
			return strlen(thunks[i]);
	return 0;
}

/*
 * Returns the length of words in parentheses at the end, "tokio (runtime)", or
 * 0.
 */
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

/*
 * Returns the name without the text that is kept after it: "foo(int)@plt",
 * "tokio (runtime)".
 */
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
	char *managed = managed_name_short(name);

	if (managed)
		return managed;
	if (is_untrusted(name))
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
	short_name_add_name(&naming, &parts);
	if (block.at)
		add_async_block(&naming.text, block);
	else if (is_async)
		name_text_add(&naming.text, " (async)");
	name_text_add(&naming.text, span.end);
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
static void add_without_brackets(struct name_text *text, struct span from)
{
	while (from.at < from.end) {
		size_t group = *from.at == '<' ? name_bracket_bytes(from) : 0;

		if (!group) {
			from.at++;
			name_text_add_span(text, (struct span){from.at - 1, from.at});
			continue;
		}
		from.at += group;
	}
}

static void add_owner_part(struct name_text *text, struct span group)
{
	name_text_add(text, "<");
	add_without_brackets(text, (struct span){group.at + 1, group.end - 1});
	name_text_add(text, ">");
}

char *name_without_generics(const char *name)
{
	struct name_text text = {0};
	struct name_parts parts;
	CLEANUP(free_ptr) char *managed = managed_name_short(name);

	if (managed || is_untrusted(name) || !name_parts_parse(whole(name), &parts))
		return xstrdup(name);
	for (size_t i = 0; i < parts.count; i++) {
		name_text_add_joint(&text);
		if (name_part_is_type(&parts.items[i]))
			add_owner_part(&text, parts.items[i].word);
		else
			name_text_add_span(&text, parts.items[i].word);
	}
	name_text_add(&text, whole(name).end);
	return text.chars;
}
