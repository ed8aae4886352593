#include "base/json.h"
#include "cmd/doctor/doctor.h"

/* Raised when a member changes its meaning or is removed, but not when one is
 * added. */
#define DOCTOR_SCHEMA "prof-doctor/1"

static void put_optional(struct json *json, const char *key, const char *text)
{
	if (text)
		json_put_text(json, key, text);
}

static void doctor_json_put_finding(struct json *json, const struct finding *finding)
{
	json_begin_object(json);
	json_put_text(json, "subject", finding->subject);
	json_put_text(json, "state", finding_state_name(finding->state));
	json_put_text(json, "what", finding->what);
	put_optional(json, "cost", finding->cost);
	put_optional(json, "command", finding->command);
	put_optional(json, "fix", finding->fix);
	json_end_object(json);
}

static void doctor_json_put_sources(struct json *json, const struct listed_module *module)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} sources[] = {
		{NAMES_EXPORTED, "exported"}, {NAMES_SYMTAB, "symtab"},
		{NAMES_EMBEDDED, "embedded"}, {NAMES_GO, "go"},
		{NAMES_DWARF, "dwarf"},	      {NAMES_SPLIT_DWARF, "split_dwarf"},
		{NAMES_LIBDW, "libdw"},	      {NAMES_LISTED, "perf_map"},
		{NAMES_JITDUMP, "jitdump"},   {NAMES_KERNEL, "kallsyms"},
	};

	json_key(json, "sources");
	json_begin_array(json);
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (module->sources.present & sources[i].bit)
			json_text(json, sources[i].name);
	json_end_array(json);
}

static void doctor_json_put_weights(struct json *json, const struct module_list *list,
				    const struct listed_module *module)
{
	if (list->samples) {
		json_put_number(json, "samples", module->samples);
		json_put_number(json, "unnamed", module->unnamed);
		json_put_number(json, "lineless", module->lineless);
	} else {
		json_put_number(json, "size_bytes", module->size_bytes);
	}
}

static void doctor_json_put_module(struct json *json, const struct module_list *list,
				   const struct listed_module *module)
{
	json_begin_object(json);
	json_put_text(json, "path", module->path);
	json_put_known(json, "build_id", module->build_id);
	json_put_text(json, "state", finding_state_name(module->state));
	doctor_json_put_weights(json, list, module);
	if (module->is_read)
		doctor_json_put_sources(json, module);
	put_optional(json, "debug_file", module->debug_file);
	if (module->sources.split_units) {
		json_put_number(json, "split_units", module->sources.split_units);
		json_put_number(json, "missing_units", module->sources.missing_units);
	}
	if (module->sources.is_rust)
		json_put_text(json, "language", "Rust");
	put_optional(json, "package", module->package);
	put_optional(json, "missing", module->missing);
	put_optional(json, "command", module->command);
	json_end_object(json);
}

void doctor_print_json(const struct diagnosis *diagnosis, FILE *out)
{
	struct json json = json_to(out);

	json_begin_object(&json);
	json_put_text(&json, "schema", DOCTOR_SCHEMA);
	put_optional(&json, "target", diagnosis->target);
	json_key(&json, "findings");
	json_begin_array(&json);
	for (size_t i = 0; i < diagnosis->findings.count; i++)
		doctor_json_put_finding(&json, &diagnosis->findings.items[i]);
	json_end_array(&json);
	if (diagnosis->has_modules) {
		if (diagnosis->modules.samples)
			json_put_number(&json, "samples", diagnosis->modules.samples);
		json_key(&json, "modules");
		json_begin_array(&json);
		for (size_t i = 0; i < diagnosis->modules.count; i++)
			doctor_json_put_module(&json, &diagnosis->modules,
					       &diagnosis->modules.items[i]);
		json_end_array(&json);
	}
	json_end_object(&json);
	fputc('\n', out);
}
