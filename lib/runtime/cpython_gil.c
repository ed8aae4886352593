/*
 * A thread that wants the GIL waits for a condition variable or a mutex in it,
 * and so does one that lets others have it. The holder runs, so what is read of
 * it may change at any time. It counts only if it is the same when it is read
 * again right away.
 *
 * Sources: pycore_gil.h (struct _gil_runtime_state), ceval_gil.c.
 */
#include "runtime/cpython_gil.h"

#include <stddef.h>

enum {
	ATTEMPTS = 6,
	GIL_VERSION_3_12 = 0x030c,
	GIL_REFERENCE_BITS = 7,
	/* Frames of this owner and higher ones are not those of functions. */
	GIL_OWNED_BY_INTERPRETER = 3,
	CONDITION_BYTES = 48,
	MUTEX_BYTES = 40,
};

/* The part of the GIL from its holder on. */
struct gil {
	uint64_t holder; /* the state of the thread that has it, or had it last */
	uint32_t is_locked, padding;
	uint64_t switches; /* increases whenever the holder changes */
	unsigned char condition[CONDITION_BYTES];
	uint32_t mutex; /* of these members; 0 if it is free */
};
_Static_assert(offsetof(struct gil, mutex) == 72, "struct gil has the layout of CPython");

/* The findings of one pass over the memory. */
struct gil_pass {
	uint64_t switches, own_tid;
	uint64_t frame, code; /* 0 if the thread runs no function */
};

static bool gil_read(const struct script_reader *reader, uint64_t address, void *into, size_t len)
{
	return reader->memory->read(reader->tid, address, into, len) == len;
}

/* Finds the interpreter's GIL, from its holder on. */
static bool gil_find(const struct runtime_process *process, uint64_t state,
		     const struct script_reader *reader, uint64_t *ret)
{
	const struct cpython_layout *layout = &process->image.layout;
	uint64_t interpreter, gil = process->image.state + process->bias + layout->runtime_gil;

	if (!layout->runtime_gil &&
	    (!layout->interpreter_gil ||
	     !gil_read(reader, state + layout->thread_interpreter, &interpreter,
		       sizeof(interpreter)) ||
	     !gil_read(reader, interpreter + layout->interpreter_gil, &gil, sizeof(gil))))
		return false;
	*ret = gil + layout->gil_holder;
	return true;
}

static void read_function(const struct cpython_layout *layout, const struct script_reader *reader,
			  uint64_t state, struct gil_pass *pass)
{
	uint64_t at = state + layout->thread_frame, record, frame, code;
	uint8_t owner;

	if (layout->version <= GIL_VERSION_3_12) {
		if (!gil_read(reader, at, &record, sizeof(record)))
			return;
		at = record + layout->record_frame;
	}
	if (!gil_read(reader, at, &frame, sizeof(frame)) ||
	    !gil_read(reader, frame + layout->frame_code, &code, sizeof(code)) ||
	    !gil_read(reader, frame + layout->frame_owner, &owner, sizeof(owner)) ||
	    owner >= GIL_OWNED_BY_INTERPRETER)
		return;
	pass->frame = frame;
	pass->code = code & ~(uint64_t)GIL_REFERENCE_BITS;
}

/* Returns false if no thread holds the GIL, or if that is just changing. */
static bool gil_pass(const struct cpython_layout *layout, const struct script_reader *reader,
		     uint64_t at, struct gil_pass *ret)
{
	struct gil gil;

	*ret = (struct gil_pass){0};
	if (!gil_read(reader, at, &gil, sizeof(gil)) || gil.is_locked != 1 || gil.mutex ||
	    !gil_read(reader, gil.holder + layout->thread_id, &ret->own_tid, sizeof(ret->own_tid)))
		return false;
	ret->switches = gil.switches;
	read_function(layout, reader, gil.holder, ret);
	return true;
}

bool cpython_find_holder(const struct runtime_process *process, uint64_t state, uint64_t futex,
			 const struct script_reader *reader, struct runtime_holder *ret)
{
	const struct cpython_layout *layout = &process->image.layout;
	struct gil_pass passes[2] = {0};
	uint64_t at;

	*ret = (struct runtime_holder){0};
	if (!gil_find(process, state, reader, &at) ||
	    futex - at - offsetof(struct gil, condition) >= 2 * (CONDITION_BYTES + MUTEX_BYTES))
		return false;
	ret->lock = at;
	for (unsigned i = 0; i < ATTEMPTS && !ret->code; i++) {
		struct gil_pass *now = &passes[i % 2], *before = &passes[!(i % 2)];

		if (!gil_pass(layout, reader, at, now) || now->own_tid != before->own_tid ||
		    now->switches != before->switches || now->own_tid > INT32_MAX)
			continue;
		ret->own_tid = (pid_t)now->own_tid;
		ret->code = now->frame == before->frame && now->code == before->code ? now->code
										     : 0;
	}
	return true;
}
