#include "format/html_source.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of what is generated, a line can be megabytes. */
enum { LONGEST_LINE = 300 };

static int by_place(const void *a, const void *b)
{
	const struct source_line *left = a, *right = b;

	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	return (left->line > right->line) - (left->line < right->line);
}

struct source_line *source_lines(const struct labels *labels, size_t *ret_count)
{
	uint32_t all = labels->first_line[profile_frame_count(labels->profile)];
	struct source_line *lines = xcalloc(all, sizeof(*lines));
	size_t count = 0, kept = 0;

	for (uint32_t i = 0; i < all; i++) {
		string_id file = labels->items[labels->lines[i].label].file;

		if (file && labels->lines[i].line)
			lines[count++] = (struct source_line){file, labels->lines[i].line};
	}
	if (count)
		qsort(lines, count, sizeof(*lines), by_place);
	for (size_t i = 0; i < count; i++)
		if (!kept || by_place(&lines[kept - 1], &lines[i]))
			lines[kept++] = lines[i];
	*ret_count = kept;
	return lines;
}

/* Only an ordinary file: nothing that waits, or is changed by reading. */
static FILE *open_source(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	FILE *file = NULL;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		file = fdopen(fd, "r");
	if (!file && fd >= 0)
		close(fd);
	return file;
}

static const char *text_of_line(const char *line, ssize_t len, struct arena *arena)
{
	while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
		len--;
	return utf8_valid(arena_strndup(arena, line, len < LONGEST_LINE ? len : LONGEST_LINE),
			  arena);
}

const char **source_texts(const char *path, const struct source_line *lines, size_t count,
			  struct arena *arena)
{
	CLEANUP(close_file) FILE *file = open_source(path);
	CLEANUP(free_ptr) char *line = NULL;
	const char **texts = arena_alloc(arena, count * sizeof(*texts));
	size_t room = 0, found = 0;
	uint32_t number = 0;
	ssize_t len;

	if (!file)
		return NULL;
	while (found < count && (len = getline(&line, &room, file)) >= 0)
		if (++number == lines[found].line)
			texts[found++] = text_of_line(line, len, arena);
	while (found < count)
		texts[found++] = "";
	return texts;
}
