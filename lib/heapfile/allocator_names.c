#include "heapfile/allocator_names.h"

#include "base/alloc.h"
#include "base/text.h"

#include <string.h>

/* Names after any of the prefixes below. */
static const char *const functions[] = {
	"malloc",	    "calloc",	     "realloc",		 "reallocarray",
	"memalign",	    "aligned_alloc", "posix_memalign",	 "valloc",
	"pvalloc",	    "do_memalign",   "mallocx",		 "rallocx",
	"xallocx",	    "new",	     "newarray",	 "new_nothrow",
	"newarray_nothrow", "new_aligned",   "newarray_aligned",
};

static const char *const prefixes[] = {"_rjem_je_", "_rjem_", "je_", "tc_", "__libc_", "__"};

/* Prefixes: all functions that start with one are an allocator's. */
static const char *const families[] = {
	"prof_backtrace",
	"prof_alloc_prep",
	"je_prof_",
	"_rjem_je_",
	"operator new",
	"tcmalloc::",
	"(anonymous namespace)::do_malloc",
	"MallocHook::",
	"MallocExtension::",
	"__rust_alloc",
	"__rust_realloc",
	"__rdl_alloc",
	"__rdl_realloc",
	"<tikv_jemallocator::Jemalloc",
	"<jemallocator::Jemalloc",
	"tikv_jemallocator::",
	"jemallocator::",
};

static bool allocator_names_is_function(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (!strcmp(name, functions[i]))
			return true;
	return false;
}

bool is_allocator_function(const char *name)
{
	/* "new" alone is a function of the program. */
	if (allocator_names_is_function(name) && !text_begins(name, "new"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (text_begins(name, prefixes[i]) &&
		    allocator_names_is_function(name + strlen(prefixes[i])))
			return true;
	return TEXT_BEGINS_ANY(name, families);
}

bool is_allocator_library(const char *path)
{
	static const char *const libraries[] = {"libjemalloc.", "libjemalloc-", "libtcmalloc.",
						"libtcmalloc_"};

	return TEXT_BEGINS_ANY(basename(path), libraries);
}
