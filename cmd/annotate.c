/*
 * prof annotate: where in a function the samples are, by line of source and by instruction.
 */
#include "cmd/annotate.h"

#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/message.h"
#include "format/format.h"
#include "report/top.h"

#include <string.h>
#include <unistd.h>

enum { CANDIDATES_SHOWN = 10, CANDIDATE_COLUMNS = 200 };

static struct error *take_style(void *field, const char *argument)
{
	if (strcmp(argument, "intel") != 0 && strcmp(argument, "att") != 0)
		return error_new("\"%s\" is none of att and intel", argument);
	*(bool *)field = !strcmp(argument, "intel");
	return NULL;
}

#define ENTRY(letter, name, argument, help, take, member)                                          \
	OPTION_ENTRY(letter, name, argument, help, take, offsetof(struct annotate_options, member))
#define PASSED_OVER(letter, name)                                                                  \
	{                                                                                          \
		letter, name, NULL, NULL, NULL, offsetof(struct annotate_options, passed_over),    \
			OPTION_PASSED_OVER                                                         \
	}

static const struct option_entry table[] = {
	ENTRY('i', "input", "FILE", "the same as FILE", option_string, path),
	ENTRY(0, "asm", NULL, "the instructions, too", option_true, shows_code),
	ENTRY('M', "disassembler-style", "STYLE", "of instructions: att or intel; att if not said",
	      take_style, intel_syntax),
	ENTRY(0, "source-dir", "DIR", "the sources are below DIR", option_string, source_dir),
	ENTRY('C', "context", "N", "lines around those with samples; 3 if not said", option_count,
	      context),
	SELECTION_ENTRIES(struct annotate_options, selection),
	ENTRY(0, "json", NULL, "for programs: the schema is in prof-annotate(1)", option_true,
	      json),
	SCREEN_ENTRIES(struct annotate_options, screen),
	INPUT_ENTRIES(struct annotate_options, input),
	/* As scripts have them for perf annotate. */
	ENTRY('s', "symbol", "FUNCTION", NULL, option_string, function),
	PASSED_OVER(0, "stdio"),
	PASSED_OVER(0, "stdio2"),
	PASSED_OVER('f', "force"),
	PASSED_OVER('l', "print-line"),
	PASSED_OVER('q', "quiet"),
	{0},
};

static int print_help(void)
{
	printf("Usage: prof annotate [FILE] FUNCTION [options]\n\n"
	       "Shows where in a function the samples are, line by line. FUNCTION is its name, or "
	       "a "
	       "regular\nexpression that only one name has in it. FILE is as for prof report.\n\n");
	options_help(table, stdout);
	return STATUS_OK;
}

/* Several functions are meant: the hottest of them, a line each. */
static struct error *ambiguous(const struct annotation *annotation, const struct top *top)
{
	CLEANUP(free_ptr) char *list = NULL;
	uint32_t count = 0;
	size_t len;
	FILE *out = open_memstream(&list, &len);
	struct error *err;

	for (size_t i = 0; i < top->count; i++) {
		CLEANUP(free_ptr) char *name = NULL;

		if (!annotation->chosen[top->rows[i].label] || count++ >= CANDIDATES_SHOWN)
			continue;
		name = pen_name(top->rows[i].name, CANDIDATE_COLUMNS);
		fprintf(out, "%s%s", count > 1 ? "\n" : "", name);
	}
	if (count > CANDIDATES_SHOWN)
		fprintf(out, "\nand %u more", count - CANDIDATES_SHOWN);
	fclose(out);
	err = error_new("%u functions are called like \"%s\"", count,
			annotation->options->function);
	return error_hint(err, "%s", list);
}

/* Made of the same source, as instances of a template are. */
static bool is_instance_of(const struct label *label, const struct label *other)
{
	return label->file && label->start_line && label->file == other->file &&
	       label->start_line == other->start_line;
}

/* Those that have samples, and are instances of one source; of the same name the hottest. */
static struct error *choose_among(struct annotation *annotation, const struct top *top)
{
	const struct label *labels = annotation->view.labels.items;
	bool *chosen = annotation->chosen;
	uint32_t others = 0;

	for (size_t i = 0; i < top->count; i++) {
		uint32_t label = top->rows[i].label;

		if (!chosen[label])
			continue;
		if (!annotation->instances++) {
			annotation->label = label;
			continue;
		}
		if (is_instance_of(&labels[label], &labels[annotation->label]))
			continue;
		others += strcmp(labels[label].name, labels[annotation->label].name) != 0;
		if (!others) {
			chosen[label] = false;
			annotation->instances--;
		}
	}
	if (others)
		return ambiguous(annotation, top);
	if (!annotation->instances)
		return error_hint(error_new("no function with samples is called \"%s\"",
					    annotation->options->function),
				  "prof report %s --min 0 lists all there are", annotation->path);
	return NULL;
}

