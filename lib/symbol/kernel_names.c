#include "symbol/kernel_names.h"

#include "symbol/kallsyms.h"
#include "symbol/ksym.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

static struct error *read_kallsyms(const char *proc, const uint64_t *addresses, size_t count,
				   struct arena *arena, const char **names)
{
	CLEANUP(free_ptr) char *path = proc ? xasprintf("%s/kallsyms", proc) : NULL;
	CLEANUP(close_file) FILE *file = path ? fopen(path, "re") : NULL;

	if (!path)
		return error_new("it is not the running kernel, or the machine was rebooted since");
	if (!file)
		return error_errno(errno, "open %s", path);
	return kallsyms_find(file, addresses, count, arena, names);
}

char *kernel_names_find(const char *proc, const uint64_t *addresses, size_t count,
			struct arena *arena, const char **names)
{
	bool is_ours = proc && !strcmp(proc, "/proc");
	CLEANUP(ksym_cleanup) struct ksym *ksym = is_ours ? ksym_new() : NULL;
	CLEANUP(error_cleanup) struct error *err = NULL;
	const char *hint;

	if (ksym && ksym_find(ksym, addresses, count, arena, names))
		return NULL;
	err = read_kallsyms(proc, addresses, count, arena, names);
	hint = err ? error_hint_text(err) : NULL;
	return err ? xasprintf("the kernel's functions have no names: %s%s%s", error_text(err),
			       hint ? ": " : "", hint ? hint : "")
		   : NULL;
}
