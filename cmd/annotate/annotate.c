/*
 * prof annotate: shows the samples of a function by source line and by instruction.
 */
#include "cmd/annotate/annotate.h"

#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/report/profile_header.h"
#include "cmd/ui/message.h"
#include "format/format.h"
#include "report/rows.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CANDIDATES_SHOWN = 10, CANDIDATE_COLUMNS = 200 };

static struct error *take_style(void *field, const char *argument)
{
	static const struct option_choice choices[] = {{"att", false}, {"intel", true}, {0}};
	int is_intel = false;
	struct error *err = option_choice("assembly syntax", choices, argument, &is_intel);

	*(bool *)field = is_intel;
	return err;
}

#define FIELD(name) offsetof(struct annotate_options, name)
#define IGNORED(letter, name) OPTION_UNLISTED(letter, name, NULL, FIELD(ignored), OPTION_IGNORED)

static const struct option_entry annotate_option_table[] = {
	OPTION_COMMON(INPUT, 'i', "input", "FILE", "read FILE, as the argument FILE", option_string,
		      FIELD(path)),
	OPTION_ENTRY(INPUT, 0, "source-dir", "DIR", "search for source files below DIR",
		     option_string, FIELD(source_dir)),
	INPUT_RANGE_ENTRIES(struct annotate_options, input),
	SELECTION_ENTRIES(struct annotate_options, selection),
	OPTION_COMMON(VIEW, 0, "asm", NULL, "also show the instructions", option_true,
		      FIELD(shows_code)),
	OPTION_COMMON(VIEW, 'M', "disassembler-style", "att|intel",
		      "choose the assembly syntax (default att)", take_style, FIELD(intel_syntax)),
	OPTION_COMMON(VIEW, 'C', "context", "N",
		      "show N lines around lines with samples (default 3)", option_count,
		      FIELD(context)),
	OPTION_COMMON(OUTPUT, 0, "json", NULL, "print JSON; prof-annotate(1) describes the schema",
		      option_true, FIELD(json)),
	PAGER_ENTRIES(struct annotate_options, pager),
	NAMES_ENTRY(struct annotate_options, names, NAMES_OF_TABLES),
	INPUT_ENTRIES(struct annotate_options, input),

	/* Options of perf annotate, for scripts. */
	OPTION_ENTRY(NONE, 's', "symbol", "FUNCTION", NULL, option_string, FIELD(function)),
	IGNORED(0, "stdio"),
	IGNORED(0, "stdio2"),
	IGNORED('f', "force"),
	IGNORED('l', "print-line"),
	IGNORED('P', "full-paths"),
	IGNORED('v', "verbose"),
	IGNORED('q', "quiet"),
	{0},
};
#undef FIELD
#undef IGNORED

/* Several functions match: the hint lists the hottest, one per line. */
static struct error *ambiguous(const struct annotation *annotation, const struct rows *rows)
{
	CLEANUP(free_ptr) char *list = NULL;
	uint32_t count = 0;
	size_t len;
	FILE *out = open_memstream(&list, &len);
	struct error *err;

	for (size_t i = 0; i < rows->count; i++) {
		CLEANUP(free_ptr) char *name = NULL;

		if (!annotation->chosen[rows->items[i].label] || count++ >= CANDIDATES_SHOWN)
			continue;
		name = table_name(rows->items[i].name, CANDIDATE_COLUMNS);
		fprintf(out, "%s%s", count > 1 ? "\n" : "", name);
	}
	if (count > CANDIDATES_SHOWN)
		fprintf(out, "\nand %u more", count - CANDIDATES_SHOWN);
	fclose(out);
	err = error_new("\"%s\" matches %u functions", annotation->options->function, count);
	return error_hint(err, "%s", list);
}

/* Returns true for instances of the same source, such as those of a template. */
static bool is_instance_of(const struct label *label, const struct label *other)
{
	return label->file && label->start_line && label->file == other->file &&
	       label->start_line == other->start_line;
}

/* Keeps all functions with samples if they are instances of one source.
 * Otherwise keeps only the hottest function of the name. */
static struct error *choose_among(struct annotation *annotation, const struct rows *rows)
{
	const struct label *labels = annotation->view.labels.items;
	bool *chosen = annotation->chosen;
	uint32_t others = 0;

	for (size_t i = 0; i < rows->count; i++) {
		uint32_t label = rows->items[i].label;

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
		return ambiguous(annotation, rows);
	if (!annotation->instances)
		return error_hint(error_new("no function with samples is called \"%s\"",
					    annotation->options->function),
				  "prof report %s --min 0 lists all functions", annotation->path);
	return NULL;
}

static struct error *annotate_choose(struct annotation *annotation)
{
	CLEANUP(rows_deinit) struct rows rows = {0};
	uint32_t named;
	struct error *err = view_functions(&annotation->view, annotation->options->function,
					   &annotation->chosen, &named);

