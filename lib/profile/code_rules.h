/*
 * The table of rules that classify functions by name. Off-CPU reports use the
 * origin of a function, the logical view uses its role.
 *
 * Origin: the program, the runtime of its language, or the C library. Waits are
 * attributed to functions of the program.
 *
 * Role: whether the function is glue, which the logical view folds. A function
 * is glue if a programmer would not name what it does: it starts a thread,
 * calls a closure, polls a future, or takes the next job from a queue in order
 * to run it. A function that does what the caller wanted done is not glue,
 * however small it is and wherever it comes from: a copy, an allocation, a
 * lock, a hash, formatting, sorting, a system call. The program's own glue is
 * unknown and stays. Functions that stand for an operator of the language
 * (next() of a range, a comparison of integers, map() of an Option) are glue,
 * because in the source they are part of the caller's line.
 *
 * The first rule that matches a name decides, so a rule for part of a namespace
 * must precede the rule for the whole namespace. A name without a rule belongs
 * to the program. A rule matches the start of a name. A final "$" stands for
 * the end of the name, before its parameters and before a compiler suffix
 * (".constprop.0") or a version ("@@GLIBC_2.34"). A final "<" also stands for
 * the generic arguments of a name that is shown without them.
 *
 * Rules are compared with the path of the function (code_origin.c). It lacks
 * the return type of a C++ template. For "<T as Trait>::f" it contains T if T
 * has a path, else Trait. For a method of a primitive type it starts with
 * "primitive::".
 */
#ifndef PROF_PROFILE_CODE_RULES_H
#define PROF_PROFILE_CODE_RULES_H

#include <stddef.h>

enum code_origin {
	ORIGIN_PROGRAM, /* includes the program's own libraries */
	ORIGIN_RUNTIME, /* part of the language's runtime */
	ORIGIN_C_LIBRARY,
};

enum code_role {
	ROLE_PROGRAM, /* code of the program */
	/*
	 * Work of a library that is part of every program; shown below its
	 * caller.
	 */
	ROLE_WORK,
	/* These roles are glue: */
	ROLE_ADAPTOR,	/* passes a call on; as a leaf it is part of its caller */
	ROLE_ENTRY,	/* where a program, a thread or a task starts */
	ROLE_SCHEDULER, /* runs tasks; what it does between them is its own work */
};

struct code_class {
	enum code_origin origin;
	enum code_role role;
	/*
	 * The runtime's name ("tokio") for an entry and a scheduler, else NULL.
	 */
	const char *runtime;
};

struct code_rule {
	const char *name;
	struct code_class class;
};

extern const struct code_rule code_rules[];
extern const size_t code_rule_count;

#endif
