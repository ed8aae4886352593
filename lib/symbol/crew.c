#include "symbol/crew.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/humanize.h"

#include <string.h>

/* Kept between runs; each has its own indexes of the files it has read. */
enum { WORKERS_MAX = 3 };

/* In one run. Who has more bad files than this loses the names of the rest. */
enum { FAILURES_MAX = 16 };

/* RLIMIT_CPU is for a worker that prof does not watch any more, because it is stopped. */
enum { SPARE_SECONDS = 60, SECONDS_OF_KEPT = 30 * 24 * 3600 };

struct member {
	struct worker *worker;
	uint64_t *files; /* by module: the number of what was open when it was started */
	uint32_t file_count;
};

struct crew {
	struct crew_options options;
	struct member members[WORKERS_MAX];
	unsigned member_count;
	struct engine *stand_in; /* NULL: not used yet */
	struct worker_cost cost; /* of those that have ended */
};

enum progress { PENDING, SUSPECT, OVER };

struct item {
	enum progress progress;
	char *why;	    /* a suspect is lost if there is no other attempt */
	bool without_libdw; /* it was in libdw when a worker failed */
};

/* A run while it goes on. */
struct shift {
	struct crew *crew;
	struct crew_run *run;
	struct item *items; /* by request */
	size_t *batch;	    /* requests of the present attempt */
	size_t batch_count;
	const struct engine_request **batch_requests;
	/* By batch. */
	bool *without_libdw, *is_finished, *is_at_work, *is_in_libdw;
	unsigned failures;
	uint64_t used_ns; /* CPU time of the workers */
};

struct crew *crew_new(const struct crew_options *options)
{
	struct crew *crew = xcalloc(1, sizeof(*crew));

	crew->options = *options;
	if (crew->options.threads > WORKER_THREADS_MAX)
		crew->options.threads = WORKER_THREADS_MAX;
	return crew;
}

static struct confined_end dismiss(struct crew *crew, unsigned index)
{
	struct member *member = &crew->members[index];
	struct confined_end end = worker_end(member->worker);

	worker_cost_add(&crew->cost,
			(struct worker_cost){.cpu_ns = end.cpu_ns, .peak_bytes = end.peak_bytes});
	free(member->files);
	*member = crew->members[--crew->member_count];
	return end;
}

static void dismiss_all_after(struct crew *crew, unsigned count)
{
	while (crew->member_count > count)
		dismiss(crew, crew->member_count - 1);
}

void crew_free(struct crew *crew)
{
	if (!crew)
		return;
	dismiss_all_after(crew, 0);
	engine_free(crew->stand_in);
	free(crew);
}

/* Addresses and ids are used again where files come and go. */
static uint64_t number_of(const struct elf_file *elf)
{
	return elf ? elf_file_number(elf) : 0;
}

static bool knows(const struct member *member, const struct engine_request *request)
{
	const struct source_module *module = &request->module;

	return module->map || (module->id < member->file_count &&
			       member->files[module->id] == number_of(module->elf));
}

static void note_files(const struct crew_options *options, struct member *member)
{
	member->file_count = options->file_count(options->user);
	member->files = xcalloc(member->file_count, sizeof(*member->files));
	for (uint32_t i = 0; i < member->file_count; i++)
		member->files[i] = number_of(options->file_of(options->user, i));
}

static struct error *hire(struct shift *shift, unsigned *ret)
{
	struct crew *crew = shift->crew;
	const struct crew_options *options = &crew->options;
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
	struct member *member;
	struct error *err;

	if (crew->member_count == WORKERS_MAX)
		dismiss_all_after(crew, 1);
	member = &crew->members[crew->member_count];
	err = worker_start(&worker, &member->worker);
	if (err)
		return err;
	note_files(options, member);
	*ret = crew->member_count++;
	return NULL;
}

/* The worker for a request: the oldest that knows its file. */
static struct error *find_member(struct shift *shift, const struct engine_request *request,
				 unsigned *ret)
{
	const struct crew *crew = shift->crew;

	for (unsigned i = 0; i < crew->member_count; i++)
		if (knows(&crew->members[i], request)) {
			*ret = i;
			return NULL;
		}
	return hire(shift, ret);
}

static void finish(struct shift *shift, size_t request, struct reply *reply)
{
	shift->items[request].progress = OVER;
	shift->run->finished(shift->run->user, request, reply);
}

