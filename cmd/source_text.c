#include "cmd/source_text.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_BYTES = 64 << 20 };

/* Only regular files are opened: what a profile names may be anything. */
static FILE *open_text(const char *path, struct stat *st)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 || fstat(fd, st) < 0 || !S_ISREG(st->st_mode) || st->st_size > MAX_BYTES)
		return NULL;
	return fdopen(steal_fd(&fd), "r");
}

/* Below a folder, by the whole path and then by ever less of its end; *found is to be freed. */
static FILE *open_below(const char *folder, const char *path, struct stat *st, char **found)
{
	while (path) {
		FILE *in;

		path += strspn(path, "/");
		*found = xasprintf("%s/%s", folder, path);
		in = open_text(*found, st);
		if (in)
			return in;
		free(STEAL(*found));
		path = strchr(path, '/');
	}
	return NULL;
}

static FILE *find_text(const char *path, const char *folder, struct stat *st, char **found)
{
	FILE *in;

	if (folder)
		return open_below(folder, path, st, found);
	in = open_text(path, st);
	if (in)
		*found = xstrdup(path);
	return in ? in : open_below(".", path, st, found);
}

static bool read_lines(FILE *in, struct source_text *text)
{
	CLEANUP(free_ptr) char *line = NULL;
	size_t room = 0, lines_room = 0;
	ssize_t len;

	while ((len = getline(&line, &room, in)) >= 0) {
		if (memchr(line, '\0', (size_t)len))
			return false;
		while (len && strchr("\r\n", line[len - 1]))
			len--;
		GROW(text->lines, text->count, lines_room);
		text->lines[text->count++] = xstrndup(line, (size_t)len);
	}
	return !ferror(in);
}

struct error *source_text_read(const char *path, const char *folder, struct source_text *ret)
{
	struct source_text text = {0};
	struct stat st;
	CLEANUP(close_file) FILE *in = find_text(path, folder, &st, &text.path);

	if (!in)
		return error_hint(error_new("the source %s is not here", path),
				  "--source-dir DIR says where it is");
	if (!read_lines(in, &text)) {
		source_text_deinit(&text);
		return error_new("%s is no text", path);
	}
	text.changed_unix_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 +
			       (uint64_t)st.st_mtim.tv_nsec;
	*ret = text;
	return NULL;
}

void source_text_deinit(struct source_text *text)
{
	for (uint32_t i = 0; i < text->count; i++)
		free(text->lines[i]);
	free(text->lines);
	free(text->path);
	*text = (struct source_text){0};
}

const char *source_text_line(const struct source_text *text, uint32_t number)
{
	return number && number <= text->count ? text->lines[number - 1] : NULL;
}
