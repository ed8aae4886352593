#include "profile/runtime.h"

#include "base/alloc.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 4 };

/* The first Python 3 with -X perf. */
enum { PYTHON_PERF_MINOR = 12 };

static const struct {
	const char *name;
	/* Names of files, without version and suffix. */
	const char *files[FILES_MAX];
	const char *advice;
} runtime_table[RUNTIMES] = {
	[RUNTIME_NONE] = {"",
			  {NULL},
			  "let the program write /tmp/perf-PID.map or a jitdump, as node "
			  "--perf-basic-prof does"},
	[RUNTIME_NODE] = {"Node.js",
			  {"node", "nodejs", "libnode"},
			  "start it with node --perf-basic-prof"},
	[RUNTIME_PYTHON] = {"Python",
			    {"python", "libpython"},
			    "start it with python3 -X perf (3.12 or later)"},
	[RUNTIME_JAVA] = {"Java",
			  {"java", "libjvm"},
			  "record it while it runs (17 or later; another user's as root "
			  "with --java), or start it with java -XX:+UnlockDiagnosticVMOptions "
			  "-XX:+DumpPerfMapAtExit"},
	[RUNTIME_DOTNET] = {".NET",
			    {"dotnet", "libcoreclr", "libclrjit"},
			    "start it with DOTNET_PerfMapEnabled=1 in its environment"},
	[RUNTIME_RUBY] = {"Ruby",
			  {"ruby", "libruby", "libruby-"},
			  "start it with ruby --yjit --yjit-perf (3.3 or later), which names "
			  "methods that YJIT compiles; the interpreter cannot name methods"},
	[RUNTIME_PHP] = {"PHP",
			 {"php", "php-fpm", "php-cgi", "libphp"},
			 "the interpreter cannot name functions; those that the JIT compiles have "
			 "names with opcache.jit_debug=16 (php -d opcache.enable_cli=1 -d "
			 "opcache.jit=tracing -d opcache.jit_buffer_size=64M)"},
	[RUNTIME_BEAM] = {"Erlang",
			  {"beam"},
			  "start it with ERL_FLAGS=\"+JPperf true\" in its environment (OTP 25 or "
			  "later)"},
	[RUNTIME_WASMTIME] = {"wasmtime", {"wasmtime"}, "start it with wasmtime --profile=jitdump"},
};

/* "python3.11", "libjvm.so", "beam.smp", but not "node_exporter" */
static bool is_versioned(const char *name, const char *file)
{
	const char *rest = name + strlen(file);

	return text_begins(name, file) && (!*rest || *rest == '.' || isdigit((unsigned char)*rest));
}

enum runtime runtime_of_path(const char *path)
{
	const char *name = basename(path);

	for (enum runtime runtime = RUNTIME_NONE; runtime < RUNTIMES; runtime++)
		for (size_t i = 0; i < FILES_MAX && runtime_table[runtime].files[i]; i++)
			if (is_versioned(name, runtime_table[runtime].files[i]))
				return runtime;
	return RUNTIME_NONE;
}

const char *runtime_name(enum runtime runtime)
{
	return runtime_table[runtime].name;
}

/* Whether the file's name contains a version of Python without -X perf. */
static bool is_old_python(const char *path)
{
	const char *version = strstr(basename(path), "python3.");

	if (!version)
		return strstr(basename(path), "python2") != NULL;
	return atoi(version + strlen("python3.")) < PYTHON_PERF_MINOR;
}

const char *runtime_advice(enum runtime runtime, const char *path)
{
	if (runtime == RUNTIME_PYTHON && path && is_old_python(path))
		return "this version cannot list them; 3.12 and later can, with python3 -X perf";
	return runtime_table[runtime].advice;
}

const char *runtime_prefix(enum runtime runtime)
{
	return runtime == RUNTIME_PYTHON ? "py::" : "";
}
