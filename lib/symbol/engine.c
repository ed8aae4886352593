#include "symbol/engine.h"

#include "base/alloc.h"
#include "base/idmap.h"

/* An address to symbolize. */
struct engine_target {
	uint64_t address; /* a vaddr in a file, or NOWHERE */
	uint32_t unit;	  /* unit of the module's DWARF, or DWARF_NO_UNIT */
	bool in_libdw;	  /* `unit` is a libdw unit */
	uint32_t index;	  /* index in the request's addresses */
};

/* The address of code that is not in the file. */
#define NOWHERE UINT64_MAX

/* A request in progress. */
struct job {
	const struct engine_request *request;
	struct source *source;
	struct engine_target *targets; /* by unit and address */
	struct symbolized *lines;      /* by address */
	atomic_size_t pieces_left;
};

/*
 * Work for one thread: the targets of one unit, or, without targets, the file's
 * symbol table.
 */
struct engine_piece {
	struct job *job;
	const struct engine_target *targets;
	size_t count;
	uint64_t cost; /* an estimate */
};

struct engine {
	struct engine_options options;
	struct dwarf_sharing sharing;
	struct source **sources;
	uint32_t source_count, source_room;
	struct idmap by_module; /* index of the module's source */

	/* State of one run. */
	struct job *jobs;
	size_t job_count;
	struct engine_piece *pieces;
	size_t piece_count, piece_room;
	struct line_builder **builders; /* one per thread */
};

