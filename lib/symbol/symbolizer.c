#include "symbol/symbolizer.h"

#include "symbol/crew.h"
#include "symbol/namer.h"
#include "symbol/source.h"

#include "base/alloc.h"

#include <sched.h>

/* A frame to name. */
struct target {
	uint64_t address; /* a vaddr in files */
	uint32_t module;
	uint32_t unit; /* of the module's DWARF, or DWARF_NO_UNIT */
	frame_id frame;
};

/* The targets of one module. */
struct job {
	struct source *source;
	struct target *targets; /* ascending: by address, once open by unit and address */
	size_t count;
};

/* What one thread does at once: the targets of one unit. */
struct piece {
	const struct job *job;
	const struct target *targets;
	size_t count;
	uint64_t cost; /* rough */
};

struct symbolizer {
	struct profile *profile;
	const struct spaces *spaces;
	struct source_options options;
	struct crew crew;
	struct source **sources; /* by module; NULL: never asked */
	uint32_t source_count;
	frame_id named; /* frames before this one have been looked at */

	/* Of one run, over the frames from `named` up to `end`. */
	frame_id end;
	struct target *targets;
	size_t target_count, target_room;
	struct job *jobs;
	size_t job_count, job_room;
	struct piece *pieces;
	size_t piece_count, piece_room;
	struct namer **namers;	/* one a thread */
	struct naming *namings; /* by frame, from `named` on */
};

/* False: nothing can name the frame. */
static bool target_of(const struct symbolizer *symbolizer, frame_id id, struct target *ret)
{
	struct profile_frame frame = profile_get_frame(symbolizer->profile, id);
	uint64_t offset = frame.offset - frame.is_return_address;
	const struct module *module;

	/* Notes have lines, and a module that is in no process. */
	if (frame.line_count || frame.module >= spaces_module_count(symbolizer->spaces))
		return false;
	module = spaces_module(symbolizer->spaces, frame.module);
	*ret = (struct target){
		.address = offset,
		.module = frame.module,
		.unit = DWARF_NO_UNIT,
		.frame = id,
	};
	/* The source of a module without an image says why it has none. */
	return !module->image || image_offset_to_vaddr(module->image, offset, &ret->address);
}

static int compare_targets(const void *left, const void *right)
{
	const struct target *a = left, *b = right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->frame > b->frame) - (a->frame < b->frame);
}

static void sort_targets(struct target *targets, size_t count)
{
	if (count)
		qsort(targets, count, sizeof(*targets), compare_targets);
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
	sort_targets(symbolizer->targets, symbolizer->target_count);
}

static struct source *source_of(struct symbolizer *symbolizer, uint32_t module)
{
	uint32_t count = symbolizer->source_count;

	if (module >= count) {
		symbolizer->source_count = spaces_module_count(symbolizer->spaces);
		symbolizer->sources = xreallocarray(symbolizer->sources, symbolizer->source_count,
						    sizeof(struct source *));
		while (count < symbolizer->source_count)
			symbolizer->sources[count++] = NULL;
	}
	if (!symbolizer->sources[module])
		symbolizer->sources[module] = xcalloc(1, sizeof(struct source));
	return symbolizer->sources[module];
}

static void make_jobs(struct symbolizer *symbolizer)
{
	struct target *targets = symbolizer->targets;

	for (size_t i = 0; i < symbolizer->target_count; i++) {
		if (!i || targets[i].module != targets[i - 1].module) {
			GROW(symbolizer->jobs, symbolizer->job_count, symbolizer->job_room);
			symbolizer->jobs[symbolizer->job_count++] = (struct job){
				.source = source_of(symbolizer, targets[i].module),
				.targets = &targets[i],
			};
		}
		symbolizer->jobs[symbolizer->job_count - 1].count++;
	}
}

/* Go's own table says what DWARF would, needs no scan, and is there in stripped programs too. */
static uint32_t unit_of(const struct symbolizer *symbolizer, struct source *source,
			uint64_t address)
{
	struct symbol function;
	struct dwarf *dwarf;

	if (source->go && gopclntab_find(source->go, address, &function))
		return DWARF_NO_UNIT;
	dwarf = source_dwarf(source, &symbolizer->options);
	return dwarf ? dwarf_unit_of(dwarf, address) : DWARF_NO_UNIT;
}

static void find_units(const struct symbolizer *symbolizer, struct job *job)
{
	for (size_t i = 0; i < job->count; i++)
		job->targets[i].unit = unit_of(symbolizer, job->source, job->targets[i].address);
	sort_targets(job->targets, job->count);
}

/* A list of names is asked for each address anew; a file is read once, when it can be. */
static bool is_open(const struct source *source)
{
	return source->symtab && !image_changed(source->module->image);
}

static void open_job(void *context, size_t item, unsigned thread)
{
	const struct symbolizer *symbolizer = context;
	struct job *job = &symbolizer->jobs[item];
	CLEANUP(free_ptr) uint64_t *addresses = xcalloc(job->count, sizeof(*addresses));

	(void)thread;
	for (size_t i = 0; i < job->count; i++)
		addresses[i] = job->targets[i].address;
	if (!is_open(job->source)) {
		source_close(job->source);
		source_open(job->source, spaces_module(symbolizer->spaces, job->targets[0].module),
			    &symbolizer->options, addresses, job->count);
	}
	if (job->source->symtab)
		find_units(symbolizer, job);
}

