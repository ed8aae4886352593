/*
 * What is known of functions by their names: one table, of which the views of waiting and the
 * logical view ask different questions.
 *
 * Origin: the program, the runtime of its language, or the C library. Waiting is of interest in the
 * program.
 *
 * Role: whether the function is glue, which the logical view folds away. A function is glue if it
 * does nothing that a programmer would put a name to: it starts a thread, calls a closure, polls a
 * future, or takes the next job from a queue in order to run it. It is not glue if it does what the
 * caller wanted done, however small and wherever it comes from: a copy, an allocation, a lock, a
 * hash, formatting, sorting, a system call. The program's own glue is not known and stays.
 * Functions that stand for an operator of the language (a range's next(), a comparison of integers,
 * an Option's map()) are glue: in the source they are part of the caller's line.
 *
 * The first rule that matches a name decides, so a rule for a part of a namespace is before that
 * for all of it. A name without a rule is the program's. A rule matches the beginning of a name;
 * "$" at its end stands for the end of the name, before its parameters and before a suffix of the
 * compiler (".constprop.0") or a version ("@@GLIBC_2.34"); "<" at its end also for the generic
 * arguments of a name that is shown without them.
 *
 * What is compared is the path of the function (code_origin.c): without the return type of a C++
 * template; of "<T as Trait>::f" T if it has a path of its own, else the Trait; "primitive::" for a
 * method of a type of the language.
 */
#ifndef PROF_PROFILE_CODE_RULES_H
#define PROF_PROFILE_CODE_RULES_H

#include <stddef.h>

enum code_origin {
	ORIGIN_PROGRAM, /* or a library of its own */
	ORIGIN_RUNTIME, /* comes with the language */
	ORIGIN_C_LIBRARY,
};

enum code_role {
	ROLE_PROGRAM, /* what a profile is read for */
	ROLE_WORK, /* work of a library that is part of every program: shown below who asked for it
		    */
	/* Glue: */
	ROLE_ADAPTOR,	/* passes a call on; as a leaf it is part of its caller */
	ROLE_ENTRY,	/* where a program, a thread or a task begins */
	ROLE_SCHEDULER, /* runs tasks; what it does between them is its own work */
};

struct code_class {
	enum code_origin origin;
	enum code_role role;
	const char *runtime; /* of an entry and a scheduler: its name, such as "tokio"; else NULL */
};

struct code_rule {
	const char *name;
	struct code_class class;
};

extern const struct code_rule code_rules[];
extern const size_t code_rule_count;

#endif
