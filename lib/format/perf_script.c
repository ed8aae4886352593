/*
 * What `perf script` prints: a block a sample, of a line about it and a line a frame, leaf first.
 * For what reads that: inferno-collapse-perf, stackcollapse-perf.pl, FlameScope. The name in front
 * is the process's, as in folded stacks, and not the thread's.
 * Source: perf-script(1); tools/perf/builtin-script.c.
 */
#include "format/format.h"

#include "base/alloc.h"
#include "base/digits.h"
#include "base/relay.h"
#include "base/utf8.h"
#include "format/stack_text.h"
#include "report/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	AHEAD = 16,
	MOST_BLOCKS = 20000000, /* some 20 to 50 GB */
};

struct script {
	struct relay *out;
	bool is_fine; /* all could be written as yet */
	const struct profile *profile;
	struct stack_text stacks;
	char **heads;  /* by thread: "name pid/tid" */
	char **events; /* by event: its name */
};

/* A name must not end its line, nor look like the end of one. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
}

static void put_name(FILE *out, const char *name, char space)
{
	struct bytes text = bytes_of(name, strlen(name));

	while (bytes_left(&text)) {
		const unsigned char *at = text.at;
		uint32_t c = utf8_next(&text);

		if (c == UTF8_BAD || is_control(c))
			fputs(UTF8_REPLACEMENT, out);
		else if (c == ' ')
			fputc(space, out);
		else
			fwrite(at, 1, (size_t)(text.at - at), out);
	}
}

/* What readers know code by: that of a JIT by the name of its map. */
static const char *object_of(const struct profile *profile, uint32_t id)
{
	const struct profile_module *module = profile_get_module(profile, id);
	const char *path = profile_string(profile, module->path);

	if (module->kind == PROFILE_MODULE_JIT)
		return "/tmp/perf-0.map";
	return *path ? path : "[unknown]";
}

static void put_line(FILE *out, uint64_t address, const char *name, const char *object)
{
	fprintf(out, "\t%16" PRIx64 " ", address);
	put_name(out, *name ? name : "[unnamed]", ' ');
	fputs(" (", out);
	put_name(out, object, '_');
	fputs(")\n", out);
}

/* The functions that are inlined, and then the one they are in. */
static void put_frame(FILE *out, const void *context, frame_id id)
{
	const struct profile *profile = context;
	struct profile_frame frame = profile_get_frame(profile, id);
	uint64_t address = frame.module == PROFILE_NOTES ? 0 : profile_frame_vaddr(profile, id);
	const char *object = object_of(profile, frame.module);

	if (!frame.line_count) {
		CLEANUP(free_ptr) char *name = profile_frame_address_name(profile, id);

		put_line(out, address, name, object);
	}
	for (unsigned i = 0; i < frame.line_count; i++) {
		const struct profile_function *function =
			profile_get_function(profile, frame.lines[i].function);

		put_line(out, address, profile_string(profile, function->name),
			 i + 1 < frame.line_count ? "inlined" : object);
	}
}

static char *head_of(const struct profile *profile, const struct profile_thread *thread)
{
	const char *name = process_name(profile, thread);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	put_name(out, name && *name ? name : "[unnamed]", '_');
	fprintf(out, " %d/%d", thread->pid < 0 ? 0 : thread->pid,
		thread->tid < 0 ? 0 : thread->tid);
	fclose(out);
	return text;
}

static char *event_name(const struct profile *profile, event_id event)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	put_name(out, profile_string(profile, profile_get_event(profile, event)->name), '_');
	fclose(out);
	return text;
}

static void make_heads(struct script *script)
{
	uint32_t threads = profile_thread_count(script->profile);
	uint32_t events = profile_event_count(script->profile);

	script->heads = xcalloc(threads, sizeof(*script->heads));
	for (thread_id i = 0; i < threads; i++)
		script->heads[i] = head_of(script->profile, profile_get_thread(script->profile, i));
	script->events = xcalloc(events, sizeof(*script->events));
	for (event_id i = 0; i < events; i++)
		script->events[i] = event_name(script->profile, i);
}

static void put(struct script *script, const char *text, size_t len)
{
	script->is_fine = relay_put(script->out, text, len) && script->is_fine;
}

static void put_stack(struct script *script, stack_id id)
{
	size_t len;
	const char *text = stack_text_of(&script->stacks, id, &len);

	put(script, text, len);
	put(script, "\n", 1);
}

