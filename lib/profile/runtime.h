/*
 * Language runtimes: programs that interpret code, or compile it at run time.
 * Their functions have names in a profile only if the runtime lists them. This
 * table contains how a runtime is recognized and how it lists them.
 */
#ifndef PROF_PROFILE_RUNTIME_H
#define PROF_PROFILE_RUNTIME_H

enum runtime {
	RUNTIME_NONE,
	RUNTIME_NODE,
	RUNTIME_PYTHON,
	RUNTIME_JAVA,
	RUNTIME_DOTNET,
	RUNTIME_RUBY,
	RUNTIME_PHP,
	RUNTIME_BEAM,
	RUNTIME_WASMTIME,
	RUNTIMES,
};

/*
 * Returns the runtime whose program or library is at this path, such as
 * "/usr/bin/python3.11" or "libjvm.so".
 */
enum runtime runtime_of_path(const char *path);
/* "Python" */
const char *runtime_name(enum runtime runtime);
/*
 * Returns what gives its functions names, or the reason why nothing does: a
 * text to follow "Python functions have no names: ". path is that of its
 * program or library, or NULL.
 */
const char *runtime_advice(enum runtime runtime, const char *path);
/*
 * Returns the start of the names that the runtime lists, "" if they have none
 * in common.
 */
const char *runtime_prefix(enum runtime runtime);

#endif
