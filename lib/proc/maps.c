#include "proc/maps.h"

#include "base/alloc.h"
#include "base/pids.h"

#include <fcntl.h>

/*
 * About 300,000 mappings, if vm.max_map_count allows them. By default a process
 * can have 65,530, with paths of up to 4 KB. Mappings beyond the limit are
 * unknown.
 */
enum { MAPS_BYTES_MAX = 32 << 20 };

#define SHARE_MAX_NS (200 * NS_PER_MS)
enum { MAPS_BYTES_MIN = 64 << 10 };

static struct bytes maps_take_line(struct bytes *text)
{
	size_t left = bytes_left(text);
	const unsigned char *newline = left ? memchr(text->at, '\n', left) : NULL;
	struct bytes line = bytes_sub(text, newline ? (size_t)(newline - text->at) : left);

	if (newline)
		bytes_skip(text, 1);
	return line;
}

static int maps_digit_value(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/*
 * Reads a number and the character that must follow it. The end of the line is
 * accepted instead of a blank.
 */
static uint64_t maps_take_number(struct bytes *line, unsigned base, char end)
{
	uint64_t value = 0;
	unsigned digits = 0;

	while (bytes_left(line) && (unsigned)maps_digit_value(*line->at) < base) {
		value = value * base + (unsigned)maps_digit_value(bytes_u8(line));
		digits++;
	}
	if (!digits || digits > 20 ||
	    (bytes_left(line) ? bytes_u8(line) != (unsigned char)end : end != ' '))
		bytes_fail(line);
	return value;
}

/* The kernel escapes only newlines, not even backslashes. */
static void maps_copy_path(struct bytes line, char path[MAPS_PATH_MAX])
{
	size_t len = 0;

	while (bytes_left(&line) && len < MAPS_PATH_MAX - 1) {
		if (bytes_left(&line) >= 4 && memcmp(line.at, "\\012", 4) == 0) {
			bytes_skip(&line, 4);
			path[len++] = '\n';
		} else {
			path[len++] = (char)bytes_u8(&line);
		}
	}
	path[len] = '\0';
}

/*
 * Example:
 *
 *   7f0c5e1c8000-7f0c5e31d000 r-xp 00026000 fe:00 1066   /usr/lib/libc.so.6
 */
static bool maps_parse_line(struct maps *maps, struct bytes line, struct mapping *ret)
{
	const char *permissions;

	*ret = (struct mapping){.path = maps->path};
	ret->start = maps_take_number(&line, 16, '-');
	ret->end = maps_take_number(&line, 16, ' ');
	permissions = bytes_take(&line, 5);
	ret->offset = maps_take_number(&line, 16, ' ');
	ret->device_major = (uint32_t)maps_take_number(&line, 16, ':');
	ret->device_minor = (uint32_t)maps_take_number(&line, 16, ' ');
	ret->inode = maps_take_number(&line, 10, ' ');
	if (!bytes_ok(&line) || ret->start >= ret->end)
		return false;
	maps->executable = permissions[2] == 'x';
	ret->is_data = !maps->executable;
	if (ret->is_data && !maps->data)
		return false;
	while (bytes_left(&line) && *line.at == ' ')
		bytes_skip(&line, 1);
	maps_copy_path(line, maps->path);
	return true;
}

bool maps_next(struct maps *maps, struct mapping *ret)
{
	while (bytes_left(&maps->rest))
		if (maps_parse_line(maps, maps_take_line(&maps->rest), ret))
			return true;
	return false;
}

static size_t whole_lines(const char *text, size_t len)
{
	const char *last = len ? memrchr(text, '\n', len) : NULL;

	return last ? (size_t)(last - text) + 1 : 0;
}

/* Takes ownership of name. */
static char *maps_load_from(char *name, size_t max_bytes, size_t *len, bool *is_cut)
{
	CLEANUP(free_ptr) char *path = name;
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	CLEANUP(free_ptr) char *text = NULL;
	size_t room = 0;
	ssize_t got = 0;

	*len = 0;
	*is_cut = false;
	if (fd < 0)
		return NULL;
	do {
		*len += (size_t)got;
		if (room - *len < 4096) {
			room = room ? 2 * room : (size_t)64 << 10;
			text = xreallocarray(text, room, 1);
		}
		got = read(fd, text + *len, room - *len);
	} while (got > 0 && *len < max_bytes);
	*is_cut = *len >= max_bytes;
	if (*is_cut)
		*len = whole_lines(text, max_bytes);
	return STEAL(text);
}

static char *load_some(const char *proc, pid_t pid, size_t max_bytes, size_t *len, bool *is_cut)
{
	CLEANUP(free_ptr) char *tasks = xasprintf("%s/%d/task", proc, (int)pid);
	char *text = maps_load_from(xasprintf("%s/%d/maps", proc, (int)pid), max_bytes, len,
				    is_cut);
	CLEANUP(close_dir) DIR *dir = NULL;

	/*
	 * The maps of an ended main thread are empty, although other threads
	 * may still run.
	 */
	if (!text || *len || !(dir = opendir(tasks)))
		return text;
	for (pid_t tid; !*len && (tid = pids_next(dir));) {
		free(text);
		text = maps_load_from(xasprintf("%s/%d/maps", tasks, (int)tid), max_bytes, len,
				      is_cut);
	}
	return text;
}

char *maps_load(const char *proc, pid_t pid, size_t *len)
{
	return maps_load_some(proc, pid, MAPS_BYTES_MAX, len);
}

char *maps_load_some(const char *proc, pid_t pid, size_t max_bytes, size_t *len)
{
	bool is_cut;

	return load_some(proc, pid, max_bytes, len, &is_cut);
}

char *maps_load_within(struct time_share *share, const char *proc, pid_t pid, size_t *len,
		       bool *is_cut)
{
	bool is_whole = time_share_is_left(share, clock_now_ns(), SHARE_MAX_NS);

	return load_some(proc, pid, is_whole ? MAPS_BYTES_MAX : MAPS_BYTES_MIN, len, is_cut);
}
