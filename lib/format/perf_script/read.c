#include "format/perf_script/read.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "base/line_reader.h"
#include "base/utf8.h"
#include "format/perf_script/line.h"
#include "format/perf_script/name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The module of frames whose module is not printed. */
#define MODULE_NONE 0

/* The meaning of a line about a frame. Most lines occur many times. */
struct place {
	uint64_t pc;
	uint32_t module;
	uint32_t first, count; /* range in reader->functions, innermost first */
	bool is_inlined;       /* into the frame of the next line */
	frame_id frame;	       /* the frame of this line alone; IDMAP_NONE if not needed yet */
};

struct perf_script_read_reader {
	struct profile *profile;
	uint64_t line_number;
	struct strtab *lines;	     /* about frames */
	struct idmap places_by_line; /* by line, and by whether the process is called java */
	struct place *places;
	uint32_t place_count, place_room;
	function_id *functions;
	uint32_t function_count, function_room;
	struct idmap modules; /* by path */
	uint32_t module_count;
	struct idmap events; /* by name */

	/* The current sample. */
	bool in_sample;
	bool is_single; /* its only frame was in the line about the sample */
	bool is_java;
	bool has_time;
	struct profile_timed_sample timed;
	label_set_id labels;
	event_id event;
	uint64_t weight;
	frame_id *frames; /* leaf first */
	uint32_t frame_count, frame_room;
	bool is_cut;

	/* The frame that is incomplete until the next line is known. */
	struct profile_line *inlined; /* innermost first */
	uint32_t inlined_count, inlined_room;
	uint32_t last; /* index of the place of its last line, or IDMAP_NONE */
	bool is_plain; /* its lines are those of `last` */

	uint64_t first_ns, last_ns; /* times of samples */
	uint64_t unread, first_unread, branches, cut;
	char *command, *host, *kernel;
};

static void perf_script_read_reader_deinit(struct perf_script_read_reader *reader)
{
	strtab_free(reader->lines);
	idmap_deinit(&reader->places_by_line);
	free(reader->places);
	free(reader->functions);
	idmap_deinit(&reader->modules);
	idmap_deinit(&reader->events);
	free(reader->frames);
	free(reader->inlined);
	free(reader->command);
	free(reader->host);
	free(reader->kernel);
}

static void skip_line(struct perf_script_read_reader *reader)
{
	if (!reader->unread++)
		reader->first_unread = reader->line_number;
}

static string_id perf_script_read_intern(struct perf_script_read_reader *reader, struct bytes text)
{
	return utf8_intern(profile_strings(reader->profile), text);
}

static enum profile_module_kind perf_script_read_kind_of(struct bytes path)
{
	if (script_module_is_jit(path) || bytes_begin(path, "//anon") ||
	    bytes_begin(path, "[anon") || bytes_begin(path, "[jit"))
		return PROFILE_MODULE_JIT;
	if (bytes_begin(path, "[vdso"))
		return PROFILE_MODULE_VDSO;
	if (bytes_begin(path, "[python"))
		return PROFILE_MODULE_INTERPRETED;
	if (script_module_is_kernel(path))
		return PROFILE_MODULE_KERNEL;
	return bytes_begin(path, "[") ? PROFILE_MODULE_UNKNOWN : PROFILE_MODULE_FILE;
}

static uint32_t module_of(struct perf_script_read_reader *reader, struct bytes path)
{
	string_id name = perf_script_read_intern(reader, path);
	uint32_t *module;

	if (!name)
		return MODULE_NONE;
	module = idmap_put(&reader->modules, name, 0);
	if (*module == IDMAP_NONE) {
		*module = ++reader->module_count;
		profile_describe_module(
			reader->profile, *module,
			&(struct profile_module){.kind = perf_script_read_kind_of(path),
						 .path = name});
	}
	return *module;
}

