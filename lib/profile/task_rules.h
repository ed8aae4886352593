/*
 * The rules that find tasks in stacks, as data: which functions of a runtime begin a task, end one,
 * or may block; and how names of functions are compared with them.
 *
 * Names are compared as paths. A path is the demangled name without generic arguments, with the
 * type's path in the place of "<T>" and "<T as Trait>": of
 * "<async_task::raw::RawTask<F,T,S,M>>::run", "async_task::raw::RawTask<F,T,S,M>::run" and
 * "<async_task::raw::RawTask<F,T,S,M> as X>::run" it is "async_task::raw::RawTask::run". A rule
 * matches a path that is equal or continues with "::", so it matches the closures of its function,
 * too; a rule with a dot, which is of Go, one that continues with ".". The first rule that matches
 * decides.
 *
 * A compiler that writes line tables only has no path for inlined functions, "poll<shop::Cart>".
 * These are glue if their file is of a crate or library that is.
 */
#ifndef PROF_PROFILE_TASK_RULES_H
#define PROF_PROFILE_TASK_RULES_H

#include <stdbool.h>

/* A future of this type is a closure on a thread that may block. */
#define TASK_BLOCKING_TYPE "tokio::runtime::blocking::task::BlockingTask<"

/* What a task is. */
enum task_kind {
	TASK_FUTURE,	  /* polled by an executor, whose threads must not block */
	TASK_ROOT,	  /* the future that a thread polls itself, and no other: block_on() */
	TASK_SHARED_ROOT, /* the same on a thread that polls others, too */
	TASK_BLOCKING,	  /* a closure on a thread that may block: spawn_blocking() */
	TASK_JOB,	  /* a closure of a pool: rayon */
	TASK_GOROUTINE,	  /* its scheduler gives its thread to others when it blocks */
};

enum task_mark {
	MARK_PROGRAM,	 /* may be where a task begins; so is what no rule knows */
	MARK_GLUE,	 /* is passed over in the search for the function where it begins */
	MARK_CALLER,	 /* glue also where the very next function counts */
	MARK_BEGIN,	 /* the first function of the program below it is that of a task … */
	MARK_BEGIN_NEXT, /* … or the very next function is, whatever it is */
	MARK_OUTERMOST,	 /* begins a task unless it is in one */
	MARK_END,	 /* its callees are of no task until another begins */
	MARK_MAY_BLOCK,	 /* the task has told its executor that it blocks in here */
};

struct task_rule {
	const char *path;
	enum task_mark mark;
	enum task_kind kind; /* of those that begin a task */
};

/* The path of a demangled name; to be freed. */
char *task_rule_path(const char *name);
/*
 * The first path in the generic arguments of a demangled name that is the program's and has at
 * least two parts: of "poll<tokio::time::timeout::Timeout<shop::cart::{async_fn_env#0}>>" it is
 * "shop::cart::{async_fn#0}". NULL: none; else to be freed.
 */
char *task_rule_type(const char *name);
/* True if a task begins at or below the function; faster than task_rule_of(). */
bool task_rule_begins(const char *name);
/* name: demangled. file: of the function; "" when unknown. */
struct task_rule task_rule_of(const char *name, const char *file);

#endif
