/*
 * Writes the text that `perf script` prints: one block per sample, with a
 * header line and one line per frame, leaf first. inferno-collapse-perf,
 * stackcollapse-perf.pl and FlameScope read it. The name in the header is that
 * of the process, like in folded stacks. If the user has chosen the fields, it
 * is that of the thread, like in perf. Source: perf-script(1);
 * tools/perf/builtin-script.c.
 */
#include "format/format.h"

#include "base/alloc.h"
#include "base/chunk_writer.h"
#include "base/digits.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "format/perf_script/fields.h"
#include "format/perf_script/name.h"
#include "format/perf_script/read.h"
#include "format/stack_text.h"
#include "report/function_names.h"
#include "report/process_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	AHEAD = 16,
	MOST_BLOCKS = 20000000, /* about 20 to 50 GB */
};

struct script {
	struct chunk_writer *out;
	bool is_fine; /* no write has failed yet */
	const struct profile *profile;
	const struct format_options *options;
	uint32_t fields; /* enum script_field */
	struct function_names functions;
	struct stack_text stacks;
	char **heads;  /* by label set: "name pid/tid" */
	char **events; /* by event: its name */
};

/*
 * A name must not contain a newline, nor characters that readers take for the
 * end of a name.
 */
static void perf_script_put_name(FILE *out, const char *name, char space)
{
	struct bytes text = bytes_of(name, strlen(name));

	while (bytes_left(&text)) {
		const unsigned char *at = text.at;
		uint32_t c = utf8_next(&text);

		if (c == UTF8_BAD || printable_is_control(c))
			fputs(UTF8_REPLACEMENT, out);
		else if (c == ' ')
			fputc(space, out);
		else
			fwrite(at, 1, (size_t)(text.at - at), out);
	}
}

/*
 * Returns a module name that readers recognize. For JIT code it is that of its
 * perf map.
 */
static const char *object_of(const struct profile *profile, uint32_t id)
{
	const struct profile_module *module = profile_get_module(profile, id);
	const char *path = profile_string(profile, module->path);

	if (module->kind == PROFILE_MODULE_JIT &&
	    !script_module_is_jit(bytes_of(path, strlen(path))))
		return "/tmp/perf-0.map";
	return *path ? path : "[unknown]";
}

static void perf_script_put_line(FILE *out, const struct script *script, uint64_t address,
				 const char *name, const char *object)
{
	fprintf(out, "\t%16" PRIx64, address);
	if (script->fields & SCRIPT_SYM) {
		fputc(' ', out);
		perf_script_put_name(out, *name ? name : "[unnamed]", ' ');
	}
	if (script->fields & SCRIPT_DSO) {
		fputs(" (", out);
		perf_script_put_name(out, object, '_');
		fputc(')', out);
	}
	fputc('\n', out);
}

/* Writes " main.c:12". */
static void perf_script_put_source(FILE *out, const struct script *script,
				   const struct profile_line *line)
{
	const struct profile_function *function = profile_get_function(script->profile,
								       line->function);

	if (!(script->fields & SCRIPT_SRCLINE) || !line->line)
		return;
	fputs("  ", out);
	perf_script_put_name(out, basename(profile_string(script->profile, function->file)), '_');
	fprintf(out, ":%" PRIu32 "\n", line->line);
}

/* Writes inlined functions, then the function that contains them. */
static void perf_script_put_frame(FILE *out, const void *context, frame_id id)
{
	const struct script *script = context;
	const struct profile *profile = script->profile;
	struct profile_frame frame = profile_get_frame(profile, id);
	uint64_t address = frame.module == PROFILE_SYNTHETIC ? 0 : profile_frame_vaddr(profile, id);
	const char *object = object_of(profile, frame.module);

	if (!frame.line_count) {
		CLEANUP(free_ptr) char *name = profile_frame_address_name(profile, id);

		perf_script_put_line(out, script, address, name, object);
	}
	for (unsigned i = 0; i < frame.line_count; i++) {
		bool is_inlined = i + 1 < frame.line_count;

		if (is_inlined && script->options->script.no_inlines)
			continue;
		perf_script_put_line(
			out, script, address,
			function_names_get(&script->functions, frame.lines[i].function),
			is_inlined ? "inlined" : object);
		perf_script_put_source(out, script, &frame.lines[i]);
	}
}

static char *perf_script_head_of(const struct script *script, const struct profile_thread *thread)
{
	const char *name = process_name(script->profile, thread);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	perf_script_put_name(out, name && *name ? name : "[unnamed]", '_');
	fprintf(out, " %d/%d", thread->pid < 0 ? 0 : thread->pid,
		thread->tid < 0 ? 0 : thread->tid);
	fclose(out);
	return text;
}

