#include "perf/window.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { WINDOW_BYTES = 512 << 10 };

void window_init(struct window *window, int fd, bool seekable, uint64_t offset)
{
	*window = (struct window){
		.fd = fd,
		.seekable = seekable,
		.offset = offset,
		.end = UINT64_MAX,
		.memory = xmalloc(WINDOW_BYTES),
	};
}

void window_deinit(struct window *window)
{
	free(window->memory);
}

void window_seek(struct window *window, uint64_t offset, uint64_t end)
{
	window->offset = offset;
	window->end = end;
	window->at = window->filled = 0;
}

static size_t held(const struct window *window)
{
	return window->filled - window->at;
}

/* How much may be read into the room behind what is there. */
static size_t room(const struct window *window)
{
	uint64_t until_end = window->end - window->offset;
	size_t free_bytes = WINDOW_BYTES - window->filled;

	if (until_end <= held(window))
		return 0;
	until_end -= held(window);
	return until_end < free_bytes ? (size_t)until_end : free_bytes;
}

/* False: nothing more is to be had. */
static bool read_more(struct window *window)
{
	unsigned char *to = window->memory + window->filled;
	size_t len = room(window);
	ssize_t got;

	if (len == 0 || window->error)
		return false;
	do {
		got = window->seekable
			      ? pread(window->fd, to, len, (off_t)(window->offset + held(window)))
			      : read(window->fd, to, len);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		window->error = errno;
	if (got <= 0)
		return false;
	window->filled += (size_t)got;
	return true;
}

static void make_room(struct window *window)
{
	memmove(window->memory, window->memory + window->at, held(window));
	window->filled = held(window);
	window->at = 0;
}

void window_look(struct window *window, size_t len, struct bytes *ret)
{
	if (held(window) < len && window->at + len > WINDOW_BYTES)
		make_room(window);
	while (held(window) < len && read_more(window))
		continue;
	*ret = bytes_of(window->memory + window->at, held(window) < len ? held(window) : len);
}

bool window_skip(struct window *window, uint64_t len)
{
	while (len > held(window)) {
		len -= held(window);
		window->offset += held(window);
		window->at = window->filled = 0;
		if (window->seekable && len <= window->end - window->offset) {
			window->offset += len;
			return true;
		}
		if (!read_more(window))
			return false;
	}
	window->at += (size_t)len;
	window->offset += len;
	return true;
}