static uint64_t cost_of(const struct job *job, uint32_t unit)
{
	return unit == DWARF_NO_UNIT ? 0 : dwarf_unit_bytes(job->source->dwarf, unit);
}

static void cut_into_pieces(struct symbolizer *symbolizer, const struct job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		const struct target *target = &job->targets[i];

		if (!i || target->unit != target[-1].unit) {
			GROW(symbolizer->pieces, symbolizer->piece_count, symbolizer->piece_room);
			symbolizer->pieces[symbolizer->piece_count++] = (struct piece){
				.job = job,
				.targets = target,
				.cost = cost_of(job, target->unit),
			};
		}
		symbolizer->pieces[symbolizer->piece_count - 1].count++;
	}
}

/* The most work first, so that nobody is left alone with it at the end. */
static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	return (a->cost < b->cost) - (a->cost > b->cost);
}

static void make_pieces(struct symbolizer *symbolizer)
{
	for (size_t i = 0; i < symbolizer->job_count; i++)
		cut_into_pieces(symbolizer, &symbolizer->jobs[i]);
	if (symbolizer->piece_count)
		qsort(symbolizer->pieces, symbolizer->piece_count, sizeof(*symbolizer->pieces),
		      compare_pieces);
}

static struct naming *naming_of(const struct symbolizer *symbolizer, frame_id frame)
{
	return &symbolizer->namings[frame - symbolizer->named];
}

static void name_listed(struct symbolizer *symbolizer, const struct piece *piece,
			struct namer *namer)
{
	const struct job *job = piece->job;

	for (size_t i = 0; i < job->count; i++)
		*naming_of(symbolizer,
			   job->targets[i].frame) = namer_name_listed(namer, job->source->names[i]);
}

/* Each address once, though it may be a caller's in one frame and the innermost in another.
 * Returns how many there are. */
static size_t distinct_addresses(const struct piece *piece, uint64_t *addresses)
{
	size_t count = 0;

	for (size_t i = 0; i < piece->count; i++)
		if (!count || addresses[count - 1] != piece->targets[i].address)
			addresses[count++] = piece->targets[i].address;
	return count;
}

static struct inline_chain go_chain(const struct symbolizer *symbolizer,
				    const struct gopclntab *table, uint64_t address,
				    struct arena *arena)
{
	struct symbol function;
	struct call *call;

	if (symbolizer->options.inlines)
		return gopclntab_resolve(table, address, arena);
	if (!gopclntab_find(table, address, &function))
		return (struct inline_chain){0};
	call = arena_alloc(arena, sizeof(*call));
	*call = (struct call){.name = function.name};
	return (struct inline_chain){.calls = call, .count = 1};
}

static void find_chains(const struct symbolizer *symbolizer, const struct piece *piece,
			const uint64_t *addresses, size_t count, struct arena *arena,
			struct inline_chain *chains)
{
	const struct source *source = piece->job->source;
	uint32_t unit = piece->targets->unit;

	if (unit != DWARF_NO_UNIT)
		dwarf_resolve(source->dwarf, unit, addresses, count, arena, chains);
	else if (source->go)
		for (size_t i = 0; i < count; i++)
			chains[i] = go_chain(symbolizer, source->go, addresses[i], arena);
}

static void name_in_file(struct symbolizer *symbolizer, const struct piece *piece,
			 struct namer *namer)
{
	const struct source *source = piece->job->source;
	const struct target *target = piece->targets, *end = target + piece->count;
	CLEANUP(free_ptr) uint64_t *addresses = xcalloc(piece->count, sizeof(*addresses));
	CLEANUP(free_ptr) struct inline_chain *chains = xcalloc(piece->count, sizeof(*chains));
	size_t count = distinct_addresses(piece, addresses);

	find_chains(symbolizer, piece, addresses, count, namer_arena(namer), chains);
	for (size_t i = 0; i < count; i++) {
		struct naming naming = namer_name(namer, source, addresses[i], chains[i]);

		for (; target < end && target->address == addresses[i]; target++)
			*naming_of(symbolizer, target->frame) = naming;
	}
}

static void name_piece(void *context, size_t item, unsigned thread)
{
	struct symbolizer *symbolizer = context;
	const struct piece *piece = &symbolizer->pieces[item];
	struct namer *namer = symbolizer->namers[thread];

	if (piece->job->source->names)
		name_listed(symbolizer, piece, namer);
	else if (piece->job->source->symtab)
		name_in_file(symbolizer, piece, namer);
}

static struct profile_line to_profile(struct profile *profile, const struct named_line *line)
{
	struct strtab *strings = profile_strings(profile);
	struct profile_function function = {
		.name = strtab_add(strings, line->name),
		.system_name = strtab_add(strings, line->system_name),
		.file = strtab_add(strings, line->file),
		.start_line = line->start_line,
	};