/* Aligns the columns like perf. */
static char *chosen_head_of(const struct script *script, const struct profile_thread *thread)
{
	uint32_t fields = script->fields;
	const char *comm = profile_string(script->profile,
					  thread->name ? thread->name : thread->process);
	int pid = thread->pid < 0 ? 0 : thread->pid, tid = thread->tid < 0 ? 0 : thread->tid;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (fields & SCRIPT_COMM)
		perf_script_put_name(out, *comm ? comm : "[unnamed]", ' ');
	if ((fields & SCRIPT_PID) && (fields & SCRIPT_TID))
		fprintf(out, " %5d/%-5d", pid, tid);
	else if (fields & (SCRIPT_PID | SCRIPT_TID))
		fprintf(out, " %5d", fields & SCRIPT_PID ? pid : tid);
	fclose(out);
	return text;
}

static char *perf_script_event_name(const struct profile *profile, event_id event)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	perf_script_put_name(out, profile_string(profile, profile_get_event(profile, event)->name),
			     '_');
	fclose(out);
	return text;
}

static void make_heads(struct script *script)
{
	uint32_t label_sets = profile_label_set_count(script->profile);
	uint32_t events = profile_event_count(script->profile);

	script->heads = xcalloc(label_sets, sizeof(*script->heads));
	for (label_set_id i = 0; i < label_sets; i++)
		script->heads[i] = (script->options->script.fields ? chosen_head_of
								   : perf_script_head_of)(
			script, profile_thread_of(script->profile, i));
	script->events = xcalloc(events, sizeof(*script->events));
	for (event_id i = 0; i < events; i++)
		script->events[i] = perf_script_event_name(script->profile, i);
}

static void perf_script_put(struct script *script, const char *text, size_t len)
{
	script->is_fine = chunk_writer_put(script->out, text, len) && script->is_fine;
}

static void perf_script_put_stack(struct script *script, stack_id id)
{
	size_t len;
	const char *text;

	if (!(script->fields & SCRIPT_IP))
		return;
	text = stack_text_of(&script->stacks, id, &len);
	perf_script_put(script, text, len);
	perf_script_put(script, "\n", 1);
}

/* Writes " [003] 12000.000345:". */
static void perf_script_put_time(struct script *script, uint64_t time_ns, uint32_t cpu)
{
	char text[64], *end = text + sizeof(text), *first = end;

	if (script->fields & SCRIPT_TIME) {
		*--first = ':';
		first = digits_padded_before(first, time_ns / 1000 % 1000000, 6, '0');
		*--first = '.';
		first = digits_padded_before(first, time_ns / 1000000000, 5, ' ');
		*--first = ' ';
	}
	if (script->fields & SCRIPT_CPU) {
		*--first = ']';
		first = digits_padded_before(first, cpu, 3, '0');
		*--first = '[';
		*--first = ' ';
	}
	perf_script_put(script, first, (size_t)(end - first));
}

static void perf_script_put_event(struct script *script, const struct profile_sample *sample,
				  uint64_t weight)
{
	char text[32], *end = text + sizeof(text), *first = end;

	*--first = ' ';
	if (script->fields & SCRIPT_PERIOD) {
		first = digits_padded_before(first, weight, 10, ' ');
		*--first = ' ';
	}
	perf_script_put(script, first, (size_t)(end - first));
	if (script->fields & SCRIPT_EVENT) {
		perf_script_put(script, script->events[sample->event],
				strlen(script->events[sample->event]));
		perf_script_put(script, ": ", 2);
	}
	perf_script_put(script, "\n", 1);
}

static bool perf_script_is_written(const struct script *script, const struct profile_sample *sample)
{
	return !script->options->event_only || sample->event == script->options->event;
}

static void put_block(struct script *script, const struct profile_sample *sample, uint64_t time_ns,
		      uint32_t cpu, uint64_t weight)
{
	if (!perf_script_is_written(script, sample))
		return;
	perf_script_put(script, script->heads[sample->labels],
			strlen(script->heads[sample->labels]));
	perf_script_put_time(script, time_ns, cpu);
	perf_script_put_event(script, sample, weight);
	perf_script_put_stack(script, sample->stack);
}

/*
 * Writes a wait as a block at its end, without a CPU, like perf record
 * --off-cpu. Returns the index of the next one.
 */
static uint64_t put_waits_until(struct script *script, uint64_t at, uint64_t time_ns)
{
	const struct profile_intervals intervals = profile_intervals(script->profile);
	const struct profile_samples samples = profile_samples(script->profile);

	for (; at < intervals.count && intervals.items[at].end_ns <= time_ns; at++)
		put_block(script, &samples.items[intervals.items[at].sample],
			  intervals.items[at].end_ns, 0, intervals.items[at].weight);
	return at;
}