/* Takes why. */
static void lose(struct shift *shift, size_t request, char *why)
{
	free(shift->items[request].why);
	shift->items[request] = (struct item){.progress = OVER};
	shift->run->lost(shift->run->user, request, why);
}

static void lose_all(struct shift *shift, const char *why)
{
	for (size_t i = 0; i < shift->run->count; i++) {
		struct item *item = &shift->items[i];

		if (item->progress != OVER)
			lose(shift, i, item->why ? STEAL(item->why) : xstrdup(why));
	}
}

static bool first_with(const struct shift *shift, enum progress progress, size_t *ret)
{
	for (*ret = 0; *ret < shift->run->count; ++*ret)
		if (shift->items[*ret].progress == progress)
			return true;
	return false;
}

static void add_to_batch(struct shift *shift, size_t request)
{
	shift->batch[shift->batch_count] = request;
	shift->batch_requests[shift->batch_count] = shift->run->requests[request];
	shift->without_libdw[shift->batch_count] = shift->items[request].without_libdw;
	shift->is_finished[shift->batch_count] = shift->is_at_work[shift->batch_count] = false;
	shift->is_in_libdw[shift->batch_count] = false;
	shift->batch_count++;
}

/* All pending requests that one worker can take; then each suspect alone. False: none is left. */
static bool next_batch(struct shift *shift, unsigned *member, struct error **err)
{
	const struct crew_run *run = shift->run;
	size_t first;

	shift->batch_count = 0;
	if (first_with(shift, PENDING, &first)) {
		*err = find_member(shift, run->requests[first], member);
		for (size_t i = first; !*err && i < run->count; i++)
			if (shift->items[i].progress == PENDING &&
			    knows(&shift->crew->members[*member], run->requests[i]))
				add_to_batch(shift, i);
		return true;
	}
	if (!first_with(shift, SUSPECT, &first))
		return false;
	*err = find_member(shift, run->requests[first], member);
	add_to_batch(shift, first);
	return true;
}

static void on_finished(void *user, size_t request, struct reply *reply)
{
	struct shift *shift = user;

	finish(shift, shift->batch[request], reply);
}

static enum worker_outcome run_batch(struct shift *shift, unsigned member)
{
	struct crew_run *run = shift->run;
	struct worker_run work = {
		.requests = shift->batch_requests,
		.without_libdw = shift->without_libdw,
		.count = shift->batch_count,
		.limits = run->limits,
		.cancel = run->cancel,
		.done = run->done,
		.between = run->between,
		.between_user = run->between_user,
		.finished = on_finished,
		.user = shift,
		.is_finished = shift->is_finished,
		.is_at_work = shift->is_at_work,
		.is_in_libdw = shift->is_in_libdw,
	};
	enum worker_outcome outcome = worker_run(shift->crew->members[member].worker, &work);

	shift->used_ns += work.cpu_ns;
	run->limits = work.limits;
	run->limits.run_cpu_ns -= work.cpu_ns < run->limits.run_cpu_ns ? work.cpu_ns
								       : run->limits.run_cpu_ns;
	return outcome;
}

static char *describe_end(const struct crew *crew, const struct confined_end *end)
{
	if (end->outcome == CONFINED_OUT_OF_MEMORY)
		return xasprintf("its symbol worker needed more than %s of memory",
				 humanize_bytes(crew->options.memory_bytes).text);
	if (end->signal)
		return xasprintf("its symbol worker died (%s)", strsignal(end->signal));
	return xstrdup("its symbol worker died");
}

/* Why symbols are missing; the caller frees it. */
static char *describe(const struct shift *shift, enum worker_outcome outcome,
		      const struct confined_end *end)
{
	const struct worker_limits *limits = &shift->run->limits;

	switch (outcome) {
	case WORKER_LATE:
		return xasprintf("its symbol worker took longer than %s",
				 humanize_time(shift->used_ns).text);
	case WORKER_UNIT_LATE:
		return xasprintf("its symbol worker took longer than %s for a part of it",
				 humanize_time(limits->unit_cpu_ns).text);
	case WORKER_STOOD_STILL:
		return xasprintf("its symbol worker stood still for %s",
				 humanize_time(limits->standstill_ns).text);
	case WORKER_STOPPED:
		return xstrdup("its symbol worker was stopped by a signal");
	case WORKER_LIED:
		return xstrdup("its symbol worker sent nonsense");
	case WORKER_GONE:
		return describe_end(shift->crew, end);
	case WORKER_DONE:
	case WORKER_CANCELLED:
		break;
	}
	return xstrdup("");
}