static int engine_compare_targets(const void *left, const void *right)
{
	const struct engine_target *a = left, *b = right;

	if (a->in_libdw != b->in_libdw)
		return a->in_libdw ? 1 : -1;
	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

static struct source *engine_source_of(struct engine *engine, uint32_t module)
{
	uint32_t *index = idmap_put(&engine->by_module, module, 0);

	if (*index == IDMAP_NONE) {
		*index = engine->source_count;
		GROW(engine->sources, engine->source_count, engine->source_room);
		engine->sources[engine->source_count++] = xcalloc(1, sizeof(struct source));
	}
	return engine->sources[*index];
}

static struct engine_target *targets_of(const struct engine_request *request)
{
	struct engine_target *targets = xcalloc(request->count, sizeof(*targets));

	for (size_t i = 0; i < request->count; i++)
		targets[i] = (struct engine_target){
			.address = request->addresses[i],
			.unit = DWARF_NO_UNIT,
			.index = (uint32_t)i,
		};
	return targets;
}

static void make_jobs(struct engine *engine, const struct engine_request *requests, size_t count)
{
	engine->jobs = xcalloc(count, sizeof(*engine->jobs));
	engine->job_count = count;
	for (size_t i = 0; i < count; i++) {
		struct job *job = &engine->jobs[i];

		job->request = &requests[i];
		job->source = engine_source_of(engine, requests[i].module.id);
		job->targets = targets_of(&requests[i]);
		job->lines = xcalloc(requests[i].count, sizeof(*job->lines));
	}
}

static void say_at_work(const struct engine *engine, unsigned thread, size_t request, bool in_libdw)
{
	if (engine->options.at_work)
		engine->options.at_work(engine->options.user, thread, request, in_libdw);
}

static void say_in_libdw(const struct engine *engine, unsigned thread, const struct job *job)
{
	say_at_work(engine, thread, (size_t)(job - engine->jobs), true);
}

static enum symbolizer_choice symbolizer_of(const struct engine *engine, const struct job *job)
{
	return job->request->without_libdw ? SYMBOLIZER_FAST : engine->options.source.symbolizer;
}

/*
 * Returns the DWARF unit of an address, or none for Go code: Go's own table has
 * the same information as DWARF, needs no scan, and exists even in stripped
 * programs.
 */
static uint32_t engine_unit_of(const struct engine *engine, struct source *source, uint64_t address)
{
	struct dwarf *dwarf;

	if (source->go && gopclntab_has(source->go, address))
		return DWARF_NO_UNIT;
	dwarf = source_dwarf(source, &engine->options.source);
	return dwarf ? dwarf_unit_of(dwarf, address) : DWARF_NO_UNIT;
}

/*
 * Assigns libdw units to the addresses that prof's own reader does not support,
 * or to all of them.
 */
static void find_units_of_libdw(struct job *job, bool all)
{
	struct source *source = job->source;

	for (size_t i = 0; i < job->request->count; i++) {
		struct engine_target *target = &job->targets[i];

		if (target->address == NOWHERE || (!all && target->unit != DWARF_NO_UNIT) ||
		    (source->go && gopclntab_has(source->go, target->address)))
			continue;
		target->unit = libdw_unit_of(source->libdw, target->address);
		target->in_libdw = target->unit != LIBDW_NO_UNIT;
	}
}

static void find_units(const struct engine *engine, struct job *job, unsigned thread)
{
	const enum symbolizer_choice symbolizer = symbolizer_of(engine, job);

	for (size_t i = 0; i < job->request->count; i++) {
		struct engine_target *target = &job->targets[i];

		if (source_vaddr(job->source, target->address, &target->address))
			target->unit = engine_unit_of(engine, job->source, target->address);
		else
			target->address = NOWHERE;
	}
	if (job->source->libdw &&
	    (symbolizer == SYMBOLIZER_LIBDW ||
	     (symbolizer == SYMBOLIZER_AUTO && dwarf_has_unread(job->source->dwarf)))) {
		say_in_libdw(engine, thread, job);
		find_units_of_libdw(job, symbolizer == SYMBOLIZER_LIBDW);
	}
	if (job->request->count)
		qsort(job->targets, job->request->count, sizeof(*job->targets),
		      engine_compare_targets);
}

static void open_job(void *context, size_t item, unsigned thread)
{
	const struct engine *engine = context;
	struct job *job = &engine->jobs[item];
	const struct engine_request *request = job->request;

	say_at_work(engine, thread, item, false);
	/* Files are read once, but maps are read again for other addresses. */
	if (!job->source->symtab) {
		source_close(job->source);
		source_open(job->source, &request->module, &engine->options.source,
			    request->addresses, request->count);
	}
	source_set_module(job->source, &request->module);
	if (job->source->symtab)
		find_units(engine, job, thread);
	say_at_work(engine, thread, ENGINE_NO_REQUEST, false);
}

static uint64_t cost_of(const struct job *job, const struct engine_target *target)
{
	if (target->unit == DWARF_NO_UNIT)
		return 0;
	return target->in_libdw ? libdw_unit_bytes(job->source->libdw, target->unit)
				: dwarf_unit_bytes(job->source->dwarf, target->unit);
}

static void engine_add_piece(struct engine *engine, struct engine_piece piece)
{
	GROW(engine->pieces, engine->piece_count, engine->piece_room);
	engine->pieces[engine->piece_count++] = piece;
}

static void cut_into_pieces(struct engine *engine, struct job *job)
{
	size_t first = engine->piece_count;

	/*
	 * The symbol table has to be read before the units, because their
	 * results need it.
	 */
	if (job->source->symtab)
		engine_add_piece(engine, (struct engine_piece){.job = job, .cost = UINT64_MAX});
	for (size_t i = 0; i < job->request->count; i++) {
		const struct engine_target *target = &job->targets[i];

		if (!i || target->unit != target[-1].unit ||
		    target->in_libdw != target[-1].in_libdw)
			engine_add_piece(engine, (struct engine_piece){
							 .job = job,
							 .targets = target,
							 .cost = cost_of(job, target),
						 });
		engine->pieces[engine->piece_count - 1].count++;
	}
	atomic_init(&job->pieces_left, engine->piece_count - first);
}

/* Sorts the largest pieces first, so that no thread starts one at the end. */
static int compare_pieces(const void *left, const void *right)
{
	const struct engine_piece *a = left, *b = right;

	return (a->cost < b->cost) - (a->cost > b->cost);
}

static void make_pieces(struct engine *engine)
{
	engine->piece_count = 0;
	for (size_t i = 0; i < engine->job_count; i++)
		cut_into_pieces(engine, &engine->jobs[i]);
	if (engine->piece_count)
		qsort(engine->pieces, engine->piece_count, sizeof(*engine->pieces), compare_pieces);
}

static void name_listed(const struct engine_piece *piece, struct line_builder *builder)
{
	const struct job *job = piece->job;

	for (size_t i = 0; i < job->request->count; i++)
		job->lines[i] = line_builder_listed(builder, job->source->names[i],
						    job->source->lines ? &job->source->lines[i]
								       : NULL);
}

static struct inline_chain go_chain(const struct engine *engine, const struct gopclntab *table,
				    uint64_t address, struct arena *arena)
{
	struct symbol function;
	struct call *call;

	if (engine->options.source.inlines)
		return gopclntab_resolve(table, address, arena);
	if (!gopclntab_find(table, address, arena, &function))
		return (struct inline_chain){0};
	call = arena_alloc(arena, sizeof(*call));
	*call = (struct call){.name = function.name};
	return (struct inline_chain){.calls = call, .count = 1};
}

/* Returns the number of names and lines in a chain. */
static unsigned known_in(struct inline_chain chain)
{
	unsigned known = 0;

	for (unsigned i = 0; i < chain.count; i++)
		known += !!chain.calls[i].name + !!chain.calls[i].line;
	return known;
}

/* Completes the chains of addresses that are all in one libdw unit. */
static void complete_unit(struct source *source, uint32_t unit, const uint64_t *addresses,
			  size_t count, struct arena *arena, struct inline_chain *chains)
{
	CLEANUP(free_ptr) struct inline_chain *found = xcalloc(count, sizeof(*found));

	libdw_resolve(source->libdw, unit, addresses, count, arena, found);
	for (size_t i = 0; i < count; i++) {
		if (known_in(found[i]) <= known_in(chains[i]))
			continue;
		chains[i] = found[i];
		source->is_named_by_libdw = true;
	}
}

/*
 * Adds libdw's results to a unit that prof's own reader could not read
 * completely.
 */
static void complete_chains(struct source *source, const uint64_t *addresses, size_t count,
			    struct arena *arena, struct inline_chain *chains)
{
	for (size_t end, i = 0; i < count; i = end) {
		uint32_t unit = libdw_unit_of(source->libdw, addresses[i]);

		for (end = i + 1;
		     end < count && libdw_unit_of(source->libdw, addresses[end]) == unit;)
			end++;
		if (unit != LIBDW_NO_UNIT)
			complete_unit(source, unit, &addresses[i], end - i, arena, &chains[i]);
	}
}

static void find_chains_in_libdw(const struct engine *engine, const struct engine_piece *piece,
				 unsigned thread, const uint64_t *addresses, struct arena *arena,
				 struct inline_chain *chains)
{
	struct source *source = piece->job->source;

	say_in_libdw(engine, thread, piece->job);
	libdw_resolve(source->libdw, piece->targets->unit, addresses, piece->count, arena, chains);
	for (size_t i = 0; i < piece->count; i++)
		if (chains[i].count)
			source->is_named_by_libdw = true;
}

static void find_chains(const struct engine *engine, const struct engine_piece *piece,
			unsigned thread, const uint64_t *addresses, struct arena *arena,
			struct inline_chain *chains)
{
	const struct dwarf_demangler demangler = {line_builder_can_demangle,
						  engine->builders[thread]};
	struct source *source = piece->job->source;
	uint32_t unit = piece->targets->unit;

	if (unit != DWARF_NO_UNIT) {
		if (dwarf_resolve(source->dwarf, unit, addresses, piece->count, &demangler, arena,
				  chains) ||
		    symbolizer_of(engine, piece->job) == SYMBOLIZER_FAST)
			return;
		say_in_libdw(engine, thread, piece->job);
		complete_chains(source, addresses, piece->count, arena, chains);
	} else if (source->go)
		for (size_t i = 0; i < piece->count; i++)
			chains[i] = go_chain(engine, source->go, addresses[i], arena);
}

static void name_in_file(const struct engine *engine, const struct engine_piece *piece,
			 unsigned thread)
{
	CLEANUP(free_ptr) uint64_t *addresses = xcalloc(piece->count, sizeof(*addresses));
	CLEANUP(free_ptr) struct inline_chain *chains = xcalloc(piece->count, sizeof(*chains));
	struct line_builder *builder = engine->builders[thread];
	struct arena *arena = line_builder_arena(builder);

	for (size_t i = 0; i < piece->count; i++)
		addresses[i] = piece->targets[i].address;
	if (piece->targets->in_libdw)
		find_chains_in_libdw(engine, piece, thread, addresses, arena, chains);
	else
		find_chains(engine, piece, thread, addresses, arena, chains);
	symtab_read(piece->job->source->symtab);
	for (size_t i = 0; i < piece->count; i++)
		piece->job->lines[piece->targets[i].index] =
			line_builder_lines(builder, piece->job->source, addresses[i], chains[i]);
}

/*
 * Finds the function starts of addresses without a symbol. Runs in one thread,
 * after all pieces of the job.
 */
static void find_function_starts(const struct engine *engine, const struct job *job)
{
	struct source *source = job->source;

	if (!source->symtab || source->module.kernel)
		return;
	for (size_t i = 0; i < job->request->count; i++) {
		struct symbolized *found = &job->lines[job->targets[i].index];

		if (!found->count)
			found->into_function = source_into_function(source, job->targets[i].address,
								    engine->options.pool.cancel);
	}
}

static void engine_finish(const struct engine *engine, const struct job *job)
{
	find_function_starts(engine, job);
	engine->options.finished(engine->options.user, (size_t)(job - engine->jobs),
				 &(struct engine_result){
					 .lines = job->lines,
					 .problem = source_problem(job->source),
					 .symbols = source_symbols(job->source),
					 .sources = source_names(job->source),
				 });
}

static void name_piece(void *context, size_t item, unsigned thread)
{
	const struct engine *engine = context;
	const struct engine_piece *piece = &engine->pieces[item];
	struct job *job = piece->job;

	say_at_work(engine, thread, (size_t)(job - engine->jobs), false);
	if (job->source->names)
		name_listed(piece, engine->builders[thread]);
	else if (!piece->targets)
		symtab_read(job->source->symtab);
	else if (job->source->symtab)
		name_in_file(engine, piece, thread);
	if (atomic_fetch_sub(&job->pieces_left, 1) == 1)
		engine_finish(engine, job);
	say_at_work(engine, thread, ENGINE_NO_REQUEST, false);
}

static void engine_begin_run(struct engine *engine, const struct engine_request *requests,
			     size_t count)
{
	make_jobs(engine, requests, count);
	engine->builders = xcalloc(engine->options.pool.threads, sizeof(*engine->builders));
	for (unsigned i = 0; i < engine->options.pool.threads; i++)
		engine->builders[i] = line_builder_new();
}

static void engine_end_run(struct engine *engine)
{
	for (unsigned i = 0; i < engine->options.pool.threads; i++)
		line_builder_free(engine->builders[i]);
	for (size_t i = 0; i < engine->job_count; i++) {
		free(engine->jobs[i].targets);
		free(engine->jobs[i].lines);
	}
	free(engine->builders);
	free(engine->jobs);
}

static bool engine_is_cancelled(const struct engine *engine)
{
	const atomic_bool *cancel = engine->options.pool.cancel;

	return cancel && atomic_load(cancel);
}

void engine_run(struct engine *engine, const struct engine_request *requests, size_t count)
{
	engine_begin_run(engine, requests, count);
	thread_pool_run(&engine->options.pool, count, open_job, engine);
	/* If the run was cancelled, some sources are not open. */
	if (!engine_is_cancelled(engine)) {
		make_pieces(engine);
		thread_pool_run(&engine->options.pool, engine->piece_count, name_piece, engine);
	}
	engine_end_run(engine);
}

/*
 * Large enough that the cost of starting a thread does not matter, and larger
 * than most units.
 */
enum { PART_BYTES = 4 << 20 };

struct part_work {
	void (*run)(void *context, size_t part);
	void *context;
};

static void engine_run_part(void *context, size_t part, unsigned thread)
{
	const struct part_work *work = context;

	(void)thread;
	work->run(work->context, part);
}

/*
 * Starts its own threads. A large unit is the first piece or the only one, so
 * the other threads of the pool are busy or have ended.
 */
static void engine_share(void *user, size_t parts, void (*run)(void *context, size_t part),
			 void *context)
{
	const struct engine *engine = user;
	const struct thread_pool pool = {.threads = engine->options.pool.threads};
	struct part_work work = {run, context};

	thread_pool_run(&pool, parts, engine_run_part, &work);
}

struct engine *engine_new(const struct engine_options *options)
{
	struct engine *engine = xcalloc(1, sizeof(*engine));

	engine->options = *options;
	engine->sharing = (struct dwarf_sharing){PART_BYTES, engine_share, engine};
	engine->options.source.sharing = &engine->sharing;
	return engine;
}

void engine_free(struct engine *engine)
{
	if (!engine)
		return;
	for (uint32_t i = 0; i < engine->source_count; i++) {
		source_close(engine->sources[i]);
		free(engine->sources[i]);
	}
	free(engine->sources);
	idmap_deinit(&engine->by_module);
	free(engine->pieces);
	free(engine);
}
