#include "format/folded/read.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "base/line_reader.h"
#include "base/utf8.h"
#include "format/perf_script/read.h"
#include "profile/transfer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The module of all frames, because a folded file has no addresses. */
#define MODULE 0

struct folded_read_reader {
	struct profile *profile; /* treats all first frames as functions */
	event_id event;
	label_set_id labels;
	struct idmap frames; /* by name */
	uint64_t total;	     /* of all counts */
	uint64_t fractions;  /* number of counts with a fraction other than 0 */
	uint64_t skipped, first_skipped;
	const char *why_skipped; /* the first reason */
};

static void folded_read_reader_deinit(struct folded_read_reader *reader)
{
	idmap_deinit(&reader->frames);
}

static frame_id folded_read_frame_of(struct folded_read_reader *reader, string_id name)
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

static bool folded_read_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool folded_read_is_blank(unsigned char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct bytes trimmed(struct bytes text)
{
	while (bytes_left(&text) && folded_read_is_blank(text.end[-1]))
		text.end--;
	while (bytes_left(&text) && folded_read_is_blank(*text.at))
		text.at++;
	return text;
}

static bool parse_digits(const unsigned char *at, const unsigned char *end, uint64_t *ret)
{
	uint64_t count = 0;

	if (at == end)
		return false;
	for (; at < end; at++)
		if (__builtin_mul_overflow(count, 10, &count) ||
		    __builtin_add_overflow(count, *at - '0', &count))
			return false;
	*ret = count;
	return true;
}

/*
 * Removes the number at the end of the text, with its fraction, and the space
 * before it.
 */
static bool folded_read_take_count(struct bytes *text, uint64_t *ret, bool *has_fraction)
{
	const unsigned char *at = text->end, *point = text->end;

	while (at > text->at &&
	       (folded_read_is_digit((char)at[-1]) || (at[-1] == '.' && point == text->end)))
		if (*--at == '.')
			point = at;
	if (at == text->at || at[-1] != ' ' || !parse_digits(at, point, ret))
		return false;
	*has_fraction = false;
	for (const unsigned char *digit = point; digit < text->end; digit++)
		*has_fraction |= *digit >= '1';
	text->end = at - 1;
	return true;
}

/* Removes the first frame. */
static frame_id take_frame(struct folded_read_reader *reader, struct bytes *text)
{
	size_t left = bytes_left(text);
	const unsigned char *end = left ? memchr(text->at, ';', left) : NULL;
	struct strtab *strings = profile_strings(reader->profile);
	string_id name = utf8_intern(strings,
				     bytes_sub(text, end ? (size_t)(end - text->at) : left));

	return name ? folded_read_frame_of(reader, name)
		    : profile_synthetic_frame(reader->profile, "[unnamed]");
}

/*
 * Keeps the last FOLDED_DEPTH_MAX frames, leaf last. Returns false if there are
 * not more.
 */
static bool folded_read_cut_deep(struct bytes *text)
{
	const unsigned char *at = text->end;
	size_t left = FOLDED_DEPTH_MAX;

	if (bytes_left(text) < FOLDED_DEPTH_MAX) /* each separator takes a byte */
		return false;
	while (at && left && (at = memrchr(text->at, ';', (size_t)(at - text->at))))
		left--;
	if (!at)
		return false;
	text->at = at + 1;
	return true;
}

static void read_stack(struct folded_read_reader *reader, struct bytes text, uint64_t count)
{
	struct strtab *strings = profile_strings(reader->profile);
	stack_id stack = STACK_EMPTY;

	if (folded_read_cut_deep(&text))
		stack = profile_push(
			reader->profile, stack,
			folded_read_frame_of(reader, strtab_add(strings, "[truncated]")));
	stack = profile_push(reader->profile, stack, take_frame(reader, &text));
	while (bytes_left(&text)) {
		bytes_skip(&text, 1);
		stack = profile_push(reader->profile, stack, take_frame(reader, &text));
	}
	profile_add_samples(reader->profile, reader->labels, stack, reader->event, count, count);
}

/* Returns the reason why the line was skipped, or NULL if it was read. */
static const char *folded_read_line(struct folded_read_reader *reader, struct bytes line)
{
	bool has_fraction, has_other_fraction;
	uint64_t count, second;

	if (!folded_read_take_count(&line, &count, &has_fraction))
		return "it does not end in a space and a count";
	line = trimmed(line);
	if (folded_read_take_count(&line, &second, &has_other_fraction))
		return "it has two counts, as the difference of two profiles";
	if (count > FOLDED_TOTAL_MAX - reader->total)
		return "the sum of all counts would exceed 2^63 - 1";
	reader->total += count;
	reader->fractions += has_fraction;
	read_stack(reader, line, count);
	return NULL;
}

static bool is_comment(struct bytes line)
{
	return *line.at == '#' && (bytes_left(&line) == 1 || folded_read_is_blank(line.at[1]));
}

/*
 * Removes only the line end: a stack without frames starts with the space
 * before its count.
 */
static struct bytes folded_read_text_of(const struct line_reader *lines)
{
	struct bytes text = bytes_of(lines->line, lines->len);

	while (bytes_left(&text) && folded_read_is_blank(text.end[-1]))
		text.end--;
	return text;
}

static struct error *folded_read_lines(struct folded_read_reader *reader, FILE *in)
{
	CLEANUP(line_reader_deinit) struct line_reader lines;

	line_reader_init(&lines, in, FOLDED_LINE_BYTES_MAX, UINT64_MAX);
	errno = 0;
	for (uint64_t number = 1; line_reader_next(&lines); number++) {
		struct bytes text = folded_read_text_of(&lines);
		const char *why = NULL;

		if (lines.is_cut)
			return error_new("line %" PRIu64 ": it is longer than %d MB", number,
					 FOLDED_LINE_BYTES_MAX >> 20);
		if (bytes_left(&text) && !is_comment(text))
			why = folded_read_line(reader, text);
		if (why && !reader->skipped++) {
			reader->first_skipped = number;
			reader->why_skipped = why;
		}
	}
	return ferror(in) ? error_errno(errno ? errno : EIO, "read") : NULL;
}

static void folded_read_report(const struct folded_read_reader *reader, struct profile *to)
{
	CLEANUP(free_ptr) char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (reader->skipped)
		fprintf(out, "skipped %" PRIu64 " line%s, the first is line %" PRIu64 ": %s\n",
			reader->skipped, reader->skipped == 1 ? "" : "s", reader->first_skipped,
			reader->why_skipped);
	if (reader->fractions)
		fprintf(out, "dropped the fractions of %" PRIu64 " count%s\n", reader->fractions,
			reader->fractions == 1 ? "" : "s");
	fclose(out);
	profile_set_info(to, &(struct profile_info){.problems = text});
}

static struct error *no_stacks(const struct folded_read_reader *reader)
{
	if (reader->skipped)
		return error_new("line %" PRIu64 ": %s", reader->first_skipped,
				 reader->why_skipped);
	return error_new("it contains no stacks");
}

static const char *folded_read_name_of(const struct profile *profile, stack_id stack)
{
	struct profile_frame frame = profile_get_frame(profile,
						       profile_stacks(profile).items[stack].frame);

	return profile_string(profile,
			      profile_get_function(profile, frame.lines[0].function)->name);
}

/*
 * Returns whether a function has no callers: processes and threads start there.
 */
static bool is_entry(const char *name)
{
	static const char *const entries[] = {
		"_start",
		"clone",
		"clone3",
		"__clone",
		"__clone3",
		"thread_start",
		"start_thread",
		"runtime.goexit",
		"runtime.mcall",
		"ret_from_fork",
		"ret_from_fork_asm",
		"secondary_startup_64",
		"secondary_startup_64_no_verify",
		"entry_SYSCALL_64_after_hwframe",
	};
	size_t len = strlen(name);

	if (len > 4 && !strcmp(name + len - 4, "_[k]")) /* with --annotate */
		len -= 4;
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		if (strlen(entries[i]) == len && !memcmp(name, entries[i], len))
			return true;
	return false;
}

/*
 * Returns for each first frame whether it precedes an entry function in any
 * stack, which means that it is a process.
 */
static bool *find_processes(const struct profile *from)
{
	bool *are_processes = xcalloc(profile_frame_count(from), sizeof(*are_processes));
	const struct profile_stacks stacks = profile_stacks(from);

	for (stack_id i = STACK_EMPTY + 1; i < stacks.count; i++) {
		stack_id first = stacks.items[i].parent;

		if (first != STACK_EMPTY && stacks.items[first].parent == STACK_EMPTY &&
		    folded_read_name_of(from, first)[0] != '[' &&
		    is_entry(folded_read_name_of(from, i)))
			are_processes[stacks.items[first].frame] = true;
	}
	return are_processes;
}

/* A stack of the profile that was read. */
struct moved {
	stack_id stack;
	label_set_id labels; /* of its process */
};

static struct moved folded_read_move_stack(struct transfer *transfer, const struct moved *moved,
					   stack_id id, const bool *are_processes)
{
	const struct profile_stack stack = profile_stacks(transfer->from).items[id];
	bool is_first = stack.parent == STACK_EMPTY;
	bool is_process = is_first && are_processes[stack.frame];
	struct moved to = moved[stack.parent];

	if (is_first)
		to.labels = profile_thread_labels(
			transfer->to, -1, -1,
			is_process ? folded_read_name_of(transfer->from, id) : "", "");
	if (!is_process)
		to.stack = profile_push(transfer->to, to.stack,
					transfer_frame(transfer, stack.frame));
	return to;
}

/* Copies all samples. First frames that are processes become labels. */
static void move_samples(const struct profile *from, struct profile *to)
{
	CLEANUP(transfer_deinit) struct transfer transfer;
	const struct profile_samples samples = profile_samples(from);
	uint32_t count = profile_stacks(from).count;
	CLEANUP(free_ptr) bool *are_processes = find_processes(from);
	CLEANUP(free_ptr) struct moved *moved = xcalloc(count, sizeof(*moved));

	transfer_init(&transfer, from, to, NULL);
	moved[STACK_EMPTY].stack = STACK_EMPTY;
	for (stack_id i = STACK_EMPTY + 1; i < count; i++)
		moved[i] = folded_read_move_stack(&transfer, moved, i, are_processes);
	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		struct moved at = moved[sample->stack];

		profile_add_samples(to, at.labels, at.stack,
				    transfer_event(&transfer, sample->event), sample->samples,
				    sample->weight);
	}
}