/* An unknown function is named after its module. */
static char *perf_script_read_name_of(const struct perf_script_read_reader *reader,
				      struct bytes name, struct bytes module)
{
	const unsigned char *slash = module.at;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (bytes_left(&name) && !bytes_are(name, "[unknown]")) {
		script_name_write(name, reader->is_java, out);
	} else if (!bytes_left(&module) || bytes_are(module, "[unknown]")) {
		fputs("[unknown]", out);
	} else {
		while ((slash = memchr(module.at, '/', bytes_left(&module))))
			module.at = slash + 1;
		fputc('[', out);
		fwrite(module.at, 1, bytes_left(&module), out);
		fputc(']', out);
	}
	fclose(out);
	return text;
}

static void perf_script_read_add_function(struct perf_script_read_reader *reader, struct bytes name,
					  struct bytes module)
{
	CLEANUP(free_ptr) char *text = perf_script_read_name_of(reader, name, module);
	struct profile_function function = {
		.name = perf_script_read_intern(reader, bytes_of(text, strlen(text))),
		.system_name = perf_script_read_intern(reader, name),
	};

	if (!function.name)
		function.name = function.system_name;
	if (!function.system_name || bytes_are(name, "[unknown]"))
		function.system_name = function.name;
	GROW(reader->functions, reader->function_count, reader->function_room);
	reader->functions[reader->function_count++] = profile_function(reader->profile, &function);
}

/*
 * Java's perf maps list inlined methods after the one that contains them:
 * "a->b->c".
 */
static void perf_script_read_add_functions(struct perf_script_read_reader *reader,
					   const struct script_frame *frame)
{
	uint32_t first = reader->function_count;
	struct bytes name = frame->name;
	const unsigned char *arrow;

	if (script_module_is_jit(frame->module))
		while (reader->function_count - first < SCRIPT_INLINED_MAX && bytes_left(&name) &&
		       (arrow = memmem(name.at, bytes_left(&name), "->", 2))) {
			perf_script_read_add_function(
				reader, (struct bytes){.at = name.at, .end = arrow}, frame->module);
			name.at = arrow + 2;
		}
	perf_script_read_add_function(reader, name, frame->module);
	for (uint32_t i = first, k = reader->function_count - 1; i < k; i++, k--) {
		function_id function = reader->functions[i];

		reader->functions[i] = reader->functions[k];
		reader->functions[k] = function;
	}
}

static uint32_t perf_script_read_add_place(struct perf_script_read_reader *reader,
					   const struct script_frame *frame)
{
	struct place place = {
		.pc = frame->pc,
		.first = reader->function_count,
		.is_inlined = bytes_are(frame->module, "inlined"),
		.frame = IDMAP_NONE,
	};

	if (!place.is_inlined)
		place.module = module_of(reader, frame->module);
	perf_script_read_add_functions(reader, frame);
	place.count = reader->function_count - place.first;
	GROW(reader->places, reader->place_count, reader->place_room);
	reader->places[reader->place_count++] = place;
	return reader->place_count - 1;
}

static void push_frame(struct perf_script_read_reader *reader, frame_id frame)
{
	if (reader->frame_count == SCRIPT_DEPTH_MAX) {
		reader->is_cut = true;
		return;
	}
	GROW(reader->frames, reader->frame_count, reader->frame_room);
	reader->frames[reader->frame_count++] = frame;
}

/* Adds the frame that the lines so far define. */
static void finish_frame(struct perf_script_read_reader *reader)
{
	struct place *last;
	frame_id frame;

	if (reader->last == IDMAP_NONE)
		return;
	last = &reader->places[reader->last];
	reader->last = IDMAP_NONE;
	frame = reader->is_plain ? last->frame : IDMAP_NONE;
	if (frame == IDMAP_NONE)
		frame = profile_named_frame(reader->profile, last->module, last->pc,
					    reader->inlined, reader->inlined_count);
	if (reader->is_plain)
		last->frame = frame;
	reader->inlined_count = 0;
	push_frame(reader, frame);
}

/*
 * A line of an incomplete frame is inlined into a function at the same address.
 */
