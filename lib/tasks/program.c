#include "tasks/program.h"

#include "base/alloc.h"
#include "base/timed_open.h"
#include "elf/elf_file.h"
#include "elf/file_origin.h"
#include "sandbox/confined.h"
#include "tasks/layout_builder.h"

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The types of the largest programs; their names alone take 100 MB. */
enum { MEMORY_MB = 1024, CPU_SECONDS = 60 };
/* How often is looked whether to go on; how long it may do nothing. */
enum { TICK_MS = 50, STANDSTILL_MS = 10000 };
/* Programs that are remembered; more are not read. */
enum { PROGRAMS_MAX = 256 };

enum { LAYOUT_PART = 1, LAYOUT_DONE, LAYOUT_NONE, LAYOUT_FAILED /* text */, LAYOUT_HINT };

struct known {
	dev_t device;
	ino_t inode;
	struct timespec changed;
	uint64_t entry;
	struct task_layout *layout; /* NULL: it has none */
};

struct task_programs {
	const atomic_bool *cancel;
	struct timed_caller *caller;
	struct known *known;
	size_t count, room;
	char *problem;
	bool is_of_tokio; /* the program with the problem */
};

struct task_programs *task_programs_new(const atomic_bool *cancel)
{
	struct task_programs *programs = xcalloc(1, sizeof(*programs));

	programs->cancel = cancel;
	programs->caller = timed_caller_new();
	return programs;
}

void task_programs_free(struct task_programs *programs)
{
	if (!programs)
		return;
	for (size_t i = 0; i < programs->count; i++)
		task_layout_free(programs->known[i].layout);
	timed_caller_free(programs->caller);
	free(programs->known);
	free(programs->problem);
	free(programs);
}

const char *task_programs_problem(const struct task_programs *programs)
{
	return programs->problem;
}

/* ---- The confined process ---- */

static void send(struct channel *channel, uint32_t kind, const char *bytes, size_t len)
{
	size_t part;

	do {
		part = len < CHANNEL_BYTES ? len : CHANNEL_BYTES;
		if (channel_send(channel,
				 &(struct channel_message){
					 .kind = kind, .bytes = bytes, .len = part, .fd = -1}) !=
		    CHANNEL_DONE)
			return;
		bytes += part;
		len -= part;
	} while (len);
}

static void send_text(struct channel *channel, uint32_t kind, const char *text)
{
	if (text)
		send(channel, kind, text, strnlen(text, 4096));
}

static void build(struct channel *channel, void *user)
{
	CLEANUP(task_layout_cleanup) struct task_layout *layout = NULL;
	CLEANUP(error_cleanup) struct error *err = layout_build(user, &layout);
	CLEANUP(free_ptr) char *bytes = NULL;
	size_t len;

	if (err) {
		send_text(channel, LAYOUT_HINT, error_hint_text(err));
		send_text(channel, LAYOUT_FAILED, error_text(err));
		return;
	}
	if (!layout) {
		send(channel, LAYOUT_NONE, "", 0);
		return;
	}
	bytes = task_layout_write(layout, &len);
	if (len > TASK_LAYOUT_BYTES_MAX) {
		send_text(channel, LAYOUT_FAILED, "it has too many types");
		return;
	}
	send(channel, LAYOUT_PART, bytes, len);
	send(channel, LAYOUT_DONE, "", 0);
}

/* ---- What it sends ---- */

struct inbox {
	struct confined *process;
	const atomic_bool *cancel;
	char *bytes, *hint;
	size_t len, room;
	bool is_done, is_none;
};

static void inbox_deinit(struct inbox *inbox)
{
	if (inbox->process)
		confined_end(inbox->process);
	free(inbox->bytes);
	free(inbox->hint);
}

/* Waits for a message; false if there is no more reason to. */
static bool await_message(struct inbox *inbox)
{
	struct pollfd ready = {.fd = channel_fd(confined_channel(inbox->process)),
			       .events = POLLIN};
	uint64_t used_ns = confined_cpu_ns(inbox->process);

	for (int idle_ms = 0; idle_ms < STANDSTILL_MS; idle_ms += TICK_MS) {
		uint64_t now_ns;

		if (poll(&ready, 1, TICK_MS) > 0)
			return true;
		if (atomic_load(inbox->cancel))
			return false;
		now_ns = confined_cpu_ns(inbox->process);
		if (now_ns != used_ns)
			idle_ms = 0;
		used_ns = now_ns;
	}
	return false;
}

static bool append(struct inbox *inbox, const struct channel_message *message)
{
	if (message->len > TASK_LAYOUT_BYTES_MAX - inbox->len)
		return false;
	while (message->len > inbox->room - inbox->len) {
		inbox->room = 2 * (inbox->room + message->len);
		inbox->bytes = xreallocarray(inbox->bytes, inbox->room, 1);
	}
	if (message->len)
		memcpy(inbox->bytes + inbox->len, message->bytes, message->len);
	inbox->len += message->len;
	return true;
}

static struct error *take(struct inbox *inbox, const struct channel_message *message)
{
	struct error *err;

	switch (message->kind) {
	case LAYOUT_PART:
		if (message->len && append(inbox, message))
			return NULL;
		break;
	case LAYOUT_NONE:
		inbox->is_none = true;
		/* fall through */
	case LAYOUT_DONE:
		inbox->is_done = true;
		return NULL;
	case LAYOUT_HINT:
		if (inbox->hint)
			break;
		inbox->hint = xstrndup(message->bytes, message->len);
		return NULL;
	case LAYOUT_FAILED:
		err = error_new("%.*s", (int)message->len, (const char *)message->bytes);
		return inbox->hint ? error_hint(err, "%s", inbox->hint) : err;
	}
	return error_new("the process that reads it sent nonsense");
}

