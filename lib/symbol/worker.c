#include "symbol/worker.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "elf/file_origin.h"
#include "symbol/worker_protocol.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Interval of the checks of limits and cancellation. Only a limited number of
 * messages is handled in between, because a worker can send messages without
 * end.
 */
#define TICK_NS (10 * NS_PER_MS)
enum { MESSAGES_PER_TICK = 64 };

struct worker {
	struct confined *confined;
	struct channel *channel;
	struct worker_state *state;
};

/* The activity of one thread of the worker. */
struct worker_activity {
	uint64_t at_work;  /* value in struct worker_state */
	uint64_t since_ns; /* CPU time of the worker at the start */
};

/* The state of a run. */
struct watch {
	struct worker *worker;
	struct worker_run *run;
	struct inbox inbox;
	uint64_t first_cpu_ns, last_cpu_ns, idle_ns;
	unsigned done; /* the part of the worker's counter that was passed on */
	struct worker_activity activities[WORKER_THREADS_MAX];
};

struct error *worker_start(const struct worker_options *options, struct worker **ret)
{
	struct worker_main_options main = options->main;
	struct worker *worker = xcalloc(1, sizeof(*worker));
	struct error *err = NULL;

	main.state = mmap(NULL, sizeof(*main.state), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (main.state == MAP_FAILED) {
		free(worker);
		return error_errno(errno, "map memory");
	}
	worker->state = main.state;
	err = confined_start(&options->limits, options->uid, worker_main, &main, &worker->confined);
	if (err) {
		munmap(main.state, sizeof(*main.state));
		free(worker);
		return err;
	}
	worker->channel = confined_channel(worker->confined);
	*ret = worker;
	return NULL;
}

void worker_cost_add(struct worker_cost *to, struct worker_cost cost)
{
	to->cpu_ns += cost.cpu_ns;
	if (cost.peak_bytes > to->peak_bytes)
		to->peak_bytes = cost.peak_bytes;
}

uint64_t worker_cpu_ns(const struct worker *worker)
{
	return confined_cpu_ns(worker->confined);
}

struct confined_end worker_end(struct worker *worker)
{
	struct confined_end end = confined_end(worker->confined);

	munmap(worker->state, sizeof(*worker->state));
	free(worker);
	return end;
}

static void pass_on_progress(struct watch *watch)
{
	unsigned done = atomic_load(&watch->worker->state->done);

	if (watch->run->done)
		atomic_fetch_add(watch->run->done, done - watch->done);
	watch->done = done;
}

static bool worker_is_at_work(uint64_t at_work)
{
	return (uint32_t)at_work;
}

/*
 * Returns true if a thread of the worker has worked on the same unit for too
 * long.
 */
static bool has_late_unit(struct watch *watch)
{
	uint64_t cpu_ns = watch->last_cpu_ns, oldest_ns = cpu_ns;
	uint64_t busy = 0;

	for (size_t i = 0; i < WORKER_THREADS_MAX; i++) {
		struct worker_activity *activity = &watch->activities[i];
		uint64_t at_work = atomic_load(&watch->worker->state->at_work[i]);

		if (at_work != activity->at_work)
			*activity = (struct worker_activity){.at_work = at_work,
							     .since_ns = cpu_ns};
		if (!worker_is_at_work(at_work))
			continue;
		busy++;
		if (activity->since_ns < oldest_ns)
			oldest_ns = activity->since_ns;
	}
	/* The other threads use the same amount of time. */
	return busy && (cpu_ns - oldest_ns) / busy > watch->run->limits.unit_cpu_ns;
}

/* Returns WORKER_DONE if the run may continue. */
static enum worker_outcome check_limits(struct watch *watch)
{
	const struct worker_limits *limits = &watch->run->limits;
	uint64_t cpu_ns = confined_cpu_ns(watch->worker->confined);

	if (cpu_ns != watch->last_cpu_ns)
		watch->idle_ns = 0;
	watch->last_cpu_ns = cpu_ns;
	if (cpu_ns - watch->first_cpu_ns > limits->run_cpu_ns)
		return WORKER_TIMED_OUT;
	if (has_late_unit(watch))
		return WORKER_UNIT_TIMED_OUT;
	if (watch->idle_ns > limits->standstill_ns && !confined_wants_cpu(watch->worker->confined))
		return WORKER_STALLED;
	return watch->idle_ns > limits->stopped_ns && confined_is_stopped(watch->worker->confined)
		       ? WORKER_STOPPED
		       : WORKER_DONE;
}

static enum worker_outcome worker_tick(struct watch *watch)
{
	const struct worker_run *run = watch->run;

