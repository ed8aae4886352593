/*
 * Where a function is from, by the name of its file and its own: the program, the runtime of its
 * language, or the C library. Waiting is of interest in the program.
 */
#ifndef PROF_PROFILE_CODE_ORIGIN_H
#define PROF_PROFILE_CODE_ORIGIN_H

enum code_origin {
	ORIGIN_PROGRAM, /* or a library of its own */
	ORIGIN_RUNTIME, /* comes with the language */
	ORIGIN_C_LIBRARY,
};

/* module: without its directory. name: demangled; "": unknown. */
enum code_origin code_origin_of(const char *module, const char *name);

#endif
