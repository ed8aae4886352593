#include "record/script_runtimes.h"

#include "base/alloc.h"
#include "profile/runtime.h"

#include <stdlib.h>
#include <string.h>

struct script_runtimes {
	struct address_spaces *spaces;
	struct scripts *scripts;
	struct script_module {
		bool is_known;		     /* the file was searched */
		struct runtime_image *image; /* NULL if it has no interpreter */
	} * modules;			     /* by id */
	uint32_t module_count;
};

struct script_runtimes *script_runtimes_new(struct address_spaces *spaces, struct scripts *scripts)
{
	struct script_runtimes *runtimes = xcalloc(1, sizeof(*runtimes));

	runtimes->spaces = spaces;
	runtimes->scripts = scripts;
	return runtimes;
}

void script_runtimes_free(struct script_runtimes *runtimes)
{
	if (!runtimes)
		return;
	for (uint32_t i = 0; i < runtimes->module_count; i++)
		free(runtimes->modules[i].image);
	free(runtimes->modules);
	free(runtimes);
}

static struct script_module *script_runtimes_module(struct script_runtimes *runtimes, module_id id)
{
	uint32_t count = runtimes->module_count;

	if (id >= count) {
		runtimes->module_count = id + 64;
		runtimes->modules = xreallocarray(runtimes->modules, runtimes->module_count,
						  sizeof(*runtimes->modules));
		memset(runtimes->modules + count, 0,
		       (runtimes->module_count - count) * sizeof(*runtimes->modules));
	}
	return &runtimes->modules[id];
}

/* Returns the interpreter in a module, or NULL. */
static const struct runtime_image *image_in(struct script_runtimes *runtimes, module_id id)
{
	struct script_module *found = script_runtimes_module(runtimes, id);
	const struct module *module;
	struct runtime_image image;

	if (found->is_known)
		return found->image;
	module = address_spaces_module(runtimes->spaces, id);
	if (module->kind == MODULE_FILE && !module->elf) /* it may be opened later */
		return NULL;
	found->is_known = true;
	if (module->kind == MODULE_FILE && runtime_detect(module->elf, &image)) {
		found->image = xmalloc(sizeof(image));
		*found->image = image;
	}
	return found->image;
}

/* Notes that the process maps an interpreter at `at`, which contains pc. */
static void script_runtimes_note(struct script_runtimes *runtimes, pid_t pid,
				 const struct location *at, uint64_t pc)
{
	const struct runtime_image *image = image_in(runtimes, at->module);
	struct runtime_process process;
	uint64_t vaddr;

	if (!image || image->refusal ||
	    !elf_file_offset_to_vaddr(address_spaces_module(runtimes->spaces, at->module)->elf,
				      at->offset, &vaddr))
		return;
	process.image = *image;
	process.bias = pc - vaddr;
	scripts_add_process(runtimes->scripts, pid, &process);
}

static void feed_mapping(struct script_runtimes *runtimes, const struct record *record)
{
	struct location at;

	/* Locating opens the file, so it must not be done for each mapping. */
	if (record->mmap.executable && record->pid > 0 &&
	    runtime_of_path(record->mmap.path) == RUNTIME_PYTHON &&
	    address_spaces_locate(runtimes->spaces, record->pid, record->time_ns,
				  record->mmap.start, &at))
		script_runtimes_note(runtimes, record->pid, &at, record->mmap.start);
}

void script_runtimes_feed(struct script_runtimes *runtimes, const struct record *record)
{
	switch (record->type) {
	case RECORD_MMAP:
		feed_mapping(runtimes, record);
		break;
	case RECORD_FORK:
		if (record->pid != record->fork.parent_pid && !record->fork.existing)
			scripts_fork(runtimes->scripts, record->fork.parent_pid, record->pid);
		break;
	case RECORD_COMM:
		if (record->comm.exec)
			scripts_remove_process(runtimes->scripts, record->pid);
		break;
	case RECORD_EXIT:
		if (record->pid == record->tid)
			scripts_remove_process(runtimes->scripts, record->pid);
		break;
	default:
		break;
	}
}

void script_runtimes_see(struct script_runtimes *runtimes, const struct record *record,
			 const struct call_chain *chain)
{
	for (unsigned i = 0; i < chain->count; i++) {
		const struct runtime_image *image = image_in(runtimes, chain->frames[i].module);
		const struct module *module;
		struct location at;

		if (!image || image->refusal)
			continue;
		if (scripts_have_process(runtimes->scripts, record->pid))
			return;
		module = address_spaces_module(runtimes->spaces, chain->frames[i].module);
		if (address_spaces_find_file(runtimes->spaces, record->pid, record->time_ns,
					     basename(module->path), &at) &&
		    at.module == chain->frames[i].module)
			script_runtimes_note(runtimes, record->pid, &at, at.start);
		return;
	}
}

/* Returns the interpreter whose frames are read, or NULL. */
static struct runtime_image *image_of_frame(const struct script_runtimes *runtimes,
					    const struct frame *frame)
{
	struct runtime_image *image = frame->module < runtimes->module_count
					      ? runtimes->modules[frame->module].image
					      : NULL;

	return image && !image->refusal ? image : NULL;
}

bool script_runtimes_learn(const struct script_runtimes *runtimes, const struct frame *frame,
			   uint64_t start, uint64_t end)
{
	struct runtime_image *image = image_of_frame(runtimes, frame);

	if (image)
		runtime_add_loop(image, start, end);
	return image;
}

bool script_runtimes_is_loop(const struct script_runtimes *runtimes, const struct frame *frame)
{
	const struct runtime_image *image = image_of_frame(runtimes, frame);
	uint64_t vaddr;

	return image &&
	       elf_file_offset_to_vaddr(address_spaces_module(runtimes->spaces, frame->module)->elf,
					frame->offset - frame->is_return_address, &vaddr) &&
	       runtime_is_loop(image, vaddr);
}

struct frame script_runtimes_loop(const struct script_runtimes *runtimes, const struct frame *frame)
{
	const struct runtime_image *image = image_of_frame(runtimes, frame);
	struct frame start = *frame;

	if (!image ||
	    !elf_file_vaddr_to_offset(address_spaces_module(runtimes->spaces, frame->module)->elf,
				      image->loops[0].start, &start.offset))
		return *frame;
	start.is_return_address = false;
	return start;
}

void script_runtimes_tell(const struct script_runtimes *runtimes, const struct listener *listener)
{
	for (uint32_t i = 0; i < runtimes->module_count; i++) {
		const struct runtime_image *image = runtimes->modules[i].image;

		if (image && image->refusal)
			listener_notice(listener, "the %s functions of %s are not shown: %s",
					image->runtime->name,
					address_spaces_module(runtimes->spaces, i)->path,
					image->refusal);
	}
}
