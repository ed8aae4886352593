#include "symbol/worker_main.h"

#include "base/alloc.h"
#include "symbol/engine.h"
#include "symbol/remote_opener.h"
#include "symbol/reply.h"
#include "symbol/worker_protocol.h"

#include <pthread.h>
#include <string.h>

struct worker_process;

/* A request of the current run. It also opens the request's debug files. */
struct worker_main_request {
	struct worker_process *process;
	uint32_t index;
	uint64_t *addresses;
	size_t count, room;
	uint32_t module;
	bool without_libdw;
	FILE *map;
	uint64_t map_bytes;
	bool is_kernel;
	struct kernel_image kernel;
};

struct worker_process {
	const struct worker_main_options *options;
	struct channel *channel;
	struct engine *engine;
	struct worker_main_request **requests;
	size_t count, room;
	pthread_mutex_t questions; /* only one thread may wait for an answer */
	struct unpack_budget budget;
};

static void worker_main_send_message(struct worker_process *process, enum worker_message kind,
				     const void *bytes, size_t len)
{
	struct channel_message message = {.kind = kind, .bytes = bytes, .len = len, .fd = -1};

	/* prof has ended, so there is nothing left to do. */
	if (channel_send(process->channel, &message) != CHANNEL_DONE)
		_exit(0);
}

static struct channel_message worker_main_receive(struct worker_process *process)
{
	struct channel_message message;

	if (channel_receive(process->channel, &message) != CHANNEL_DONE)
		_exit(0);
	return message;
}

static void worker_main_add_addresses(struct worker_process *process, struct bytes from)
{
	struct worker_main_request *request = process->requests[process->count - 1];

	while (bytes_left(&from)) {
		GROW(request->addresses, request->count, request->room);
		request->addresses[request->count++] = bytes_u64(&from);
	}
}

static void worker_main_add_request(struct worker_process *process,
				    const struct channel_message *message)
{
	struct bytes from = bytes_of(message->bytes, message->len);
	struct worker_main_request *request = xcalloc(1, sizeof(*request));
	int fd = channel_take_fd(process->channel);

	request->process = process;
	request->index = (uint32_t)process->count;
	request->module = bytes_u32(&from);
	request->without_libdw = bytes_u32(&from);
	request->map_bytes = bytes_u64(&from);
	request->map = fd >= 0 ? fdopen(fd, "r") : NULL;
	/* Another worker may have read it. */
	if (request->map)
		rewind(request->map);
	GROW(process->requests, process->count, process->room);
	process->requests[process->count++] = request;
	worker_main_add_addresses(process, from);
}

static void worker_main_add_kernel(struct worker_process *process, struct bytes from)
{
	struct worker_main_request *request = process->requests[process->count - 1];

	request->is_kernel = true;
	kernel_image_read(from, &request->kernel);
}

/* Implements debugfile_opener by asking prof. */
static int ask_for_file(void *user, const struct debugfile_question *what, unsigned attempt,
			char **path)
{
	struct worker_main_request *request = user;
	struct worker_process *process = request->process;
	unsigned char bytes[sizeof(request->index) + REMOTE_QUESTION_BYTES_MAX];
	size_t len = sizeof(request->index);
	struct channel_message answer;
	int fd;

	memcpy(bytes, &request->index, len);
	len += remote_question_write(what, attempt, bytes + len);
	pthread_mutex_lock(&process->questions);
	worker_main_send_message(process, MESSAGE_QUESTION, bytes, len);
	answer = worker_main_receive(process);
	fd = channel_take_fd(process->channel);
	if (fd >= 0)
		*path = xstrndup(answer.bytes, answer.len);
	pthread_mutex_unlock(&process->questions);
	return fd;
}