	if (err)
		return err;
	rows_init(&rows, &annotation->view, ROW_FUNCTION);
	return choose_among(annotation, &rows);
}

static struct error *make_annotation(struct annotation *annotation)
{
	const struct annotate_options *options = annotation->options;
	enum name_style names = names_option_style(&options->names,
						   options->json ? NAMES_FULL : NAMES_SHORT);
	struct error *err = selection_view(&options->selection, annotation->profile,
					   annotation->path, names, &annotation->view);

	if (!err)
		err = annotate_choose(annotation);
	if (err)
		return err;
	function_sums_init(&annotation->sums, &annotation->view, annotation->chosen);
	return options->shows_code ? annotation_read_code(annotation) : NULL;
}

static struct error *annotate_show(const struct annotation *annotation)
{
	struct pager pager;
	struct table_writer writer = {.pager = &pager, .view = &annotation->view};
	struct error *err;

	if (annotation->options->json) {
		annotate_json(annotation, stdout);
		return NULL;
	}
	pager_open(&pager, &annotation->options->pager);
	writer.out = pager.out;
	profile_header(&writer, annotation->path, &annotation->options->selection);
	annotate_source(annotation, &writer);
	if (annotation->options->shows_code)
		annotate_code(annotation, &writer);
	err = pager_show(&pager);
	pager_close(&pager);
	return err;
}

static void everything_deinit(struct annotation *annotation)
{
	annotation_deinit(annotation);
	module_code_free(annotation->code);
	view_deinit(&annotation->view);
}

static int annotate(const struct annotate_options *options, const char *path)
{
	CLEANUP(input_deinit) struct input input = {0};
	struct source_downloads downloads = {.symbols = &options->input.symbols};
	CLEANUP(everything_deinit)
	struct annotation annotation = {.options = options, .path = path, .downloads = &downloads};
	struct error *err = input_read(path, &options->input, &input);

	if (!err) {
		annotation.profile = input.profile;
		err = make_annotation(&annotation);
	}
	if (!err)
		err = annotate_show(&annotation);
	return err ? message_failure(err) : STATUS_OK;
}

/* The arguments are FILE and FUNCTION, or FUNCTION alone. */
static struct error *annotate_take_word(struct annotate_options *options, const char *word)
{
	if (!options->function) {
		options->function = word;
		return NULL;
	}
	if (options->path)
		return error_hint(error_new("too many arguments: %s, %s and %s", options->path,
					    options->function, word),
				  "usage: prof annotate FILE FUNCTION");
	options->path = options->function;
	options->function = word;
	return NULL;
}

/* A directory is not a profile; a function may have the same name. */
static bool annotate_is_file(const char *word)
{
	struct stat st;

	return word && stat(word, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* FILE and FUNCTION may be given in any order. */
static void settle_words(struct annotate_options *options)
{
	const char *word = options->path;

	if (!word || annotate_is_file(word) || !annotate_is_file(options->function))
		return;
	options->path = options->function;
	options->function = word;
}

static struct error *annotate_parse(struct annotate_options *options, int argc, char **argv,
				    enum option_group *help)
{
	int rest = 0;

	for (; argc > 0; argc -= rest, argv += rest) {
		struct error *err = options_parse(annotate_option_table, argc, argv, options, &rest,
						  help);

		if (!err && !*help && rest < argc)
			err = annotate_take_word(options, argv[rest]);
		if (err || *help)
			return err;
		if (rest >= argc)
			break;
	}
	if (!options->function)
		return error_hint(error_new("no function to annotate"), "see prof annotate --help");
	if (!options->path && format_by_path(options->function) &&
	    annotate_is_file(options->function))
		return error_hint(error_new("no function to annotate in %s", options->function),
				  "prof annotate %s FUNCTION; prof report %s lists them",
				  options->function, options->function);
	settle_words(options);
	if (!options->path)
		options->path = input_default();
	return options->path ? NULL
			     : error_hint(error_new("no file to annotate from"),
					  "prof record COMMAND writes prof.pb.gz");
}

static int annotate_run(int argc, char **argv)
{
	struct annotate_options options = {.input.shows_progress = true, .context = 3};
	enum option_group help = GROUP_NONE;
	struct error *err = annotate_parse(&options, argc, argv, &help);
	int status = STATUS_OK;

	if (err)
		status = message_failure(error_usage(err));
	else if (help)
		status = help_print(&command_annotate, help);
	else
		status = annotate(&options, options.path);
	option_list_deinit(&options.ignored);
	selection_options_deinit(&options.selection);
	return status;
}

const struct command command_annotate = {
	.name = "annotate",
	.summary = "show the samples of a function by source line and instruction",
	.usage = "[FILE] FUNCTION [options]",
	.description =
		"Shows the samples of a function by source line. FUNCTION is its name, or a "
		"regular expression that matches only one function. FILE is any file that prof "
		"report reads (default prof.pb.gz, else perf.data).",
	.examples = "prof annotate parse\n"
		    "prof annotate --asm -M intel perf.data Parser::next\n"
		    "prof annotate --source-dir ~/src prof.pb.gz memchr\n"
		    "prof annotate --json parse",
	.options = annotate_option_table,
	.run = annotate_run,
};