static void perf_script_read_add_line(struct perf_script_read_reader *reader, uint32_t index)
{
	const struct place *place = &reader->places[index];
	const struct place *last = reader->last == IDMAP_NONE ? NULL
							      : &reader->places[reader->last];

	if (last && (!last->is_inlined || last->pc != place->pc ||
		     reader->inlined_count + place->count > SCRIPT_INLINED_MAX))
		finish_frame(reader);
	reader->is_plain = !reader->inlined_count;
	reader->last = index;
	for (uint32_t i = 0; i < place->count; i++) {
		GROW(reader->inlined, reader->inlined_count, reader->inlined_room);
		reader->inlined[reader->inlined_count++] =
			(struct profile_line){.function = reader->functions[place->first + i]};
	}
}

static bool perf_script_read_add_frame(struct perf_script_read_reader *reader, struct bytes line,
				       bool (*parse)(struct bytes line, struct script_frame *frame))
{
	string_id text = strtab_add_len(reader->lines, (const char *)line.at, bytes_left(&line));
	uint32_t *known = idmap_put(&reader->places_by_line, text, reader->is_java);
	struct script_frame frame;

	if (*known == IDMAP_NONE) {
		if (!parse(line, &frame)) {
			idmap_remove(&reader->places_by_line, text, reader->is_java);
			return false;
		}
		*known = perf_script_read_add_place(reader, &frame);
	}
	perf_script_read_add_line(reader, *known);
	return true;
}

/* Sets the file and line of the last line's innermost function. */
static void perf_script_read_add_source(struct perf_script_read_reader *reader, struct bytes file,
					uint32_t line)
{
	struct profile_line *last;
	struct profile_function function;

	if (!line)
		return;
	last = &reader->inlined[reader->inlined_count - reader->places[reader->last].count];
	function = *profile_get_function(reader->profile, last->function);
	function.file = perf_script_read_intern(reader, file);
	*last = (struct profile_line){
		.function = profile_function(reader->profile, &function),
		.line = line,
	};
	reader->is_plain = false;
}

static void perf_script_read_add_sample(struct perf_script_read_reader *reader)
{
	stack_id stack = STACK_EMPTY;

	finish_frame(reader);
	if (!reader->in_sample)
		return;
	if (reader->is_cut) {
		stack = profile_push(reader->profile, stack,
				     profile_synthetic_frame(reader->profile, "[truncated]"));
		reader->cut++;
	}
	while (reader->frame_count)
		stack = profile_push(reader->profile, stack, reader->frames[--reader->frame_count]);
	reader->timed.sample = profile_add(reader->profile, reader->labels, stack, reader->event,
					   reader->weight);
	if (reader->has_time)
		profile_add_timed_sample(reader->profile, &reader->timed);
	reader->in_sample = reader->is_single = reader->is_cut = false;
}

/* Returns the kind of a weight by the event's name in perf and prof. */
static enum value_kind kind_of_event(struct bytes name)
{
	static const struct {
		const char *name;
		enum value_kind kind;
	} times[] = {
		{"cpu-clock", VALUE_CPU_TIME},	      {"task-clock", VALUE_CPU_TIME},
		{"offcpu-time", VALUE_OFF_CPU_TIME},  {VALUE_OFF_CPU_EVENT, VALUE_OFF_CPU_TIME},
		{VALUE_AWAIT_EVENT, VALUE_WALL_TIME},
	};
	const unsigned char *colon = memchr(name.at, ':', bytes_left(&name));

	if (colon)
		name.end = colon;
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		if (bytes_are(name, times[i].name))
			return times[i].kind;
	return VALUE_COUNT;
}