	return (struct profile_line){
		.function = profile_function(profile, &function),
		.line = line->line,
	};
}

/* In the order of frames: the same ids whichever thread was faster. */
static void give_to_profile(struct symbolizer *symbolizer)
{
	CLEANUP(free_ptr) struct profile_line *lines = NULL;
	unsigned room = 0;

	for (frame_id id = symbolizer->named; id < symbolizer->end; id++) {
		const struct naming *naming = naming_of(symbolizer, id);

		if (naming->count > room) {
			room = 2 * naming->count;
			lines = xreallocarray(lines, room, sizeof(*lines));
		}
		for (unsigned i = 0; i < naming->count; i++)
			lines[i] = to_profile(symbolizer->profile, &naming->lines[i]);
		if (naming->count)
			profile_set_lines(symbolizer->profile, id, lines, naming->count);
	}
}

static size_t count_unnamed(const struct symbolizer *symbolizer, const struct job *job)
{
	size_t unnamed = 0;

	for (size_t i = 0; i < job->count; i++)
		unnamed += !naming_of(symbolizer, job->targets[i].frame)->count;
	return unnamed;
}

static void report_problems(const struct symbolizer *symbolizer, struct symbolize_outcome *ret)
{
	ret->problems = xcalloc(symbolizer->job_count, sizeof(*ret->problems));
	for (size_t i = 0; i < symbolizer->job_count; i++) {
		const struct job *job = &symbolizer->jobs[i];
		char *text = source_problem(job->source, count_unnamed(symbolizer, job));

		if (text)
			ret->problems[ret->problem_count++] = (struct symbolize_problem){
				.module = job->targets[0].module,
				.text = text,
			};
	}
}

static unsigned cpu_count(void)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		return 1;
	return (unsigned)CPU_COUNT(&cpus);
}

struct symbolizer *symbolizer_new(struct profile *profile, const struct spaces *spaces,
				  const struct symbolize_options *options)
{
	struct symbolizer *symbolizer = xcalloc(1, sizeof(*symbolizer));

	symbolizer->profile = profile;
	symbolizer->spaces = spaces;
	symbolizer->options = (struct source_options){
		.debug_dir = options->debug_dir,
		.proc = options->proc,
		.inlines = options->inlines,
		.again = options->again,
	};
	symbolizer->crew = (struct crew){
		.threads = options->threads ? options->threads : cpu_count(),
		.cancel = options->cancel,
		.done = options->done,
		.between = options->between,
		.user = options->user,
	};
	return symbolizer;
}

static void begin_run(struct symbolizer *symbolizer)
{
	symbolizer->end = profile_frame_count(symbolizer->profile);
	symbolizer->target_count = symbolizer->job_count = symbolizer->piece_count = 0;
	symbolizer->namings = xcalloc(symbolizer->end - symbolizer->named,
				      sizeof(*symbolizer->namings));
	symbolizer->namers = xcalloc(symbolizer->crew.threads, sizeof(struct namer *));
	for (unsigned i = 0; i < symbolizer->crew.threads; i++)
		symbolizer->namers[i] = namer_new();
	collect_targets(symbolizer);
	make_jobs(symbolizer);
}

static void end_run(struct symbolizer *symbolizer)
{
	for (unsigned i = 0; i < symbolizer->crew.threads; i++)
		namer_free(symbolizer->namers[i]);
	free(symbolizer->namers);
	free(symbolizer->namings);
	symbolizer->named = symbolizer->end;
}

void symbolizer_run(struct symbolizer *symbolizer, struct symbolize_outcome *ret)
{
	const atomic_bool *cancel = symbolizer->crew.cancel;

	*ret = (struct symbolize_outcome){0};
	begin_run(symbolizer);
	crew_run(&symbolizer->crew, symbolizer->job_count, open_job, symbolizer);
	make_pieces(symbolizer);
	crew_run(&symbolizer->crew, symbolizer->piece_count, name_piece, symbolizer);
	give_to_profile(symbolizer);
	ret->cancelled = cancel && atomic_load(cancel);
	if (!ret->cancelled)
		report_problems(symbolizer, ret);
	end_run(symbolizer);
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	for (uint32_t i = 0; i < symbolizer->source_count; i++) {
		if (symbolizer->sources[i])
			source_close(symbolizer->sources[i]);
		free(symbolizer->sources[i]);
	}
	free(symbolizer->sources);
	free(symbolizer->pieces);
	free(symbolizer->jobs);
	free(symbolizer->targets);
	free(symbolizer);
}

void symbolize(struct profile *profile, struct spaces *spaces,
	       const struct symbolize_options *options, struct symbolize_outcome *ret)
{
	CLEANUP(symbolizer_cleanup)
	struct symbolizer *symbolizer = symbolizer_new(profile, spaces, options);

	symbolizer_run(symbolizer, ret);
}

void symbolize_outcome_deinit(struct symbolize_outcome *outcome)
{
	for (size_t i = 0; i < outcome->problem_count; i++)
		free(outcome->problems[i].text);
	free(outcome->problems);
	*outcome = (struct symbolize_outcome){0};
}
