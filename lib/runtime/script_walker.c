#include "runtime/script_walker.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NO_INDEX = UINT16_MAX };

struct script_walker {
	struct script_thread thread;
	enum runtime_reading reading;
	struct script_walk walk;
	unsigned code_count; /* of the frames */
	struct runtime_holder holder;
	uint16_t holders_code;			    /* index, or NO_INDEX */
	struct script_text texts[SCRIPT_CODES_MAX]; /* of the unknown codes */
};

struct script_walker *script_walker_new(void)
{
	return xcalloc(1, sizeof(struct script_walker));
}

static void drop_texts(struct script_walker *walker)
{
	for (unsigned i = 0; i < walker->walk.code_count; i++)
		script_text_deinit(&walker->texts[i]);
}

void script_walker_free(struct script_walker *walker)
{
	if (!walker)
		return;
	drop_texts(walker);
	free(walker);
}

/* --- For the runtime ------------------------------------------------------ */

/* Finds or adds the code. Returns NO_INDEX if there are too many. */
static uint16_t code_index(struct script_walk *walk, uint64_t address)
{
	unsigned at = (unsigned)hash_mix(address, 0) % ARRAY_SIZE(walk->slots);

	for (; walk->slots[at]; at = (at + 1) % ARRAY_SIZE(walk->slots))
		if (walk->codes[walk->slots[at] - 1].address == address)
			return (uint16_t)(walk->slots[at] - 1);
	if (walk->code_count == SCRIPT_CODES_MAX)
		return NO_INDEX;
	walk->codes[walk->code_count] = (struct script_code){.address = address};
	walk->slots[at] = (uint16_t)++walk->code_count;
	return (uint16_t)(walk->code_count - 1);
}

bool script_walk_add_frame(struct script_walk *walk, const struct script_raw_frame *frame,
			   uint64_t code)
{
	uint16_t index = code_index(walk, code);

	if (index == NO_INDEX || walk->count == SCRIPT_FRAMES_MAX)
		return false;
	walk->frames[walk->count] = *frame;
	walk->frames[walk->count++].code = index;
	return true;
}

bool script_walk_add_entry(struct script_walk *walk, const struct script_frame *entry)
{
	if (walk->count == SCRIPT_FRAMES_MAX)
		return false;
	walk->frames[walk->count++] = (struct script_raw_frame){.frame = *entry};
	return true;
}

/* --- For copiers ---------------------------------------------------------- */

static void walk_reset(struct script_walk *walk)
{
	walk->count = 0;
	walk->code_count = 0;
	memset(walk->slots, 0, sizeof(walk->slots));
}

bool script_walker_begin(struct script_walker *walker, struct scripts *scripts, pid_t pid,
			 pid_t tid)
{
	if (!scripts_find_thread(scripts, pid, tid, &walker->thread))
		return false;
	drop_texts(walker);
	walk_reset(&walker->walk);
	walker->holder = (struct runtime_holder){0};
	walker->holders_code = NO_INDEX;
	script_reader_begin(&walker->walk.reader, scripts_memory(scripts), tid);
	return true;
}

/* Returns the id of a thread in the namespace that its process sees. */
static pid_t read_own_tid(pid_t pid, pid_t tid)
{
	char path[64], text[4096];
	const char *ids;
	ssize_t len = 0;
	pid_t own = tid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		len = read(fd, text, sizeof(text) - 1);
	text[len < 0 ? 0 : len] = '\0';
	ids = strstr(text, "\nNSpid:");
	for (const char *at = ids ? ids + strlen("\nNSpid:") : ""; *at && *at != '\n';) {
		char *end;
		long id = strtol(at, &end, 10);

		if (end == at)
			break;
		own = (pid_t)id;
		at = end;
	}
	return own;
}

/* Adds the function of the holder, which may end at any time, to the codes. */
static void add_holder(struct script_walker *walker, uint64_t futex)
{
	const struct script_thread *thread = &walker->thread;
	const struct script_runtime *runtime = thread->process.image.runtime;
	struct script_walk *walk = &walker->walk;
	uint16_t index;

	if (!runtime->find_holder(&thread->process, thread->state, futex, &walk->reader,
				  &walker->holder) ||
	    !walker->holder.code)
		return;
	index = code_index(walk, walker->holder.code);
	if (index == NO_INDEX || index < walker->code_count ||
	    runtime->identify(&thread->process, walk, walker->code_count))
		walker->holders_code = index;
	else
		walk->code_count--; /* no other code is added */
	/* Its name is read from memory as it is from now on. */
	script_reader_begin(&walk->reader, walk->reader.memory, walk->reader.tid);
}

