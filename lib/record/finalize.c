#include "record/finalize.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "profile/tasks.h"
#include "record/debug_fetcher.h"
#include "symbol/jit_frames.h"

#include <inttypes.h>
#include <pthread.h>
#include <sys/eventfd.h>

/* The interval of progress reports. */
#define PROGRESS_NS (200 * NS_PER_MS)

/* State of the symbolizing thread. */
struct work {
	const struct pipeline *pipeline;
	struct symbolize_options options;
	struct symbolizer *symbolizer; /* NULL to create one with the options */
	struct debug_fetcher *fetcher; /* NULL for none */
	struct symbolize_outcome outcome;
	atomic_uint units;
	int done_fd; /* eventfd that becomes readable at the end */
	bool is_done;
};

static void *finalize_run(void *user)
{
	struct work *work = user;

	if (work->symbolizer) {
		/* Symbolizes all frames again, to find all problems. */
		symbolizer_set_fetcher(work->symbolizer, &work->options.fetcher);
		symbolizer_set_profile(work->symbolizer, work->pipeline->profile);
		symbolizer_run(work->symbolizer, &work->outcome);
	} else {
		symbolize(work->pipeline->profile, work->pipeline->spaces, &work->options,
			  &work->outcome);
	}
	eventfd_write(work->done_fd, 1);
	return NULL;
}

static void on_done(void *user)
{
	struct work *work = user;

	work->is_done = true;
}

static void finalize_wait_for(struct work *work, const struct finalize_options *options)
{
	struct loop_watch *watch = NULL;
	struct error *err = loop_watch(options->loop, work->done_fd, on_done, work, &watch);

	/* Without the watch, pthread_join() in the caller waits, and no
	 * progress is reported. */
	error_free(err);
	while (watch && !work->is_done) {
		loop_run(options->loop, clock_now_ns() + PROGRESS_NS);
		if (!debug_fetcher_say_progress(work->fetcher, options->listener) &&
		    !work->symbolizer)
			listener_progress(options->listener, PROGRESS_SYMBOLIZED,
					  atomic_load(&work->units));
	}
	loop_unwatch(options->loop, watch);
}

void finalize_symbols(const struct finalize_options *options, struct symbolize_outcome *ret)
{
	CLEANUP(debug_fetcher_cleanup)
	struct debug_fetcher *fetcher = debug_fetcher_new(&(struct debug_fetcher_options){
		.symbols = options->symbols, .caller = options->caller, .cancel = options->cancel});
	struct work work = {
		.pipeline = options->pipeline,
		.options = {.proc = options->proc,
			    .symbols = options->symbols,
			    .cancel = options->cancel,
			    .caller = options->caller,
			    .caches = true,
			    .fetcher = debug_fetcher_callbacks(fetcher)},
		.fetcher = fetcher,
		.symbolizer = options->symbolizer,
		.done_fd = eventfd(0, EFD_CLOEXEC),
	};
	pthread_t thread;

	work.options.done = &work.units;
	/* Uses this thread if the system lacks the resources for another
	 * one. */
	if (work.done_fd < 0 || pthread_create(&thread, NULL, finalize_run, &work) != 0) {
		finalize_run(&work);
	} else {
		finalize_wait_for(&work, options);
		pthread_join(thread, NULL);
	}
	close_fd(&work.done_fd);
	debug_fetcher_report(fetcher, options->listener);
	*ret = work.outcome;
}

static void report_chainless(const struct finalize_options *options)
{
	uint64_t count = session_counts(options->pipeline->session)->chainless;

	if (count)
		listener_problem(options->listener,
				 "%" PRIu64
				 " stacks have no user frames: the deferred call-chain record is "
				 "missing",
				 count);
}

static void report_lossy(const struct finalize_options *options)
{
	uint64_t count = session_counts(options->pipeline->session)->lossy_processes;

	if (count)
		listener_problem(options->listener,
				 "mappings of %" PRIu64
				 " process%s were dropped to limit memory and time: their "
				 "samples may lack symbols",
				 count, count == 1 ? "" : "es");
}

void finalize(const struct finalize_options *options, struct finalize_result *ret)
{
	const struct pipeline *pipeline = options->pipeline;
	struct profile_info info = options->info;
	struct session_counts counts;

	session_end(pipeline->session);
	report_chainless(options);
	report_lossy(options);
	session_finish(pipeline->session);
	if (options->keeps_addresses)
		jit_frames_settle(pipeline->profile, pipeline->spaces, 0,
				  profile_frame_count(pipeline->profile));
	else
		finalize_symbols(options, &ret->symbolized);
	tasks_label(pipeline->profile);
	counts = *session_counts(pipeline->session);
	if (options->earlier)
		session_counts_add(&counts, options->earlier);
	quality_init(&ret->quality, pipeline->profile, &counts, options->unsampled);
	ret->quality.counts.own_cpu_ns = info.quality.own_cpu_ns;
	ret->quality.counts.waiting = info.quality.waiting;
	ret->quality.counts.stat = info.quality.stat;
	info.quality = ret->quality.counts;
	profile_set_info(pipeline->profile, &info);
}

void finalize_result_deinit(struct finalize_result *result)
{
	quality_deinit(&result->quality);
	symbolize_outcome_deinit(&result->symbolized);
}