static struct error *ended_early(struct inbox *inbox)
{
	struct confined_end end = confined_end(STEAL(inbox->process));

	switch (end.outcome) {
	case CONFINED_OUT_OF_MEMORY:
		return error_new("reading its types takes too much memory");
	case CONFINED_OUT_OF_TIME:
		return error_new("reading its types takes longer than %d s", CPU_SECONDS);
	default:
		return error_new("the process that reads its types died");
	}
}

static struct error *receive(struct inbox *inbox)
{
	struct channel_message message;
	struct error *err = NULL;

	while (!err && !inbox->is_done) {
		switch (channel_receive(confined_channel(inbox->process), &message)) {
		case CHANNEL_DONE:
			err = take(inbox, &message);
			break;
		case CHANNEL_BUSY:
			if (!await_message(inbox))
				err = error_new("the process that reads its types stands still");
			break;
		case CHANNEL_CLOSED:
			return ended_early(inbox);
		case CHANNEL_DAMAGED:
			err = error_new("the process that reads its types sent nonsense");
			break;
		}
	}
	return err;
}

static struct error *read_layout(const struct task_programs *programs, struct elf_file *elf,
				 struct task_layout **ret)
{
	const struct confined_limits limits = {.memory_bytes = (uint64_t)MEMORY_MB << 20,
					       .cpu_seconds = CPU_SECONDS};
	CLEANUP(inbox_deinit) struct inbox inbox = {.cancel = programs->cancel};
	struct error *err = confined_start(&limits, CONFINED_NOBODY, build, elf, &inbox.process);

	if (!err)
		err = receive(&inbox);
	if (err || inbox.is_none)
		return err;
	*ret = task_layout_read(inbox.bytes, inbox.len);
	return *ret ? NULL : error_new("the process that reads its types sent nonsense");
}

/* ---- Programs ---- */

/* The address of the program's entry, from the auxiliary vector; 0: unknown. */
static uint64_t entry_of(pid_t pid)
{
	char path[64];
	uint64_t entry = 0, pair[2];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	file = fopen(path, "re");
	while (file && !entry && fread(pair, sizeof(pair), 1, file) == 1)
		if (pair[0] == AT_ENTRY)
			entry = pair[1];
	if (file)
		fclose(file);
	return entry;
}

static const struct known *find_known(const struct task_programs *programs,
				      const struct stat *status)
{
	for (size_t i = 0; i < programs->count; i++) {
		const struct known *known = &programs->known[i];

		if (known->device == status->st_dev && known->inode == status->st_ino &&
		    known->changed.tv_sec == status->st_ctim.tv_sec &&
		    known->changed.tv_nsec == status->st_ctim.tv_nsec)
			return known;
	}
	return NULL;
}

/* Those of programs of tokio first, of equal ones the last: shells come before what they start. */
static void keep_problem(struct task_programs *programs, const char *name, bool has_tokio,
			 struct error *err)
{
	const char *hint = error_hint_text(err);

	if (has_tokio || !programs->is_of_tokio) {
		free(programs->problem);
		programs->problem = xasprintf("%s: %s%s%s", name, error_text(err), hint ? "; " : "",
					      hint ? hint : "");
		programs->is_of_tokio = has_tokio;
	}
	error_free(err);
}

static void read_program(struct task_programs *programs, struct elf_file *elf, const char *name,
			 struct known *known)
{
	bool is_readable = elf_file_has_section(elf, ".debug_info");
	struct error *err;

	known->entry = elf_file_entry(elf);
	if (!is_readable)
		err = error_hint(error_new("it has no debug information"),
				 "build it with debug = 2 (CARGO_PROFILE_RELEASE_DEBUG=2)");
	else
		err = read_layout(programs, elf, &known->layout);
	if (err)
		keep_problem(programs, name, is_readable, err);
}

static int open_program(struct task_programs *programs, pid_t pid, char *name, size_t len)
{
	char path[64];
	const struct foreign_name file = {.path = path, .user = FOREIGN_USER_UNKNOWN};
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	got = readlink(path, name, len - 1);
	name[got > 0 ? got : 0] = '\0';
	return timed_open(programs->caller, &file, 1, 0, NULL);
}

static const struct known *add_program(struct task_programs *programs, int fd,
				       const struct stat *status, const char *name)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
	struct known known = {
		.device = status->st_dev, .inode = status->st_ino, .changed = status->st_ctim};
	struct error *err = NULL;

	if (file_origin_of(fd, status).may_stall) {
		close(fd);
		keep_problem(programs, name, false,
			     error_new("it is on a file system that may not answer"));
	} else {
		err = elf_file_open(fd, name, &elf);
	}
	if (elf)
		read_program(programs, elf, name, &known);
	error_free(err);
	GROW(programs->known, programs->count, programs->room);
	programs->known[programs->count] = known;
	return &programs->known[programs->count++];
}

struct task_program task_programs_find(struct task_programs *programs, pid_t pid)
{
	struct task_program ret = {0};
	const struct known *known = NULL;
	char name[4096];
	struct stat status;
	int fd = open_program(programs, pid, name, sizeof(name));

	if (fd < 0)
		return ret;
	if (!fstat(fd, &status))
		known = find_known(programs, &status);
	if (known || programs->count == PROGRAMS_MAX)
		close(fd);
	else
		known = add_program(programs, fd, &status, name);
	if (known && known->layout) {
		ret.layout = known->layout;
		ret.entry = entry_of(pid);
		ret.bias = ret.entry - known->entry;
	}
	return ret;
}
