#include "symbol/module_problem.h"

#include "proc/jitdump.h"
#include "symbol/perfmap.h"

#include "base/alloc.h"
#include "base/text.h"

#include <string.h>

static bool has_java(const struct address_spaces *spaces)
{
	for (module_id id = 0; id < address_spaces_module_count(spaces); id++) {
		const struct module *module = address_spaces_module(spaces, id);
		const char *slash = module->kind == MODULE_FILE ? strrchr(module->path, '/') : NULL;

		if (slash && strcmp(slash, "/libjvm.so") == 0)
			return true;
	}
	return false;
}

/* "" if it is not known. */
static const char *process_name(const struct profile *profile, pid_t pid)
{
	for (thread_id id = 0; id < profile_thread_count(profile); id++) {
		const struct profile_thread *thread = profile_get_thread(profile, id);

		if (thread->pid == pid)
			return profile_string(profile, thread->process);
	}
	return "";
}

/* How a program is told to list the code that it compiles. */
static const char *how_to_list(const char *name)
{
	static const struct {
		const char *begin, *how;
	} programs[] = {
		{"node", "node --perf-basic-prof or --perf-prof"},
		{"python", "python -X perf or, from 3.13 on, -X perf_jit"},
		{"dotnet", "DOTNET_PerfMapEnabled=1"},
		{"wasmtime", "wasmtime --profile=jitdump"},
		{"beam", "erl +JPperf true"},
		{"erl", "erl +JPperf true"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (text_begins(name, programs[i].begin))
			return programs[i].how;
	return "node --perf-basic-prof, python -X perf, DOTNET_PerfMapEnabled=1";
}

/* Why code that was made at run time has no names. */
static char *nameless_code(const struct address_spaces *spaces, const struct profile *profile,
			   pid_t pid)
{
	const char *java = "";

	if (has_java(spaces))
		java = "for Java (JDK 17 and later), record it with --java while it runs, or start "
		       "it with -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit; else ";
	return xasprintf("code that process %d made at run time has no names: %slet it write "
			 "/tmp/perf-%d.map or a jitdump (%s)",
			 pid, java, pid, how_to_list(process_name(profile, pid)));
}

static char *lost(const struct module *module, const char *why)
{
	if (module->kind == MODULE_JIT)
		return xasprintf("code that process %d made at run time is shown as addresses: %s",
				 module->pid, why);
	return xasprintf("the functions of %s are shown as addresses: %s", module->path, why);
}

static char *kernel_problem(const struct inquiry *inquiry, const char *path, const char *what)
{
	return xasprintf("the functions of %s have no lines: %s %s", path,
			 inquiry->kernel ? inquiry->kernel->path : "its file", what);
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
		return xasprintf("%s is longer than %d MB: read the first", module->path,
				 (int)(JITDUMP_BYTES_MAX >> 20));
	return xasprintf("the symbols that process %d lists in its perf-%d.map are more than %d "
			 "MB: read the first",
			 module->pid, module->pid, PERFMAP_BYTES_MAX >> 20);
}

/* What the reader of the file has found. */
static char *file_problem(const struct inquiry *inquiry, const struct module *module)
{
	const char *path = module->path;

	switch (reply_problem(inquiry->reply)) {
	case SOURCE_PACKED_DWARF:
		return xasprintf("the debug information of %s cannot be decompressed: "
				 "its functions are named by its symbols alone",
				 path);
	case SOURCE_SPLIT_DWARF:
		return missing_dwo_files(path, reply_sources(inquiry->reply));
	case SOURCE_LONG_MAP:
		return long_map(module);
	case SOURCE_CHANGED_FILE:
		return xasprintf("%s or its debug file was changed while prof read it, so symbols "
				 "can be missing or wrong: record it again",
				 path);
	case SOURCE_PACKED_FILE:
		return kernel_problem(inquiry, path, "cannot be decompressed");
	case SOURCE_OTHER_BUILD:
		return kernel_problem(inquiry, path, "is of another build");
	case SOURCE_OTHER_PLACE:
		return kernel_problem(inquiry, path,
				      "does not have the symbol or section that says where it was "
				      "loaded");
	case SOURCE_NO_PROBLEM:
		break;
	}
	return NULL;
}

/* What is missing, if that many frames found no symbol; NULL: nothing to say. */
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

char *module_problem(const struct inquiry *inquiry, const struct address_spaces *spaces,
		     const struct profile *profile, char **fact)
{
	const struct module *module = address_spaces_module(spaces, inquiry->module);
	char *text;

	*fact = NULL;
	if (inquiry->loss)
		return lost(module, inquiry->loss);
	if (inquiry->refused)
		return xasprintf("the downloaded debug information of %s was not used: %s",
				 module->path, inquiry->refused);
	if (inquiry->problem)
		return xstrdup(inquiry->problem);
	if (module->kind == MODULE_JIT && !module->elf && !inquiry->map)
		return nameless_code(spaces, profile, module->pid);
	if (!inquiry->reply)
		return NULL;
	text = file_problem(inquiry, module);
	if (text)
		return text;
	*fact = missing_symbols(module->path, reply_symbols(inquiry->reply), inquiry->unnamed);
	if (!*fact)
		return NULL;
	return xasprintf("%s: install its debug symbols, or do not strip it", *fact);
}
