#include "format/folded/read.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "base/line_reader.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The module of all frames: a folded file has no addresses. */
#define MODULE 0

struct reader {
	struct profile *profile;
	event_id event;
	uint64_t line_number;
	struct idmap frames; /* by name */
};

static void reader_deinit(struct reader *reader)
{
	idmap_deinit(&reader->frames);
}

static frame_id frame_of(struct reader *reader, string_id name)
{
	uint32_t *frame = idmap_put(&reader->frames, name, 0);

	if (*frame == IDMAP_NONE) {
		struct profile_line line = {
			.function = profile_function(reader->profile, &(struct profile_function){
									      .name = name,
									      .system_name = name,
								      })};

		*frame = profile_named_frame(reader->profile, MODULE, 0, &line, 1);
	}
	return *frame;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Cuts the number at the end of the text, and the space before it. */
static bool take_count(struct bytes *text, uint64_t *ret)
{
	const unsigned char *digit = text->end;
	uint64_t count = 0;

	while (digit > text->at && is_digit((char)digit[-1]))
		digit--;
	if (digit == text->end || digit == text->at || digit[-1] != ' ')
		return false;
	for (const unsigned char *at = digit; at < text->end; at++)
		if (__builtin_mul_overflow(count, 10, &count) ||
		    __builtin_add_overflow(count, *at - '0', &count))
			return false;
	text->end = digit - 1;
	*ret = count;
	return true;
}

/* Cuts the first frame; false if it is empty. */
static bool take_frame(struct bytes *text, struct strtab *strings, string_id *ret)
{
	size_t left = bytes_left(text);
	const unsigned char *end = memchr(text->at, ';', left);
	size_t len = end ? (size_t)(end - text->at) : left;

	if (!len)
		return false;
	*ret = utf8_intern(strings, bytes_sub(text, len));
	return *ret != 0;
}

/* Keeps the last FOLDED_DEPTH_MAX frames, leaf last; false if there are no more. */
static bool cut_deep(struct bytes *text)
{
	const unsigned char *at = text->end;
	size_t left = FOLDED_DEPTH_MAX;

	if (bytes_left(text) / 2 <= FOLDED_DEPTH_MAX) /* of a letter and the separator at least */
		return false;
	while (at && left && (at = memrchr(text->at, ';', (size_t)(at - text->at))))
		left--;
	if (!at || at == text->at)
		return false;
	text->at = at;
	return true;
}

static struct error *read_stack(struct reader *reader, struct bytes text, uint64_t count)
{
	struct strtab *strings = profile_strings(reader->profile);
	stack_id stack = STACK_EMPTY;
	string_id process, name;
	bool is_whole = take_frame(&text, strings, &process);

	if (cut_deep(&text))
		stack = profile_push(reader->profile, stack,
				     frame_of(reader, strtab_add(strings, "[truncated]")));
	while (is_whole && bytes_left(&text)) {
		bytes_skip(&text, 1);
		is_whole = take_frame(&text, strings, &name);
		if (is_whole)
			stack = profile_push(reader->profile, stack, frame_of(reader, name));
	}
	if (!is_whole)
		return error_new("a frame is empty");
	profile_add_samples(reader->profile,
			    profile_thread_labels(reader->profile, -1, -1,
						  profile_string(reader->profile, process), ""),
			    stack, reader->event, count, count);
	return NULL;
}

static struct error *read_line(struct reader *reader, struct bytes line)
{
	uint64_t count, second;

	if (!take_count(&line, &count))
		return error_new("it does not end in a space and a count");
	if (take_count(&line, &second))
		return error_hint(error_new("it has two counts, as the difference of two profiles"),
				  "prof reads profiles, not their differences");
	return read_stack(reader, line, count);
}

static struct bytes trimmed(const char *line, size_t len)
{
	while (len && strchr("\r \t", line[len - 1]))
		len--;
	return bytes_of(line, len);
}

static struct error *read_lines(struct reader *reader, FILE *in)
{
	CLEANUP(line_reader_deinit) struct line_reader lines;

	line_reader_init(&lines, in, FOLDED_LINE_BYTES_MAX, UINT64_MAX);
	errno = 0;
	while (line_reader_next(&lines)) {
		struct bytes text = trimmed(lines.line, lines.len);
		struct error *err = NULL;

		reader->line_number++;
		if (lines.is_cut)
			err = error_new("it is longer than %d MB", FOLDED_LINE_BYTES_MAX >> 20);
		else if (bytes_left(&text))
			err = read_line(reader, text);
		if (err)
			return error_wrap(err, "line %" PRIu64, reader->line_number);
	}
	return ferror(in) ? error_errno(errno ? errno : EIO, "read") : NULL;
}

struct error *folded_read(FILE *in, struct profile *profile)
{
	CLEANUP(reader_deinit) struct reader reader = {.profile = profile};
	struct strtab *strings = profile_strings(profile);
	struct error *err;

	profile_describe_module(profile, MODULE,
				&(struct profile_module){.kind = PROFILE_MODULE_NONE});
	reader.event = profile_add_event(profile, &(struct profile_event){
							  .name = strtab_add(strings, "samples"),
							  .unit = strtab_add(strings, "count"),
							  .one_value = true,
						  });
	err = read_lines(&reader, in);
	if (!err && !profile_samples(profile).count)
		err = error_new("it contains no stacks");
	err = error_wrap(err, "read folded stacks");
	return error_hint(err, "prof reads recordings of perf, pprof profiles and folded stacks; "
			       "other text files are not supported");
}

bool folded_recognize(const unsigned char *first, size_t len)
{
	return len && utf8_is_text(bytes_of(first, len));
}
