#include "report/managed_name.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* The last part of a path. It is not basename(3), which removes a final "/". */
static const char *managed_name_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "batch.py", "json/__init__.py" */
static const char *python_file(const char *path)
{
	const char *last = managed_name_last(path);

	if (!text_begins(last, "__"))
		return last;
	while (last > path && (last == managed_name_last(path) || last[-1] != '/'))
		last--;
	return last;
}

/* "py::pure:/srv/batch.py", "py::_find:<frozen importlib>" */
static char *short_perf_python(const char *name)
{
	const char *file;

	if (!text_begins(name, "py::"))
		return NULL;
	name += strlen("py::");
	file = strchr(name, ':');
	if (!file || file == name || !file[1])
		return NULL;
	return xasprintf("%.*s (%s)", (int)(file - name), name, python_file(file + 1));
}

/* "pure (/srv/batch.py:9)" */
static char *short_place_in_parentheses(const char *name)
{
	const char *place = strstr(name, " (");
	size_t len = strlen(name);

	if (!place || strstr(name, "::") || name[len - 1] != ')' ||
	    strcspn(place + 2, " ()") + 3 != strlen(place) || !strchr(place, '/'))
		return NULL;
	return xasprintf("%.*s (%s", (int)(place - name), name, python_file(place + 2));
}

/* Characters of a class, a package and a method. */
static bool managed_name_is_word(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)at[i]) && !strchr("_$", at[i]) && !(at[i] & 0x80))
			return false;
	return len && !isdigit((unsigned char)*at);
}

/* Returns the number of parts of a package before `end`, or 0 if it is none. */
static unsigned java_package_parts(const char *at, const char *end)
{
	unsigned parts = 0;

	while (at < end) {
		size_t len = strcspn(at, "./");

		if (!managed_name_is_word(at, len) || isupper((unsigned char)*at))
			return 0;
		at += len + 1;
		parts++;
	}
	return parts;
}

/* "<init>", "getTask", "getTask_[j]" (the suffix of async-profiler) */
static bool is_java_method(const char *at)
{
	size_t len = strcspn(at, "[");

	if (text_begins(at, "<"))
		return !strcmp(at, "<init>") || !strcmp(at, "<clinit>");
	return managed_name_is_word(at, len);
}

/* Removes the address of a hidden class: "Shop$$Lambda$3/0x00007fe8". */
static void remove_address(char *path)
{
	char *address = strstr(path, "/0x");

	if (!address)
		address = strstr(path, ".0x");
	if (address)
		*address = '\0';
}

/* has_type: the return type was before the name, so it cannot be one of Go. */
static char *short_java_path(char *path, const char *method, bool has_type)
{
	const char *last, *class;
	bool has_slashes;
	unsigned parts;

	remove_address(path);
	has_slashes = strchr(path, '/');
	last = strrchr(path, has_slashes ? '/' : '.');
	class = last ? last + 1 : path;
	parts = java_package_parts(path, class);
	if (!isupper((unsigned char)*class) || !managed_name_is_word(class, strlen(class)) ||
	    !is_java_method(method) || (class > path && !parts))
		return NULL;
	if (parts < 2 && !has_type && !(parts && has_slashes))
		return NULL;
	return xasprintf("%s.%s", class, method);
}

/*
 * "int java.util.HashMap.hash(java.lang.Object)" (the JVM),
 * "java/util/HashMap.get" (async-profiler), "Ljava/util/HashMap;::get"
 * (perf-map-agent)
 */
static char *short_java(const char *name)
{
	CLEANUP(free_ptr) char *copy = xstrdup(name);
	char *brackets = strchr(copy, '('), *path = copy, *agent, *method, *type;

	if (brackets)
		*brackets = '\0';
	type = strrchr(copy, ' ');
	if (type && !brackets)
		return NULL;
	path = type ? type + 1 : copy;
	agent = strstr(path, ";::");
	if (agent && *path == 'L') {
		*agent = '\0';
		return short_java_path(path + 1, agent + strlen(";::"), true);
	}
	method = strrchr(path, '.');
	if (!method || strstr(path, "::"))
		return NULL;
	*method = '\0';
	return short_java_path(path, method + 1, brackets);
}

static bool has_type_arguments(const char *name)
{
	return (strstr(name, ".(*") || strstr(name, "[go.shape") || strstr(name, "[...]")) &&
	       !strstr(name, "::") && !strstr(name, ", ");
}

/* "net/http.HandlerFunc.ServeHTTP", but not "/src/x.js:3" */
static bool has_go_path(const char *name)
{
	const char *last = managed_name_last(name), *dot = strchr(last, '.');

	return last > name && *name != '/' && !strpbrk(name, " :<(\\") && dot &&
	       managed_name_is_word(last, (size_t)(dot - last)) && isalpha((unsigned char)dot[1]);
}

static char *short_go(const char *name)
{
	char *copy = xstrdup(name), *to = copy;
	const char *last;
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
	last = managed_name_last(copy);
	memmove(copy, last, strlen(last) + 1);
	return copy;
}

char *managed_name_short(const char *name)
{
	char *text;

	if (*name == '[')
		return NULL;
	text = short_perf_python(name);
	if (!text)
		text = short_place_in_parentheses(name);
	if (!text)
		text = short_java(name);
	if (!text && (has_type_arguments(name) || has_go_path(name)))
		text = short_go(name);
	return text;
}
