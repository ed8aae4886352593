/*
 * The rules that find tasks in stacks, as data: which functions of a runtime
 * start a task, end one, or may block; and how function names are compared with
 * them.
 *
 * Names are compared as paths. A path is the demangled name without generic
 * arguments, in which the type's path replaces "<T>" and "<T as Trait>". The
 * names "<async_task::raw::RawTask<F,T,S,M>>::run",
 * "async_task::raw::RawTask<F,T,S,M>::run" and
 * "<async_task::raw::RawTask<F,T,S,M> as X>::run" have the path
 * "async_task::raw::RawTask::run". A rule matches a path that is equal to it or
 * continues with "::", so it also matches the closures of its function. A rule
 * with a dot is for Go and matches a path that continues with ".". The first
 * rule that matches decides.
 *
 * A compiler that writes only line tables has no path for inlined functions:
 * "poll<shop::Cart>". Such a function is glue if its file belongs to a crate or
 * library of glue.
 */
#ifndef PROF_PROFILE_TASK_RULES_H
#define PROF_PROFILE_TASK_RULES_H

#include <stdbool.h>

/* A future of this type is a closure on a thread that may block. */
#define TASK_BLOCKING_TYPE "tokio::runtime::blocking::task::BlockingTask<"

/* The kind of a task. */
enum task_kind {
	TASK_FUTURE,	  /* polled by an executor, whose threads must not block */
	TASK_ROOT,	  /* the only future that a thread polls: block_on() */
	TASK_SHARED_ROOT, /* the future of block_on() on a thread that also polls others */
	TASK_BLOCKING,	  /* a closure on a thread that may block: spawn_blocking() */
	TASK_JOB,	  /* a closure of a thread pool: rayon */
	TASK_GOROUTINE,	  /* its scheduler gives the thread to others when it blocks */
};

enum task_mark {
	MARK_PROGRAM,	 /* a task may start here; the default for functions without a rule */
	MARK_GLUE,	 /* skipped in the search for the function where a task starts */
	MARK_CALLER,	 /* glue, even if the next function is the start of the task */
	MARK_BEGIN,	 /* the first function of the program below it is the task's */
	MARK_BEGIN_NEXT, /* the next function below it is the task's, whatever it is */
	MARK_OUTERMOST,	 /* starts a task unless it is within one */
	MARK_END,	 /* its callees belong to no task until another one starts */
	MARK_HANDLER,	 /* a server calls a handler: the first async function of the program
			  * below it is the task's */
	MARK_MAY_BLOCK,	 /* the task has informed its executor that it blocks in this call */
};

struct task_rule {
	const char *path;
	enum task_mark mark;
	enum task_kind kind; /* for marks that start a task */
};

/*
 * Returns whether a function is the body of an async function or block of the
 * program: of a handler, if a server called it. name: demangled.
 */
bool task_rule_is_handler(const char *name, const char *file);
/* Returns the path of a demangled name. The caller frees it. */
char *task_rule_path(const char *name);
/*
 * Returns the first path in the generic arguments of a demangled name that
 * belongs to the program and has at least two parts: "shop::cart::{async_fn#0}"
 * for "poll<tokio::time::timeout::Timeout<shop::cart::{async_fn_env#0}>>".
 * Returns NULL if there is none. The caller frees it.
 */
char *task_rule_type(const char *name);
/*
 * Returns whether a task starts at or below the function. It is faster than
 * task_rule_of().
 */
bool task_rule_begins(const char *name);
/*
 * Returns the rule of a function. name: demangled. file: that of the function;
 * "" if unknown.
 */
struct task_rule task_rule_of(const char *name, const char *file);

#endif
