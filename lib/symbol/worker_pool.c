#include "symbol/worker_pool.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/humanize.h"

#include <string.h>

/*
 * Workers are kept between runs. Each has its own indexes of the files that it
 * has read.
 */
enum { WORKERS_MAX = 3 };

/*
 * Per run. After more failures, the remaining files of the owner stay without
 * names.
 */
enum { FAILURES_MAX = 16 };

/*
 * RLIMIT_CPU ends a worker that prof no longer watches because prof is stopped.
 */
enum { SPARE_SECONDS = 60, SECONDS_OF_KEPT = 30 * 24 * 3600 };

struct worker_pool_member {
	struct worker *worker;
	/*
	 * By module: the number of the file that was open when the worker was
	 * started.
	 */
	uint64_t *files;
	uint32_t file_count;
};

struct worker_pool {
	struct worker_pool_options options;
	struct worker_pool_member members[WORKERS_MAX];
	unsigned member_count;
	struct engine *stand_in; /* NULL if not used yet */
	struct worker_cost cost; /* cost of the workers that have ended */
};

enum progress { PENDING, SUSPECT, OVER };

struct item {
	enum progress progress;
	char *why;	    /* a suspect is lost if there is no other attempt */
	bool without_libdw; /* was in libdw when a worker failed */
};

/* The state of a run. */
struct worker_pool_shift {
	struct worker_pool *pool;
	struct worker_pool_run *run;
	struct item *items; /* by request */
	size_t *batch;	    /* requests of the current attempt */
	size_t batch_count;
	const struct engine_request **batch_requests;
	/* By index in the batch. */
	bool *without_libdw, *is_finished, *is_at_work, *is_in_libdw;
	unsigned failures;
	uint64_t used_ns; /* CPU time of the workers */
};

struct worker_pool *worker_pool_new(const struct worker_pool_options *options)
{
	struct worker_pool *pool = xcalloc(1, sizeof(*pool));

	pool->options = *options;
	if (pool->options.threads > WORKER_THREADS_MAX)
		pool->options.threads = WORKER_THREADS_MAX;
	return pool;
}

static struct confined_end worker_pool_dismiss(struct worker_pool *pool, unsigned index)
{
	struct worker_pool_member *member = &pool->members[index];
	struct confined_end end = worker_end(member->worker);

	worker_cost_add(&pool->cost,
			(struct worker_cost){.cpu_ns = end.cpu_ns, .peak_bytes = end.peak_bytes});
	free(member->files);
	*member = pool->members[--pool->member_count];
	return end;
}

static void dismiss_all_after(struct worker_pool *pool, unsigned count)
{
	while (pool->member_count > count)
		worker_pool_dismiss(pool, pool->member_count - 1);
}

void worker_pool_free(struct worker_pool *pool)
{
	if (!pool)
		return;
	dismiss_all_after(pool, 0);
	engine_free(pool->stand_in);
	free(pool);
}

/*
 * Identifies a file. Addresses and ids are reused when files are closed and
 * opened.
 */
static uint64_t worker_pool_number_of(const struct elf_file *elf)
{
	return elf ? elf_file_number(elf) : 0;
}

static bool knows(const struct worker_pool_member *member, const struct engine_request *request)
{
	const struct source_module *module = &request->module;

	return module->map || (module->id < member->file_count &&
			       member->files[module->id] == worker_pool_number_of(module->elf));
}

static void note_files(const struct worker_pool_options *options, struct worker_pool_member *member)
{
	member->file_count = options->file_count(options->user);
	member->files = xcalloc(member->file_count, sizeof(*member->files));
	for (uint32_t i = 0; i < member->file_count; i++)
		member->files[i] = worker_pool_number_of(options->file_of(options->user, i));
}

