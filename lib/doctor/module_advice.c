#include "doctor/module_advice.h"

#include "base/alloc.h"
#include "base/shell_word.h"
#include "base/text.h"
#include "doctor/machine_findings.h"

#include <string.h>

/*
 * Missing symbols are reported from this percentage of a module's samples on.
 */
enum { MUCH = 10 };

static void module_advice_missing(struct listed_module *module, enum finding_state state,
				  char *what, char *command)
{
	module->state = state;
	module->missing = what;
	module->command = command;
}

static bool is_of_distribution(const char *path)
{
	return (text_begins(path, "/usr/") && !text_begins(path, "/usr/local/")) ||
	       text_begins(path, "/lib") || text_begins(path, "/bin/") ||
	       text_begins(path, "/sbin/");
}

static char *build_command(const struct listed_module *module)
{
	bool is_stripped = !(module->sources.present & (NAMES_SYMTAB | NAMES_EMBEDDED));

	if (module->sources.is_rust)
		return xasprintf(
			"build it with [profile.release] debug = \"line-tables-only\"%s in "
			"Cargo.toml, or with prof cargo",
			is_stripped ? ", strip = false" : "");
	return xasprintf("build it with -g%s", is_stripped ? ", and do not strip it" : "");
}

static char *alpine_command(const char *path)
{
	CLEANUP(free_ptr) char *word = shell_word(path);

	return xasprintf("sudo apk add PACKAGE-dbg, of the PACKAGE that this prints: apk info "
			 "--who-owns %s",
			 word);
}

/*
 * Returns the command that provides the debug information of a file that lacks
 * it.
 */
static char *file_command(const struct listed_module *module, const struct advice_context *context)
{
	char *command = NULL;

	if (module->package)
		command = distribution_install(&context->distribution, module->package);
	if (command)
		return command;
	if (!is_of_distribution(module->path))
		return build_command(module);
	/* No debuginfod server serves Alpine. */
	if (context->distribution.packaging == PACKAGING_ALPINE)
		return alpine_command(module->path);
	if (!context->has_debuginfod)
		return debuginfod_command(&context->distribution);
	/*
	 * A recording queries the servers when it ends. Reading a perf
	 * recording queries them, too.
	 */
	return module->is_kept
		       ? xstrdup("record it again; the recording queries debuginfod servers")
		       : NULL;
}

static const char *module_advice_origin_of(uint32_t present)
{
	static const struct {
		uint32_t source;
		const char *origin;
	} origins[] = {
		{NAMES_SPLIT_DWARF, "DWARF"}, {NAMES_DWARF, "DWARF"},
		{NAMES_GO, "Go's table"},     {NAMES_SYMTAB, "symbols"},
		{NAMES_EMBEDDED, "symbols"},  {NAMES_EXPORTED, "exported symbols"},
		{NAMES_JITDUMP, "jitdump"},   {NAMES_LISTED, "perf-PID.map"},
		{NAMES_KERNEL, "kallsyms"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(origins); i++)
		if (present & origins[i].source)
			return origins[i].origin;
	return "nothing";
}

static void advise_on_split_units(struct listed_module *module)
{
	const struct name_sources *sources = &module->sources;
	CLEANUP(free_ptr) char *word = shell_word(module->path);

	module_advice_missing(
		module, FINDING_LIMITED,
		xasprintf("lines and inlined functions of %u of %u units: their .dwo files are not "
			  "where the compiler wrote them",
			  sources->missing_units, sources->split_units),
		xasprintf("dwp -e %s -o %s.dwp where it was built, or build it without "
			  "-gsplit-dwarf",
			  word, word));
}

static void advise_on_symbols(struct listed_module *module, const struct advice_context *context)
{
	uint32_t present = module->sources.present;

	if (present & (NAMES_SYMTAB | NAMES_EMBEDDED))
		module_advice_missing(module, FINDING_LIMITED,
				      xstrdup("lines and inlined functions"),
				      file_command(module, context));
	else if (present & NAMES_EXPORTED)
		module_advice_missing(module, FINDING_LIMITED,
				      xstrdup("functions that are not exported, lines"),
				      file_command(module, context));
	else
		module_advice_missing(module, FINDING_MISSING, xstrdup("all names"),
				      file_command(module, context));
}

static void advise_on_file(struct listed_module *module, const struct advice_context *context)
{
	uint32_t present = module->sources.present;

	if (!module->is_read && module->is_kept) {
		module_advice_missing(
			module, module->unnamed ? FINDING_MISSING : FINDING_LIMITED,
			xstrdup(module->unnamed ? "symbols, and the file that was recorded"
						: "lines, and the file that was recorded"),
			xstrdup("record it again, or pass the directory of the file with --symfs"));
	} else if (!module->is_read) {
		module_advice_missing(
			module, FINDING_MISSING,
			xstrdup(module->problem ? module->problem : "its file was not read"), NULL);
	} else if (module->is_complete) {
		module_advice_missing(
			module, FINDING_LIMITED,
			xstrdup("symbols or lines that its file or debug file now has"),
			xstrdup("record it again"));
	} else if (module->sources.missing_units) {
		advise_on_split_units(module);
	} else if (!(present & (NAMES_DWARF | NAMES_SPLIT_DWARF | NAMES_GO))) {
		advise_on_symbols(module, context);
	} else if (!(present & NAMES_GO) && module->placeless * MUCH >= module->samples &&
		   module->placeless && !is_of_distribution(module->path)) {
		module_advice_missing(
			module, FINDING_LIMITED,
			xstrdup("lines of code that was compiled without debug information"),
			build_command(module));
	}
}

static void advise_on_jit(struct listed_module *module)
{
	bool has_names = module->sources.present & (NAMES_LISTED | NAMES_JITDUMP);

	if (module->samples ? module->unnamed != 0 : !has_names)
		module_advice_missing(module, FINDING_MISSING,
				      xstrdup("symbols of code that is compiled at run time"),
				      xstrdup(runtime_advice(module->runtime, NULL)));
}

static void advise_on_kernel(struct listed_module *module, const struct advice_context *context)
{
	if (!module->unnamed && !module->problem)
		return;
	module_advice_missing(
		module, FINDING_LIMITED,
		xstrdup(module->problem ? module->problem : "symbols of some kernel functions"),
		module->is_kept || !module->unnamed
			? NULL
			: xasprintf("sudo sysctl kernel.kptr_restrict=%d",
				    context->is_root ? 1 : 0));
}

void module_advise(struct listed_module *module, const struct advice_context *context)
{
	bool lacks_nothing = module->samples && !module->unnamed && !module->lineless;

	module->state = FINDING_OK;
	module->origin = module->is_kept && !module->is_read
				 ? "the profile"
				 : module_advice_origin_of(module->sources.present);
	if (lacks_nothing)
		return;
	switch (module->kind) {
	case PROFILE_MODULE_FILE:
		advise_on_file(module, context);
		break;
	case PROFILE_MODULE_JIT:
		advise_on_jit(module);
		break;
	case PROFILE_MODULE_KERNEL:
		advise_on_kernel(module, context);
		break;
	case PROFILE_MODULE_UNKNOWN:
		module_advice_missing(module, FINDING_LIMITED,
				      xstrdup("a module: these addresses are in no known mapping"),
				      NULL);
		break;
	default:
		break;
	}
}
