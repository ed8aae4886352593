#include "symbol/symbolizer.h"

#include "symbol/crews.h"
#include "symbol/fetching.h"
#include "symbol/jit_frames.h"
#include "symbol/kernel_lines.h"
#include "symbol/kernel_names.h"
#include "symbol/lacking_samples.h"
#include "symbol/perfmap.h"
#include "symbol/spellings.h"

#include "base/affinity.h"
#include "base/alloc.h"
#include "base/foreign_file.h"
#include "base/text.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* A frame to symbolize. */
struct target {
	uint64_t address; /* a vaddr in files */
	uint32_t module;
	frame_id frame;
};

/* The debug information of a kernel or of one of its modules. */
struct image {
	uint32_t module;
	struct kernel_image kernel;
	char *problem; /* why there is none */
};

/* What is asked about one module. */
struct inquiry {
	uint32_t module;
	uint64_t *addresses; /* ascending, each once */
	size_t count, room;
	size_t frames;		  /* an address can be that of two frames */
	size_t unnamed, lineless; /* frames */
	struct debug_files debug_files;
	struct fetched_opener opener; /* of debug_files and of fetched ones */
	FILE *map;		      /* of code compiled at run time */
	struct reply *reply;	      /* NULL: none yet */
	struct image *image;	      /* of a kernel whose lines are looked up; else NULL */
	char *problem;		      /* why there is none */
	char *loss;		      /* what has become of its worker */
	char *refused;		      /* what has become of one that read a fetched debug file */
	function_id *functions;	      /* by the reply's: in the profile; FUNCTION_NONE: not yet */
	uint32_t *spellings;	      /* of the reply */
};

/* Where a frame's lines are. */
struct place {
	uint32_t inquiry, address;
};

#define NOWHERE UINT32_MAX
#define FUNCTION_NONE UINT32_MAX

struct symbolizer {
	struct profile *profile;
	struct address_spaces *spaces;
	struct crews *crews;
	struct engine *engine; /* NULL: not in this process */
	struct symbolize_options options;
	frame_id named; /* frames before this one are done */
	struct image **images;
	size_t image_count, image_room;

	/* For one run: the frames from `named` to `end`. */
	frame_id end;
	struct target *targets;
	size_t target_count, target_room;
	struct inquiry *inquiries;
	size_t inquiry_count, inquiry_room;
	struct place *places;		/* by frame, from `named` on */
	struct crews_request *requests; /* … */
	uint32_t *request_inquiries;	/* … and whose they are */
	size_t request_count;
	struct fetched_files fetched;
	struct worker_cost cost_again; /* of the workers that read fetched files, in all runs */
};

static bool is_cancelled(const struct symbolizer *symbolizer)
{
	const atomic_bool *cancel = symbolizer->options.cancel;

	return cancel && atomic_load(cancel);
}

/*
 * A frame that an earlier run has named only may get lines in one that fetches debug files.
 */
static bool is_complete(const struct symbolizer *symbolizer, const struct profile_frame *frame)
{
	const struct symbolize_options *options = &symbolizer->options;

	if (!frame->line_count)
		return false;
	return frame->is_named || frame->lines[0].line || !options->fetcher.fetch ||
	       options->symbols.no_inlines ||
	       address_spaces_module(symbolizer->spaces, frame->module)->kind != MODULE_FILE;
}

/* Returns false if no source can symbolize the frame. */
static bool target_of(const struct symbolizer *symbolizer, frame_id id, struct target *ret)
{
	struct profile_frame frame = profile_get_frame(symbolizer->profile, id);
	uint64_t offset = frame.offset - frame.is_return_address;
	const struct module *module;

	/* Synthetic frames have lines and a module that belongs to no process. */
	if (frame.module >= address_spaces_module_count(symbolizer->spaces) ||
	    is_complete(symbolizer, &frame))
		return false;
	module = address_spaces_module(symbolizer->spaces, frame.module);
	*ret = (struct target){.address = offset, .module = frame.module, .frame = id};
	if (module->elf && offset & LOCATION_DATA) {
		ret->address = offset & ~LOCATION_DATA;
		return true;
	}
	/* A module without an ELF file reports why there is none. */
	return !module->elf || elf_file_offset_to_vaddr(module->elf, offset, &ret->address);
}

static int compare_targets(const void *left, const void *right)
{
	const struct target *a = left, *b = right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->frame > b->frame) - (a->frame < b->frame);
}

static void collect_targets(struct symbolizer *symbolizer)
{
	for (frame_id id = symbolizer->named; id < symbolizer->end; id++) {
		struct target target;

		if (!target_of(symbolizer, id, &target))
			continue;
		GROW(symbolizer->targets, symbolizer->target_count, symbolizer->target_room);
		symbolizer->targets[symbolizer->target_count++] = target;
	}
	if (symbolizer->target_count)
		qsort(symbolizer->targets, symbolizer->target_count, sizeof(*symbolizer->targets),
		      compare_targets);
}

