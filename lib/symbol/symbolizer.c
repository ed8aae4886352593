#include "symbol/symbolizer.h"

#include "symbol/fetched_names.h"
#include "symbol/inquiries.h"
#include "symbol/inquiry_files.h"
#include "symbol/jit_frames.h"
#include "symbol/module_problem.h"

#include "base/affinity.h"
#include "base/alloc.h"

struct symbolizer {
	struct profile *profile;
	struct address_spaces *spaces;
	struct symbolize_options options;
	struct crews *crews;
	struct engine *engine; /* NULL: not in this process */
	struct inquiry_files files;
	frame_id named;		       /* frames before this one are done */
	struct worker_cost cost_again; /* of the workers that read fetched files, in all runs */

	/* For one run. */
	struct inquiries inquiries;
	struct crews_request *requests; /* … */
	struct inquiry **asked;		/* … and whose they are */
	size_t request_count;
	struct fetched_files fetched;
};

static bool is_cancelled(const struct symbolizer *symbolizer)
{
	const atomic_bool *cancel = symbolizer->options.cancel;

	return cancel && atomic_load(cancel);
}

static void make_requests(struct symbolizer *symbolizer)
{
	struct inquiries *inquiries = &symbolizer->inquiries;

	symbolizer->requests = xcalloc(inquiries->count, sizeof(*symbolizer->requests));
	symbolizer->asked = xcalloc(inquiries->count, sizeof(*symbolizer->asked));
	symbolizer->request_count = 0;
	for (size_t i = 0; i < inquiries->count; i++) {
		struct inquiry *inquiry = &inquiries->items[i];

		inquiry_files_prepare(&symbolizer->files, inquiry);
		if (!inquiry->has_request)
			continue;
		symbolizer->asked[symbolizer->request_count] = inquiry;
		symbolizer->requests[symbolizer->request_count++] = inquiry->request;
	}
}

static void on_finished(void *user, size_t request, struct reply *reply)
{
	struct inquiry **asked = user;

	inquiry_take_reply(asked[request], reply);
}

static void on_lost(void *user, size_t request, char *why)
{
	struct inquiry **asked = user;

	asked[request]->loss = why;
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
		.user = symbolizer->asked,
	};

	crews_run(symbolizer->crews, &run);
}

static void finish_here(void *user, size_t request, const struct engine_result *result)
{
	const struct symbolizer *symbolizer = user;

	inquiry_take_result(symbolizer->asked[request], result);
}

static void do_it_here(struct symbolizer *symbolizer)
{
	CLEANUP(free_ptr)
	struct engine_request *requests = xcalloc(symbolizer->request_count, sizeof(*requests));

	for (size_t i = 0; i < symbolizer->request_count; i++)
		requests[i] = symbolizer->requests[i].request;
	engine_run(symbolizer->engine, requests, symbolizer->request_count);
}

static void report_problems(const struct symbolizer *symbolizer, struct symbolize_outcome *ret)
{
	const struct inquiries *inquiries = &symbolizer->inquiries;

	ret->problems = xcalloc(inquiries->count, sizeof(*ret->problems));
	for (size_t i = 0; i < inquiries->count; i++) {
		struct symbolize_problem problem = {.module = inquiries->items[i].module};

		problem.text = module_problem(&inquiries->items[i], symbolizer->spaces,
					      symbolizer->profile, &problem.fact);
		if (problem.text)
			ret->problems[ret->problem_count++] = problem;
	}
}

static void list_modules(const struct symbolizer *symbolizer, struct symbolize_outcome *ret)
{
	ret->modules = xcalloc(symbolizer->inquiries.count, sizeof(*ret->modules));
	ret->module_count = symbolizer->inquiries.count;
	for (size_t i = 0; i < symbolizer->inquiries.count; i++) {
		const struct inquiry *inquiry = &symbolizer->inquiries.items[i];
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

	return inquiry_files_elf(&symbolizer->files, module);
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

static struct crews_options crews_options_of(struct symbolizer *symbolizer, bool again)
{
	const struct symbolize_options *options = &symbolizer->options;

	return (struct crews_options){
		.crew = {.threads = thread_count(symbolizer),
			 .source = source_options_of(options, again),
			 .file_of = file_of,
			 .file_count = file_count,
			 .user = symbolizer},
		.caller = options->caller,
		.limits = options->limits,
	};
}

static struct crews *new_crews(struct symbolizer *symbolizer)
{
	const struct crews_options options = crews_options_of(symbolizer,
							      symbolizer->options.again);

	return crews_new(&options);
}

struct symbolizer *symbolizer_new(struct profile *profile, struct address_spaces *spaces,
				  const struct symbolize_options *options)
{
	struct symbolizer *symbolizer = xcalloc(1, sizeof(*symbolizer));

	symbolizer->profile = profile;
	symbolizer->spaces = spaces;
	symbolizer->options = *options;
	symbolizer->files = (struct inquiry_files){
		.spaces = spaces,
		.proc = options->proc,
		.has_kernel_lines = options->symbols.kernel_lines,
		.fetched = &symbolizer->fetched,
	};
	if (options->in_process)
		symbolizer->engine = new_engine(symbolizer, thread_count(symbolizer));
	else
		symbolizer->crews = new_crews(symbolizer);
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

/* Frames that an earlier run has named may get lines in one that fetches debug files. */
static bool wants_lines(const struct symbolizer *symbolizer)
{
	const struct symbolize_options *options = &symbolizer->options;

	return options->fetcher.fetch && !options->symbols.no_inlines;
}

static void begin_run(struct symbolizer *symbolizer)
{
	jit_frames_settle(symbolizer->profile, symbolizer->spaces, symbolizer->named,
			  profile_frame_count(symbolizer->profile));
	inquiries_init(&symbolizer->inquiries, symbolizer->profile, symbolizer->spaces,
		       symbolizer->named, wants_lines(symbolizer));
	make_requests(symbolizer);
}

static void fetch_missing(struct symbolizer *symbolizer)
{
	const struct symbolize_options *options = &symbolizer->options;
	const struct crews_options crews = crews_options_of(symbolizer, false);
	struct worker_cost cost = fetched_names_run(&(struct fetched_names_run){
		.inquiries = &symbolizer->inquiries,
		.profile = symbolizer->profile,
		.spaces = symbolizer->spaces,
		.fetcher = options->fetcher,
		.files = &symbolizer->fetched,
		.names_only = options->symbols.no_inlines,
		.crews = &crews,
		.cancel = options->cancel,
		.done = options->done,
	});

	worker_cost_add(&symbolizer->cost_again, cost);
}

static void end_run(struct symbolizer *symbolizer)
{
	symbolizer->named = symbolizer->inquiries.end;
	inquiries_deinit(&symbolizer->inquiries);
	free(symbolizer->requests);
	free(symbolizer->asked);
	fetched_files_deinit(&symbolizer->fetched);
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
	inquiries_give(&symbolizer->inquiries, symbolizer->profile);
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
		worker_cost_add(&cost, crews_cost(symbolizer->crews));
	return cost;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	engine_free(symbolizer->engine);
	crews_free(symbolizer->crews);
	inquiry_files_deinit(&symbolizer->files);
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
