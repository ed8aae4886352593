#include "cmd/code.h"

#include "base/alloc.h"
#include "base/text.h"
#include "elf/debugfile.h"
#include "proc/finder.h"

#include <stdio.h>
#include <string.h>

#define DEBUG_DIR "/usr/lib/debug"

/* False where it is none: other producers of pprof have other marks there. */
static bool build_id_of(const char *hex, struct build_id *ret)
{
	*ret = (struct build_id){0};
	for (; *hex; hex += 2) {
		const char digits[] = {hex[0], hex[1], '\0'}, *at = digits;
		uint64_t byte;

		if (ret->len == BUILD_ID_MAX || !hex[1] || !text_hex(&at, &byte) || *at) {
			ret->len = 0;
			return false;
		}
		ret->bytes[ret->len++] = (uint8_t)byte;
	}
	return true;
}

static struct error *find_file(const struct profile *profile, const struct profile_module *module,
			       const struct input_options *options, struct image **ret)
{
	const char *path = profile_string(profile, module->path);
	const char *home = getenv("HOME");
	CLEANUP(free_ptr) char *cache = home ? xasprintf("%s/.debug", home) : NULL;
	struct finder *finder = finder_new_recorded(&(struct recorded_files){
		.symfs = options->symfs,
		.debug_dir = options->debug_dir ? options->debug_dir : DEBUG_DIR,
		.cache_dir = cache,
	});
	struct mapping mapping = {.path = path};
	struct finding finding;

	build_id_of(profile_string(profile, module->build_id), &mapping.build_id);
	if (module->segment_count) {
		mapping.offset = module->segments[0].offset;
		mapping.end = module->segments[0].size_bytes;
	}
	finding = finder_open(finder, 0, &mapping, path, false);
	finder_free(finder);
	*ret = finding.image;
	return finding.error;
}

struct error *code_open(struct code *code, const struct profile *profile, uint32_t module,
			const struct input_options *options)
{
	const struct profile_module *description = profile_get_module(profile, module);
	const char *path = profile_string(profile, description->path);
	const char *debug_dir = options->debug_dir ? options->debug_dir : DEBUG_DIR;
	struct error *err;

	*code = (struct code){0};
	if (description->kind == PROFILE_MODULE_KERNEL)
		return error_hint(error_new("the kernel's code is in no file, and prof does not "
					    "read it elsewhere"),
				  "perf annotate reads it from /proc/kcore, as root");
	if (description->kind != PROFILE_MODULE_FILE || !description->segment_count)
		return error_hint(error_new("there is no file to read the code of %s from",
					    *path ? path : "this profile"),
				  "recordings (prof.pb.gz, perf.data) tell which file it is in");
	err = find_file(profile, description, options, &code->image);
	if (err)
		return err;
	code->debug = debugfile_find(code->image, path, debug_dir);
	code->symtab = symtab_new(code->image, code->debug);
	code->go = gopclntab_new(code->image);
	return NULL;
}

void code_close(struct code *code)
{
	gopclntab_free(code->go);
	symtab_free(code->symtab);
	image_free(code->debug);
	image_free(code->image);
	arena_deinit(&code->names);
	*code = (struct code){0};
}

bool code_symbol(struct code *code, uint64_t vaddr, struct symbol *ret)
{
	return symtab_find(code->symtab, vaddr, &code->names, ret) ||
	       (code->go && gopclntab_find(code->go, vaddr, ret));
}
