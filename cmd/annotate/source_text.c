#include "cmd/annotate/source_text.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/line_reader.h"
#include "base/text.h"
#include "base/timed_open.h"
#include "base/utf8.h"
#include "profile/source_users.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	/* Generated sources have tens of MB and a million lines. Longer lines
	 * are not readable anyway. */
	MAX_BYTES = 64 << 20,
	LINES_MAX = 4 << 20,
	SOURCE_TEXT_LINE_BYTES_MAX = 4096,
};

/* Where to search, and what was found. */
struct source_text_search {
	struct timed_caller *caller;
	struct timed_text text;
	char *found; /* the path; the caller frees it */
};

/* Takes path. */
static bool find_at(struct source_text_search *search, char *path, uid_t user)
{
	const struct untrusted_name name = {.path = path, .user = user, .distrusts_path = true};

	if (timed_read(search->caller, &name, MAX_BYTES, &search->text))
		search->found = STEAL(path);
	free(path);
	return search->found;
}

static bool leads_upwards(const char *path)
{
	for (; path; path = strchr(path, '/')) {
		path += strspn(path, "/");
		if (text_begins(path, "..") && (!path[2] || path[2] == '/'))
			return true;
	}
	return false;
}

/*
 * Searches under the whole path and then under ever shorter ends of it. The
 * caller may read everything below the directory, but nothing outside of it.
 */
static bool source_text_find_below(struct source_text_search *search, const char *directory,
				   const char *path)
{
	for (; path; path = strchr(path, '/')) {
		path += strspn(path, "/");
		if (!leads_upwards(path) &&
		    find_at(search, xasprintf("%s/%s", directory, path), SOURCE_USER_PROF))
			return true;
	}
	return false;
}

static bool source_text_find_text(struct source_text_search *search, const char *path,
				  const char *directory, uid_t user)
{
	if (directory)
		return source_text_find_below(search, directory, path);
	if (user != SOURCE_USER_PROF && *path != '/')
		return false;
	return find_at(search, xstrdup(path), user) ||
	       (user == SOURCE_USER_PROF && source_text_find_below(search, ".", path));
}

static bool source_text_read_lines(FILE *in, struct source_text *text)
{
	CLEANUP(line_reader_deinit) struct line_reader lines;
	size_t room = 0;

	line_reader_init(&lines, in, SOURCE_TEXT_LINE_BYTES_MAX, MAX_BYTES);
	while (text->count < LINES_MAX && line_reader_next(&lines)) {
		size_t len = lines.len;

		if (memchr(lines.line, '\0', len))
			return false;
		while (len && lines.line[len - 1] == '\r')
			len--;
		GROW(text->lines, text->count, room);
		text->lines[text->count++] = arena_strndup(&text->arena, lines.line, len);
	}
	return !ferror(in);
}

static bool source_text_read_text(const struct timed_text *from, struct source_text *text)
{
	CLEANUP(close_file) FILE *in = from->len ? fmemopen(from->bytes, from->len, "r") : NULL;

	text->changed_unix_ns = (uint64_t)from->changed.tv_sec * NS_PER_SECOND +
				(uint64_t)from->changed.tv_nsec;
	return !from->len || (in && source_text_read_lines(in, text));
}

struct error *source_text_read(const char *path, const char *directory, uid_t user,
			       struct source_text *ret)
{
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = timed_caller_new();
	struct source_text_search search = {.caller = caller};
	struct source_text text = {0};
	bool is_text;

	if (!source_text_find_text(&search, path, directory, user))
		return error_hint(error_new("the source file %s was not found", path),
				  "name its directory with --source-dir DIR");
	text.path = search.found;
	is_text = source_text_read_text(&search.text, &text);
	free(search.text.bytes);
	if (!is_text) {
		source_text_deinit(&text);
		return error_new("%s is not a text file", path);
	}
	*ret = text;
	return NULL;
}

/* Reads the file from its start, wherever the writer left the offset. */
static bool source_text_read_file(int fd, struct timed_text *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size > MAX_BYTES)
		return false;
	ret->bytes = xmalloc((size_t)st.st_size + 1);
	while (ret->len < (size_t)st.st_size) {
		ssize_t len = pread(fd, ret->bytes + ret->len, (size_t)st.st_size - ret->len,
				    (off_t)ret->len);

		if (len <= 0)
			return false;
		ret->len += (size_t)len;
	}
	return true;
}

struct error *source_text_read_download(int fd, const char *path, struct source_text *ret)
{
	struct source_text text = {0};
	struct timed_text file = {0};
	bool is_text = source_text_read_file(fd, &file) && source_text_read_text(&file, &text);

	close(fd);
	free(file.bytes);
	if (!is_text) {
		source_text_deinit(&text);
		return error_new("%s, as debuginfod has it, is not a text file", path);
	}
	text.path = xasprintf("%s (from debuginfod)", path);
	text.changed_unix_ns = 0;
	*ret = text;
	return NULL;
}

void source_text_deinit(struct source_text *text)
{
	free(text->lines);
	arena_deinit(&text->arena);
	free(text->path);
	*text = (struct source_text){0};
}

const char *source_text_line(const struct source_text *text, uint32_t number)
{
	return number && number <= text->count ? text->lines[number - 1] : NULL;
}