/* If the worker does not say what it was at work on, all are suspect. */
static void suspect(struct shift *shift, const char *why)
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
 * Not if its worker had been kept, and has failed before it was at work; nor if it may do better
 * without libdw.
 */
static bool is_to_blame(const struct shift *shift)
{
	if (shift->is_in_libdw[0] && !shift->without_libdw[0])
		return false;
	return shift->batch_count == 1 && !shift->is_finished[0] &&
	       (shift->is_at_work[0] || shift->items[shift->batch[0]].progress == SUSPECT);
}

/* A batch has not come to its end. */
static void fail(struct shift *shift, enum worker_outcome outcome, unsigned member)
{
	struct confined_end end = dismiss(shift->crew, member);
	CLEANUP(free_ptr) char *why = describe(shift, outcome, &end);

	if (outcome == WORKER_CANCELLED)
		return;
	if (is_to_blame(shift))
		lose(shift, shift->batch[0], xstrdup(why));
	else
		suspect(shift, why);
	if (outcome == WORKER_LATE || ++shift->failures == FAILURES_MAX)
		lose_all(shift, why);
}

static void finish_standing_in(void *user, size_t request, const struct engine_result *result)
{
	struct shift *shift = user;
	size_t addresses = shift->batch_requests[request]->count, len;
	void *bytes = reply_write(result, addresses, &len);

	finish(shift, shift->batch[request], reply_read(bytes, len, addresses));
}

/* In this process. */
static void stand_in(struct shift *shift)
{
	const struct crew_run *run = shift->run;
	const struct crew_options *options = &shift->crew->options;
	struct source_options source = options->source;
	CLEANUP(free_ptr) struct engine_request *requests = xcalloc(run->count, sizeof(*requests));
	size_t count = 0;

	shift->batch_count = 0;
	for (size_t i = 0; i < run->count; i++)
		if (shift->items[i].progress != OVER) {
			add_to_batch(shift, i);
			requests[count++] = *run->requests[i];
		}
	engine_free(shift->crew->stand_in);
	source.symbolizer = SYMBOLIZER_FAST; /* libdw would not be confined */
	shift->crew->stand_in = engine_new(&(struct engine_options){
		.source = source,
		.pool = {.threads = options->threads,
			 .cancel = run->cancel,
			 .done = run->done,
			 .between = run->between,
			 .user = run->between_user},
		.finished = finish_standing_in,
		.user = shift,
	});
	engine_run(shift->crew->stand_in, requests, count);
}

/* Takes err: why there is no worker. */
static void do_without(struct shift *shift, struct error *err)
{
	CLEANUP(free_ptr) char *why = xasprintf("no symbol worker: %s", error_text(err));

	error_free(err);
	if (shift->crew->options.may_stand_in)
		stand_in(shift);
	else
		lose_all(shift, why);
}

static void work(struct shift *shift)
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
			fail(shift, outcome, member);
	}
}

void crew_run(struct crew *crew, struct crew_run *run)
{
	struct shift shift = {
		.crew = crew,
		.run = run,
		.items = xcalloc(run->count, sizeof(*shift.items)),
		.batch = xcalloc(run->count, sizeof(*shift.batch)),
		.batch_requests = xcalloc(run->count, sizeof(*shift.batch_requests)),
		.is_finished = xcalloc(run->count, sizeof(bool)),
		.is_at_work = xcalloc(run->count, sizeof(bool)),
		.is_in_libdw = xcalloc(run->count, sizeof(bool)),
		.without_libdw = xcalloc(run->count, sizeof(bool)),
	};

	work(&shift);
	for (size_t i = 0; i < run->count; i++)
		free(shift.items[i].why);
	free(shift.items);
	free(shift.batch);
	free(shift.batch_requests);
	free(shift.is_finished);
	free(shift.is_at_work);
	free(shift.is_in_libdw);
	free(shift.without_libdw);
	if (!crew->options.source.again)
		dismiss_all_after(crew, 0);
}

struct worker_cost crew_cost(const struct crew *crew)
{
	struct worker_cost cost = crew->cost;

	for (unsigned i = 0; i < crew->member_count; i++)
		cost.cpu_ns += worker_cpu_ns(crew->members[i].worker);
	return cost;
}