static struct error *hire(struct worker_pool_shift *shift, unsigned *ret)
{
	struct worker_pool *pool = shift->pool;
	const struct worker_pool_options *options = &pool->options;
	const struct worker_options worker = {
		.main = {.file_of = options->file_of,
			 .user = options->user,
			 .source = options->source,
			 .threads = options->threads},
		.limits = {.memory_bytes = options->memory_bytes,
			   .cpu_seconds = options->source.again
						  ? SECONDS_OF_KEPT
						  : (unsigned)(shift->run->limits.run_cpu_ns_max /
							       NS_PER_SECOND) +
							    SPARE_SECONDS},
		.uid = options->uid,
	};
	struct worker_pool_member *member;
	struct error *err;

	if (pool->member_count == WORKERS_MAX)
		dismiss_all_after(pool, 1);
	member = &pool->members[pool->member_count];
	err = worker_start(&worker, &member->worker);
	if (err)
		return err;
	note_files(options, member);
	*ret = pool->member_count++;
	return NULL;
}

/*
 * Finds a worker for a request: the oldest one that knows its file, or a new
 * one.
 */
static struct error *worker_pool_find_member(struct worker_pool_shift *shift,
					     const struct engine_request *request, unsigned *ret)
{
	const struct worker_pool *pool = shift->pool;

	for (unsigned i = 0; i < pool->member_count; i++)
		if (knows(&pool->members[i], request)) {
			*ret = i;
			return NULL;
		}
	return hire(shift, ret);
}

static void worker_pool_finish(struct worker_pool_shift *shift, size_t request, struct reply *reply)
{
	shift->items[request].progress = OVER;
	shift->run->finished(shift->run->user, request, reply);
}

/* Takes ownership of `why`. */
static void worker_pool_lose(struct worker_pool_shift *shift, size_t request, char *why)
{
	free(shift->items[request].why);
	shift->items[request] = (struct item){.progress = OVER};
	shift->run->lost(shift->run->user, request, why);
}

static void lose_all(struct worker_pool_shift *shift, const char *why)
{
	for (size_t i = 0; i < shift->run->count; i++) {
		struct item *item = &shift->items[i];

		if (item->progress != OVER)
			worker_pool_lose(shift, i, item->why ? STEAL(item->why) : xstrdup(why));
	}
}

static bool first_with(const struct worker_pool_shift *shift, enum progress progress, size_t *ret)
{
	for (*ret = 0; *ret < shift->run->count; ++*ret)
		if (shift->items[*ret].progress == progress)
			return true;
	return false;
}

static void add_to_batch(struct worker_pool_shift *shift, size_t request)
{
	shift->batch[shift->batch_count] = request;
	shift->batch_requests[shift->batch_count] = shift->run->requests[request];
	shift->without_libdw[shift->batch_count] = shift->items[request].without_libdw;
	shift->is_finished[shift->batch_count] = shift->is_at_work[shift->batch_count] = false;
	shift->is_in_libdw[shift->batch_count] = false;
	shift->batch_count++;
}

/*
 * Selects all pending requests that one worker can take, and later each suspect
 * alone. Returns false if there are none left.
 */
static bool next_batch(struct worker_pool_shift *shift, unsigned *member, struct error **err)
{
	const struct worker_pool_run *run = shift->run;
	size_t first;

	shift->batch_count = 0;
	if (first_with(shift, PENDING, &first)) {
		*err = worker_pool_find_member(shift, run->requests[first], member);
		for (size_t i = first; !*err && i < run->count; i++)
			if (shift->items[i].progress == PENDING &&
			    knows(&shift->pool->members[*member], run->requests[i]))
				add_to_batch(shift, i);
		return true;
	}
	if (!first_with(shift, SUSPECT, &first))
		return false;
	*err = worker_pool_find_member(shift, run->requests[first], member);
	add_to_batch(shift, first);
	return true;
}

static void worker_pool_on_finished(void *user, size_t request, struct reply *reply)
{
	struct worker_pool_shift *shift = user;

	if (shift->without_libdw[request])
		reply_set_reduced(reply);
	worker_pool_finish(shift, shift->batch[request], reply);
}

