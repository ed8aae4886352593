#include "profile/task_rules.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "profile/code_origin.h"

#include <stdbool.h>
#include <string.h>

/* clang-format off */
static const struct task_rule rules[] = {
	/* tokio: the worker threads are blocking tasks themselves. */
	{"tokio::runtime::scheduler::multi_thread::worker::run", MARK_END, 0},
	{"tokio::runtime::scheduler::multi_thread_alt::worker::run", MARK_END, 0},
	{"tokio::runtime::blocking::task::BlockingTask::poll", MARK_BEGIN, TASK_BLOCKING},
	{"tokio::runtime::task::raw::poll", MARK_BEGIN, TASK_FUTURE},
	{"tokio::runtime::task::harness::Harness::poll", MARK_BEGIN, TASK_FUTURE},
	{"tokio::runtime::task::harness::poll_future", MARK_BEGIN, TASK_FUTURE},
	{"tokio::runtime::task::core::Core::poll", MARK_BEGIN, TASK_FUTURE},
	{"tokio::task::blocking::block_in_place", MARK_MAY_BLOCK, 0},
	{"tokio::runtime::scheduler::multi_thread::worker::block_in_place", MARK_MAY_BLOCK, 0},
	{"tokio::runtime::scheduler::block_in_place::block_in_place", MARK_MAY_BLOCK, 0},
	{"tokio::runtime::park::CachedParkThread::block_on", MARK_OUTERMOST, TASK_ROOT},
	{"tokio::runtime::scheduler::current_thread::CoreGuard::block_on", MARK_OUTERMOST,
	 TASK_SHARED_ROOT},

	/*
	 * smol and async-std: the threads of the crate `blocking` also run
	 * their closures as futures of async-task.
	 */
	{"blocking::unblock", MARK_BEGIN, TASK_BLOCKING},
	{"async_task::raw::RawTask::run", MARK_BEGIN, TASK_FUTURE},
	{"async_io::driver::block_on", MARK_OUTERMOST, TASK_ROOT},
	{"futures_lite::future::block_on", MARK_OUTERMOST, TASK_ROOT},

	/* Other executors. */
	{"embassy_executor::raw::TaskStorage::poll", MARK_BEGIN, TASK_FUTURE},
	{"futures_executor::local_pool::block_on", MARK_OUTERMOST, TASK_ROOT},
	{"futures_executor::local_pool::run_executor", MARK_OUTERMOST, TASK_ROOT},
	{"futures_executor::thread_pool::Task::run", MARK_BEGIN, TASK_FUTURE},
	{"pollster::block_on", MARK_OUTERMOST, TASK_ROOT},

	/* rayon: a thread that waits for a job executes others. */
	{"rayon_core::job::StackJob::execute", MARK_BEGIN, TASK_JOB},
	{"rayon_core::job::StackJob::run_inline", MARK_BEGIN, TASK_JOB},
	{"rayon_core::job::HeapJob::execute", MARK_BEGIN, TASK_JOB},
	{"rayon_core::job::ArcJob::execute", MARK_BEGIN, TASK_JOB},

	/* Go. */
	{"runtime.goexit", MARK_BEGIN_NEXT, TASK_GOROUTINE},
	{"runtime.main", MARK_CALLER, 0},
	{"sync.(*WaitGroup).Go", MARK_CALLER, 0},
	{"golang.org/x/sync/errgroup.(*Group).Go", MARK_CALLER, 0},

	/*
	 * A connection is a task of the server. While it runs a handler, the
	 * task is the handler's.
	 */
	{"axum::serve", MARK_PROGRAM, 0},
	{"axum::handler", MARK_HANDLER, 0},
	{"actix_web::handler", MARK_HANDLER, 0},
	{"tonic::server", MARK_HANDLER, 0},

	/*
	 * Functions that executors use, in addition to those that code_rules.h
	 * excludes.
	 */
	{"async_channel", MARK_GLUE, 0},
	{"async_lock", MARK_GLUE, 0},
	{"async_std", MARK_GLUE, 0},
	{"concurrent_queue", MARK_GLUE, 0},
	{"event_listener", MARK_GLUE, 0},
	{"parking", MARK_GLUE, 0},
	{"smol", MARK_GLUE, 0},
	{"tokio_util", MARK_GLUE, 0},
	{"tracing", MARK_GLUE, 0},
	{"tracing_futures", MARK_GLUE, 0},
};
/* clang-format on */

/*
 * Returns the text after the bracket that opens at `at`, or the end of the text
 * if it is not closed.
 */
static const char *skip_bracket(const char *at)
{
	unsigned depth = 0;

	for (; *at; at++) {
		if (*at == '<')
			depth++;
		else if (*at == '>' && at[-1] != '-' && --depth == 0)
			return at + 1;
	}
	return at;
}

/*
 * Returns the end of T in "<T>::f" or "<T as Trait>::f", whose bracket ends
 * before `end`.
 */
static const char *end_of_type(const char *at, const char *end)
{
	while (at < end && (*at != '>' || at[-1] == '-') && !text_begins(at, " as "))
		at = *at == '<' ? skip_bracket(at) : at + 1;
	return at < end ? at : end;
}

static char *task_rules_copy_path(char *to, const char *at, const char *end)
{
	while (at < end) {
		if (*at != '<') {
			*to++ = *at++;
			continue;
		}
		/* Removes the "::" before "<u8>". */
		if (to[-1] == ':' && to[-2] == ':')
			to -= 2;
		at = skip_bracket(at);
	}
	return to;
}

