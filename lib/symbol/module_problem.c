#include "symbol/module_problem.h"

#include "base/alloc.h"
#include "proc/jitdump.h"
#include "profile/runtime.h"
#include "symbol/perfmap.h"

#include <string.h>

/* Returns "" if it is unknown. */
static const char *module_problem_process_name(const struct profile *profile, pid_t pid)
{
	for (thread_id id = 0; id < profile_thread_count(profile); id++) {
		const struct profile_thread *thread = profile_get_thread(profile, id);

		if (thread->pid == pid)
			return profile_string(profile, thread->process);
	}
	return "";
}

/*
 * Returns the runtime of a process by its name, else that of a recorded file:
 * main threads and workers can have other names.
 */
static enum runtime runtime_of(const struct address_spaces *spaces, const struct profile *profile,
			       pid_t pid)
{
	enum runtime runtime = runtime_of_path(module_problem_process_name(profile, pid));

	for (module_id id = 0; id < address_spaces_module_count(spaces) && !runtime; id++) {
		const struct module *module = address_spaces_module(spaces, id);

		if (module->kind == MODULE_FILE)
			runtime = runtime_of_path(module->path);
	}
	return runtime;
}

/* Describes why JIT code has no names. */
static char *nameless_code(const struct address_spaces *spaces, const struct profile *profile,
			   pid_t pid)
{
	enum runtime runtime = runtime_of(spaces, profile, pid);

	return xasprintf("JIT code of process %d has no names: %s", pid,
			 runtime_advice(runtime, NULL));
}

static char *lost(const struct module *module, const char *why)
{
	if (module->kind == MODULE_JIT)
		return xasprintf("JIT code of process %d is shown as addresses: %s", module->pid,
				 why);
	return xasprintf("the functions of %s are shown as addresses: %s", module->path, why);
}

static char *kernel_problem(const struct symbol_request *request, const char *path,
			    const char *what)
{
	return xasprintf("the functions of %s have no lines: %s %s", path,
			 request->kernel ? request->kernel->path : "its file", what);
}

static char *missing_dwo_files(const char *path, struct name_sources sources)
{
	return xasprintf("%s lacks %u of its .dwo files (such as %s), so the functions inlined "
			 "there are missing: keep these files where they were built, or pack them "
			 "into %s.dwp with dwp or llvm-dwp",
			 path, sources.missing_units,
			 sources.missing_file ? sources.missing_file : "one without a name", path);
}

static char *long_map(const struct module *module)
{
	if (module->jitdump)
		return xasprintf("%s is larger than %d MB: the rest was not read", module->path,
				 (int)(JITDUMP_BYTES_MAX >> 20));
	return xasprintf("the symbols that process %d lists in perf-%d.map are larger than %d MB: "
			 "the rest was not read",
			 module->pid, module->pid, PERFMAP_BYTES_MAX >> 20);
}

/* Describes the problem that the reader of the file has found. */
static char *file_problem(const struct symbol_request *request, const struct module *module)
{
	const char *path = module->path;

	switch (reply_problem(request->reply)) {
	case SOURCE_PACKED_DWARF:
		return xasprintf("the debug information of %s cannot be decompressed: "
				 "only its symbol tables provide names",
				 path);
	case SOURCE_SPLIT_DWARF:
		return missing_dwo_files(path, reply_sources(request->reply));
	case SOURCE_LONG_MAP:
		return long_map(module);
	case SOURCE_CHANGED_FILE:
		return xasprintf("%s or its debug file was changed while prof read it, so symbols "
				 "can be missing or wrong: record it again",
				 path);
	case SOURCE_PACKED_FILE:
		return kernel_problem(request, path, "cannot be decompressed");
	case SOURCE_OTHER_BUILD:
		return kernel_problem(request, path, "is of another build");
	case SOURCE_OTHER_PLACE:
		return kernel_problem(request, path,
				      "has no symbol or section that reveals where it was loaded");
	case SOURCE_NO_PROBLEM:
		break;
	}
	return NULL;
}

/*
 * Describes what is missing if `unnamed` frames have no symbol. Returns NULL if
 * there is no problem.
 */
static char *missing_symbols(const char *path, enum source_symbols symbols, size_t unnamed)
{
	if (!unnamed || symbols == SOURCE_ALL_SYMBOLS)
		return NULL;
	if (symbols == SOURCE_NO_SYMBOLS)
		return xasprintf("%s has no symbols", path);
	return xasprintf("%s has only its exported symbols, which leaves %zu address%s without a "
			 "name",
			 path, unnamed, unnamed == 1 ? "" : "es");
}

char *module_problem(const struct symbol_request *request, const struct address_spaces *spaces,
		     const struct profile *profile, char **fact)
{
	const struct module *module = address_spaces_module(spaces, request->module);
	char *text;

	*fact = NULL;
	if (request->loss)
		return lost(module, request->loss);
	if (request->refused)
		return xasprintf("the downloaded debug information of %s was not used: %s",
				 module->path, request->refused);
	if (request->problem)
		return xstrdup(request->problem);
	if (module->kind == MODULE_JIT && !module->elf && !request->map)
		return nameless_code(spaces, profile, module->pid);
	if (!request->reply)
		return NULL;
	text = file_problem(request, module);
	if (text)
		return text;
	*fact = missing_symbols(module->path, reply_symbols(request->reply), request->unnamed);
	if (!*fact)
		return NULL;
	return xasprintf("%s: install its debug symbols, or do not strip it", *fact);
}
