#include "perf/window.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	WINDOW_BYTES = 512 << 10,
	USED_BYTES_MAX = 32 << 20,
};

struct error *window_init(struct window *window, int fd, uint64_t file_bytes)
{
	void *map;

	*window = (struct window){.fd = fd, .end = UINT64_MAX};
	if (!file_bytes) {
		window->memory = xmalloc(WINDOW_BYTES);
		return NULL;
	}
	map = mmap(NULL, file_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return error_errno(errno, "map the recording into memory");
	window->map = map;
	window->map_bytes = file_bytes;
	return NULL;
}

void window_deinit(struct window *window)
{
	if (window->map)
		munmap((void *)window->map, window->map_bytes);
	free(window->memory);
}

void window_seek(struct window *window, uint64_t offset, uint64_t end)
{
	window->offset = offset;
	window->end = end;
}

bool window_is_cut(const struct window *window)
{
	struct stat st;

	return window->map && fstat(window->fd, &st) == 0 &&
	       (uint64_t)st.st_size < window->map_bytes;
}

void window_count(struct window *window, size_t len)
{
	window->used_bytes += len;
	if (window->used_bytes < USED_BYTES_MAX)
		return;
	madvise((void *)window->map, window->map_bytes, MADV_DONTNEED);
	window->used_bytes = 0;
}

/* What is left of the file. */
static struct bytes rest(const struct window *window)
{
	uint64_t end = window->end < window->map_bytes ? window->end : window->map_bytes;
	uint64_t left = window->offset < end ? end - window->offset : 0;

	return bytes_of(window->map + (left ? window->offset : 0), left);
}

static size_t held(const struct window *window)
{
	return window->filled - window->at;
}

/* False: nothing more is to be had. */
static bool read_more(struct window *window)
{
	size_t room = WINDOW_BYTES - window->filled;
	ssize_t got;

	if (room == 0 || window->error)
		return false;
	do
		got = read(window->fd, window->memory + window->filled, room);
	while (got < 0 && errno == EINTR);
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

static struct bytes look_into_pipe(struct window *window, size_t len)
{
	if (held(window) < len && window->at + len > WINDOW_BYTES)
		make_room(window);
	while (held(window) < len && read_more(window))
		continue;
	return bytes_of(window->memory + window->at, held(window));
}

void window_look(struct window *window, size_t len, struct bytes *ret)
{
	struct bytes there = window->map ? rest(window) : look_into_pipe(window, len);

	*ret = bytes_sub(&there, len < bytes_left(&there) ? len : bytes_left(&there));
}

static bool skip_in_file(struct window *window, uint64_t len)
{
	struct bytes left = rest(window);

	if (len > bytes_left(&left))
		return false;
	window->offset += len;
	window_count(window, len);
	return true;
}

static bool skip_in_pipe(struct window *window, uint64_t len)
{
	while (len > held(window)) {
		len -= held(window);
		window->offset += held(window);
		window->at = window->filled = 0;
		if (!read_more(window))
			return false;
	}
	window->at += (size_t)len;
	window->offset += len;
	return true;
}

bool window_skip(struct window *window, uint64_t len)
{
	return window->map ? skip_in_file(window, len) : skip_in_pipe(window, len);
}
