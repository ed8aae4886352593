#include "perfdata/file_input.h"

#include "base/alloc.h"
#include "base/mapped_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FILE_INPUT_BYTES = 512 << 10,
	USED_BYTES_MAX = 32 << 20,
};

struct error *file_input_init(struct file_input *input, int fd, uint64_t file_bytes)
{
	void *map;

	*input = (struct file_input){.fd = fd, .end = UINT64_MAX};
	if (!file_bytes) {
		input->memory = xmalloc(FILE_INPUT_BYTES);
		return NULL;
	}
	map = mapped_file_new(fd, file_bytes);
	if (!map)
		return error_errno(errno, "map the recording into memory");
	input->map = map;
	input->map_bytes = file_bytes;
	return NULL;
}

void file_input_deinit(struct file_input *input)
{
	if (input->map)
		mapped_file_free((void *)input->map, input->map_bytes);
	free(input->memory);
}

void file_input_seek(struct file_input *input, uint64_t offset, uint64_t end)
{
	input->offset = offset;
	input->end = end;
}

bool file_input_is_cut(const struct file_input *input)
{
	struct stat st;

	return input->map && fstat(input->fd, &st) == 0 && (uint64_t)st.st_size < input->map_bytes;
}

void file_input_count(struct file_input *input, size_t len)
{
	input->used_bytes += len;
	if (input->used_bytes < USED_BYTES_MAX)
		return;
	madvise((void *)input->map, input->map_bytes, MADV_DONTNEED);
	input->used_bytes = 0;
}

/* Returns the remaining part of the file. */
static struct bytes rest(const struct file_input *input)
{
	uint64_t end = input->end < input->map_bytes ? input->end : input->map_bytes;
	uint64_t left = input->offset < end ? end - input->offset : 0;

	return bytes_of(input->map + (left ? input->offset : 0), left);
}

static size_t file_input_held(const struct file_input *input)
{
	return input->filled - input->at;
}

/* Returns false if no more input is available. */
static bool read_more(struct file_input *input)
{
	size_t room = FILE_INPUT_BYTES - input->filled;
	ssize_t got;

	if (room == 0 || input->error)
		return false;
	do
		got = read(input->fd, input->memory + input->filled, room);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		input->error = errno;
	if (got <= 0)
		return false;
	input->filled += (size_t)got;
	return true;
}

static void file_input_make_room(struct file_input *input)
{
	memmove(input->memory, input->memory + input->at, file_input_held(input));
	input->filled = file_input_held(input);
	input->at = 0;
}

static struct bytes look_into_pipe(struct file_input *input, size_t len)
{
	if (file_input_held(input) < len && input->at + len > FILE_INPUT_BYTES)
		file_input_make_room(input);
	while (file_input_held(input) < len && read_more(input))
		continue;
	return bytes_of(input->memory + input->at, file_input_held(input));
}

void file_input_look(struct file_input *input, size_t len, struct bytes *ret)
{
	struct bytes there = input->map ? rest(input) : look_into_pipe(input, len);

	*ret = bytes_sub(&there, len < bytes_left(&there) ? len : bytes_left(&there));
}

static bool skip_in_file(struct file_input *input, uint64_t len)
{
	struct bytes left = rest(input);

	if (len > bytes_left(&left))
		return false;
	input->offset += len;
	file_input_count(input, len);
	return true;
}

static bool skip_in_pipe(struct file_input *input, uint64_t len)
{
	while (len > file_input_held(input)) {
		len -= file_input_held(input);
		input->offset += file_input_held(input);
		input->at = input->filled = 0;
		if (!read_more(input))
			return false;
	}
	input->at += (size_t)len;
	input->offset += len;
	return true;
}

bool file_input_skip(struct file_input *input, uint64_t len)
{
	return input->map ? skip_in_file(input, len) : skip_in_pipe(input, len);
}