static void worker_main_send_part(struct worker_process *process, uint32_t request, bool is_last,
				  const void *bytes, size_t len, unsigned char *into)
{
	unsigned char *at = mempcpy(into, &request, sizeof(request));

	*at++ = is_last;
	at = mempcpy(at, bytes, len);
	worker_main_send_message(process, MESSAGE_PART, into, (size_t)(at - into));
}

/* Called by any thread. */
static void send_reply(void *user, size_t index, const struct engine_result *result)
{
	struct worker_process *process = user;
	CLEANUP(free_ptr) unsigned char *message = xmalloc(CHANNEL_BYTES);
	size_t len, sent = 0;
	CLEANUP(free_ptr)
	unsigned char *reply = reply_write(result, process->requests[index]->count, &len);

	do {
		size_t left = len - sent;
		size_t part = left < WORKER_PART_BYTES_MAX ? left : WORKER_PART_BYTES_MAX;

		worker_main_send_part(process, (uint32_t)index, part == left, reply + sent, part,
				      message);
		sent += part;
	} while (sent < len);
}

static void note_work(void *user, unsigned thread, size_t request, bool in_libdw)
{
	struct worker_process *process = user;
	atomic_uint_least64_t *at_work = &process->options->state->at_work[thread];
	uint64_t count = (atomic_load(at_work) >> 32) + 1;
	uint32_t number = request == ENGINE_NO_REQUEST ? 0 : (uint32_t)request + 1;

	atomic_store(at_work, count << 32 | number | (in_libdw ? WORKER_IN_LIBDW : 0));
}

static struct engine_request engine_request_of(struct worker_process *process,
					       struct worker_main_request *request)
{
	const struct worker_main_options *options = process->options;
	struct engine_request ret = {.module = {.id = request->module,
						.map = request->map,
						.map_bytes = request->map_bytes},
				     .addresses = request->addresses,
				     .count = request->count,
				     .without_libdw = request->without_libdw};

	if (request->is_kernel)
		ret.module.kernel = &request->kernel;
	if (request->map)
		return ret;
	ret.module.elf = options->file_of(options->user, request->module);
	/*
	 * The memory limit of this process depends on the owner of the file and
	 * is the only limit here.
	 */
	elf_file_set_budget(ret.module.elf, &process->budget);
	ret.module.opener = (struct debugfile_opener){.open = ask_for_file, .user = request};
	return ret;
}

static void worker_main_run(struct worker_process *process)
{
	CLEANUP(free_ptr)
	struct engine_request *requests = xcalloc(process->count, sizeof(*requests));

	for (size_t i = 0; i < process->count; i++)
		requests[i] = engine_request_of(process, process->requests[i]);
	engine_run(process->engine, requests, process->count);
	for (size_t i = 0; i < process->count; i++) {
		close_file(&process->requests[i]->map);
		free(process->requests[i]->addresses);
		free(process->requests[i]);
	}
	process->count = 0;
	worker_main_send_message(process, MESSAGE_DONE, NULL, 0);
}

void worker_main(struct channel *channel, void *user)
{
	const struct worker_main_options *options = user;
	struct worker_process process = {
		.options = options, .channel = channel, .questions = PTHREAD_MUTEX_INITIALIZER};

	unpack_budget_init_unlimited(&process.budget);
	process.engine = engine_new(&(struct engine_options){
		.source = options->source,
		.pool = {.threads = options->threads, .done = &options->state->done},
		.finished = send_reply,
		.at_work = note_work,
		.user = &process,
	});
	for (;;) {
		struct channel_message message = worker_main_receive(&process);

		if (message.kind == MESSAGE_REQUEST)
			worker_main_add_request(&process, &message);
		else if (message.kind == MESSAGE_ADDRESSES)
			worker_main_add_addresses(&process, bytes_of(message.bytes, message.len));
		else if (message.kind == MESSAGE_KERNEL)
			worker_main_add_kernel(&process, bytes_of(message.bytes, message.len));
		else if (message.kind == MESSAGE_RUN)
			worker_main_run(&process);
	}
}