/*
 * Timed samples are scattered over the profile, so this prefetches the stacks
 * of later ones.
 */
static void perf_script_put_timed_samples(struct script *script)
{
	const struct profile *profile = script->profile;
	const struct profile_timed_samples timed_samples = profile_timed_samples(profile);
	const struct profile_samples samples = profile_samples(profile);
	const struct profile_stacks stacks = profile_stacks(profile);
	uint64_t wait = 0;

	for (uint64_t i = 0; i < timed_samples.count; i++) {
		const struct profile_timed_sample *timed_sample = &timed_samples.items[i];
		const struct profile_sample *sample = &samples.items[timed_sample->sample];

		if (i + AHEAD < timed_samples.count)
			__builtin_prefetch(
				&stacks.items[samples.items[timed_sample[AHEAD].sample].stack]);
		wait = put_waits_until(script, wait, timed_sample->time_ns);
		put_block(script, sample, timed_sample->time_ns, timed_sample->cpu,
			  sample->weight / sample->samples);
	}
	put_waits_until(script, wait, UINT64_MAX);
}

/*
 * Readers count blocks: one per sample, or a single one if the file has only
 * weights.
 */
static uint64_t blocks_of(const struct profile *profile, const struct profile_sample *sample)
{
	return profile_get_event(profile, sample->event)->one_value ? 1 : sample->samples;
}

/* A small file can claim any number of samples. */
static struct error *check_blocks(const struct script *script)
{
	const struct profile_samples samples = profile_samples(script->profile);
	uint64_t left = MOST_BLOCKS;

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		uint64_t blocks = perf_script_is_written(script, sample)
					  ? blocks_of(script->profile, sample)
					  : 0;

		if (blocks > left)
			return error_hint(error_new("the text of perf script has a block for each "
						    "sample, at most %d",
						    MOST_BLOCKS),
					  "write folded stacks instead: -o FILE.folded");
		left -= blocks;
	}
	return NULL;
}

static void perf_script_put_samples(struct script *script)
{
	const struct profile_samples samples = profile_samples(script->profile);

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		uint64_t blocks = blocks_of(script->profile, sample);

		if (!perf_script_is_written(script, sample))
			continue;
		for (uint64_t block = 0; block < blocks && script->is_fine; block++) {
			perf_script_put(script, script->heads[sample->labels],
					strlen(script->heads[sample->labels]));
			if (script->fields & SCRIPT_TIME)
				perf_script_put(script, " :", 2);
			perf_script_put_event(script, sample, sample->weight / blocks);
			perf_script_put_stack(script, sample->stack);
		}
	}
}

static void perf_script_free_texts(char **texts, uint32_t count)
{
	for (uint32_t i = 0; texts && i < count; i++)
		free(texts[i]);
	free(texts);
}

static void script_deinit(struct script *script)
{
	perf_script_free_texts(script->heads, profile_label_set_count(script->profile));
	perf_script_free_texts(script->events, profile_event_count(script->profile));
	stack_text_deinit(&script->stacks);
	function_names_deinit(&script->functions);
}

static struct error *perf_script_write(const struct profile *profile,
				       const struct format_options *options, FILE *out)
{
	CLEANUP(script_deinit)
	struct script script = {
		.is_fine = true,
		.profile = profile,
		.options = options,
		.fields = options->script.fields ? options->script.fields
						 : SCRIPT_DEFAULT_FIELDS | SCRIPT_PID,
	};
	bool by_time = profile_timed_samples(profile).count || profile_intervals(profile).count;
	struct error *err = by_time ? NULL : check_blocks(&script);

	if (err)
		return err;
	function_names_init(&script.functions, profile, options->names);
	stack_text_init(&script.stacks, profile, LEAF_FIRST, perf_script_put_frame, &script);
	make_heads(&script);
	script.out = chunk_writer_new(out, NULL);
	if (by_time)
		perf_script_put_timed_samples(&script);
	else
		perf_script_put_samples(&script);
	if (!chunk_writer_finish(script.out) || fflush(out) || ferror(out))
		return error_errno(errno, "write the text of perf script");
	return NULL;
}

const struct format format_perf_script = {
	.name = "perf-script",
	.extensions = (const char *const[]){".perf.txt", NULL},
	.summary = "perf script text, for FlameScope and other tools",
	.viewer = "inferno-collapse-perf FILE | inferno-flamegraph > flame.svg",
	.needs_timestamps = true,
	.write = perf_script_write,
	.recognize = perf_script_recognize,
	.read = perf_script_read,
};
