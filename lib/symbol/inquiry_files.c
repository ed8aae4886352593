#include "symbol/inquiry_files.h"

#include "symbol/kernel_names.h"

#include "base/alloc.h"
#include "base/foreign_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* The debug information of a kernel or of one of its modules. */
struct opened_kernel {
	uint32_t module;
	struct kernel_image image;
	char *problem; /* why there is none */
};

/* Functions of a module that has a name of its own need not say which it is. */
static const char *without_module(struct arena *arena, const char *name, const char *module)
{
	size_t len = name ? strlen(name) : 0, suffix = strlen(module);

	if (len <= suffix + 1 || strcmp(name + len - suffix, module) != 0 ||
	    name[len - suffix - 1] != ' ')
		return name;
	return arena_strndup(arena, name, len - suffix - 1);
}

static void ask_kernel(const struct inquiry_files *files, const struct module *module,
		       struct inquiry *inquiry)
{
	CLEANUP(line_builder_cleanup) struct line_builder *builder = line_builder_new();
	CLEANUP(free_ptr) const char **names = xcalloc(inquiry->count, sizeof(*names));
	CLEANUP(free_ptr) struct symbolized *lines = xcalloc(inquiry->count, sizeof(*lines));

	inquiry->problem = kernel_names_find(files->proc, inquiry->addresses, inquiry->count,
					     line_builder_arena(builder), names);
	for (size_t i = 0; i < inquiry->count; i++)
		if (!names[i])
			names[i] = address_spaces_kernel_symbol(files->spaces,
								inquiry->addresses[i]);
	for (size_t i = 0; i < inquiry->count; i++)
		lines[i] = line_builder_kernel(builder, without_module(line_builder_arena(builder),
								       names[i], module->path));
	inquiry_take_result(inquiry, &(struct engine_result){
					     .lines = lines,
					     .sources = {.present = NAMES_KERNEL},
				     });
}

static struct opened_kernel *find_kernel(const struct inquiry_files *files, uint32_t module)
{
	for (size_t i = 0; i < files->kernel_count; i++)
		if (files->kernels[i]->module == module)
			return files->kernels[i];
	return NULL;
}

/* Opens it at the first use. */
static struct opened_kernel *kernel_of(struct inquiry_files *files, uint32_t module)
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

/* Whether there is debug information to read. */
static bool prepare_kernel(struct inquiry_files *files, const struct module *module,
			   struct inquiry *inquiry)
{
	struct opened_kernel *kernel;
	const char *missing;

	ask_kernel(files, module, inquiry);
	if (!files->has_kernel_lines)
		return false;
	kernel = kernel_of(files, inquiry->module);
	/* The file has names, too. */
	missing = inquiry->problem ? "names and lines" : "lines";
	free(inquiry->problem);
	inquiry->problem = NULL;
	if (kernel->problem)
		inquiry->problem = xasprintf("the functions of %s have no %s: %s", module->path,
					     missing, kernel->problem);
	else
		inquiry->kernel = &kernel->image;
	return inquiry->kernel;
}

static bool prepare_file(const struct module *module, struct inquiry *inquiry)
{
	if (!module->elf)
		inquiry->problem = module->problem ? xstrdup(module->problem) : NULL;
	/* The file's pages may be gone. */
	else if (elf_file_changed(module->elf))
		inquiry->problem = xasprintf("%s was changed while it ran: record it again",
					     module->path);
	return module->elf && !inquiry->problem;
}

static bool prepare_map(const struct inquiry_files *files, const struct module *module,
			struct inquiry *inquiry)
{
	int fd = -1;

	if (module->jitdump)
		fd = fcntl(jitdump_fd(module->jitdump), F_DUPFD_CLOEXEC, 0);
	else if (files->proc)
		fd = address_spaces_open_jit_map(files->spaces, inquiry->module, files->proc);
	inquiry->map = fd < 0 ? NULL : fdopen(fd, "r");
	return inquiry->map;
}

/* Whether there is a file to read symbols from. */
static bool prepare(struct inquiry_files *files, const struct module *module,
		    struct inquiry *inquiry)
{
	switch (module->kind) {
	case MODULE_FILE:
	case MODULE_VDSO:
		return prepare_file(module, inquiry);
	case MODULE_JIT:
		return module->elf ? prepare_file(module, inquiry)
				   : prepare_map(files, module, inquiry);
	case MODULE_KERNEL:
		return prepare_kernel(files, module, inquiry);
	case MODULE_UNKNOWN:
		return false;
	}
	return false;
}

static struct debugfile_opener opener_of(const struct inquiry_files *files,
					 const struct module *module, struct inquiry *inquiry)
{
	if (module->kind != MODULE_FILE)
		return (struct debugfile_opener){0};
	inquiry->debug_files = address_spaces_debug_files(files->spaces, inquiry->module);
	inquiry->opener = (struct fetched_opener){
		.files = files->fetched,
		.local = debug_files_opener(&inquiry->debug_files),
		.own = *elf_file_build_id(module->elf),
	};
	return fetched_opener(&inquiry->opener);
}

static struct source_module source_of(const struct inquiry_files *files,
				      const struct module *module, struct inquiry *inquiry)
{
	const struct kernel_image *kernel = inquiry->kernel;

	return (struct source_module){
		.id = inquiry->module,
		.elf = kernel ? kernel->elf : module->elf,
		.map = kernel ? kernel->packed : inquiry->map,
		.map_bytes = address_spaces_map_bytes(files->spaces, inquiry->module),
		.kernel = kernel,
		.opener = opener_of(files, module, inquiry),
	};
}

static struct file_origin origin_of(const struct source_module *source)
{
	struct stat st;

	if (source->elf)
		return (struct file_origin){
			.owner = elf_file_owner(source->elf),
			.is_foreign = elf_file_is_foreign(source->elf),
			.data_bytes = elf_file_data_bytes(source->elf),
		};
	if (fstat(fileno(source->map), &st) < 0)
		return (struct file_origin){.owner = FOREIGN_USER_UNKNOWN, .is_foreign = true};
	return file_origin_of(fileno(source->map), &st);
}

void inquiry_files_prepare(struct inquiry_files *files, struct inquiry *inquiry)
{
	const struct module *module = address_spaces_module(files->spaces, inquiry->module);
	struct source_module source;

	inquiry->has_request = prepare(files, module, inquiry);
	if (!inquiry->has_request)
		return;
	source = source_of(files, module, inquiry);
	inquiry->request = (struct crews_request){
		.request = {.module = source,
			    .addresses = inquiry->addresses,
			    .count = inquiry->count},
		.origin = origin_of(&source),
		.weight = inquiry->frames,
	};
}

struct elf_file *inquiry_files_elf(const struct inquiry_files *files, uint32_t module)
{
	const struct opened_kernel *kernel = find_kernel(files, module);

	if (kernel)
		return kernel->image.elf;
	return address_spaces_module(files->spaces, module)->elf;
}

void inquiry_files_deinit(struct inquiry_files *files)
{
	for (size_t i = 0; i < files->kernel_count; i++) {
		kernel_image_deinit(&files->kernels[i]->image);
		free(files->kernels[i]->problem);
		free(files->kernels[i]);
	}
	free(files->kernels);
	*files = (struct inquiry_files){0};
}