void script_walker_read(struct script_walker *walker, uint64_t futex)
{
	struct script_thread *thread = &walker->thread;
	const struct script_runtime *runtime = thread->process.image.runtime;

	if (!thread->own_tid)
		thread->own_tid = read_own_tid(thread->pid, thread->tid);
	script_reader_expect(&walker->walk.reader, &thread->places);
	walker->reading = runtime->walk(&thread->process, thread->own_tid, &thread->state,
					&walker->walk);
	script_reader_end(&walker->walk.reader, &thread->places);
	if (walker->reading == RUNTIME_READ &&
	    !runtime->identify(&thread->process, &walker->walk, 0))
		walker->reading = RUNTIME_INCONSISTENT;
	if (walker->reading != RUNTIME_READ)
		walk_reset(&walker->walk);
	walker->code_count = walker->walk.code_count;
	if (walker->reading == RUNTIME_READ && futex)
		add_holder(walker, futex);
}

const struct runtime_holder *script_walker_holder(const struct script_walker *walker)
{
	return walker->holder.lock ? &walker->holder : NULL;
}

/* Looks up the code objects. Returns whether some are unknown. */
static bool look_up(struct script_walker *walker, struct scripts *scripts)
{
	struct script_walk *walk = &walker->walk;
	bool lacks = false;

	scripts_note_thread(scripts, &walker->thread);
	scripts_find_codes(scripts, walker->thread.pid, walk->codes, walk->code_count);
	for (unsigned i = 0; i < walk->code_count; i++)
		lacks |= walk->codes[i].id == SCRIPT_NO_CODE;
	return lacks;
}

/* Whether the function of the holder, which was read now, is still the one that
 * was identified. */
static bool is_still_there(struct script_walker *walker, unsigned i)
{
	const struct runtime_process *process = &walker->thread.process;
	uint64_t key = walker->walk.codes[i].key;

	return process->image.runtime->identify(process, &walker->walk, i) &&
	       walker->walk.codes[i].key == key;
}

/* Reads the unknown code objects. */
static void read_codes(struct script_walker *walker)
{
	const struct runtime_process *process = &walker->thread.process;
	struct script_walk *walk = &walker->walk;

	for (unsigned i = 0; i < walk->code_count; i++)
		if (walk->codes[i].id == SCRIPT_NO_CODE &&
		    (!process->image.runtime->read_text(process, &walk->reader, &walk->codes[i],
							&walker->texts[i]) ||
		     (i >= walker->code_count && !is_still_there(walker, i))))
			script_text_deinit(&walker->texts[i]);
}

/* Returns false if a code of the frames has no text. */
static bool add_codes(struct script_walker *walker, struct scripts *scripts)
{
	struct script_walk *walk = &walker->walk;
	bool has_all = true;

	for (unsigned i = 0; i < walk->code_count; i++) {
		if (walk->codes[i].id == SCRIPT_NO_CODE && walker->texts[i].name)
			walk->codes[i].id = scripts_add_code(
				scripts, walker->thread.pid, &walk->codes[i],
				walker->thread.process.image.runtime, &walker->texts[i]);
		has_all &= i >= walker->code_count || walk->codes[i].id != SCRIPT_NO_CODE;
	}
	return has_all;
}

static bool store(struct script_walker *walker, struct scripts *scripts, struct script_stack *ret)
{
	const struct script_walk *walk = &walker->walk;

	ret->count = 0;
	ret->holders_code = SCRIPT_NO_CODE;
	if (walker->reading == RUNTIME_INCONSISTENT || !add_codes(walker, scripts))
		return false;
	if (ret->room < walk->count) {
		ret->frames = xreallocarray(ret->frames, walk->count, sizeof(*ret->frames));
		ret->room = walk->count;
	}
	for (unsigned i = 0; i < walk->count; i++) {
		ret->frames[i] = walk->frames[i].frame;
		if (!ret->frames[i].is_entry)
			ret->frames[i].code = walk->codes[walk->frames[i].code].id;
	}
	ret->count = walk->count;
	if (walker->holders_code != NO_INDEX)
		ret->holders_code = walk->codes[walker->holders_code].id;
	return true;
}

bool script_walker_end(struct script_walker *walker, struct scripts *scripts,
		       struct untrusted_read *read, struct script_stack *ret, bool *is_read)
{
	if (look_up(walker, scripts)) {
		untrusted_read_begin(read, walker->thread.pid);
		read_codes(walker);
		if (!untrusted_read_end(read))
			return false;
	}
	*is_read = store(walker, scripts, ret);
	return true;
}