static enum worker_outcome run_batch(struct worker_pool_shift *shift, unsigned member)
{
	struct worker_pool_run *run = shift->run;
	struct worker_run work = {
		.requests = shift->batch_requests,
		.without_libdw = shift->without_libdw,
		.count = shift->batch_count,
		.limits = run->limits,
		.cancel = run->cancel,
		.done = run->done,
		.between = run->between,
		.between_user = run->between_user,
		.finished = worker_pool_on_finished,
		.user = shift,
		.is_finished = shift->is_finished,
		.is_at_work = shift->is_at_work,
		.is_in_libdw = shift->is_in_libdw,
	};
	enum worker_outcome outcome = worker_run(shift->pool->members[member].worker, &work);

	shift->used_ns += work.cpu_ns;
	run->limits = work.limits;
	run->limits.run_cpu_ns -= work.cpu_ns < run->limits.run_cpu_ns ? work.cpu_ns
								       : run->limits.run_cpu_ns;
	return outcome;
}

static char *describe_end(const struct worker_pool *pool, const struct confined_end *end)
{
	if (end->outcome == CONFINED_OUT_OF_MEMORY)
		return xasprintf("its symbol worker needed more than %s of memory",
				 humanize_bytes(pool->options.memory_bytes).text);
	if (end->signal)
		return xasprintf("its symbol worker died (%s)", strsignal(end->signal));
	return xstrdup("its symbol worker died");
}

/* Returns the reason for missing symbols, which the caller frees. */
static char *worker_pool_describe(const struct worker_pool_shift *shift,
				  enum worker_outcome outcome, const struct confined_end *end)
{
	const struct worker_limits *limits = &shift->run->limits;

	switch (outcome) {
	case WORKER_TIMED_OUT:
		return xasprintf("its symbol worker took longer than %s",
				 humanize_time(shift->used_ns).text);
	case WORKER_UNIT_TIMED_OUT:
		return xasprintf("its symbol worker took longer than %s for a part of it",
				 humanize_time(limits->unit_cpu_ns).text);
	case WORKER_STALLED:
		return xasprintf("its symbol worker stalled for %s",
				 humanize_time(limits->standstill_ns).text);
	case WORKER_STOPPED:
		return xstrdup("its symbol worker was stopped by a signal");
	case WORKER_PROTOCOL_ERROR:
		return xstrdup("its symbol worker sent an invalid reply");
	case WORKER_GONE:
		return describe_end(shift->pool, end);
	case WORKER_DONE:
	case WORKER_CANCELLED:
		break;
	}
	return xstrdup("");
}

/*
 * Marks the requests in progress as suspects. If the worker does not report
 * any, all requests are suspects.
 */
static void suspect(struct worker_pool_shift *shift, const char *why)
{
	bool any = false;

	for (size_t i = 0; i < shift->batch_count; i++)
		any |= shift->is_at_work[i];
	for (size_t i = 0; i < shift->batch_count; i++) {
		struct item *item = &shift->items[shift->batch[i]];

		if (shift->is_finished[i] || (any && !shift->is_at_work[i]))
			continue;
		item->progress = SUSPECT;
		item->without_libdw |= shift->is_in_libdw[i];
		free(item->why);
		item->why = xstrdup(why);
	}
}

/*
 * Returns true if the single request of the batch has caused the failure. It
 * has not if its worker was kept from an earlier run and failed before it
 * started, or if the request may succeed without libdw.
 */
static bool is_to_blame(const struct worker_pool_shift *shift)
{
	if (shift->is_in_libdw[0] && !shift->without_libdw[0])
		return false;
	return shift->batch_count == 1 && !shift->is_finished[0] &&
	       (shift->is_at_work[0] || shift->items[shift->batch[0]].progress == SUSPECT);
}

/* Handles a batch that has failed. */
static void worker_pool_fail(struct worker_pool_shift *shift, enum worker_outcome outcome,
			     unsigned member)
{
	struct confined_end end = worker_pool_dismiss(shift->pool, member);
	CLEANUP(free_ptr) char *why = worker_pool_describe(shift, outcome, &end);

	if (outcome == WORKER_CANCELLED)
		return;
	if (is_to_blame(shift))
		worker_pool_lose(shift, shift->batch[0], xstrdup(why));
	else
		suspect(shift, why);
	if (outcome == WORKER_TIMED_OUT || ++shift->failures == FAILURES_MAX)
		lose_all(shift, why);
}