static event_id folded_read_start(struct profile *profile)
{
	struct strtab *strings = profile_strings(profile);

	profile_describe_module(profile, MODULE,
				&(struct profile_module){.kind = PROFILE_MODULE_NONE});
	return profile_add_event(profile, &(struct profile_event){
						  .name = strtab_add(strings, "samples"),
						  .unit = strtab_add(strings, "count"),
						  .one_value = true,
					  });
}

struct error *folded_read(FILE *in, struct profile *profile)
{
	CLEANUP(profile_cleanup) struct profile *all = profile_new();
	CLEANUP(folded_read_reader_deinit)
	struct folded_read_reader reader = {.profile = all, .event = folded_read_start(all)};
	struct error *err;

	reader.labels = profile_thread_labels(all, -1, -1, "", "");
	err = folded_read_lines(&reader, in);
	if (!err && !profile_samples(all).count)
		err = no_stacks(&reader);
	if (!err) {
		folded_read_start(profile);
		move_samples(all, profile);
		folded_read_report(&reader, profile);
	}
	err = error_wrap(err, "read folded stacks");
	return error_hint(err, "prof reads perf recordings, pprof profiles, folded stacks and the "
			       "text of perf script; other text files are not supported");
}

/*
 * Returns whether the file is JSON, XML or HTML, in which lines can also end in
 * a space and a number.
 */
static bool is_markup(struct bytes text)
{
	static const char *const starts[] = {"{",  "[{",    "[\n",  "[\r",
					     "<!", "<?xml", "<svg", "<html"};

	while (bytes_left(&text) && strchr(" \t\r\n", *text.at))
		bytes_skip(&text, 1);
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (bytes_begin(text, starts[i]))
			return true;
	return false;
}

/*
 * Other files have control characters in their first bytes. Names may have them
 * anywhere.
 */
enum { TEXT_BYTES = 64 };

bool folded_recognize(const unsigned char *first, size_t len)
{
	struct bytes text = bytes_of(first, len < TEXT_BYTES ? len : TEXT_BYTES);

	return len && utf8_is_text(text) && !is_markup(text) && !perf_script_recognize(first, len);
}
