#include "profile/code_origin.h"

#include "base/alloc.h"
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

/* The beginning of the names of files that hold nothing but a C library or a runtime. */
static const char *const c_libraries[] = {"libc.so",  "libc-",	"libc.musl", "libpthread",
					  "librt.so", "librt-", "ld-linux",  "ld-musl",
					  "ld-2.",    "[vdso]", "linux-vdso"};
static const char *const runtimes[] = {"libstdc++", "libc++", "libgcc_s", "libjvm", "libjli"};

static bool begins_with_any(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(text, words[i], strlen(words[i])))
			return true;
	return false;
}

/* The name without the type that a C++ template returns: "void std::invoke<int>(int)". */
static const char *without_type(const char *name)
{
	const char *word = name;
	unsigned depth = 0;

	for (const char *at = name; *at && (depth || *at != '('); at++) {
		if (*at == '<')
			depth++;
		else if (*at == '>')
			depth -= depth > 0 && at[-1] != '-';
		else if (*at == ' ' && !depth && at[1] != '[' && !text_begins(word, "operator"))
			word = at + 1;
	}
	return word;
}

/* The type without "&", "mut ", "*const ", "dyn ". */
static const char *without_reference(const char *type)
{
	static const char *const marks[] = {"&", "mut ", "*const ", "*mut ", "dyn ", "impl "};

	for (size_t i = 0; i < ARRAY_SIZE(marks);) {
		bool is_there = text_begins(type, marks[i]);

		type += is_there ? strlen(marks[i]) : 0;
		i = is_there ? 0 : i + 1;
	}
	return type;
}

/* What is after "<T": " as Trait>::f" or ">::f". */
static const char *after_type(const char *type)
{
	unsigned depth = 0;

	for (; *type; type++) {
		if (*type == '<' || *type == '(' || *type == '[')
			depth++;
		else if (!depth && (*type == '>' || text_begins(type, " as ")))
			return type;
		else if (*type == ')' || *type == ']' || (*type == '>' && type[-1] != '-'))
			depth -= depth > 0;
	}
	return type;
}

/* "core::iter::Map<I>": the type has a path; "T", "u64", "[T]" have none. */
static bool has_path(const char *type)
{
	size_t name = strspn(type,
			     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return name && text_begins(type + name, "::");
}

/* The path of code_rules.h. */
static const char *path_of(const char *name)
{
	static const char calls[] = "core::ops::function::";
	const char *path = *name == '<' ? name : without_type(name), *type, *trait;

	if (*path != '<')
		return path;
	type = without_reference(path + 1);
	trait = after_type(type);
	trait = text_begins(trait, " as ") ? trait + strlen(" as ") : NULL;
	/* Only the compiler implements the traits of calls. */
	if (trait && text_begins(trait, calls))
		return trait;
	if (has_path(type))
		return type;
	return trait ? trait : "primitive::";
}

/* Whether the name ends here but for its parameters or a suffix. */
static bool is_end(const char *at)
{
	return !*at || *at == '(' || *at == '@' || *at == '.' || *at == ' ';
}

static bool rule_matches(const char *rule, const char *path)
{
	while (*rule && *rule == *path) {
		rule++;
		path++;
	}
	if (!*rule || rule[1])
		return !*rule;
	return (*rule == '$' && is_end(path)) ||
	       (*rule == '<' && (is_end(path) || text_begins(path, "::")));
}

static struct code_class class_by_rules(const char *path)
{
	for (size_t i = 0; i < code_rule_count; i++)
		if (rule_matches(code_rules[i].name, path))
			return code_rules[i].class;
	return (struct code_class){ORIGIN_PROGRAM, ROLE_PROGRAM, NULL};
}

/* "py::get:/usr/lib/python3.11/queue.py", "py::_find:<frozen importlib>" */
static bool is_python_library(const char *name)
{
	return !strncmp(name, "py::", strlen("py::")) &&
	       (strstr(name, ":<frozen ") ||
		(strstr(name, "/lib/python") && !strstr(name, "-packages/")));
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

/* Code of HotSpot between methods, as perf maps name it; interpreted methods have no other name. */
static bool is_java_stub(const char *name)
{
	return !strcmp(name, "Interpreter") || !strcmp(name, "I2C/C2I adapters") ||
	       !strncmp(name, "StubRoutines (", strlen("StubRoutines (")) ||
	       ends_with(name, " Runtime1 stub") || (*name == '_' && ends_with(name, "_Java"));
}

#define BEGINS_WITH_ANY(text, words) begins_with_any(text, words, ARRAY_SIZE(words))

/* Of code that comes with a language or the C library, wherever that code is. */
static struct code_class class_in_library(struct code_class class, enum code_origin origin)
{
	class.origin = origin;
	if (class.role == ROLE_PROGRAM)
		class.role = ROLE_WORK;
	return class;
}

struct code_class code_class_of(const char *module, const char *name)
{
	struct code_class class = class_by_rules(path_of(name));

	if (class.origin == ORIGIN_C_LIBRARY)
		return class;
	if (BEGINS_WITH_ANY(module, c_libraries))
		return class_in_library(class, ORIGIN_C_LIBRARY);
	if (BEGINS_WITH_ANY(module, runtimes) || is_python_library(name) || is_java_stub(name))
		return class_in_library(class, ORIGIN_RUNTIME);
	return class;
}

enum code_origin code_origin_of(const char *module, const char *name)
{
	return code_class_of(module, name).origin;
}
