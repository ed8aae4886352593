#include "heapfile/heap_file.h"

#include "base/alloc.h"
#include "base/poisson.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define JEMALLOC "heap_v2/"
#define TCMALLOC "heap profile:"

/* More than any machine has. A double holds it exactly. */
#define COUNT_MAX (UINT64_C(1) << 53)
/* Default of gperftools for files of version 1 without a period. */
#define PERIOD_BYTES_DEFAULT (UINT64_C(128) << 10)

bool heap_file_recognize(const unsigned char *first, size_t len)
{
	struct bytes text = bytes_of(first, len);

	return bytes_begin(text, JEMALLOC) || bytes_begin(text, TCMALLOC);
}

/* Returns the line without its end, and counts lines. */
static struct bytes heap_file_take_line(struct heap_file *file)
{
	size_t left = bytes_left(&file->rest);
	const unsigned char *newline = left ? memchr(file->rest.at, '\n', left) : NULL;
	struct bytes line = bytes_sub(&file->rest,
				      newline ? (size_t)(newline - file->rest.at) : left);

	if (newline)
		bytes_skip(&file->rest, 1);
	while (bytes_left(&line) && strchr("\r \t", line.end[-1]) && line.end[-1])
		line.end--;
	file->line_number++;
	return line;
}

static void heap_file_skip_blanks(struct bytes *line)
{
	while (bytes_left(line) && (*line->at == ' ' || *line->at == '\t'))
		line->at++;
}

static bool heap_file_take_word(struct bytes *line, const char *word)
{
	heap_file_skip_blanks(line);
	if (!bytes_begin(*line, word))
		return false;
	bytes_skip(line, strlen(word));
	return true;
}

static unsigned heap_file_digit_value(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 'a' ^ 'A';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10U : 16;
}

static bool heap_file_take_number(struct bytes *line, unsigned base, uint64_t *ret)
{
	const unsigned char *first;
	uint64_t value = 0;

	heap_file_skip_blanks(line);
	for (first = line->at; bytes_left(line) && heap_file_digit_value(*line->at) < base;
	     line->at++)
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, heap_file_digit_value(*line->at), &value))
			return false;
	*ret = value;
	return line->at != first;
}

/* Parses "2: 300 [5: 800]", with any blanks. */
static bool take_counts(struct bytes *line, struct heap_file_stack *stack)
{
	struct heap_file_counts *inuse = &stack->inuse, *allocated = &stack->allocated;

	if (!heap_file_take_number(line, 10, &inuse->samples) || !heap_file_take_word(line, ":") ||
	    !heap_file_take_number(line, 10, &inuse->bytes) || !heap_file_take_word(line, "[") ||
	    !heap_file_take_number(line, 10, &allocated->samples) ||
	    !heap_file_take_word(line, ":") ||
	    !heap_file_take_number(line, 10, &allocated->bytes) || !heap_file_take_word(line, "]"))
		return false;
	inuse->objects = inuse->samples;
	allocated->objects = allocated->samples;
	return inuse->samples <= COUNT_MAX && inuse->bytes <= COUNT_MAX &&
	       allocated->samples <= COUNT_MAX && allocated->bytes <= COUNT_MAX;
}

static uint64_t heap_file_scaled(uint64_t count, double factor)
{
	double value = (double)count * factor;

	return value < (double)UINT64_MAX ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

static void scale(struct heap_file_counts *counts, uint64_t period_bytes)
{
	double size_bytes, factor;

	if (!period_bytes || !counts->samples || !counts->bytes)
		return;
	size_bytes = (double)counts->bytes / (double)counts->samples;
	factor = poisson_objects(size_bytes, (double)period_bytes);
	counts->objects = heap_file_scaled(counts->samples, factor);
	counts->bytes = heap_file_scaled(counts->bytes, factor);
}

/* Parses "0x7f30716a2630 0x5567f8789279" up to the end of the line. */
static bool take_pcs(struct heap_file *file, struct bytes line, struct heap_file_stack *stack)
{
	uint64_t pc;

	stack->pcs = file->pcs;
	stack->depth = 0;
	for (heap_file_skip_blanks(&line); bytes_left(&line); heap_file_skip_blanks(&line)) {
		heap_file_take_word(&line, "0x");
		if (!heap_file_take_number(&line, 16, &pc))
			return false;
		stack->is_cut = stack->depth == HEAP_FILE_DEPTH_MAX;
		if (stack->is_cut)
			return true;
		file->pcs[stack->depth++] = pc;
	}
	return true;
}

/* Returns the error for lines such as "#  0x4a1b2b        main.leak+0x2b
 * /src/main.go:12". */
static struct error *written_by_go(void)
{
	return error_hint(error_new("it is a heap profile of Go as text (debug=1)"),
			  "get it without debug=1: prof reads that");
}

static struct error *not_understood(const struct heap_file *file)
{
	return error_new("line %" PRIu64 " is not one of a heap profile", file->line_number);
}

static struct error *open_jemalloc(struct heap_file *file, struct bytes header)
{
	file->is_jemalloc = true;
	if (!heap_file_take_word(&header, JEMALLOC) ||
	    !heap_file_take_number(&header, 10, &file->period_bytes) || bytes_left(&header) ||
	    !file->period_bytes || file->period_bytes > COUNT_MAX)
		return not_understood(file);
	return NULL;
}

/* A sampler that counts only in-use memory may write that count twice. */
static bool tells_allocated(const struct heap_file_stack *total)
{
	return (total->allocated.samples && total->allocated.samples != total->inuse.samples) ||
	       (total->allocated.bytes && total->allocated.bytes != total->inuse.bytes);
}

static struct error *unknown_kind(struct bytes kind)
{
	CLEANUP(free_ptr)
	char *name = xasprintf("%.*s", (int)(bytes_left(&kind) < 32 ? bytes_left(&kind) : 32),
			       (const char *)kind.at);

	return error_hint(error_new("it is a profile of another kind than the heap: %s", name),
			  "prof reads heap profiles (heapprofile, heap, heap_v2) of tcmalloc");
}

/* Parses "heap profile:  137: 11996 [ 200: 18899] @ heap_v2/524288". The part
 * after the @ may be missing. */
static struct error *open_tcmalloc(struct heap_file *file, struct bytes header)
{
	struct heap_file_stack total = {0};
	struct bytes kind;
	uint64_t period = 0;

	if (!heap_file_take_word(&header, TCMALLOC) || !take_counts(&header, &total))
		return not_understood(file);
	heap_file_take_word(&header, "@");
	heap_file_skip_blanks(&header);
	kind = header;
	if (!bytes_left(&kind) || bytes_are(kind, "heapprofile")) {
		file->has_allocated = true;
		return NULL;
	}
	file->has_allocated = tells_allocated(&total);
	if (heap_file_take_word(&header, "heap_v2") || heap_file_take_word(&header, "heapz_v2")) {
		if (heap_file_take_word(&header, "/") &&
		    !heap_file_take_number(&header, 10, &period))
			return not_understood(file);
	} else if (heap_file_take_word(&header, "heap/") || bytes_are(kind, "heap")) {
		if (bytes_left(&header) && !heap_file_take_number(&header, 10, &period))
			return not_understood(file);
		period /= 2;
	} else {
		return unknown_kind(kind);
	}
	if (bytes_left(&header) || period > COUNT_MAX)
		return unknown_kind(kind);
	file->period_bytes = period ? period : PERIOD_BYTES_DEFAULT;
	return NULL;
}

/* The part before the maps holds the stacks. */
static struct bytes find_maps(struct bytes text, struct bytes *before)
{
	static const char *const titles[] = {"\nMAPPED_LIBRARIES:", "\n--- Memory map:"};

	*before = text;
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++) {
		size_t len = strlen(titles[i]);
		const unsigned char *at = memmem(text.at, bytes_left(&text), titles[i], len);

		if (!at)
			continue;
		before->end = at;
		return bytes_of(at + len, (size_t)(text.end - at) - len);
	}
	return (struct bytes){.at = text.end, .end = text.end};
}