static struct inquiry *inquiry_of(struct symbolizer *symbolizer, uint32_t module)
{
	size_t count = symbolizer->inquiry_count;

	if (!count || symbolizer->inquiries[count - 1].module != module) {
		GROW(symbolizer->inquiries, symbolizer->inquiry_count, symbolizer->inquiry_room);
		symbolizer->inquiries[symbolizer->inquiry_count++] =
			(struct inquiry){.module = module};
	}
	return &symbolizer->inquiries[symbolizer->inquiry_count - 1];
}

/* An address is asked for once: it can be a return address in one frame and a pc in another. */
static void make_inquiries(struct symbolizer *symbolizer)
{
	for (size_t i = 0; i < symbolizer->target_count; i++) {
		const struct target *target = &symbolizer->targets[i];
		struct inquiry *inquiry = inquiry_of(symbolizer, target->module);

		if (!inquiry->count || inquiry->addresses[inquiry->count - 1] != target->address) {
			GROW(inquiry->addresses, inquiry->count, inquiry->room);
			inquiry->addresses[inquiry->count++] = target->address;
		}
		inquiry->frames++;
		symbolizer->places[target->frame - symbolizer->named] = (struct place){
			.inquiry = (uint32_t)(inquiry - symbolizer->inquiries),
			.address = (uint32_t)(inquiry->count - 1),
		};
	}
}

static struct reply *reply_of(const struct inquiry *inquiry, const struct engine_result *result)
{
	size_t len;
	void *bytes = reply_write(result, inquiry->count, &len);

	return reply_read(bytes, len, inquiry->count);
}

/* Takes the reply. That of a kernel's file is joined with the kernel's own. */
static void take_reply(struct inquiry *inquiry, struct reply *reply)
{
	CLEANUP(reply_cleanup) struct reply *names = inquiry->reply;
	CLEANUP(reply_cleanup) struct reply *lines = names ? reply : NULL;

	inquiry->reply = reply;
	if (names)
		inquiry->reply = kernel_lines_join(names, lines, inquiry->count,
						   inquiry->image->kernel.path);
}

/* Functions of a module that has a name of its own need not say which it is. */
static const char *without_module(struct arena *arena, const char *name, const char *module)
{
	size_t len = name ? strlen(name) : 0, suffix = strlen(module);

	if (len <= suffix + 1 || strcmp(name + len - suffix, module) != 0 ||
	    name[len - suffix - 1] != ' ')
		return name;
	return arena_strndup(arena, name, len - suffix - 1);
}

/* The kernel is trusted: its names are read in this process. */
static void ask_kernel(const struct symbolizer *symbolizer, const struct module *module,
		       struct inquiry *inquiry)
{
	CLEANUP(line_builder_cleanup) struct line_builder *builder = line_builder_new();
	CLEANUP(free_ptr) const char **names = xcalloc(inquiry->count, sizeof(*names));
	CLEANUP(free_ptr) struct symbolized *lines = xcalloc(inquiry->count, sizeof(*lines));

	inquiry->problem = kernel_names_find(symbolizer->options.proc, inquiry->addresses,
					     inquiry->count, line_builder_arena(builder), names);
	for (size_t i = 0; i < inquiry->count; i++)
		if (!names[i])
			names[i] = address_spaces_kernel_symbol(symbolizer->spaces,
								inquiry->addresses[i]);
	for (size_t i = 0; i < inquiry->count; i++)
		lines[i] = line_builder_listed(
			builder,
			without_module(line_builder_arena(builder), names[i], module->path), NULL);
	inquiry->reply = reply_of(inquiry, &(struct engine_result){
						   .lines = lines,
						   .sources = {.present = NAMES_KERNEL},
					   });
}

static struct image *find_image(const struct symbolizer *symbolizer, uint32_t module)
{
	for (size_t i = 0; i < symbolizer->image_count; i++)
		if (symbolizer->images[i]->module == module)
			return symbolizer->images[i];
	return NULL;
}

/* Opens it at the first use. */
static struct image *image_of(struct symbolizer *symbolizer, uint32_t module)
{
	struct image *image = find_image(symbolizer, module);
	CLEANUP(error_cleanup) struct error *err = NULL;
	const char *hint;

	if (image)
		return image;
	image = xcalloc(1, sizeof(*image));
	image->module = module;
	GROW(symbolizer->images, symbolizer->image_count, symbolizer->image_room);
	symbolizer->images[symbolizer->image_count++] = image;
	err = address_spaces_open_kernel_image(symbolizer->spaces, module, &image->kernel);
	hint = err ? error_hint_text(err) : NULL;
	if (err)
		image->problem = xasprintf("%s%s%s", error_text(err), hint ? ": " : "",
					   hint ? hint : "");
	return image;
}

/* Whether there is debug information to read. */
static bool prepare_kernel(struct symbolizer *symbolizer, const struct module *module,
			   struct inquiry *inquiry)
{
	struct image *image;
	const char *missing;