	pass_on_progress(watch);
	if (run->between)
		run->between(run->between_user);
	if (run->cancel && atomic_load(run->cancel))
		return WORKER_CANCELLED;
	return check_limits(watch);
}

/*
 * Waits for a tick or an event. prof can be stopped during the wait, together
 * with the worker, so a tick counts as one even if more time has passed.
 */
static enum worker_outcome worker_wait_for(struct watch *watch, short events)
{
	struct pollfd ready = {.fd = channel_fd(watch->worker->channel), .events = events};

	if (poll(&ready, 1, TICK_NS / NS_PER_MS) > 0)
		watch->idle_ns = 0;
	else
		watch->idle_ns += TICK_NS;
	return worker_tick(watch);
}

static enum worker_outcome worker_send_message(struct watch *watch,
					       const struct channel_message *message)
{
	enum worker_outcome outcome = WORKER_DONE;

	while (outcome == WORKER_DONE) {
		switch (channel_send(watch->worker->channel, message)) {
		case CHANNEL_DONE:
			return WORKER_DONE;
		case CHANNEL_BUSY:
			outcome = worker_wait_for(watch, POLLOUT);
			break;
		case CHANNEL_CLOSED:
		case CHANNEL_DAMAGED:
			return WORKER_GONE;
		}
	}
	return outcome;
}

static enum worker_outcome send_request(struct watch *watch, size_t index, unsigned char *into)
{
	const struct engine_request *request = watch->run->requests[index];
	const uint32_t head[] = {request->module.id, watch->run->without_libdw[index]};
	enum worker_message kind = MESSAGE_REQUEST;
	enum worker_outcome outcome = WORKER_DONE;
	size_t sent = 0;

	while (outcome == WORKER_DONE && (sent < request->count || kind == MESSAGE_REQUEST)) {
		unsigned char *at = into;
		size_t part;

		if (kind == MESSAGE_REQUEST) {
			at = mempcpy(at, head, sizeof(head));
			at = mempcpy(at, &request->module.map_bytes,
				     sizeof(request->module.map_bytes));
		}
		part = (size_t)(into + CHANNEL_BYTES - at) / sizeof(uint64_t);
		if (part > request->count - sent)
			part = request->count - sent;
		at = mempcpy(at, request->addresses + sent, part * sizeof(uint64_t));
		outcome = worker_send_message(
			watch, &(struct channel_message){
				       .kind = kind,
				       .bytes = into,
				       .len = (size_t)(at - into),
				       .fd = kind == MESSAGE_REQUEST && request->module.map
						     ? fileno(request->module.map)
						     : -1,
			       });
		kind = MESSAGE_ADDRESSES;
		sent += part;
	}
	return outcome;
}

static enum worker_outcome send_kernel(struct watch *watch, const struct kernel_image *kernel)
{
	unsigned char bytes[KERNEL_IMAGE_BYTES_MAX];

	return worker_send_message(watch, &(struct channel_message){
						  .kind = MESSAGE_KERNEL,
						  .bytes = bytes,
						  .len = kernel_image_write(kernel, bytes),
						  .fd = -1,
					  });
}

static enum worker_outcome send_requests(struct watch *watch)
{
	const struct channel_message run = {.kind = MESSAGE_RUN, .fd = -1};
	CLEANUP(free_ptr) unsigned char *buffer = xmalloc(CHANNEL_BYTES);
	enum worker_outcome outcome = WORKER_DONE;

