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

/*
 * A profile can come from anybody and name any file, and the page may be passed on: what is not
 * called as sources are stays here.
 */
static const char *const source_extensions[] = {
	"C",   "F",   "F90", "S",    "ada", "adb",  "ads",   "asm", "c",     "c++", "cc",
	"cpp", "cr",  "cs",  "cu",   "cuh", "cxx",  "d",     "def", "f",     "f03", "f77",
	"f90", "f95", "for", "fs",   "go",  "h",    "h++",   "hh",  "hpp",   "hs",  "hxx",
	"i",   "ii",  "inc", "inl",  "ipp", "java", "jl",    "js",  "jsx",   "kt",  "l",
	"ll",  "lua", "m",   "mjs",  "ml",  "mli",  "mm",    "nim", "pas",   "php", "pl",
	"pm",  "py",  "pyx", "rb",   "rs",  "s",    "scala", "sx",  "swift", "tcc", "ts",
	"tsx", "txx", "v",   "vala", "x",   "y",    "zig",
};

/* The headers of C++ have no extension: /usr/include/c++/12/vector. */
static bool is_standard_header(const char *path)
{
	return strstr(path, "/include/c++/") && !strstr(path, "/../");
}

static bool is_named_as_source(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	if (!dot)
		return is_standard_header(path);
	for (size_t i = 0; i < ARRAY_SIZE(source_extensions); i++)
		if (dot > name && strcmp(dot + 1, source_extensions[i]) == 0)
			return true;
	return false;
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
	CLEANUP(close_file) FILE *file = is_named_as_source(path) ? open_source(path) : NULL;
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
