#include "runtime/script_reader.h"

#include <string.h>

void script_reader_begin(struct script_reader *reader, const struct script_memory *memory,
			 pid_t tid)
{
	reader->memory = memory;
	reader->tid = tid;
	reader->next = 0;
	for (unsigned i = 0; i < SCRIPT_WINDOWS; i++)
		reader->windows[i].len = 0;
}

static bool copy_from(const struct script_window *window, uint64_t address, void *into, size_t len)
{
	uint64_t offset = address - window->start;

	if (offset >= window->len || window->len - offset < len)
		return false;
	memcpy(into, window->bytes + offset, len);
	return true;
}

bool script_read(struct script_reader *reader, uint64_t address, void *into, size_t len)
{
	enum { PAGE_BYTES = 4096 };
	struct script_window *window;

	for (unsigned i = 0; i < SCRIPT_WINDOWS; i++)
		if (copy_from(&reader->windows[i], address, into, len))
			return true;
	if (address + SCRIPT_WINDOW_BYTES < address)
		return false;
	window = &reader->windows[reader->next++ % SCRIPT_WINDOWS];
	window->start = address - address % PAGE_BYTES;
	window->len = reader->memory->read(reader->tid, window->start, window->bytes,
					   SCRIPT_WINDOW_BYTES);
	return copy_from(window, address, into, len);
}

bool script_read_u64(struct script_reader *reader, uint64_t address, uint64_t *ret)
{
	return script_read(reader, address, ret, sizeof(*ret));
}