/* For jemalloc, the total of all threads before the first stack determines
 * has_allocated. */
static struct error *read_total(struct heap_file *file)
{
	struct bytes text = file->rest;
	uint64_t number = file->line_number;
	struct bytes line = heap_file_take_line(file);
	struct heap_file_stack total = {0};

	if (heap_file_take_word(&line, "t*:") && take_counts(&line, &total))
		file->has_allocated = total.allocated.samples || total.allocated.bytes;
	file->rest = text;
	file->line_number = number;
	return NULL;
}

struct error *heap_file_open(struct bytes text, struct heap_file *ret)
{
	struct heap_file file = {0};
	struct error *err;
	struct bytes header;

	file.maps = find_maps(text, &file.rest);
	header = heap_file_take_line(&file);
	err = bytes_begin(header, JEMALLOC) ? open_jemalloc(&file, header)
					    : open_tcmalloc(&file, header);
	if (!err && file.is_jemalloc)
		err = read_total(&file);
	if (err)
		return err;
	file.pcs = xcalloc(HEAP_FILE_DEPTH_MAX, sizeof(*file.pcs));
	*ret = file;
	return NULL;
}

void heap_file_deinit(struct heap_file *file)
{
	free(file->pcs);
	*file = (struct heap_file){0};
}

void heap_file_rewind(struct heap_file *file, struct bytes text)
{
	find_maps(text, &file->rest);
	file->line_number = 0;
	heap_file_take_line(file);
}

/* Reads a line of pcs and its counts in the line "t*: …". Lines of single
 * threads are skipped. */
static struct error *next_of_jemalloc(struct heap_file *file, struct heap_file_stack *ret,
				      bool *got)
{
	bool has_pcs = false;

	while (bytes_left(&file->rest)) {
		struct bytes line = heap_file_take_line(file);

		heap_file_skip_blanks(&line);
		if (!bytes_left(&line))
			continue;
		if (heap_file_take_word(&line, "@")) {
			if (!take_pcs(file, line, ret))
				return not_understood(file);
			has_pcs = true;
		} else if (heap_file_take_word(&line, "t*:")) {
			if (!take_counts(&line, ret) || bytes_left(&line))
				return not_understood(file);
			*got = has_pcs;
			if (has_pcs)
				return NULL;
		} else if (!heap_file_take_word(&line, "t")) {
			return not_understood(file);
		}
	}
	return NULL;
}

static struct error *next_of_tcmalloc(struct heap_file *file, struct heap_file_stack *ret,
				      bool *got)
{
	while (bytes_left(&file->rest)) {
		struct bytes line = heap_file_take_line(file);

		if (!bytes_left(&line))
			continue;
		if (*line.at == '#')
			return written_by_go();
		if (!take_counts(&line, ret) || !heap_file_take_word(&line, "@") ||
		    !take_pcs(file, line, ret))
			return not_understood(file);
		*got = true;
		return NULL;
	}
	return NULL;
}

struct error *heap_file_next(struct heap_file *file, struct heap_file_stack *ret, bool *got)
{
	struct error *err;

	*ret = (struct heap_file_stack){0};
	*got = false;
	err = file->is_jemalloc ? next_of_jemalloc(file, ret, got)
				: next_of_tcmalloc(file, ret, got);
	if (err)
		return err;
	scale(&ret->inuse, file->period_bytes);
	scale(&ret->allocated, file->period_bytes);
	return NULL;
}
