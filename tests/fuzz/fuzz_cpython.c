/*
 * Fuzzes the memory of a process that pretends to be CPython. The input
 * contains a layout and parts of memory: after the words version, thread, bias,
 * the addresses of the state and the types, and that of the futex for which the
 * thread waits, each part is an address, a length and that many bytes. Walks must end, and results
 * must be well-formed.
 */
#include "replay.h"
#include "runtime/cpython_layout.h"
#include "runtime/script_walker.h"

#include <stdlib.h>
#include <string.h>

enum { RUNTIME_BYTES = 2048, PID = 1000 };

/* The memory of the process. libFuzzer calls the target on one thread. */
static struct bytes fuzz_parts;
static uint64_t fuzz_futex;

/* Copies what the part and the memory [address, address + len) share. */
static bool fuzz_copy_part(struct bytes part, uint64_t start, uint64_t address, unsigned char *into,
			   size_t len)
{
	size_t bytes = bytes_left(&part);
	uint64_t from = start > address ? start : address;
	size_t at = (size_t)(from - address), skipped = (size_t)(from - start);

	if (at >= len || skipped >= bytes)
		return false;
	bytes -= skipped;
	memcpy(into + at, part.at + skipped, bytes < len - at ? bytes : len - at);
	return true;
}

/* Around parts, memory is 0. */
static size_t fuzz_read(pid_t tid, uint64_t address, void *into, size_t len)
{
	struct bytes rest = fuzz_parts;
	bool is_mapped = false;

	(void)tid;
	memset(into, 0, len);
	while (bytes_left(&rest)) {
		uint64_t start = bytes_u64(&rest);
		struct bytes part = bytes_sub(&rest, bytes_u32(&rest));

		is_mapped |= fuzz_copy_part(part, start, address, into, len);
	}
	return is_mapped ? len : 0;
}

static void fuzz_read_parts(pid_t tid, struct memory_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		parts[i].is_read = fuzz_read(tid, parts[i].address, parts[i].into, parts[i].len) ==
				   parts[i].len;
}

static void note_holder(struct scripts *scripts, const struct runtime_holder *holder, uint32_t code)
{
	if (holder)
		note_number("holders", (uint64_t)holder->own_tid);
	if (code != SCRIPT_NO_CODE)
		note_text("holders", scripts_place(scripts, code, -1).name);
}

static void note_stack(struct scripts *scripts, const struct script_stack *stack)
{
	for (unsigned i = 0; i < stack->count; i++) {
		const struct script_frame *frame = &stack->frames[i];
		struct script_place place;

		if (frame->is_entry) {
			note_number("entries", frame->at ^ frame->word_at << 1 ^ frame->word << 2);
			continue;
		}
		place = scripts_place(scripts, frame->code, frame->unit);
		if (!*place.name)
			abort();
		note_text("names", place.name);
		note_text("files", place.file);
		note_number("lines", (uint64_t)place.line << 32 | place.first_line);
	}
	if (stack->count && !stack->frames[stack->count - 1].is_entry)
		abort();
}

static void walk_once(struct scripts *scripts, struct script_walker *walker, pid_t tid)
{
	struct script_stack stack = {0};
	struct untrusted_read read = {0};
	bool is_read;

	if (!script_walker_begin(walker, scripts, PID, tid))
		abort();
	script_walker_read(walker, fuzz_futex);
	if (!script_walker_end(walker, scripts, &read, &stack, &is_read))
		abort();
	if (is_read) {
		note_stack(scripts, &stack);
		note_holder(scripts, script_walker_holder(walker), stack.holders_code);
	} else
		note_number("entries", 1);
	free(stack.frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct script_memory memory = {fuzz_read, fuzz_read_parts};
	struct bytes input = bytes_of(data, size);
	struct runtime_process process = {.image.runtime = &cpython_runtime};
	uint32_t version = bytes_u32(&input);
	pid_t tid = (pid_t)bytes_u32(&input);
	enum cpython_reading reading;

	process.bias = bytes_u64(&input);
	process.image.state = bytes_u64(&input);
	process.image.code_type = bytes_u64(&input);
	process.image.text_type = bytes_u64(&input);
	process.image.bytes_type = bytes_u64(&input);
	fuzz_futex = bytes_u64(&input);
	reading = cpython_layout_read(bytes_sub(&input, RUNTIME_BYTES), version,
				      &process.image.layout);
	note_number("layouts", reading);
	if (reading != CPYTHON_READ || tid <= 0 || size > 1 << 20)
		return 0;
	fuzz_parts = input;
	CLEANUP(scripts_cleanup) struct scripts *scripts = scripts_new(&memory);
	CLEANUP(script_walker_cleanup) struct script_walker *walker = script_walker_new();

	scripts_add_process(scripts, PID, &process);
	/* The second walk knows the thread and the codes. */
	walk_once(scripts, walker, tid);
	walk_once(scripts, walker, tid);
	return 0;
}