static struct error *choose(struct annotation *annotation)
{
	CLEANUP(top_deinit) struct top top = {0};
	uint32_t named;
	struct error *err = view_functions(&annotation->view, annotation->options->function,
					   &annotation->chosen, &named);

	if (err)
		return err;
	top_init(&top, &annotation->view, TOP_FUNCTION);
	return choose_among(annotation, &top);
}

static struct error *make_annotation(struct annotation *annotation)
{
	const struct annotate_options *options = annotation->options;
	struct error *err = selection_view(&options->selection, annotation->profile,
					   annotation->path, &annotation->view);

	if (!err)
		err = choose(annotation);
	if (err)
		return err;
	listing_init(&annotation->listing, &annotation->view, annotation->chosen);
	return options->shows_code ? annotation_read_code(annotation) : NULL;
}

static struct error *show(const struct annotation *annotation)
{
	struct screen screen;
	struct pen pen = {.screen = &screen, .view = &annotation->view};
	struct error *err;

	if (annotation->options->json) {
		annotate_json(annotation, stdout);
		return NULL;
	}
	screen_open(&screen, &annotation->options->screen);
	pen.out = screen.out;
	pen_header(&pen, annotation->path, &annotation->options->selection);
	annotate_source(annotation, &pen);
	if (annotation->options->shows_code)
		annotate_code(annotation, &pen);
	err = screen_show(&screen);
	screen_close(&screen);
	return err;
}

static void everything_deinit(struct annotation *annotation)
{
	annotation_deinit(annotation);
	code_close(&annotation->code);
	view_deinit(&annotation->view);
}

static int annotate(const struct annotate_options *options, const char *path)
{
	CLEANUP(input_deinit) struct input input = {0};
	CLEANUP(everything_deinit)
	struct annotation annotation = {.options = options, .path = path};
	struct error *err = input_read(path, &options->input, &input);

	if (!err) {
		annotation.profile = input.profile;
		err = make_annotation(&annotation);
	}
	if (!err)
		err = show(&annotation);
	return err ? message_failure(err, STATUS_FAILED) : STATUS_OK;
}

/* Words are FILE and FUNCTION, or only the latter. */
static struct error *take_word(struct annotate_options *options, const char *word)
{
	if (!options->function) {
		options->function = word;
		return NULL;
	}
	if (options->path)
		return error_hint(error_new("more than a file and a function: %s, %s and %s",
					    options->path, options->function, word),
				  "prof annotate FILE FUNCTION");
	options->path = options->function;
	options->function = word;
	return NULL;
}

static bool is_file(const char *word)
{
	return word && access(word, F_OK) == 0;
}

/* In whatever order they were typed. */
static void settle_words(struct annotate_options *options)
{
	const char *word = options->path;

	if (!word || is_file(word) || !is_file(options->function))
		return;
	options->path = options->function;
	options->function = word;
}

static struct error *parse(struct annotate_options *options, int argc, char **argv, bool *help)
{
	int rest = 0;

	for (; argc > 0; argc -= rest, argv += rest) {
		struct error *err = options_parse(table, argc, argv, options, &rest, help);

		if (!err && !*help && rest < argc)
			err = take_word(options, argv[rest]);
		if (err || *help)
			return err;
		if (rest >= argc)
			break;
	}
	if (!options->function)
		return error_hint(error_new("no function to annotate"),
				  "prof annotate --help says more");
	if (!options->path && format_by_path(options->function) && is_file(options->function))
		return error_hint(error_new("no function to annotate in %s", options->function),
				  "prof annotate %s FUNCTION; prof report %s lists them",
				  options->function, options->function);
	settle_words(options);
	if (!options->path)
		options->path = input_default();
	return options->path ? NULL
			     : error_hint(error_new("no file to look into"),
					  "prof record COMMAND makes prof.pb.gz");
}

static int annotate_run(int argc, char **argv)
{
	struct annotate_options options = {.input.shows_progress = true, .context = 3};
	bool help = false;
	struct error *err = parse(&options, argc, argv, &help);
	int status = STATUS_OK;

	if (err)
		status = message_failure(err, STATUS_USAGE);
	else if (help)
		status = print_help();
	else
		status = annotate(&options, options.path);
	option_list_deinit(&options.passed_over);
	return status;
}

const struct command command_annotate = {
	.name = "annotate",
	.summary = "where in a function the samples are, line by line",
	.run = annotate_run,
};
