#include "cmd/annotate/module_code.h"

#include "base/alloc.h"
#include "base/timed_open.h"
#include "proc/file_locator.h"
#include "symbol/code_lister.h"

#include <stdio.h>
#include <string.h>

/* The jitdump of a node process that runs for a day has tens of MB. */
enum { JITDUMP_READ_MAX = 128 << 20 };

static struct file_locator *new_locator(const struct input_options *options, uid_t writer)
{
	return file_locator_new_recorded(&(struct recorded_files){
		.symfs = options->symfs,
		.debug_dir = options->symbols.debug_dir,
		.writer = writer,
	});
}

static struct located_file find_file(const struct file_locator *locator,
				     const struct profile *profile,
				     const struct profile_module *module)
{
	const char *path = profile_string(profile, module->path);
	struct mapping mapping = {.path = path};

	build_id_from_hex(profile_string(profile, module->build_id), &mapping.build_id);
	if (module->segment_count) {
		mapping.offset = module->segments[0].offset;
		mapping.end = module->segments[0].size_bytes;
	}
	return file_locator_open(locator, 0, &mapping, path, false);
}

/* Lists the code of a JIT compiler from the file that it wrote. */
static struct error *list_jitdump(const struct module_code_request *request, const char *path,
				  struct module_code *ret)
{
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = timed_caller_new();
	CLEANUP(free_ptr)
	char *place = xasprintf("%s%s", request->input->symfs ? request->input->symfs : "", path);
	const struct untrusted_name name = {.path = place,
					    .user = profile_writer(request->profile)};
	struct timed_text text = {0};
	struct code_listing_request listing = {
		.name = place,
		.vaddrs = request->vaddrs,
		.count = request->count,
		.intel_syntax = request->intel_syntax,
	};
	struct error *err;

	if (!timed_read(caller, &name, JITDUMP_READ_MAX, &text))
		return error_hint(error_new("%s, which has the code, cannot be read", place),
				  "keep the jitdump files of a recording, or name their directory "
				  "with --symfs DIR");
	listing.jitdump = bytes_of(text.bytes, text.len);
	ret->path = xstrdup(place);
	err = code_lister_run(&listing, &ret->listing);
	free(text.bytes);
	return err;
}

static struct error *module_code_list(const struct module_code_request *request, const char *path,
				      struct module_code *ret)
{
	const struct profile *profile = request->profile;
	CLEANUP(file_locator_cleanup)
	struct file_locator *locator = new_locator(request->input, profile_writer(profile));
	struct located_file file = find_file(locator, profile,
					     profile_get_module(profile, request->module));
	CLEANUP(elf_file_cleanup) struct elf_file *elf = file.elf;
	struct code_listing_request listing = {
		.elf = elf,
		.name = elf ? elf_file_name(elf) : path,
		.vaddrs = request->vaddrs,
		.count = request->count,
		.intel_syntax = request->intel_syntax,
	};
	struct debug_files files;

	if (file.error)
		return file.error;
	files = file_locator_debug_files(locator, path, -1, elf_file_owner(elf),
					 elf_file_is_untrusted(elf));
	listing.opener = debug_files_opener(&files);
	ret->path = xstrdup(elf_file_name(elf));
	return code_lister_run(&listing, &ret->listing);
}

struct error *module_code_new(const struct module_code_request *request, struct module_code **ret)
{
	const struct profile_module *module = profile_get_module(request->profile, request->module);
	const char *path = profile_string(request->profile, module->path);
	CLEANUP(module_code_cleanup) struct module_code *code = NULL;
	struct error *err;
	bool is_jitdump;

	if (module->kind == PROFILE_MODULE_KERNEL)
		return error_hint(error_new("the kernel's code is not in a file, and prof does not "
					    "read it from memory"),
				  "perf annotate reads it from /proc/kcore, as root");
	is_jitdump = module->kind == PROFILE_MODULE_JIT && path[0] == '/';
	if (module->kind == PROFILE_MODULE_JIT && !is_jitdump)
		return error_hint(error_new("code that was generated at run time is not in a file"),
				  "a jitdump contains it: node --perf-prof, python -X perf_jit");
	if (!is_jitdump && (module->kind != PROFILE_MODULE_FILE || !module->segment_count))
		return error_hint(error_new("the file with the code of %s is not known",
					    *path ? path : "this profile"),
				  "recordings (prof.pb.gz, perf.data) name the file");
	code = xcalloc(1, sizeof(*code));
	code->vaddrs = xcalloc(request->count, sizeof(*code->vaddrs));
	code->count = request->count;
	memcpy(code->vaddrs, request->vaddrs, request->count * sizeof(*code->vaddrs));
	err = is_jitdump ? list_jitdump(request, path, code)
			 : module_code_list(request, path, code);
	if (!err)
		*ret = STEAL(code);
	return err;
}

void module_code_free(struct module_code *code)
{
	if (!code)
		return;
	code_listing_free(code->listing);
	free(code->vaddrs);
	free(code->path);
	free(code);
}

static int module_code_compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

bool module_code_covers(const struct module_code *code, uint64_t vaddr)
{
	for (size_t i = 0; i < code->listing->count; i++)
		if (vaddr >= code->listing->functions[i].vaddr &&
		    vaddr < code->listing->functions[i].end)
			return true;
	return bsearch(&vaddr, code->vaddrs, code->count, sizeof(vaddr), module_code_compare);
}