static void perf_script_read_choose_event(struct perf_script_read_reader *reader,
					  const struct script_head *head)
{
	struct bytes name = head->event;
	uint32_t *event;
	string_id id;

	if (!bytes_left(&name))
		name = bytes_of("samples", strlen("samples"));
	id = perf_script_read_intern(reader, name);
	event = idmap_put(&reader->events, id, 0);
	if (*event == IDMAP_NONE) {
		struct profile_event new = {.name = id, .one_value = !head->has_period};

		if (head->has_period)
			new.kind = kind_of_event(name);
		new.unit = strtab_add(profile_strings(reader->profile),
				      head->has_period ? "" : "count");
		*event = profile_add_event(reader->profile, &new);
	}
	reader->event = *event;
	reader->weight = head->has_period && !profile_get_event(reader->profile, *event)->one_value
				 ? head->period
				 : 1;
}

static void perf_script_read_note_time(struct perf_script_read_reader *reader, uint64_t time_ns)
{
	if (time_ns < reader->first_ns)
		reader->first_ns = time_ns;
	if (time_ns > reader->last_ns)
		reader->last_ns = time_ns;
}

static void begin_sample(struct perf_script_read_reader *reader, const struct script_head *head)
{
	string_id name = perf_script_read_intern(reader, head->comm);
	const char *comm = profile_string(reader->profile, name);

	perf_script_read_add_sample(reader);
	if (head->is_record)
		return;
	perf_script_read_choose_event(reader, head);
	reader->in_sample = true;
	reader->is_java = bytes_begin(head->comm, "java");
	reader->labels = profile_thread_labels(reader->profile, head->pid, head->tid, comm, comm);
	reader->has_time = head->has_time;
	reader->timed = (struct profile_timed_sample){
		.time_ns = head->time_ns,
		.cpu = head->cpu,
	};
	if (head->has_time)
		perf_script_read_note_time(reader, head->time_ns);
	/* The text of a tracepoint is not a frame. */
	if (bytes_left(&head->rest))
		reader->is_single = perf_script_read_add_frame(reader, head->rest,
							       script_frame_find);
}

/*
 * Returns whether the line may be about a sample rather than a frame. perf
 * indents frames with a tab and aligns comms with spaces.
 */
static bool may_be_head(const struct perf_script_read_reader *reader, struct bytes line)
{
	return !reader->in_sample || reader->is_single || *line.at != '\t';
}

static void perf_script_read_line(struct perf_script_read_reader *reader, struct bytes line)
{
	struct script_head head;
	struct bytes file;
	uint32_t number;
	bool is_head = may_be_head(reader, line) && script_head_parse(line, &head);
	bool is_sure = is_head && (head.has_time || head.has_cpu);
	bool expects_frame = reader->in_sample && !reader->is_single;

	if (!is_sure && expects_frame &&
	    perf_script_read_add_frame(reader, line, script_frame_parse))
		return;
	if (is_head)
		begin_sample(reader, &head);
	else if (reader->in_sample && script_is_branches(line))
		reader->branches++;
	else if (reader->last != IDMAP_NONE && script_source_parse(line, &file, &number))
		perf_script_read_add_source(reader, file, number);
	else
		skip_line(reader);
}

/* Parses "# hostname : web1". */
static void take_header(struct bytes line, const char *key, char **ret)
{
	const unsigned char *colon = memchr(line.at, ':', bytes_left(&line));
	struct bytes name = {.at = line.at + 1, .end = colon};

	if (!colon || *ret || !bytes_are(script_trimmed(name), key))
		return;
	line.at = colon + 1;
	line = script_trimmed(line);
	*ret = xasprintf("%.*s", (int)bytes_left(&line), (const char *)line.at);
}

static void perf_script_read_comment(struct perf_script_read_reader *reader, struct bytes line)
{
	take_header(line, "cmdline", &reader->command);
	take_header(line, "hostname", &reader->host);
	take_header(line, "os release", &reader->kernel);
}

static struct error *perf_script_read_lines(struct perf_script_read_reader *reader, FILE *in)
{
	CLEANUP(line_reader_deinit) struct line_reader lines;

