#include "probe/resolve.h"

#include "base/alloc.h"
#include "elf/disassembly.h"
#include "elf/elf_file.h"
#include "probe/pattern.h"
#include "probe/question.h"
#include "proc/debug_files.h"
#include "sandbox/answer.h"

#include <fcntl.h>
#include <string.h>

/* Enough for the demangled symbols of the largest programs. */
enum { MEMORY_MB = 2048, CPU_SECONDS = 60, ANSWER_BYTES_MAX = 8 << 20 };

void probe_deinit(struct probe *probe)
{
	for (size_t i = 0; i < probe->file_count; i++) {
		close_fd(&probe->files[i].file.fd);
		free(probe->files[i].file.path);
		probe_places_deinit(&probe->files[i].places);
	}
	free(probe->files);
	probe_spec_deinit(&probe->spec);
	*probe = (struct probe){0};
}

/* Runs in the confined process. */
static void resolve_find(struct channel *channel, void *user)
{
	struct probe_question question = *(const struct probe_question *)user;
	CLEANUP(elf_file_cleanup) struct elf_file *inside = NULL;
	CLEANUP(probe_places_deinit) struct probe_places places = {0};
	CLEANUP(error_cleanup) struct error *err = NULL;
	CLEANUP(free_ptr) char *bytes = NULL;
	size_t len = 0;

	if (!question.debug)
		question.debug = inside = debugfile_inside(question.elf);
	err = probe_find(&question, &places);
	if (err) {
		answer_send_error(channel, err);
		return;
	}
	probe_places_settle(&places);
	bytes = probe_places_write(&places, &len);
	answer_send(channel, bytes, len);
}

static struct error *resolve_ask(struct probe_question *question, struct probe_places *ret)
{
	const struct answer_options options = {
		.what = "its symbols",
		.limits = {.memory_bytes = (uint64_t)MEMORY_MB << 20, .cpu_seconds = CPU_SECONDS},
		.bytes_max = ANSWER_BYTES_MAX,
	};
	CLEANUP(error_cleanup) struct error *no_capstone = disassembly_load();
	CLEANUP(free_ptr) char *bytes = NULL;
	size_t len = 0;
	struct error *err;

	question->can_disassemble = !no_capstone;
	err = answer_ask(&options, resolve_find, question, &bytes, &len);
	if (err)
		return err;
	return probe_places_read(bytes_of(bytes, len), ret) ? NULL : answer_nonsense(&options);
}

static bool needs_debug_file(const struct probe_spec *spec, struct elf_file *elf)
{
	if (spec->kind == PROBE_STATIC)
		return false;
	return !elf_file_has_section(elf, ".debug_info") || !elf_file_has_section(elf, ".symtab");
}

/*
 * Rejects return probes in Go programs: they replace return addresses on the
 * stack, which Go's runtime reads and moves.
 */
static struct error *check_return(const struct probe_spec *spec, struct elf_file *elf)
{
	if (!(spec->is_return || spec->measures_calls) ||
	    !(elf_file_has_section(elf, ".gopclntab") ||
	      elf_file_has_section(elf, ".go.buildinfo")))
		return NULL;
	return error_hint(error_new("a return probe would crash it: it is a Go program"),
			  "uprobe: is safe there");
}

static struct error *resolve_read_file(const struct probe_spec *spec,
				       const struct probe_context *context,
				       const struct target_file *file, struct timed_caller *caller,
				       struct probe_places *ret)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL, *debug = NULL, *alt = NULL;
	CLEANUP(free_ptr) char *root_name = xasprintf("/proc/%d/root", (int)file->pid);
	CLEANUP(close_fd)
	int root = file->pid ? open(root_name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	struct debug_files files = {
		.places = {.debug_dir = context->debug_dir, .caller = caller},
		.path = file->path,
		.root = root,
	};
	struct debugfile_opener opener = debug_files_opener(&files);
	struct error *err = elf_file_open(fcntl(file->fd, F_DUPFD_CLOEXEC, 0), file->path, &elf);

	if (err)
		return err;
	if (elf_file_may_stall(elf))
		return error_new("it is on a file system that may not answer");
	err = check_return(spec, elf);
	if (err)
		return err;
	files.owner = elf_file_owner(elf);
	files.is_untrusted = elf_file_is_untrusted(elf);
	if (needs_debug_file(spec, elf))
		debug = debugfile_find(elf, &opener);
	alt = debugfile_find_alt(debug ? debug : elf, &opener);
	return resolve_ask(
		&(struct probe_question){.spec = spec, .elf = elf, .debug = debug, .alt = alt},
		ret);
}

static void resolve_add_file(struct probe *probe, struct target_file *file,
			     struct probe_places *places)
{
	probe->files = xreallocarray(probe->files, probe->file_count + 1, sizeof(*probe->files));
	probe->files[probe->file_count++] = (struct probe_file){.file = *file, .places = *places};
	*file = (struct target_file){.fd = -1};
	*places = (struct probe_places){0};
}

/* If no file has the place, returns the error of the first file. */
static struct error *resolve_read_files(struct probe *probe, const struct probe_context *context,
					struct target_files *files)
{
	struct timed_caller *caller = timed_caller_new();
	struct error *first = NULL;

	for (size_t i = 0; i < files->count; i++) {
		struct target_file *file = &files->items[i];
		struct probe_places places = {0};
		struct error *err;

		if (i == files->programs && probe->file_count)
			break;
		err = resolve_read_file(&probe->spec, context, file, caller, &places);
		if (!err) {
			resolve_add_file(probe, file, &places);
			continue;
		}
		if (first)
			error_free(err);
		else
			first = error_wrap(err, "%s", file->path);
	}
	timed_caller_free(caller);
	if (!probe->file_count)
		return first;
	error_free(first);
	return NULL;
}

static struct error *resolve(struct probe *probe, const struct probe_context *context)
{
	CLEANUP(target_files_deinit) struct target_files files = {0};
	struct error *err = NULL;

	if (probe->spec.kind == PROBE_KERNEL)
		return pattern_is(probe->spec.function)
			       ? error_new("a kernel probe takes one function, not a pattern")
			       : NULL;
	err = target_files_find(&probe->spec, context, &files);
	return err ? err : resolve_read_files(probe, context, &files);
}

struct error *probe_resolve(const char *text, const struct probe_context *context,
			    struct probe *ret)
{
	CLEANUP(probe_deinit) struct probe probe = {0};
	struct error *err = probe_spec_parse(text, &probe.spec);

	if (err)
		return err;
	err = resolve(&probe, context);
	if (err)
		return error_wrap(err, "%s", text);
	*ret = probe;
	probe = (struct probe){0};
	return NULL;
}
