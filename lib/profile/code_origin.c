#include "profile/code_origin.h"

#include "base/alloc.h"
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

/* Prefixes of the names of files that contain only a C library or a runtime. */
static const char *const c_libraries[] = {"libc.so",  "libc-",	"libc.musl", "libpthread",
					  "librt.so", "librt-", "ld-linux",  "ld-musl",
					  "ld-2.",    "[vdso]", "linux-vdso"};
static const char *const runtime_libraries[] = {"libstdc++", "libc++",	  "libgcc_s", "libjvm",
						"libjli",    "libpython", "python2",  "python3"};

/*
 * Functions of an interpreter or a virtual machine that start a thread or call
 * a function of the language. Most of these names are too common for the table
 * of rules.
 */
static const char *const python_calls[] = {"_PyEval_",
					   "PyEval_",
					   "py_trampoline_evaluator",
					   "_PyFunction_Vectorcall",
					   "_PyObject_Vectorcall",
					   "PyObject_Vectorcall",
					   "PyObject_Call",
					   "_PyObject_Call",
					   "_PyObject_MakeTpCall",
					   "_PyVectorcall_",
					   "PyVectorcall_",
					   "method_vectorcall",
					   "vectorcall_",
					   "cfunction_",
					   "slot_",
					   "type_call",
					   "context_run",
					   "object_vacall",
					   "gen_iternext",
					   "gen_send_ex",
					   "PyGen_am_send",
					   "PyIter_Send",
					   "pythread_wrapper",
					   "thread_run",
					   "run_mod",
					   "run_eval_code_obj",
					   "_PyRun_",
					   "PyRun_",
					   "pyrun_",
					   "pymain_",
					   "Py_RunMain",
					   "Py_BytesMain",
					   "Py_Main"};
static const char *const java_calls[] = {
	"thread_native_entry", "Thread::call_run", "JavaThread::",  "thread_entry",
	"JavaCalls::",	       "JavaMain",	   "ThreadJavaMain"};

/*
 * Returns the name without the return type of a C++ template: "void
 * std::invoke<int>(int)".
 */
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

/* Returns the type without "&", "mut ", "*const ", "dyn ". */
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

/* Returns the text after "<T": " as Trait>::f" or ">::f". */
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

/*
 * Returns true for a type with a path ("core::iter::Map<I>"), false for "T",
 * "u64" and "[T]".
 */
static bool has_path(const char *type)
{
	size_t name = strspn(type,
			     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return name && text_begins(type + name, "::");
}

/* Returns the path that code_rules.h defines. */
static const char *code_origin_path_of(const char *name)
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

/* Returns whether the name ends here, apart from parameters and a suffix. */
static bool code_origin_is_end(const char *at)
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
	return (*rule == '$' && code_origin_is_end(path)) ||
	       (*rule == '<' && (code_origin_is_end(path) || text_begins(path, "::")));
}

static struct code_class class_by_rules(const char *path)
{
	for (size_t i = 0; i < code_rule_count; i++)
		if (rule_matches(code_rules[i].name, path))
			return code_rules[i].class;
	return (struct code_class){ORIGIN_PROGRAM, ROLE_PROGRAM, NULL};
}

/*
 * Returns whether the function is part of a Python library:
 * "py::get:/usr/lib/python3.11/queue.py", "py::_find:<frozen importlib>".
 */
static bool is_python_library(const char *name)
{
	return text_begins(name, "py::") &&
	       (strstr(name, ":<frozen ") ||
		(strstr(name, "/lib/python") && !strstr(name, "-packages/")));
}

/*
 * Returns true for HotSpot code between methods, as named in perf maps.
 * Interpreted methods have no other name.
 */
static bool is_java_stub(const char *name)
{
	return !strcmp(name, "Interpreter") || !strcmp(name, "I2C/C2I adapters") ||
	       text_begins(name, "StubRoutines (") || !strcmp(name, "SafepointBlob") ||
	       !strcmp(name, "vtable chunks") || text_ends(name, " Runtime1 stub") ||
	       (*name == '_' && text_ends(name, "_Java"));
}

/*
 * Returns the name of the language whose functions this function calls, or
 * NULL.
 */
static const char *language_called(const char *module, const char *name)
{
	if ((text_begins(module, "libpython") || text_begins(module, "python")) &&
	    TEXT_BEGINS_ANY(name, python_calls))
		return "Python";
	if ((text_begins(module, "libjvm") || text_begins(module, "libjli")) &&
	    TEXT_BEGINS_ANY(name, java_calls))
		return "Java";
	return !strcmp(name, "Interpreter") || text_begins(name, "StubRoutines (") ? "Java" : NULL;
}

/*
 * Returns the class of code that belongs to a language or the C library, in
 * whatever file it is.
 */
static struct code_class class_in_library(struct code_class class, enum code_origin origin)
{
	class.origin = origin;
	if (class.role == ROLE_PROGRAM)
		class.role = ROLE_WORK;
	return class;
}

struct code_class code_class_of(const char *module, const char *name)
{
	struct code_class class = class_by_rules(code_origin_path_of(name));
	const char *language = language_called(module, name);

	if (language)
		return (struct code_class){ORIGIN_RUNTIME, ROLE_ENTRY, language};
	if (class.origin == ORIGIN_C_LIBRARY)
		return class;
	if (TEXT_BEGINS_ANY(module, c_libraries))
		return class_in_library(class, ORIGIN_C_LIBRARY);
	if (TEXT_BEGINS_ANY(module, runtime_libraries) || is_python_library(name) ||
	    is_java_stub(name))
		return class_in_library(class, ORIGIN_RUNTIME);
	return class;
}

enum code_origin code_origin_of(const char *module, const char *name)
{
	return code_class_of(module, name).origin;
}
