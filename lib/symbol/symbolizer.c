#include "symbol/symbolizer.h"

#include "symbol/fetched_names.h"
#include "symbol/jit_frames.h"
#include "symbol/module_problem.h"
#include "symbol/symbol_cache.h"
#include "symbol/symbol_request_files.h"
#include "symbol/symbol_requests.h"

#include "base/affinity.h"
#include "base/alloc.h"

struct symbolizer {
	struct profile *profile;
	struct address_spaces *spaces;
	struct symbolize_options options;
	struct worker_pools *pools;
	struct engine *engine; /* NULL if workers are used */
	struct symbol_request_files files;
	frame_id named; /* number of frames that are done */
	/* Total cost of the workers that read fetched files. */
	struct worker_cost cost_again;

	/* State of one run. */
	struct symbol_requests symbol_requests;
	struct worker_pools_request *requests; /* requests to workers */
	struct symbol_request **asked;	       /* the symbol request of each */
	struct symbol_cache *cache;	       /* NULL if not used */
	struct symbol_cache_request *cached;   /* the request to the cache of each */
	size_t request_count;
	struct fetched_files fetched;
};

static bool symbolizer_is_cancelled(const struct symbolizer *symbolizer)
{
	const atomic_bool *cancel = symbolizer->options.cancel;

	return cancel && atomic_load(cancel);
}

/* Names an address from the cache, or adds a request to workers. */
static void symbolizer_request(struct symbolizer *symbolizer, struct symbol_request *symbol_request)
{
	const size_t i = symbolizer->request_count;
	struct reply *reply;

	symbolizer->asked[i] = symbol_request;
	symbolizer->requests[i] = symbol_request->request;
	reply = symbol_cache_find(symbolizer->cache, &symbolizer->requests[i].request,
				  symbol_request->request.origin.is_untrusted,
				  &symbolizer->cached[i]);
	if (reply) {
		symbol_cache_request_deinit(&symbolizer->cached[i]);
		symbol_request_take_reply(symbol_request, reply);
	} else {
		symbolizer->request_count++;
	}
}

static void make_requests(struct symbolizer *symbolizer)
{
	struct symbol_requests *symbol_requests = &symbolizer->symbol_requests;

	symbolizer->requests = xcalloc(symbol_requests->count, sizeof(*symbolizer->requests));
	symbolizer->asked = xcalloc(symbol_requests->count, sizeof(*symbolizer->asked));
	symbolizer->cached = xcalloc(symbol_requests->count, sizeof(*symbolizer->cached));
	symbolizer->request_count = 0;
	for (size_t i = 0; i < symbol_requests->count; i++) {
		struct symbol_request *symbol_request = &symbol_requests->items[i];

		symbol_request_files_prepare(&symbolizer->files, symbol_request);
		if (symbol_request->has_request)
			symbolizer_request(symbolizer, symbol_request);
	}
}

static void symbolizer_on_finished(void *user, size_t request, struct reply *reply)
{
	const struct symbolizer *symbolizer = user;

	reply = symbol_cache_keep(&symbolizer->cached[request], reply);
	symbol_request_take_reply(symbolizer->asked[request], reply);
}

static void symbolizer_on_lost(void *user, size_t request, char *why)
{
	const struct symbolizer *symbolizer = user;

	symbolizer->asked[request]->loss = why;
}

static void ask_workers(struct symbolizer *symbolizer)
{
	const struct symbolize_options *options = &symbolizer->options;
	const struct worker_pools_run run = {
		.requests = symbolizer->requests,
		.count = symbolizer->request_count,
		.cancel = options->cancel,
		.done = options->done,
		.between = options->between,
		.between_user = options->user,
		.finished = symbolizer_on_finished,
		.lost = symbolizer_on_lost,
		.user = symbolizer,
	};

	worker_pools_run(symbolizer->pools, &run);
}

static void finish_here(void *user, size_t request, const struct engine_result *result)
{
	const struct symbolizer *symbolizer = user;

	symbol_request_take_result(symbolizer->asked[request], result);
}

static void do_it_here(struct symbolizer *symbolizer)
{
	CLEANUP(free_ptr)
	struct engine_request *requests = xcalloc(symbolizer->request_count, sizeof(*requests));

	for (size_t i = 0; i < symbolizer->request_count; i++)
		requests[i] = symbolizer->requests[i].request;
	engine_run(symbolizer->engine, requests, symbolizer->request_count);
}

static void symbolizer_report_problems(const struct symbolizer *symbolizer,
				       struct symbolize_outcome *ret)
{
	const struct symbol_requests *symbol_requests = &symbolizer->symbol_requests;

	ret->problems = xcalloc(symbol_requests->count, sizeof(*ret->problems));
	for (size_t i = 0; i < symbol_requests->count; i++) {
		struct symbolize_problem problem = {.module = symbol_requests->items[i].module};

		problem.text = module_problem(&symbol_requests->items[i], symbolizer->spaces,
					      symbolizer->profile, &problem.fact);
		if (problem.text)
			ret->problems[ret->problem_count++] = problem;
	}
}

static void symbolizer_list_modules(const struct symbolizer *symbolizer,
				    struct symbolize_outcome *ret)
{
	ret->modules = xcalloc(symbolizer->symbol_requests.count, sizeof(*ret->modules));
	ret->module_count = symbolizer->symbol_requests.count;
	for (size_t i = 0; i < symbolizer->symbol_requests.count; i++) {
		const struct symbol_request *symbol_request = &symbolizer->symbol_requests.items[i];
		struct symbolized_module *module = &ret->modules[i];

		*module = (struct symbolized_module){
			.module = symbol_request->module,
			.frames = symbol_request->frames,
			.unnamed = symbol_request->unnamed,
			.lineless = symbol_request->lineless,
		};
		if (!symbol_request->reply)
			continue;
		module->is_read = true;
		module->sources = reply_sources(symbol_request->reply);
		if (module->sources.debug_file)
			module->debug_file = xstrdup(module->sources.debug_file);
		module->sources.debug_file = module->debug_file;
	}
}

