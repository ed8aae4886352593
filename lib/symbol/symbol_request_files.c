#include "symbol/symbol_request_files.h"

#include "symbol/kernel_names.h"

#include "base/alloc.h"
#include "base/untrusted_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* The debug information of a kernel or of one of its modules. */
struct opened_kernel {
	uint32_t module;
	struct kernel_image image;
	char *problem; /* why there is no file */
};

/*
 * Removes the module's name from a function's name, because the module is shown
 * separately.
 */
static const char *without_module(struct arena *arena, const char *name, const char *module)
{
	size_t len = name ? strlen(name) : 0, suffix = strlen(module);

	if (len <= suffix + 1 || strcmp(name + len - suffix, module) != 0 ||
	    name[len - suffix - 1] != ' ')
		return name;
	return arena_strndup(arena, name, len - suffix - 1);
}

static void ask_kernel(const struct symbol_request_files *files, const struct module *module,
		       struct symbol_request *request)
{
	CLEANUP(line_builder_cleanup) struct line_builder *builder = line_builder_new();
	CLEANUP(free_ptr) const char **names = xcalloc(request->count, sizeof(*names));
	CLEANUP(free_ptr) struct symbolized *lines = xcalloc(request->count, sizeof(*lines));

	request->problem = kernel_names_find(files->proc, request->addresses, request->count,
					     line_builder_arena(builder), names);
	for (size_t i = 0; i < request->count; i++)
		if (!names[i])
			names[i] = address_spaces_kernel_symbol(files->spaces,
								request->addresses[i]);
	for (size_t i = 0; i < request->count; i++)
		lines[i] = line_builder_kernel(builder, without_module(line_builder_arena(builder),
								       names[i], module->path));
	symbol_request_take_result(request, &(struct engine_result){
						    .lines = lines,
						    .sources = {.present = NAMES_KERNEL},
					    });
}

static struct opened_kernel *find_kernel(const struct symbol_request_files *files, uint32_t module)
{
	for (size_t i = 0; i < files->kernel_count; i++)
		if (files->kernels[i]->module == module)
			return files->kernels[i];
	return NULL;
}

/* Opens the file on first use. */
static struct opened_kernel *symbol_request_files_kernel_of(struct symbol_request_files *files,
							    uint32_t module)
{
	struct opened_kernel *kernel = find_kernel(files, module);
	CLEANUP(error_cleanup) struct error *err = NULL;
	const char *hint;

	if (kernel)
		return kernel;
	kernel = xcalloc(1, sizeof(*kernel));
	kernel->module = module;
	GROW(files->kernels, files->kernel_count, files->kernel_room);
	files->kernels[files->kernel_count++] = kernel;
	err = address_spaces_open_kernel_image(files->spaces, module, &kernel->image);
	hint = err ? error_hint_text(err) : NULL;
	if (err)
		kernel->problem = xasprintf("%s%s%s", error_text(err), hint ? ": " : "",
					    hint ? hint : "");
	return kernel;
}

/* Returns true if there is debug information to read. */
static bool prepare_kernel(struct symbol_request_files *files, const struct module *module,
			   struct symbol_request *request)
{
	struct opened_kernel *kernel;
	const char *missing;

	ask_kernel(files, module, request);
	if (!files->has_kernel_lines)
		return false;
	kernel = symbol_request_files_kernel_of(files, request->module);
	/* The file has names, too. */
	missing = request->problem ? "names and lines" : "lines";
	free(request->problem);
	request->problem = NULL;
	if (kernel->problem)
		request->problem = xasprintf("the functions of %s have no %s: %s", module->path,
					     missing, kernel->problem);
	else
		request->kernel = &kernel->image;
	return request->kernel;
}

static bool prepare_file(const struct module *module, struct symbol_request *request)
{
	if (!module->elf)
		request->problem = module->problem ? xstrdup(module->problem) : NULL;
	/* Pages of the file may no longer exist. */
	else if (elf_file_changed(module->elf))
		request->problem = xasprintf("%s was changed while it ran: record it again",
					     module->path);
	return module->elf && !request->problem;
}