	for (size_t i = 0; i < watch->run->count && outcome == WORKER_DONE; i++) {
		const struct kernel_image *kernel = watch->run->requests[i]->module.kernel;

		outcome = send_request(watch, i, buffer);
		if (kernel && outcome == WORKER_DONE)
			outcome = send_kernel(watch, kernel);
	}
	return outcome == WORKER_DONE ? worker_send_message(watch, &run) : outcome;
}

/* Raises the time limits, because reading another file takes time. */
static void allow_for(struct worker_limits *limits, int fd)
{
	struct file_origin origin;
	uint64_t more_ns;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return;
	origin = file_origin_of(fd, &st);
	more_ns = origin.data_bytes * limits->ns_per_byte;
	limits->run_cpu_ns += more_ns;
	limits->unit_cpu_ns += more_ns;
	if (limits->run_cpu_ns > limits->run_cpu_ns_max)
		limits->run_cpu_ns = limits->run_cpu_ns_max;
}

static enum worker_outcome worker_answer(struct watch *watch,
					 const struct worker_question *question)
{
	const struct debugfile_opener *opener =
		&watch->run->requests[question->request]->module.opener;
	CLEANUP(free_ptr) char *path = NULL;
	CLEANUP(close_fd) int fd = -1;

	if (opener->open)
		fd = opener->open(opener->user, &question->what, question->attempt, &path);
	if (fd >= 0)
		allow_for(&watch->run->limits, fd);
	switch (channel_send(watch->worker->channel,
			     &(struct channel_message){.kind = MESSAGE_ANSWER,
						       .bytes = path,
						       .len = path ? strlen(path) : 0,
						       .fd = fd})) {
	case CHANNEL_DONE:
		return WORKER_DONE;
	case CHANNEL_CLOSED:
		return WORKER_GONE;
	case CHANNEL_BUSY: /* the worker waits for one answer at a time, so there is room */
	case CHANNEL_DAMAGED:
		break;
	}
	return WORKER_PROTOCOL_ERROR;
}

static enum worker_outcome worker_take_reply(struct watch *watch, uint32_t request)
{
	struct inbox_reply *whole = &watch->inbox.replies[request];
	struct reply *reply = reply_read(STEAL(whole->bytes), whole->len,
					 watch->run->requests[request]->count);

	if (!reply)
		return WORKER_PROTOCOL_ERROR;
	watch->run->is_finished[request] = true;
	watch->run->finished(watch->run->user, request, reply);
	return WORKER_DONE;
}

static enum worker_outcome worker_take(struct watch *watch, const struct channel_message *message,
				       bool *is_done)
{
	enum worker_outcome outcome;
	struct worker_question question;
	uint32_t request;

	switch (inbox_take(&watch->inbox, message, &request, &question)) {
	case INBOX_PART:
		return WORKER_DONE;
	case INBOX_REPLY:
		return worker_take_reply(watch, request);
	case INBOX_QUESTION:
		outcome = worker_answer(watch, &question);
		free(question.name);
		return outcome;
	case INBOX_DONE:
		*is_done = true;
		return WORKER_DONE;
	case INBOX_NONSENSE:
		break;
	}
	return WORKER_PROTOCOL_ERROR;
}

static enum worker_outcome receive_replies(struct watch *watch)
{
	enum worker_outcome outcome = WORKER_DONE;
	struct channel_message message;
	bool is_done = false;
	unsigned count = 0;

	while (outcome == WORKER_DONE && !is_done) {
		switch (channel_receive(watch->worker->channel, &message)) {
		case CHANNEL_DONE:
			outcome = worker_take(watch, &message, &is_done);
			if (outcome == WORKER_DONE && ++count % MESSAGES_PER_TICK == 0)
				outcome = worker_tick(watch);
			break;
		case CHANNEL_BUSY:
			outcome = worker_wait_for(watch, POLLIN);
			break;
		case CHANNEL_CLOSED:
			return WORKER_GONE;
		case CHANNEL_DAMAGED:
			return WORKER_PROTOCOL_ERROR;
		}
	}
	return outcome;
}

static void note_what_is_at_work(const struct watch *watch)
{
	const struct worker_run *run = watch->run;

	for (size_t i = 0; i < WORKER_THREADS_MAX; i++) {
		uint32_t at_work = (uint32_t)atomic_load(&watch->worker->state->at_work[i]);
		uint32_t request = at_work & ~(uint32_t)WORKER_IN_LIBDW;

		if (!request || request > run->count || run->is_finished[request - 1])
			continue;
		run->is_at_work[request - 1] = true;
		run->is_in_libdw[request - 1] |= at_work & WORKER_IN_LIBDW;
	}
}

static size_t count_addresses(const struct worker_run *run)
{
	size_t count = 0;

	for (size_t i = 0; i < run->count; i++)
		count += run->requests[i]->count;
	return count;
}

enum worker_outcome worker_run(struct worker *worker, struct worker_run *run)
{
	struct watch watch = {.worker = worker, .run = run};
	enum worker_outcome outcome;

	watch.first_cpu_ns = watch.last_cpu_ns = confined_cpu_ns(worker->confined);
	watch.done = atomic_load(&worker->state->done);
	inbox_init(&watch.inbox, run->count, count_addresses(run), run->limits.reply_bytes);
	outcome = send_requests(&watch);
	if (outcome == WORKER_DONE)
		outcome = receive_replies(&watch);
	if (outcome != WORKER_DONE)
		note_what_is_at_work(&watch);
	pass_on_progress(&watch);
	run->cpu_ns = confined_cpu_ns(worker->confined) - watch.first_cpu_ns;
	inbox_deinit(&watch.inbox);
	return outcome;
}