static struct elf_file *symbolizer_file_of(void *user, uint32_t module)
{
	const struct symbolizer *symbolizer = user;

	return symbol_request_files_elf(&symbolizer->files, module);
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

static struct worker_pools_options worker_pools_options_of(struct symbolizer *symbolizer,
							   bool again)
{
	const struct symbolize_options *options = &symbolizer->options;

	return (struct worker_pools_options){
		.pool = {.threads = thread_count(symbolizer),
			 .source = source_options_of(options, again),
			 .file_of = symbolizer_file_of,
			 .file_count = file_count,
			 .user = symbolizer},
		.caller = options->caller,
		.limits = options->limits,
	};
}

static struct worker_pools *new_worker_pools(struct symbolizer *symbolizer)
{
	const struct worker_pools_options options =
		worker_pools_options_of(symbolizer, symbolizer->options.again);

	return worker_pools_new(&options);
}

static struct symbol_cache *open_cache(const struct symbolizer *symbolizer)
{
	const struct source_options source = source_options_of(&symbolizer->options,
							       symbolizer->options.again);

	return symbol_cache_new(&source);
}

struct symbolizer *symbolizer_new(struct profile *profile, struct address_spaces *spaces,
				  const struct symbolize_options *options)
{
	struct symbolizer *symbolizer = xcalloc(1, sizeof(*symbolizer));

	symbolizer->profile = profile;
	symbolizer->spaces = spaces;
	symbolizer->options = *options;
	symbolizer->files = (struct symbol_request_files){
		.spaces = spaces,
		.proc = options->proc,
		.has_kernel_lines = options->symbols.kernel_lines,
		.fetched = &symbolizer->fetched,
	};
	if (options->in_process)
		symbolizer->engine = new_engine(symbolizer, thread_count(symbolizer));
	else
		symbolizer->pools = new_worker_pools(symbolizer);
	if (symbolizer->pools && options->caches)
		symbolizer->cache = open_cache(symbolizer);
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

/*
 * Returns true if frames that an earlier run has named may get lines in a run
 * that fetches debug files.
 */
static bool wants_lines(const struct symbolizer *symbolizer)
{
	const struct symbolize_options *options = &symbolizer->options;

	return options->fetcher.fetch && !options->symbols.no_inlines;
}

static void symbolizer_begin_run(struct symbolizer *symbolizer)
{
	jit_frames_settle(symbolizer->profile, symbolizer->spaces, symbolizer->named,
			  profile_frame_count(symbolizer->profile));
	symbol_requests_init(&symbolizer->symbol_requests, symbolizer->profile, symbolizer->spaces,
			     symbolizer->named, wants_lines(symbolizer));
	make_requests(symbolizer);
}

static void fetch_missing(struct symbolizer *symbolizer)
{
	const struct symbolize_options *options = &symbolizer->options;
	const struct worker_pools_options pools = worker_pools_options_of(symbolizer, false);
	struct worker_cost cost = fetched_names_run(&(struct fetched_names_run){
		.requests = &symbolizer->symbol_requests,
		.profile = symbolizer->profile,
		.spaces = symbolizer->spaces,
		.fetcher = options->fetcher,
		.files = &symbolizer->fetched,
		.names_only = options->symbols.no_inlines,
		.pools = &pools,
		.cancel = options->cancel,
		.done = options->done,
	});

	worker_cost_add(&symbolizer->cost_again, cost);
}

static void symbolizer_end_run(struct symbolizer *symbolizer)
{
	symbolizer->named = symbolizer->symbol_requests.end;
	symbol_requests_deinit(&symbolizer->symbol_requests);
	for (size_t i = 0; i < symbolizer->request_count; i++)
		symbol_cache_request_deinit(&symbolizer->cached[i]);
	free(symbolizer->requests);
	free(symbolizer->cached);
	free(symbolizer->asked);
	fetched_files_deinit(&symbolizer->fetched);
}

void symbolizer_run(struct symbolizer *symbolizer, struct symbolize_outcome *ret)
{
	*ret = (struct symbolize_outcome){0};
	symbolizer_begin_run(symbolizer);
	if (symbolizer->engine)
		do_it_here(symbolizer);
	else
		ask_workers(symbolizer);
	if (symbolizer->options.fetcher.fetch && !symbolizer_is_cancelled(symbolizer))
		fetch_missing(symbolizer);
	ret->worker_cost = symbolizer_cost(symbolizer);
	symbol_requests_give(&symbolizer->symbol_requests, symbolizer->profile);
	symbolizer_list_modules(symbolizer, ret);
	ret->cancelled = symbolizer_is_cancelled(symbolizer);
	if (!ret->cancelled)
		symbolizer_report_problems(symbolizer, ret);
	symbolizer_end_run(symbolizer);
}

struct worker_cost symbolizer_cost(const struct symbolizer *symbolizer)
{
	struct worker_cost cost = symbolizer->cost_again;

	if (symbolizer->pools)
		worker_cost_add(&cost, worker_pools_cost(symbolizer->pools));
	return cost;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	engine_free(symbolizer->engine);
	worker_pools_free(symbolizer->pools);
	symbol_cache_free(symbolizer->cache);
	symbol_request_files_deinit(&symbolizer->files);
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
