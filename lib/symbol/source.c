#include "symbol/source.h"

#include "elf/debugfile.h"
#include "symbol/kallsyms.h"
#include "symbol/ksym.h"
#include "symbol/perfmap.h"

#include "base/alloc.h"

#include <errno.h>

static bool has_section(struct image *image, const char *name)
{
	return image && image_has_section(image, name);
}

static void open_debug_file(struct source *source, const struct source_options *options)
{
	const struct module *module = source->module;
	bool complete = has_section(module->image, ".symtab") &&
			(!options->inlines || has_section(module->image, ".debug_info"));

	if (!complete && module->kind == MODULE_FILE)
		source->debug = debugfile_find(module->image, module->path, options->debug_dir);
	if (!source->debug && !has_section(module->image, ".symtab"))
		source->debug = debugfile_inside(module->image);
}

static void open_dwarf(struct source *source, const struct source_options *options)
{
	struct image *holder = source->module->image;

	if (!has_section(holder, ".debug_info"))
		holder = source->debug;
	if (!has_section(holder, ".debug_info"))
		return;
	if (image_section(holder, ".debug_info").unreadable) {
		source->problem = xasprintf("the debug information of %s cannot be decompressed: "
					    "its functions are named by its symbols alone",
					    source->module->path);
		return;
	}
	source->alt = debugfile_find_alt(holder, options->debug_dir);
	source->dwarf = dwarf_new(holder, source->alt);
	if (source->dwarf && options->again)
		dwarf_keep_contents(source->dwarf);
	if (source->dwarf && dwarf_is_split(source->dwarf))
		source->problem = xasprintf(
			"%s has its debug information in .dwo files, which prof does not read, so "
			"inlined functions and lines are missing: build it without -gsplit-dwarf",
			source->module->path);
}

static void open_file(struct source *source, const struct source_options *options)
{
	const struct module *module = source->module;

	if (!module->image) {
		source->problem = module->problem ? xstrdup(module->problem) : NULL;
		return;
	}
	/* Its pages may be gone, and touching them would be the end. */
	if (image_changed(module->image)) {
		source->problem = xasprintf("%s was changed while it ran: record it again",
					    module->path);
		return;
	}
	open_debug_file(source, options);
	source->symtab = symtab_new(module->image, source->debug);
	source->go = gopclntab_new(module->image);
}

static struct error *read_kallsyms(struct source *source, const char *proc,
				   const uint64_t *addresses, size_t count)
{
	CLEANUP(free_ptr) char *path = proc ? xasprintf("%s/kallsyms", proc) : NULL;
	CLEANUP(close_file) FILE *file = path ? fopen(path, "re") : NULL;

	if (!path)
		return error_new("it is not the one that runs here, or has been booted since");
	if (!file)
		return error_errno(errno, "open %s", path);
	return kallsyms_find(file, addresses, count, &source->arena, source->names);
}

static void open_kernel(struct source *source, const char *proc, const uint64_t *addresses,
			size_t count)
{
	bool is_ours = proc && !strcmp(proc, "/proc");
	CLEANUP(error_cleanup) struct error *err = NULL;
	const char *hint;

	if (is_ours && ksym_find(addresses, count, &source->arena, source->names))
		return;
	err = read_kallsyms(source, proc, addresses, count);
	hint = err ? error_hint_text(err) : NULL;
	if (err)
		source->problem = xasprintf("the kernel's functions have no names: %s%s%s",
					    error_text(err), hint ? ": " : "", hint ? hint : "");
}

static void open_perfmap(struct source *source, const char *proc, const uint64_t *addresses,
			 size_t count)
{
	pid_t pid = source->module->pid;
	CLEANUP(close_file) FILE *file = proc ? perfmap_open(proc, pid) : NULL;

	if (file)
		perfmap_find(file, addresses, count, &source->arena, source->names);
	else
		source->problem = xasprintf(
			"code that process %d made at run time has no names: let it write "
			"/tmp/perf-%d.map (node --perf-basic-prof, python -X perf)",
			pid, pid);
}

void source_open(struct source *source, const struct module *module,
		 const struct source_options *options, const uint64_t *addresses, size_t count)
{
	source->module = module;
	if (module->kind == MODULE_FILE || module->kind == MODULE_VDSO) {
		open_file(source, options);
		return;
	}
	source->names = xcalloc(count, sizeof(*source->names));
	if (module->kind == MODULE_KERNEL)
		open_kernel(source, options->proc, addresses, count);
	else if (module->kind == MODULE_JIT)
		open_perfmap(source, options->proc, addresses, count);
}

struct dwarf *source_dwarf(struct source *source, const struct source_options *options)
{
	if (source->symtab && options->inlines && !source->dwarf_is_open)
		open_dwarf(source, options);
	source->dwarf_is_open = true;
	return source->dwarf;
}

void source_close(struct source *source)
{
	dwarf_free(source->dwarf);
	gopclntab_free(source->go);
	symtab_free(source->symtab);
	image_free(source->alt);
	image_free(source->debug);
	free(source->names);
	free(source->problem);
	arena_deinit(&source->arena);
	*source = (struct source){0};
}

char *source_problem(const struct source *source, size_t unnamed)
{
	const char *path = source->module->path;

	if (source->problem)
		return xstrdup(source->problem);
	if (!unnamed || !source->symtab)
		return NULL;
	if (symtab_is_empty(source->symtab))
		return xasprintf("%s has no symbols: install its debug symbols, or do not strip it",
				 path);
	if (!symtab_is_complete(source->symtab))
		return xasprintf("%s has only its exported symbols, which leaves %zu address%s "
				 "without a name: install its debug symbols, or do not strip it",
				 path, unnamed, unnamed == 1 ? "" : "es");
	return NULL;
}