static void finish_standing_in(void *user, size_t request, const struct engine_result *result)
{
	struct worker_pool_shift *shift = user;
	size_t addresses = shift->batch_requests[request]->count, len;
	void *bytes = reply_write(result, addresses, &len);
	struct reply *reply = reply_read(bytes, len, addresses);

	if (shift->pool->options.source.symbolizer != SYMBOLIZER_FAST)
		reply_set_reduced(reply);
	worker_pool_finish(shift, shift->batch[request], reply);
}

/* Symbolizes in this process. */
static void stand_in(struct worker_pool_shift *shift)
{
	const struct worker_pool_run *run = shift->run;
	const struct worker_pool_options *options = &shift->pool->options;
	struct source_options source = options->source;
	CLEANUP(free_ptr) struct engine_request *requests = xcalloc(run->count, sizeof(*requests));
	size_t count = 0;

	shift->batch_count = 0;
	for (size_t i = 0; i < run->count; i++)
		if (shift->items[i].progress != OVER) {
			add_to_batch(shift, i);
			requests[count++] = *run->requests[i];
		}
	engine_free(shift->pool->stand_in);
	source.symbolizer = SYMBOLIZER_FAST; /* libdw would not be confined */
	shift->pool->stand_in = engine_new(&(struct engine_options){
		.source = source,
		.pool = {.threads = options->threads,
			 .cancel = run->cancel,
			 .done = run->done,
			 .between = run->between,
			 .user = run->between_user},
		.finished = finish_standing_in,
		.user = shift,
	});
	engine_run(shift->pool->stand_in, requests, count);
}

/* Handles a missing worker. Takes ownership of `err`, the reason. */
static void do_without(struct worker_pool_shift *shift, struct error *err)
{
	CLEANUP(free_ptr) char *why = xasprintf("no symbol worker: %s", error_text(err));

	error_free(err);
	if (shift->pool->options.may_stand_in)
		stand_in(shift);
	else
		lose_all(shift, why);
}

static void worker_pool_work(struct worker_pool_shift *shift)
{
	enum worker_outcome outcome = WORKER_DONE;
	struct error *err = NULL;
	unsigned member;

	while (outcome != WORKER_CANCELLED && next_batch(shift, &member, &err)) {
		if (err) {
			do_without(shift, err);
			return;
		}
		outcome = run_batch(shift, member);
		if (outcome != WORKER_DONE)
			worker_pool_fail(shift, outcome, member);
	}
}

void worker_pool_run(struct worker_pool *pool, struct worker_pool_run *run)
{
	struct worker_pool_shift shift = {
		.pool = pool,
		.run = run,
		.items = xcalloc(run->count, sizeof(*shift.items)),
		.batch = xcalloc(run->count, sizeof(*shift.batch)),
		.batch_requests = xcalloc(run->count, sizeof(*shift.batch_requests)),
		.is_finished = xcalloc(run->count, sizeof(bool)),
		.is_at_work = xcalloc(run->count, sizeof(bool)),
		.is_in_libdw = xcalloc(run->count, sizeof(bool)),
		.without_libdw = xcalloc(run->count, sizeof(bool)),
	};

	worker_pool_work(&shift);
	for (size_t i = 0; i < run->count; i++)
		free(shift.items[i].why);
	free(shift.items);
	free(shift.batch);
	free(shift.batch_requests);
	free(shift.is_finished);
	free(shift.is_at_work);
	free(shift.is_in_libdw);
	free(shift.without_libdw);
	if (!pool->options.source.again)
		dismiss_all_after(pool, 0);
}

struct worker_cost worker_pool_cost(const struct worker_pool *pool)
{
	struct worker_cost cost = pool->cost;

	for (unsigned i = 0; i < pool->member_count; i++)
		cost.cpu_ns += worker_cpu_ns(pool->members[i].worker);
	return cost;
}