	line_reader_init(&lines, in, SCRIPT_LINE_BYTES_MAX, UINT64_MAX);
	errno = 0;
	while (line_reader_next(&lines)) {
		struct bytes line = bytes_of(lines.line, lines.len), text = script_trimmed(line);

		line.end = text.end;
		reader->line_number++;
		if (lines.is_cut)
			skip_line(reader);
		else if (bytes_begin(line, "#"))
			perf_script_read_comment(reader, line);
		else if (bytes_left(&text))
			perf_script_read_line(reader, line);
		else
			perf_script_read_add_sample(reader);
	}
	perf_script_read_add_sample(reader);
	return ferror(in) ? error_errno(errno ? errno : EIO, "read") : NULL;
}

/* Returns "s" for any number except one. */
static const char *perf_script_read_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static char *perf_script_read_problems_of(const struct perf_script_read_reader *reader)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (reader->unread)
		fprintf(out,
			"skipped %" PRIu64 " line%s that perf script does not print, the first "
			"is line %" PRIu64 "\n",
			reader->unread, perf_script_read_plural(reader->unread),
			reader->first_unread);
	if (reader->branches)
		fprintf(out, "skipped %" PRIu64 " line%s with branch stacks\n", reader->branches,
			perf_script_read_plural(reader->branches));
	if (reader->cut)
		fprintf(out,
			"dropped the outer callers of %" PRIu64 " stack%s of more than %d frames\n",
			reader->cut, perf_script_read_plural(reader->cut), SCRIPT_DEPTH_MAX);
	fclose(out);
	return text;
}

static void perf_script_read_set_info(struct perf_script_read_reader *reader)
{
	CLEANUP(free_ptr) char *problems = perf_script_read_problems_of(reader);
	bool has_times = profile_timed_samples(reader->profile).count;
	struct profile_info info = {
		.command = reader->command,
		.host = reader->host,
		.kernel = reader->kernel,
		.problems = problems,
		.start_ns = has_times ? reader->first_ns : 0,
		.duration_ns = has_times ? reader->last_ns - reader->first_ns : 0,
	};

	profile_set_info(reader->profile, &info);
}

struct error *perf_script_read(FILE *in, struct profile *profile)
{
	CLEANUP(perf_script_read_reader_deinit)
	struct perf_script_read_reader reader = {
		.profile = profile,
		.lines = strtab_new(),
		.last = IDMAP_NONE,
		.first_ns = UINT64_MAX,
	};
	struct error *err;

	profile_keep_timestamps(profile);
	profile_describe_module(profile, MODULE_NONE,
				&(struct profile_module){.kind = PROFILE_MODULE_NONE});
	err = perf_script_read_lines(&reader, in);
	if (!err && !profile_samples(profile).count)
		err = error_new("it contains no samples");
	if (err)
		return error_wrap(err, "read the text of perf script");
	profile_sort_timed_samples(profile);
	perf_script_read_set_info(&reader);
	return NULL;
}

/*
 * Returns whether the text starts with a line about a sample that has neither
 * time nor CPU, followed by a frame.
 */
static bool begins_untimed(struct bytes line, struct bytes next)
{
	struct script_head head;
	struct script_frame frame;

	return script_head_parse(line, &head) && script_frame_parse(next, &frame) &&
	       bytes_left(&frame.module);
}

static struct bytes perf_script_read_take_line(struct bytes *text)
{
	const unsigned char *end = memchr(text->at, '\n', bytes_left(text));
	struct bytes line = {.at = text->at, .end = end ? end : text->end};

	text->at = end ? end + 1 : text->end;
	return line;
}

bool perf_script_recognize(const unsigned char *first, size_t len)
{
	struct bytes text = bytes_of(first, len);

	if (bytes_begin(text, "# ========\n"))
		return true;
	while (bytes_left(&text)) {
		struct bytes line = perf_script_read_take_line(&text), rest = text;

		if (bytes_begin(line, "#"))
			continue;
		if (script_head_begins(line) ||
		    begins_untimed(line, perf_script_read_take_line(&rest)))
			return true;
	}
	return false;
}
