#include "profile/code_origin.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <string.h>

/* The beginning of the names of files that hold nothing but a C library or a runtime … */
static const char *const c_libraries[] = {"libc.so",  "libc-",	"libc.musl", "libpthread",
					  "librt.so", "librt-", "ld-linux",  "ld-musl",
					  "ld-2.",    "[vdso]", "linux-vdso"};
static const char *const runtimes[] = {"libstdc++", "libc++", "libgcc_s", "libjvm", "libjli"};

/* … and of the names of functions, wherever they are linked: of C, and of C++, Rust, Go and Java.
 */
static const char *const c_functions[] = {
	"__", "pthread_",
	/* What Go's scheduler waits with, below what it waits for. */
	"runtime.futex", "runtime.note", "runtime.usleep", "runtime.mPark", "runtime.stopm",
	"runtime.epoll", "runtime.netpoll", "runtime.semasleep", "runtime/internal/syscall",
	"internal/runtime/syscall",
	/* What a HotSpot virtual machine waits with. */
	"os::Platform", "PosixSemaphore::"};
static const char *const runtime_functions[] = {
	"std::", "core::", "alloc::", "runtime.", "runtime/", "internal/", "sync.", "syscall.",
	"time.", "java.",  "jdk.",    "sun.",	  "Ljava/",   "Ljdk/",	   "Lsun/"};

static bool begins_with_any(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(text, words[i], strlen(words[i])))
			return true;
	return false;
}

/* The name without the type that a C++ template returns: "void std::invoke<int>(int)". */
static const char *without_type(const char *name)
{
	const char *word = name;
	unsigned depth = 0;

	for (const char *at = name; *at && (depth || *at != '('); at++) {
		if (*at == '<')
			depth++;
		else if (*at == '>')
			depth -= depth > 0;
		else if (*at == ' ' && !depth && at[1] != '[')
			word = at + 1;
	}
	/* "<std::io::Stdin as std::io::Read>::read" */
	return *word == '<' ? word + 1 : word;
}

/* "py::get:/usr/lib/python3.11/queue.py", "py::_find:<frozen importlib>" */
static bool is_python_library(const char *name)
{
	return !strncmp(name, "py::", strlen("py::")) &&
	       (strstr(name, ":<frozen ") ||
		(strstr(name, "/lib/python") && !strstr(name, "-packages/")));
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

/* Code of HotSpot between methods, as perf maps name it; interpreted methods have no other name. */
static bool is_java_stub(const char *name)
{
	return !strcmp(name, "Interpreter") || !strcmp(name, "I2C/C2I adapters") ||
	       !strncmp(name, "StubRoutines (", strlen("StubRoutines (")) ||
	       ends_with(name, " Runtime1 stub") || (*name == '_' && ends_with(name, "_Java"));
}

#define BEGINS_WITH_ANY(text, words) begins_with_any(text, words, ARRAY_SIZE(words))

enum code_origin code_origin_of(const char *module, const char *name)
{
	const char *plain = without_type(name);

	if (BEGINS_WITH_ANY(module, c_libraries) || BEGINS_WITH_ANY(plain, c_functions))
		return ORIGIN_C_LIBRARY;
	if (BEGINS_WITH_ANY(module, runtimes) || BEGINS_WITH_ANY(plain, runtime_functions) ||
	    is_python_library(name) || is_java_stub(name))
		return ORIGIN_RUNTIME;
	return ORIGIN_PROGRAM;
}