	ask_kernel(symbolizer, module, inquiry);
	if (!symbolizer->options.symbols.kernel_lines)
		return false;
	image = image_of(symbolizer, inquiry->module);
	/* The file has names, too. */
	missing = inquiry->problem ? "names and lines" : "lines";
	free(inquiry->problem);
	inquiry->problem = NULL;
	if (image->problem)
		inquiry->problem = xasprintf("the functions of %s have no %s: %s", module->path,
					     missing, image->problem);
	if (image->problem)
		return false;
	inquiry->image = image;
	return true;
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

static bool has_java(const struct address_spaces *spaces)
{
	for (module_id id = 0; id < address_spaces_module_count(spaces); id++) {
		const struct module *module = address_spaces_module(spaces, id);
		const char *slash = module->kind == MODULE_FILE ? strrchr(module->path, '/') : NULL;

		if (slash && strcmp(slash, "/libjvm.so") == 0)
			return true;
	}
	return false;
}

/* "" if it is not known. */
static const char *process_name(const struct profile *profile, pid_t pid)
{
	for (thread_id id = 0; id < profile_thread_count(profile); id++) {
		const struct profile_thread *thread = profile_get_thread(profile, id);

		if (thread->pid == pid)
			return profile_string(profile, thread->process);
	}
	return "";
}

/* How a program is told to list the code that it compiles. */
static const char *how_to_list(const char *name)
{
	static const struct {
		const char *begin, *how;
	} programs[] = {
		{"node", "node --perf-basic-prof or --perf-prof"},
		{"python", "python -X perf or, from 3.13 on, -X perf_jit"},
		{"dotnet", "DOTNET_PerfMapEnabled=1"},
		{"wasmtime", "wasmtime --profile=jitdump"},
		{"beam", "erl +JPperf true"},
		{"erl", "erl +JPperf true"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (text_begins(name, programs[i].begin))
			return programs[i].how;
	return "node --perf-basic-prof, python -X perf, DOTNET_PerfMapEnabled=1";
}

/* Why code that was made at run time has no names. */
static char *nameless_code(const struct symbolizer *symbolizer, pid_t pid)
{
	const char *java = "";

	if (has_java(symbolizer->spaces))
		java = "for Java (JDK 17 and later), record it with --java while it runs, or start "
		       "it with -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit; else ";
	return xasprintf("code that process %d made at run time has no names: %slet it write "
			 "/tmp/perf-%d.map or a jitdump (%s)",
			 pid, java, pid, how_to_list(process_name(symbolizer->profile, pid)));
}

static bool prepare_map(const struct symbolizer *symbolizer, const struct module *module,
			struct inquiry *inquiry)
{
	const pid_t pid = module->pid;
	int fd = -1;

	if (module->jitdump)
		fd = fcntl(jitdump_fd(module->jitdump), F_DUPFD_CLOEXEC, 0);
	else if (symbolizer->options.proc)
		fd = address_spaces_open_jit_map(symbolizer->spaces, inquiry->module,
						 symbolizer->options.proc);
	inquiry->map = fd < 0 ? NULL : fdopen(fd, "r");
	if (!inquiry->map)
		inquiry->problem = nameless_code(symbolizer, pid);
	return inquiry->map;
}

/* Whether there is a file to read symbols from. */
static bool prepare(struct symbolizer *symbolizer, const struct module *module,
		    struct inquiry *inquiry)
{
	switch (module->kind) {
	case MODULE_FILE:
	case MODULE_VDSO:
		return prepare_file(module, inquiry);
	case MODULE_JIT:
		return prepare_map(symbolizer, module, inquiry);
	case MODULE_KERNEL:
		return prepare_kernel(symbolizer, module, inquiry);
	case MODULE_UNKNOWN:
		return false;
	}
	return false;
}

static struct debugfile_opener opener_of(struct symbolizer *symbolizer, const struct module *module,
					 struct inquiry *inquiry)
{
	if (module->kind != MODULE_FILE)
		return (struct debugfile_opener){0};
	inquiry->debug_files = address_spaces_debug_files(symbolizer->spaces, inquiry->module);
	inquiry->opener = (struct fetched_opener){
		.files = &symbolizer->fetched,
		.local = debug_files_opener(&inquiry->debug_files),
		.own = *elf_file_build_id(module->elf),
	};
	return fetched_opener(&inquiry->opener);
}

/* What a request is about: elf or map. */
static struct source_module source_of(struct symbolizer *symbolizer, const struct module *module,
				      struct inquiry *inquiry)
{
	const struct kernel_image *kernel = inquiry->image ? &inquiry->image->kernel : NULL;

	return (struct source_module){
		.id = inquiry->module,
		.elf = kernel ? kernel->elf : module->elf,
		.map = kernel ? kernel->packed : inquiry->map,
		.map_bytes = address_spaces_map_bytes(symbolizer->spaces, inquiry->module),
		.kernel = kernel,
		.opener = opener_of(symbolizer, module, inquiry),
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

static void make_requests(struct symbolizer *symbolizer)
{
	for (size_t i = 0; i < symbolizer->inquiry_count; i++) {
		struct inquiry *inquiry = &symbolizer->inquiries[i];
		const struct module *module = address_spaces_module(symbolizer->spaces,
								    inquiry->module);
		struct source_module source;

		if (!prepare(symbolizer, module, inquiry))
			continue;
		source = source_of(symbolizer, module, inquiry);
		symbolizer->request_inquiries[symbolizer->request_count] = (uint32_t)i;
		symbolizer->requests[symbolizer->request_count++] = (struct crews_request){
			.request = {.module = source,
				    .addresses = inquiry->addresses,
				    .count = inquiry->count},
			.origin = origin_of(&source),
			.weight = inquiry->frames,
		};
	}
}

static struct inquiry *inquiry_of_request(const struct symbolizer *symbolizer, size_t request)
{
	return &symbolizer->inquiries[symbolizer->request_inquiries[request]];
}

static void on_finished(void *user, size_t request, struct reply *reply)
{
	take_reply(inquiry_of_request(user, request), reply);
}

static void on_lost(void *user, size_t request, char *why)
{
	inquiry_of_request(user, request)->loss = why;
}

static void ask_workers(struct symbolizer *symbolizer)
{
	const struct symbolize_options *options = &symbolizer->options;
	const struct crews_run run = {
		.requests = symbolizer->requests,
		.count = symbolizer->request_count,
		.cancel = options->cancel,
		.done = options->done,
		.between = options->between,
		.between_user = options->user,
		.finished = on_finished,
		.lost = on_lost,
		.user = symbolizer,
	};

	crews_run(symbolizer->crews, &run);
}

static void finish_here(void *user, size_t request, const struct engine_result *result)
{
	struct inquiry *inquiry = inquiry_of_request(user, request);

	take_reply(inquiry, reply_of(inquiry, result));
}

static void do_it_here(struct symbolizer *symbolizer)
{
	CLEANUP(free_ptr)
	struct engine_request *requests = xcalloc(symbolizer->request_count, sizeof(*requests));

	for (size_t i = 0; i < symbolizer->request_count; i++)
		requests[i] = symbolizer->requests[i].request;
	engine_run(symbolizer->engine, requests, symbolizer->request_count);
}

/* What a frame has got. */
enum named { UNNAMED, NAMED, NAMED_WITH_LINE };

static void add_cost(struct worker_cost *to, struct worker_cost cost)
{
	to->cpu_ns += cost.cpu_ns;
	if (cost.peak_bytes > to->peak_bytes)
		to->peak_bytes = cost.peak_bytes;
}

/* Modules that are asked again, with fetched files. */
struct second_asking {
	struct symbolizer *symbolizer;
	uint32_t *inquiries; /* by request */
};

static void on_finished_again(void *user, size_t request, struct reply *reply)
{
	const struct second_asking *asking = user;
	struct inquiry *inquiry = &asking->symbolizer->inquiries[asking->inquiries[request]];

	reply_free(inquiry->reply);
	inquiry->reply = reply;
}

/* The names that it has stay. */
static void on_lost_again(void *user, size_t request, char *why)
{
	const struct second_asking *asking = user;
	struct inquiry *inquiry = &asking->symbolizer->inquiries[asking->inquiries[request]];

	free(inquiry->refused);
	inquiry->refused = why;
}

/*
 * Apart from the files of this machine, which a server must not cost their names: whoever else may
 * write to the files that a worker reads, a server may.
 */
static struct file_origin served_origin(const struct symbolizer *symbolizer,
					struct file_origin origin)
{
	uid_t caller = symbolizer->options.caller;

	if (!origin.is_foreign)
		origin.owner = geteuid() == 0 && caller ? caller : geteuid();
	origin.is_foreign = true;
	return origin;
}

static size_t collect_again(struct symbolizer *symbolizer, const struct fetching *fetching,
			    struct crews_request *requests, uint32_t *inquiries)
{
	size_t count = 0;

	for (size_t i = 0; i < symbolizer->request_count; i++) {
		bool is_renewed = false;

		for (size_t j = 0; j < fetching->count; j++)
			is_renewed |= fetching->modules[j].is_renewed &&
				      fetching->modules[j].index ==
					      symbolizer->request_inquiries[i];
		if (!is_renewed)
			continue;
		inquiries[count] = symbolizer->request_inquiries[i];
		requests[count] = symbolizer->requests[i];
		requests[count].origin = served_origin(symbolizer, requests[count].origin);
		count++;
	}
	return count;
}

static struct crews *new_crews(struct symbolizer *symbolizer, bool again);

/* By workers of their own, which know the module without its debug file not yet. */
static void ask_again(struct symbolizer *symbolizer, const struct fetching *fetching)
{
	const struct symbolize_options *options = &symbolizer->options;
	CLEANUP(crews_cleanup) struct crews *crews = new_crews(symbolizer, false);
	CLEANUP(free_ptr)
	struct crews_request *requests = xcalloc(symbolizer->request_count, sizeof(*requests));
	CLEANUP(free_ptr)
	uint32_t *inquiries = xcalloc(symbolizer->request_count, sizeof(*inquiries));
	struct second_asking asking = {.symbolizer = symbolizer, .inquiries = inquiries};

	crews_run(crews, &(struct crews_run){
				 .requests = requests,
				 .count = collect_again(symbolizer, fetching, requests, inquiries),
				 .cancel = options->cancel,
				 .done = options->done,
				 .finished = on_finished_again,
				 .lost = on_lost_again,
				 .user = &asking,
			 });
	add_cost(&symbolizer->cost_again, crews_cost(crews));
}

static enum named named_by(const struct inquiry *inquiry, uint32_t address)
{
	struct reply_line found[REPLY_LINES_MAX];
	unsigned count = inquiry->reply ? reply_lines(inquiry->reply, address, found) : 0;

	if (!count)
		return UNNAMED;
	return found[0].line ? NAMED_WITH_LINE : NAMED;
}

static bool lacks(const struct symbolizer *symbolizer, const struct inquiry *inquiry,
		  uint32_t address)
{
	enum named named = named_by(inquiry, address);

	return named == UNNAMED || (named == NAMED && !symbolizer->options.symbols.no_inlines);
}

/* Whether files for it can be fetched: only a build-id says which are the right ones. */
static bool is_fetchable(const struct symbolizer *symbolizer, const struct inquiry *inquiry)
{
	const struct module *module = address_spaces_module(symbolizer->spaces, inquiry->module);

	return module->kind == MODULE_FILE && module->elf && !inquiry->problem && !inquiry->loss &&
	       elf_file_build_id(module->elf)->len;
}

static struct fetching_module fetching_module_of(const struct symbolizer *symbolizer,
						 struct inquiry *inquiry)
{
	const struct module *module = address_spaces_module(symbolizer->spaces, inquiry->module);
	uint32_t completing = symbolizer->options.symbols.no_inlines ? NAMES_SYMTAB : NAMES_DWARF;

	return (struct fetching_module){
		.build_id = elf_file_build_id(module->elf),
		.path = module->path,
		.is_complete = inquiry->reply && reply_sources(inquiry->reply).present & completing,
		.opener = &inquiry->opener,
		.index = (uint32_t)(inquiry - symbolizer->inquiries),
	};
}

/* Returns the number of samples in all. */
static uint64_t weigh(struct symbolizer *symbolizer, struct fetching *fetching)
{
	const frame_id frames = symbolizer->end;
	CLEANUP(free_ptr) uint32_t *group_of = xcalloc(frames, sizeof(*group_of));
	CLEANUP(free_ptr)
	uint64_t *samples = xcalloc(symbolizer->inquiry_count, sizeof(*samples));
	uint64_t all;

	for (frame_id id = 0; id < frames; id++) {
		struct place place = {.inquiry = NOWHERE};

		if (id >= symbolizer->named)
			place = symbolizer->places[id - symbolizer->named];
		group_of[id] = LACKING_NOTHING;
		if (place.inquiry != NOWHERE &&
		    is_fetchable(symbolizer, &symbolizer->inquiries[place.inquiry]) &&
		    lacks(symbolizer, &symbolizer->inquiries[place.inquiry], place.address))
			group_of[id] = place.inquiry;
	}
	all = lacking_samples(symbolizer->profile, group_of, frames,
			      (uint32_t)symbolizer->inquiry_count, samples);
	for (size_t i = 0; i < fetching->count; i++)
		fetching->modules[i].samples = samples[fetching->modules[i].index];
	return all;
}

/* A server sends what it likes, and the cache keeps it. */
static void note_wrong_file(const struct symbolizer *symbolizer, struct inquiry *inquiry)
{
	const struct module *module = address_spaces_module(symbolizer->spaces, inquiry->module);
	const struct fetched_file *file = fetched_files_find(&symbolizer->fetched,
							     elf_file_build_id(module->elf));
	const char *used = inquiry->reply ? reply_sources(inquiry->reply).debug_file : NULL;

	if (file && file->fd >= 0 && !inquiry->refused && (!used || strcmp(used, file->path) != 0))
		inquiry->refused = xasprintf("%s is not its debug file: remove it", file->path);
}

static void fetch_missing(struct symbolizer *symbolizer)
{
	CLEANUP(free_ptr)
	struct fetching_module *modules = xcalloc(symbolizer->inquiry_count, sizeof(*modules));
	struct fetching fetching = {
		.fetcher = symbolizer->options.fetcher,
		.files = &symbolizer->fetched,
		.modules = modules,
	};

	for (size_t i = 0; i < symbolizer->inquiry_count; i++)
		if (is_fetchable(symbolizer, &symbolizer->inquiries[i]))
			modules[fetching.count++] = fetching_module_of(symbolizer,
								       &symbolizer->inquiries[i]);
	fetching_select(&fetching, weigh(symbolizer, &fetching));
	for (unsigned i = 0; i < FETCHING_ROUNDS && fetching_round(&fetching); i++)
		ask_again(symbolizer, &fetching);
	for (size_t i = 0; i < fetching.count && !is_cancelled(symbolizer); i++)
		note_wrong_file(symbolizer, &symbolizer->inquiries[modules[i].index]);
}

static string_id add_string(struct profile *profile, const struct reply *reply, uint32_t string)
{
	struct bytes text = reply_string(reply, string);

	return strtab_add_len(profile_strings(profile), (const char *)text.at, bytes_left(&text));
}

static function_id function_of(struct profile *profile, const struct inquiry *inquiry,
			       uint32_t index)
{
	struct reply_function function = reply_function(inquiry->reply, index);

	if (inquiry->functions[index] == FUNCTION_NONE)
		inquiry->functions[index] = profile_function(
			profile, &(struct profile_function){
					 .name = add_string(profile, inquiry->reply, function.name),
					 .system_name = add_string(profile, inquiry->reply,
								   function.system_name),
					 .file = add_string(profile, inquiry->reply, function.file),
					 .start_line = function.start_line,
				 });
	return inquiry->functions[index];
}

static void allot_functions(struct inquiry *inquiry)
{
	uint32_t count = inquiry->reply ? reply_function_count(inquiry->reply) : 0;

	inquiry->functions = xcalloc(count, sizeof(*inquiry->functions));
	for (uint32_t i = 0; i < count; i++)
		inquiry->functions[i] = FUNCTION_NONE;
	inquiry->spellings = inquiry->reply ? spellings_of(inquiry->reply) : NULL;
}

static enum named set_lines(struct profile *profile, frame_id frame, const struct inquiry *inquiry,
			    uint32_t address)
{
	struct reply_line found[REPLY_LINES_MAX];
	struct profile_line lines[REPLY_LINES_MAX];
	unsigned count = inquiry->reply ? reply_lines(inquiry->reply, address, found) : 0;

	for (unsigned i = 0; i < count; i++)
		lines[i] = (struct profile_line){
			.function = function_of(profile, inquiry,
						inquiry->spellings[found[i].function]),
			.line = found[i].line,
		};
	if (!count)
		return UNNAMED;
	/* It may have a name without a line already. */
	if (lines[0].line || !profile_get_frame(profile, frame).line_count)
		profile_set_lines(profile, frame, lines, count);
	return lines[0].line ? NAMED_WITH_LINE : NAMED;
}

/* In the order of frames, so that ids do not depend on which thread was faster. */
static void give_to_profile(struct symbolizer *symbolizer)
{
	for (size_t i = 0; i < symbolizer->inquiry_count; i++)
		allot_functions(&symbolizer->inquiries[i]);
	for (frame_id id = symbolizer->named; id < symbolizer->end; id++) {
		struct place place = symbolizer->places[id - symbolizer->named];
		struct inquiry *inquiry;
		enum named named;

		if (place.inquiry == NOWHERE)
			continue;
		inquiry = &symbolizer->inquiries[place.inquiry];
		named = set_lines(symbolizer->profile, id, inquiry, place.address);
		inquiry->unnamed += named == UNNAMED;
		inquiry->lineless += named == NAMED;
	}
}

/* What is missing, if that many frames found no symbol; NULL: nothing to say. */
static char *lack_of(const char *path, enum source_symbols symbols, size_t unnamed)
{
	if (!unnamed || symbols == SOURCE_ALL_SYMBOLS)
		return NULL;
	if (symbols == SOURCE_NO_SYMBOLS)
		return xasprintf("%s has no symbols", path);
	return xasprintf("%s has only its exported symbols, which leaves %zu address%s without a "
			 "name",
			 path, unnamed, unnamed == 1 ? "" : "es");
}

static char *loss_of(const struct module *module, const char *why)
{
	if (module->kind == MODULE_JIT)
		return xasprintf("code that process %d made at run time is shown as addresses: %s",
				 module->pid, why);
	return xasprintf("the functions of %s are shown as addresses: %s", module->path, why);
}

static char *kernel_problem(const struct inquiry *inquiry, const char *path, const char *what)
{
	return xasprintf("the functions of %s have no lines: %s %s", path,
			 inquiry->image ? inquiry->image->kernel.path : "its file", what);
}

static char *missing_dwo_files(const char *path, struct name_sources sources)
{
	return xasprintf("%s lacks %u of its .dwo files (such as %s), so the functions inlined "
			 "there are missing: keep these files where they were built, or pack them "
			 "into %s.dwp with dwp or llvm-dwp",
			 path, sources.missing_units,
			 sources.missing_file ? sources.missing_file : "one without a name", path);
}

/* Takes the text that is known already. */
static char *problem_of(struct inquiry *inquiry, const struct module *module)
{
	const char *path = module->path;
	const struct reply *reply = inquiry->reply;

	if (inquiry->loss)
		return loss_of(module, inquiry->loss);
	if (inquiry->refused)
		return xasprintf("the downloaded debug information of %s was not used: %s", path,
				 inquiry->refused);
	if (inquiry->problem || !reply)
		return STEAL(inquiry->problem);
	switch (reply_problem(reply)) {
	case SOURCE_PACKED_DWARF:
		return xasprintf("the debug information of %s cannot be decompressed: "
				 "its functions are named by its symbols alone",
				 path);
	case SOURCE_SPLIT_DWARF:
		return missing_dwo_files(path, reply_sources(reply));
	case SOURCE_LONG_MAP:
		if (module->jitdump)
			return xasprintf("%s is longer than %d MB: read the first", path,
					 (int)(JITDUMP_BYTES_MAX >> 20));
		return xasprintf("the symbols that process %d lists in its perf-%d.map are more "
				 "than %d MB: read the first",
				 module->pid, module->pid, PERFMAP_BYTES_MAX >> 20);
	case SOURCE_CHANGED_FILE:
		return xasprintf("%s or its debug file was changed while prof read it, so symbols "
				 "can be missing or wrong: record it again",
				 path);
	case SOURCE_PACKED_FILE:
		return kernel_problem(inquiry, path, "cannot be decompressed");
	case SOURCE_OTHER_BUILD:
		return kernel_problem(inquiry, path, "is of another build");
	case SOURCE_OTHER_PLACE:
		return kernel_problem(inquiry, path,
				      "does not have the symbol or section that says where it was "
				      "loaded");
	case SOURCE_NO_PROBLEM:
		break;
	}
	return NULL;
}

/* Both are to be freed; false if there is no problem. */
static bool describe_problem(struct inquiry *inquiry, const struct module *module,
			     struct symbolize_problem *ret)
{
	*ret = (struct symbolize_problem){.module = inquiry->module,
					  .text = problem_of(inquiry, module)};
	if (!ret->text && inquiry->reply)
		ret->fact = lack_of(module->path, reply_symbols(inquiry->reply), inquiry->unnamed);
	if (ret->fact)
		ret->text = xasprintf("%s: install its debug symbols, or do not strip it",
				      ret->fact);
	return ret->text;
}

static void report_problems(const struct symbolizer *symbolizer, struct symbolize_outcome *ret)
{
	ret->problems = xcalloc(symbolizer->inquiry_count, sizeof(*ret->problems));
	for (size_t i = 0; i < symbolizer->inquiry_count; i++) {
		uint32_t module = symbolizer->inquiries[i].module;

		ret->problem_count +=
			describe_problem(&symbolizer->inquiries[i],
					 address_spaces_module(symbolizer->spaces, module),
					 &ret->problems[ret->problem_count]);
	}
}

static void list_modules(const struct symbolizer *symbolizer, struct symbolize_outcome *ret)
{
	ret->modules = xcalloc(symbolizer->inquiry_count, sizeof(*ret->modules));
	ret->module_count = symbolizer->inquiry_count;
	for (size_t i = 0; i < symbolizer->inquiry_count; i++) {
		const struct inquiry *inquiry = &symbolizer->inquiries[i];
		struct symbolized_module *module = &ret->modules[i];

		*module = (struct symbolized_module){
			.module = inquiry->module,
			.frames = inquiry->frames,
			.unnamed = inquiry->unnamed,
			.lineless = inquiry->lineless,
		};
		if (!inquiry->reply)
			continue;
		module->is_read = true;
		module->sources = reply_sources(inquiry->reply);
		if (module->sources.debug_file)
			module->debug_file = xstrdup(module->sources.debug_file);
		module->sources.debug_file = module->debug_file;
	}
}

static struct elf_file *file_of(void *user, uint32_t module)
{
	const struct symbolizer *symbolizer = user;
	const struct image *image = find_image(symbolizer, module);

	if (image)
		return image->kernel.elf;
	return address_spaces_module(symbolizer->spaces, module)->elf;
}

static uint32_t file_count(void *user)
{
	const struct symbolizer *symbolizer = user;

	return address_spaces_module_count(symbolizer->spaces);
}

static struct source_options source_options_of(const struct symbolize_options *options, bool again)
{
	return (struct source_options){
		.inlines = !options->symbols.no_inlines,
		.again = again,
		.symbolizer = options->symbols.symbolizer,
	};
}

static struct engine *new_engine(struct symbolizer *symbolizer, unsigned threads)
{
	const struct symbolize_options *options = &symbolizer->options;

	return engine_new(&(struct engine_options){
		.source = source_options_of(options, options->again),
		.pool = {.threads = threads,
			 .cancel = options->cancel,
			 .done = options->done,
			 .between = options->between,
			 .user = options->user},
		.finished = finish_here,
		.user = symbolizer,
	});
}

static unsigned thread_count(const struct symbolizer *symbolizer)
{
	unsigned threads = symbolizer->options.threads;

	return threads ? threads : affinity_cpu_count();
}

static struct crews *new_crews(struct symbolizer *symbolizer, bool again)
{
	const struct symbolize_options *options = &symbolizer->options;

	return crews_new(&(struct crews_options){
		.crew = {.threads = thread_count(symbolizer),
			 .source = source_options_of(options, again),
			 .file_of = file_of,
			 .file_count = file_count,
			 .user = symbolizer},
		.caller = options->caller,
		.limits = options->limits,
	});
}

struct symbolizer *symbolizer_new(struct profile *profile, struct address_spaces *spaces,
				  const struct symbolize_options *options)
{
	struct symbolizer *symbolizer = xcalloc(1, sizeof(*symbolizer));

	symbolizer->profile = profile;
	symbolizer->spaces = spaces;
	symbolizer->options = *options;
	if (options->in_process)
		symbolizer->engine = new_engine(symbolizer, thread_count(symbolizer));
	else
		symbolizer->crews = new_crews(symbolizer, options->again);
	return symbolizer;
}

void symbolizer_set_fetcher(struct symbolizer *symbolizer, const struct fetcher *fetcher)
{
	symbolizer->options.fetcher = *fetcher;
}

void symbolizer_set_profile(struct symbolizer *symbolizer, struct profile *profile)
{
	symbolizer->profile = profile;
	symbolizer->named = 0;
}

static void begin_run(struct symbolizer *symbolizer)
{
	frame_id frames;

	symbolizer->end = profile_frame_count(symbolizer->profile);
	jit_frames_settle(symbolizer->profile, symbolizer->spaces, symbolizer->named,
			  symbolizer->end);
	frames = symbolizer->end - symbolizer->named;
	symbolizer->target_count = symbolizer->inquiry_count = symbolizer->request_count = 0;
	symbolizer->places = xcalloc(frames, sizeof(*symbolizer->places));
	for (frame_id i = 0; i < frames; i++)
		symbolizer->places[i].inquiry = NOWHERE;
	collect_targets(symbolizer);
	make_inquiries(symbolizer);
	symbolizer->requests = xcalloc(symbolizer->inquiry_count, sizeof(*symbolizer->requests));
	symbolizer->request_inquiries = xcalloc(symbolizer->inquiry_count,
						sizeof(*symbolizer->request_inquiries));
	make_requests(symbolizer);
}

static void end_run(struct symbolizer *symbolizer)
{
	for (size_t i = 0; i < symbolizer->inquiry_count; i++) {
		struct inquiry *inquiry = &symbolizer->inquiries[i];

		close_file(&inquiry->map);
		reply_free(inquiry->reply);
		free(inquiry->functions);
		free(inquiry->spellings);
		free(inquiry->addresses);
		free(inquiry->problem);
		free(inquiry->loss);
		free(inquiry->refused);
	}
	free(symbolizer->requests);
	free(symbolizer->request_inquiries);
	free(symbolizer->places);
	fetched_files_deinit(&symbolizer->fetched);
	symbolizer->named = symbolizer->end;
}

void symbolizer_run(struct symbolizer *symbolizer, struct symbolize_outcome *ret)
{
	*ret = (struct symbolize_outcome){0};
	begin_run(symbolizer);
	if (symbolizer->engine)
		do_it_here(symbolizer);
	else
		ask_workers(symbolizer);
	if (symbolizer->options.fetcher.fetch && !is_cancelled(symbolizer))
		fetch_missing(symbolizer);
	ret->worker_cost = symbolizer_cost(symbolizer);
	give_to_profile(symbolizer);
	list_modules(symbolizer, ret);
	ret->cancelled = is_cancelled(symbolizer);
	if (!ret->cancelled)
		report_problems(symbolizer, ret);
	end_run(symbolizer);
}

struct worker_cost symbolizer_cost(const struct symbolizer *symbolizer)
{
	struct worker_cost cost = symbolizer->cost_again;

	if (symbolizer->crews)
		add_cost(&cost, crews_cost(symbolizer->crews));
	return cost;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	engine_free(symbolizer->engine);
	crews_free(symbolizer->crews);
	free(symbolizer->inquiries);
	free(symbolizer->targets);
	for (size_t i = 0; i < symbolizer->image_count; i++) {
		kernel_image_deinit(&symbolizer->images[i]->kernel);
		free(symbolizer->images[i]->problem);
		free(symbolizer->images[i]);
	}
	free(symbolizer->images);
	free(symbolizer);
}

void symbolize(struct profile *profile, struct address_spaces *spaces,
	       const struct symbolize_options *options, struct symbolize_outcome *ret)
{
	CLEANUP(symbolizer_cleanup)
	struct symbolizer *symbolizer = symbolizer_new(profile, spaces, options);

	symbolizer_run(symbolizer, ret);
}

void symbolize_outcome_deinit(struct symbolize_outcome *outcome)
{
	for (size_t i = 0; i < outcome->problem_count; i++) {
		free(outcome->problems[i].text);
		free(outcome->problems[i].fact);
	}
	for (size_t i = 0; i < outcome->module_count; i++)
		free(outcome->modules[i].debug_file);
	free(outcome->modules);
	free(outcome->problems);
	*outcome = (struct symbolize_outcome){0};
}
