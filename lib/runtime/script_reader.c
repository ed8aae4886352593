#include "runtime/script_reader.h"

#include <string.h>

void script_reader_begin(struct script_reader *reader, const struct script_memory *memory,
			 pid_t tid)
{
	reader->memory = memory;
	reader->tid = tid;
	reader->next = 0;
	for (unsigned i = 0; i < SCRIPT_WINDOWS; i++)
		reader->windows[i].len = reader->windows[i].is_used = 0;
}

void script_reader_expect(struct script_reader *reader, const struct script_places *places)
{
	struct memory_part parts[SCRIPT_WINDOWS] = {0};

	for (unsigned i = 0; i < places->count; i++)
		parts[i] = (struct memory_part){.address = places->starts[i],
						.into = reader->windows[i].bytes,
						.len = SCRIPT_WINDOW_BYTES};
	if (places->count)
		reader->memory->read_parts(reader->tid, parts, places->count);
	for (unsigned i = 0; i < places->count; i++) {
		reader->windows[i].start = places->starts[i];
		reader->windows[i].len = parts[i].is_read ? SCRIPT_WINDOW_BYTES : 0;
	}
	reader->next = places->count;
}

void script_reader_end(const struct script_reader *reader, struct script_places *ret)
{
	ret->count = 0;
	for (unsigned i = 0; i < SCRIPT_WINDOWS; i++)
		if (reader->windows[i].is_used)
			ret->starts[ret->count++] = reader->windows[i].start;
}

static bool copy_from(struct script_window *window, uint64_t address, void *into, size_t len)
{
	uint64_t offset = address - window->start;

	if (offset >= window->len || window->len - offset < len)
		return false;
	memcpy(into, window->bytes + offset, len);
	window->is_used = true;
	return true;
}

bool script_read(struct script_reader *reader, uint64_t address, void *into, size_t len)
{
	uint64_t in_page = address % SCRIPT_WINDOW_BYTES;
	struct script_window *window;

	for (unsigned i = 0; i < SCRIPT_WINDOWS; i++)
		if (copy_from(&reader->windows[i], address, into, len))
			return true;
	if (address + SCRIPT_WINDOW_BYTES < address)
		return false;
	window = &reader->windows[reader->next++ % SCRIPT_WINDOWS];
	window->start = in_page + len <= SCRIPT_WINDOW_BYTES ? address - in_page : address;
	window->len = reader->memory->read(reader->tid, window->start, window->bytes,
					   SCRIPT_WINDOW_BYTES);
	return copy_from(window, address, into, len);
}

bool script_read_u64(struct script_reader *reader, uint64_t address, uint64_t *ret)
{
	return script_read(reader, address, ret, sizeof(*ret));
}