static bool prepare_map(const struct symbol_request_files *files, const struct module *module,
			struct symbol_request *request)
{
	int fd = -1;

	if (module->jitdump)
		fd = fcntl(jitdump_fd(module->jitdump), F_DUPFD_CLOEXEC, 0);
	else if (files->proc)
		fd = address_spaces_open_jit_map(files->spaces, request->module, files->proc);
	request->map = fd < 0 ? NULL : fdopen(fd, "r");
	return request->map;
}

/* Returns true if there is a file to read symbols from. */
static bool symbol_request_files_prepare_one(struct symbol_request_files *files,
					     const struct module *module,
					     struct symbol_request *request)
{
	switch (module->kind) {
	case MODULE_FILE:
	case MODULE_VDSO:
		return prepare_file(module, request);
	case MODULE_JIT:
		return module->elf ? prepare_file(module, request)
				   : prepare_map(files, module, request);
	case MODULE_KERNEL:
		return prepare_kernel(files, module, request);
	case MODULE_UNKNOWN:
	case MODULE_SCRIPT:
		return false;
	}
	return false;
}

static struct debugfile_opener opener_of(const struct symbol_request_files *files,
					 const struct module *module,
					 struct symbol_request *request)
{
	if (module->kind != MODULE_FILE)
		return (struct debugfile_opener){0};
	request->debug_files = address_spaces_debug_files(files->spaces, request->module);
	request->opener = (struct fetched_opener){
		.files = files->fetched,
		.local = debug_files_opener(&request->debug_files),
		.own = *elf_file_build_id(module->elf),
	};
	return fetched_opener(&request->opener);
}

static struct source_module symbol_request_files_source_of(const struct symbol_request_files *files,
							   const struct module *module,
							   struct symbol_request *request)
{
	const struct kernel_image *kernel = request->kernel;

	return (struct source_module){
		.id = request->module,
		.elf = kernel ? kernel->elf : module->elf,
		.map = kernel ? kernel->packed : request->map,
		.map_bytes = address_spaces_map_bytes(files->spaces, request->module),
		.kernel = kernel,
		.opener = opener_of(files, module, request),
	};
}

static struct file_origin symbol_request_files_origin_of(const struct source_module *source)
{
	struct stat st;

	if (source->elf)
		return (struct file_origin){
			.owner = elf_file_owner(source->elf),
			.is_untrusted = elf_file_is_untrusted(source->elf),
			.data_bytes = elf_file_data_bytes(source->elf),
		};
	if (fstat(fileno(source->map), &st) < 0)
		return (struct file_origin){.owner = UNTRUSTED_USER_UNKNOWN, .is_untrusted = true};
	return file_origin_of(fileno(source->map), &st);
}

void symbol_request_files_prepare(struct symbol_request_files *files,
				  struct symbol_request *request)
{
	const struct module *module = address_spaces_module(files->spaces, request->module);
	struct source_module source;

	request->has_request = symbol_request_files_prepare_one(files, module, request);
	if (!request->has_request)
		return;
	source = symbol_request_files_source_of(files, module, request);
	request->request = (struct worker_pools_request){
		.request = {.module = source,
			    .addresses = request->addresses,
			    .count = request->count},
		.origin = symbol_request_files_origin_of(&source),
		.weight = request->frames,
	};
}

struct elf_file *symbol_request_files_elf(const struct symbol_request_files *files, uint32_t module)
{
	const struct opened_kernel *kernel = find_kernel(files, module);

	if (kernel)
		return kernel->image.elf;
	return address_spaces_module(files->spaces, module)->elf;
}

void symbol_request_files_deinit(struct symbol_request_files *files)
{
	for (size_t i = 0; i < files->kernel_count; i++) {
		kernel_image_deinit(&files->kernels[i]->image);
		free(files->kernels[i]->problem);
		free(files->kernels[i]);
	}
	free(files->kernels);
	*files = (struct symbol_request_files){0};
}