/* " [003] 12000.000345:" */
static void put_time(struct script *script, const struct profile_moment *moment)
{
	char text[64], *end = text + sizeof(text), *first = end;

	*--first = ':';
	first = digits_padded_before(first, moment->time_ns / 1000 % 1000000, 6, '0');
	*--first = '.';
	first = digits_padded_before(first, moment->time_ns / 1000000000, 5, ' ');
	*--first = ' ';
	*--first = ']';
	first = digits_padded_before(first, moment->cpu, 3, '0');
	*--first = '[';
	*--first = ' ';
	put(script, first, (size_t)(end - first));
}

static void put_event(struct script *script, const struct profile_cell *cell, uint64_t weight)
{
	char text[32], *end = text + sizeof(text), *first = end;

	*--first = ' ';
	first = digits_padded_before(first, weight, 10, ' ');
	*--first = ' ';
	put(script, first, (size_t)(end - first));
	put(script, script->events[cell->event], strlen(script->events[cell->event]));
	put(script, ": \n", 3);
}

static const struct profile_cell *cell_of(const struct profile *profile, uint64_t moment)
{
	return profile_get_cell(profile, profile_get_moment(profile, moment)->cell);
}

/* Moments lead all over the profile: the stack of one some places on is fetched meanwhile. */
static void put_moments(struct script *script)
{
	const struct profile *profile = script->profile;
	uint64_t count = profile_moment_count(profile);

	for (uint64_t i = 0; i < count; i++) {
		const struct profile_moment *moment = profile_get_moment(profile, i);
		const struct profile_cell *cell = cell_of(profile, i);

		if (i + AHEAD < count)
			profile_prefetch_stack(profile, cell_of(profile, i + AHEAD)->stack);
		put(script, script->heads[cell->thread], strlen(script->heads[cell->thread]));
		put_time(script, moment);
		put_event(script, cell, cell->weight / cell->samples);
		put_stack(script, cell->stack);
	}
}

/* Readers count blocks: as many as there were samples, or one where a file tells but a weight. */
static uint64_t blocks_of(const struct profile *profile, const struct profile_cell *cell)
{
	return profile_get_event(profile, cell->event)->one_value ? 1 : cell->samples;
}

/* A small file can tell of any number of samples. */
static struct error *check_blocks(const struct profile *profile)
{
	uint64_t left = MOST_BLOCKS;

	for (uint64_t i = 0; i < profile_cell_count(profile); i++) {
		uint64_t blocks = blocks_of(profile, profile_get_cell(profile, i));

		if (blocks > left)
			return error_hint(
				error_new("more than %d samples are too many for the text of "
					  "perf script, which has a block for each",
					  MOST_BLOCKS),
				"write folded stacks instead: -o FILE.folded");
		left -= blocks;
	}
	return NULL;
}

static void put_cells(struct script *script)
{
	for (uint64_t i = 0; i < profile_cell_count(script->profile); i++) {
		const struct profile_cell *cell = profile_get_cell(script->profile, i);
		uint64_t blocks = blocks_of(script->profile, cell);

		for (uint64_t block = 0; block < blocks && script->is_fine; block++) {
			put(script, script->heads[cell->thread],
			    strlen(script->heads[cell->thread]));
			put(script, " :", 2);
			put_event(script, cell, cell->weight / blocks);
			put_stack(script, cell->stack);
		}
	}
}

static void free_texts(char **texts, uint32_t count)
{
	for (uint32_t i = 0; texts && i < count; i++)
		free(texts[i]);
	free(texts);
}

static void script_deinit(struct script *script)
{
	free_texts(script->heads, profile_thread_count(script->profile));
	free_texts(script->events, profile_event_count(script->profile));
	stack_text_deinit(&script->stacks);
}

static struct error *perf_script_write(const struct profile *profile,
				       const struct format_options *options, FILE *out)
{
	CLEANUP(script_deinit) struct script script = {.is_fine = true, .profile = profile};
	bool by_time = profile_moment_count(profile);
	struct error *err = by_time ? NULL : check_blocks(profile);

	(void)options;
	if (err)
		return err;
	stack_text_init(&script.stacks, profile, LEAF_FIRST, put_frame, profile);
	make_heads(&script);
	script.out = relay_new(out, NULL);
	if (by_time)
		put_moments(&script);
	else
		put_cells(&script);
	if (!relay_finish(script.out) || fflush(out) || ferror(out))
		return error_errno(errno, "write the text of perf script");
	return NULL;
}

const struct format format_perf_script = {
	.name = "perf-script",
	.extensions = (const char *const[]){".perf.txt", NULL},
	.summary = "each sample as perf script prints it, for FlameScope and old pipelines",
	.viewer = "inferno-collapse-perf FILE | inferno-flamegraph > flame.svg",
	.wants_moments = true,
	.write = perf_script_write,
};