char *task_rule_path(const char *name)
{
	size_t len = strlen(name);
	/* task_rules_copy_path() reads the two preceding characters. */
	char *room = xcalloc(len + 3, 1), *path = room + 2, *end = path, *ret;
	const char *rest = name;

	if (*name == '<') {
		const char *type = name + 1;

		rest = skip_bracket(name);
		type += text_begins(type, "&mut ") ? 5 : *type == '&';
		end = *type == '<'
			      ? task_rules_copy_path(end, type + 1, end_of_type(type + 1, rest))
			      : task_rules_copy_path(end, type, end_of_type(type, rest));
	}
	end = task_rules_copy_path(end, rest, name + len);
	ret = xstrndup(path, (size_t)(end - path));
	free(room);
	return ret;
}

static bool task_rules_matches(const char *path, const char *rule)
{
	size_t len = strlen(rule);

	return !strncmp(path, rule, len) &&
	       (!path[len] || text_begins(path + len, "::") || path[len] == ' ' ||
		(path[len] == '.' && strchr(rule, '.')));
}

static const struct task_rule *task_rules_find(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (task_rules_matches(path, rules[i].path))
			return &rules[i];
	return NULL;
}

/*
 * Returns whether the function belongs to the language, or to a library in
 * code_rules.h.
 */
static bool task_rules_is_library(const char *name)
{
	struct code_class class = code_class_of("", name);

	return class.origin != ORIGIN_PROGRAM || class.role != ROLE_PROGRAM;
}

static bool is_program(const char *path)
{
	const struct task_rule *rule = task_rules_find(path);

	return rule ? rule->mark == MARK_PROGRAM : !task_rules_is_library(path);
}

/*
 * Returns the length of the path at the start: for "shop::{impl#0}::cart<u8>"
 * up to the bracket.
 */
static size_t path_length(const char *at)
{
	return strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:{}#");
}

/*
 * Returns "{async_fn#0}" for "{async_fn_env#0}", the type of the function's
 * state. The caller frees it.
 */
static char *without_env(const char *path, size_t len)
{
	char *copy = xstrndup(path, len), *env;

	while ((env = strstr(copy, "_env#")))
		memmove(env, env + strlen("_env"), strlen(env + strlen("_env")) + 1);
	return copy;
}

char *task_rule_type(const char *name)
{
	const char *at = strchr(name, '<');

	while (at && *at) {
		size_t len = path_length(at);
		CLEANUP(free_ptr) char *path = len ? without_env(at, len) : NULL;

		if (path && *path != ':' && strstr(path, "::") && path[strlen(path) - 1] != ':' &&
		    is_program(path))
			return STEAL(path);
		at += len ? len : 1;
	}
	return NULL;
}

/*
 * Returns "tokio-1.38.0/src/…" for "/…/registry/src/index/tokio-1.38.0/src/…",
 * or NULL if the file is not in a registry.
 */
static const char *in_registry(const char *file)
{
	const char *at = strstr(file, "/registry/src/");
	const char *slash = at ? strchr(at + strlen("/registry/src/"), '/') : NULL;

	return slash ? slash + 1 : NULL;
}

/*
 * Returns the crate of a file in a registry, as spelled in paths: "tokio_util".
 * The caller frees it.
 */
static char *crate_of(const char *file)
{
	const char *crate = in_registry(file);
	const char *version = crate;
	char *name;

	if (!crate)
		return xstrdup(strstr(file, "/library/std/")	 ? "std"
			       : strstr(file, "/library/alloc/") ? "alloc"
			       : strstr(file, "/library/core/")	 ? "core"
								 : "");
	while ((version = strpbrk(version, "-/")) && *version == '-' &&
	       !(version[1] >= '0' && version[1] <= '9'))
		version++;
	name = xstrndup(crate, version ? (size_t)(version - crate) : strlen(crate));
	for (char *at = name; *at; at++)
		if (*at == '-')
			*at = '_';
	return name;
}

/* A function without a path is classified by its file. */
static bool task_rules_is_glue(const char *name, const char *path, const char *file)
{
	CLEANUP(free_ptr) char *crate = strstr(path, "::") ? xstrdup("") : crate_of(file);
	CLEANUP(free_ptr) char *in_crate = *crate ? xasprintf("%s::", crate) : NULL;

	return (in_crate && (task_rules_find(crate) || task_rules_is_library(in_crate))) ||
	       task_rules_is_library(name);
}

bool task_rule_is_handler(const char *name, const char *file)
{
	static const char closure[] = "::{{closure}}";
	size_t len = strlen(name);

	/* tonic generates a service per method, which calls the handler. */
	if (in_registry(file) || strstr(name, " as tonic::server::"))
		return false;
	return strstr(name, "::{async_fn#") || strstr(name, "::{async_block#") ||
	       (len > strlen(closure) && !strcmp(name + len - strlen(closure), closure));
}

bool task_rule_begins(const char *name)
{
	CLEANUP(free_ptr) char *path = task_rule_path(name);
	const struct task_rule *rule = task_rules_find(path);

	return rule && (rule->mark == MARK_BEGIN || rule->mark == MARK_BEGIN_NEXT ||
			rule->mark == MARK_OUTERMOST);
}

struct task_rule task_rule_of(const char *name, const char *file)
{
	CLEANUP(free_ptr) char *path = task_rule_path(name);
	const struct task_rule *rule = task_rules_find(path);

	if (rule)
		return *rule;
	/*
	 * This wrapper calls the function of a go statement with its arguments.
	 */
	if (strstr(path, ".gowrap"))
		return (struct task_rule){.mark = MARK_CALLER};
	return (struct task_rule){.mark = task_rules_is_glue(name, path, file) ? MARK_GLUE
									       : MARK_PROGRAM};
}
