#include "profile/task_name.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *last_of(const char *path, const char *word)
{
	const char *found = NULL;

	for (const char *at = path; (at = strstr(at, word)); at++)
		found = at;
	return found;
}

/*
 * Returns the part of a path after this many directories below `above`, or NULL
 * if the path does not contain it.
 */
static const char *below(const char *path, const char *above, unsigned directories)
{
	const char *at = strstr(path, above);

	for (at = at ? at + strlen(above) : NULL; at && directories; directories--) {
		at = strchr(at, '/');
		at = at ? at + 1 : NULL;
	}
	return at;
}

const char *task_file(const char *path)
{
	static const char *const inside[] = {"/src/", "/examples/", "/tests/", "/benches/"};
	const char *found = below(path, "/registry/src/", 1);

	found = found ? found : below(path, "/git/checkouts/", 2);
	if (found)
		return found;
	for (size_t i = 0; !found && i < ARRAY_SIZE(inside); i++)
		found = last_of(path, inside[i]);
	/* The directory is omitted only for a program that is not a package. */
	if (!found && *path == '/')
		found = strrchr(path, '/');
	return found ? found + 1 : path;
}

static bool is_polled(enum task_kind kind)
{
	return kind == TASK_FUTURE || kind == TASK_ROOT || kind == TASK_SHARED_ROOT;
}

/*
 * An unnamed body in a path: "{{closure}}", "{closure#1}", "{async_block#0}".
 */
struct body {
	const char *what; /* "closure", "async block", "async fn" */
	int number;	  /* -1 if unknown */
};

static bool parse_body(const char *at, struct body *ret)
{
	static const struct {
		const char *begins, *what;
	} bodies[] = {
		{"{{closure}}", "closure"},	      {"{closure#", "closure"},
		{"{async_fn#", "async fn"},	      {"{async_block#", "async block"},
		{"{async_closure#", "async closure"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		size_t len = strlen(bodies[i].begins);

		if (strncmp(at, bodies[i].begins, len) != 0)
			continue;
		ret->what = bodies[i].what;
		ret->number = at[len - 1] == '#' ? atoi(at + len) : -1;
		return true;
	}
	return false;
}

/*
 * Returns where the last part of a path starts: after its last "::" outside
 * brackets.
 */
static size_t task_name_last_part(const char *path, size_t len)
{
	size_t found = 0;
	int depth = 0;

	for (size_t i = 0; i + 1 < len; i++) {
		depth += path[i] == '<';
		depth -= path[i] == '>' && i && path[i - 1] != '-';
		if (depth <= 0 && path[i] == ':' && path[i + 1] == ':')
			found = i + 2;
	}
	return found;
}

/*
 * Returns "shop::Cart::add" for "<shop::Cart>::add" and for
 * "shop::Cart::add::{{closure}}". The caller frees it.
 */
static char *task_name_function_of(const char *path, size_t len)
{
	size_t part;
	struct body body;
	char *ret;

	for (;;) {
		part = task_name_last_part(path, len);
		if (!part || !parse_body(path + part, &body))
			break;
		len = part - 2;
	}
	if (*path != '<')
		return xstrndup(path, len);
	part = task_name_last_part(path, len);
	if (part < 3 || path[part - 3] != '>' || strstr(path, " as ") || strchr("&[(*", path[1]))
		return xstrndup(path, len);
	ret = xasprintf("%.*s%.*s", (int)(part - 4), path + 1, (int)(len - part + 2),
			path + part - 2);
	return ret;
}

/*
 * Returns "shop::Cart" for "<shop::Cart as
 * core::future::future::Future>::poll", or NULL if the name is not of this
 * form. The caller frees it.
 */
static char *future_of(const char *name)
{
	const char *as = strstr(name, " as core::future::future::Future>::poll");

	return *name == '<' && as ? xstrndup(name + 1, (size_t)(as - name - 1)) : NULL;
}

/*
 * Returns "0.2" for "main::{async_block#0}::{closure#2}": the numbers that
 * identify a body within its function and a body within that. Returns "" if
 * they are unknown. The caller frees it.
 */
static char *numbers_of(const char *path)
{
	char *numbers = xstrdup("");
	size_t len = strlen(path), part;
	struct body body;

	while ((part = task_name_last_part(path, len)) && parse_body(path + part, &body) &&
	       body.number >= 0) {
		char *longer = xasprintf("%d%s%s", body.number, *numbers ? "." : "", numbers);

		free(numbers);
		numbers = longer;
		len = part - 2;
	}
	return numbers;
}

static char *body_name(const struct task_function *function, struct body body, size_t part)
{
	CLEANUP(free_ptr) char *of = NULL;
	CLEANUP(free_ptr) char *numbers = numbers_of(function->name);

	if (function->line && *function->file)
		return xasprintf("%s %s:%u", body.what, task_file(function->file), function->line);
	if (!part)
		return xasprintf("%s %s", body.what, task_file(function->file));
	of = task_name_function_of(function->name, part - 2);
	return xasprintf("%s%s%s of %s", body.what, *numbers ? " #" : "", numbers, of);
}

/*
 * Without debug information, the body of an async function is a closure
 * directly below a function.
 */
static bool task_name_is_async_function(const struct task_function *function, struct body body,
					size_t part, enum task_kind kind)
{
	struct body outer;

	if (!part || !strcmp(body.what, "async fn"))
		return part;
	return !function->line && !strcmp(body.what, "closure") && body.number <= 0 &&
	       is_polled(kind) &&
	       !parse_body(function->name + task_name_last_part(function->name, part - 2), &outer);
}

static char *task_name_plain_name(const struct task_function *function, enum task_kind kind)
{
	size_t len = strlen(function->name);
	size_t part = task_name_last_part(function->name, len);
	char *future = future_of(function->name);
	struct body body;

	if (future)
		return future;
	if (kind == TASK_GOROUTINE)
		return xstrdup(function->name);
	if (!parse_body(function->name + part, &body))
		return task_name_function_of(function->name, len);
	if (task_name_is_async_function(function, body, part, kind))
		return task_name_function_of(function->name, part - 2);
	if (!function->line && is_polled(kind) && !strcmp(body.what, "closure"))
		body.what = "async block";
	return body_name(function, body, part);
}

bool task_is_complete(const char *name)
{
	size_t part = task_name_last_part(name, strlen(name));
	CLEANUP(free_ptr) char *future = future_of(name);
	struct body body;

	return future || (part && parse_body(name + part, &body));
}

char *task_name(const struct task_function *function, enum task_kind kind)
{
	CLEANUP(free_ptr) char *name = task_name_plain_name(function, kind);

	return xasprintf("%s%s", name,
			 kind == TASK_BLOCKING ? " (spawn_blocking)"
			 : !is_polled(kind)    ? ""
			 : kind == TASK_FUTURE ? ""
					       : " (block_on)");
}
