#include "format/page/source.h"

#include "base/alloc.h"
#include "base/line_reader.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* Lines of generated files can have megabytes. */
	LONGEST_LINE = 300,
	/*
	 * Generated parsers have tens of MB. A profile may also name an endless
	 * sparse file.
	 */
	FILE_BYTES_MAX = 64 << 20,
};

static int page_source_by_place(const void *a, const void *b)
{
	const struct source_line *left = a, *right = b;

	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	return (left->line > right->line) - (left->line < right->line);
}

struct source_line *source_lines(const struct display_labels *labels, size_t *ret_count)
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
		qsort(lines, count, sizeof(*lines), page_source_by_place);
	for (size_t i = 0; i < count; i++)
		if (!kept || page_source_by_place(&lines[kept - 1], &lines[i]))
			lines[kept++] = lines[i];
	*ret_count = kept;
	return lines;
}

/*
 * A profile from an untrusted source can name any file, and the page may be
 * published. Therefore only files with the names of source files are included.
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

/* C++ standard headers have no extension: /usr/include/c++/12/vector. */
static bool is_standard_header(const char *path)
{
	return strstr(path, "/include/c++/") && !strstr(path, "/../");
}

static bool is_named_as_source(const char *path)
{
	const char *name = basename(path);
	const char *dot = strrchr(name, '.');

	if (!dot)
		return is_standard_header(path);
	for (size_t i = 0; i < ARRAY_SIZE(source_extensions); i++)
		if (dot > name && strcmp(dot + 1, source_extensions[i]) == 0)
			return true;
	return false;
}

static const char *text_of_line(const struct line_reader *lines, struct arena *arena)
{
	size_t len = lines->len;

	while (len && lines->line[len - 1] == '\r')
		len--;
	return utf8_valid(arena_strndup(arena, lines->line, len), arena);
}

/* Returns NULL if the file cannot be read or is empty. */
static FILE *page_source_open_source(struct timed_caller *caller, const char *path, uid_t user,
				     char **bytes)
{
	const struct untrusted_name name = {.path = path, .user = user, .distrusts_path = true};
	struct timed_text text;

	if (!is_named_as_source(path) || !timed_read(caller, &name, FILE_BYTES_MAX, &text))
		return NULL;
	*bytes = text.bytes;
	return fmemopen(text.bytes, text.len, "r");
}

const char **source_texts(struct timed_caller *caller, const char *path, uid_t user,
			  const struct source_line *lines, size_t count, struct arena *arena)
{
	CLEANUP(free_ptr) char *bytes = NULL;
	CLEANUP(close_file) FILE *file = page_source_open_source(caller, path, user, &bytes);
	CLEANUP(line_reader_deinit) struct line_reader reader;
	const char **texts = arena_alloc(arena, count * sizeof(*texts));
	uint32_t number = 0;
	size_t found = 0;

	line_reader_init(&reader, file, LONGEST_LINE, FILE_BYTES_MAX);
	if (!file)
		return NULL;
	while (found < count && line_reader_next(&reader))
		if (++number == lines[found].line)
			texts[found++] = text_of_line(&reader, arena);
	while (found < count)
		texts[found++] = "";
	return texts;
}
