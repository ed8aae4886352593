#include "cmd/help.h"

#include "base/alloc.h"
#include "cmd/ui/wrap.h"
#include "format/format.h"

#include <stdlib.h>
#include <string.h>

enum { HELP_SCREEN_LINES = 40 };

/* Prints each line of text after a prefix; the first line may have a prefix of its own. */
static void help_print_lines(const char *text, const char *first, const char *prefix, FILE *out)
{
	for (const char *line = text; *line; first = NULL) {
		size_t len = strcspn(line, "\n");

		fprintf(out, "%s%.*s\n", first ? first : prefix, (int)len, line);
		line += len + (line[len] == '\n');
	}
}

static void help_print_usage(const struct command *command, FILE *out)
{
	CLEANUP(free_ptr) char *first = xasprintf("Usage: prof %s ", command->name);
	CLEANUP(free_ptr) char *prefix = xasprintf("       prof %s ", command->name);

	help_print_lines(command->usage, first, prefix, out);
	fputc('\n', out);
	wrap_text(command->description, 0, 0, out);
	fputc('\n', out);
}

static void help_print_examples(const struct command *command, FILE *out)
{
	fprintf(out, "Examples:\n");
	help_print_lines(command->examples, NULL, "  ", out);
}

/* Prints the screen of -h, with the common options or all. */
static void help_print_common(const struct command *command, bool all, FILE *out)
{
	CLEANUP(free_ptr) char *groups = options_group_names(command->options);
	CLEANUP(free_ptr) char *rest = NULL;

	help_print_usage(command, out);
	fprintf(out, "%s:\n", all ? "Options" : "Common options");
	options_summarize(command->options, all, out);
	fputc('\n', out);
	help_print_examples(command, out);
	rest = all ? xasprintf("prof help %s describes the options by group, man prof-%s in "
			       "detail.",
			       command->name, command->name)
		   : xasprintf("prof %s --help lists all options, --help GROUP those of a group: "
			       "%s. Manual: man prof-%s",
			       command->name, groups, command->name);
	fputc('\n', out);
	wrap_text(rest, 0, 0, out);
}

static size_t help_count_lines(const char *text)
{
	size_t count = 0;

	for (; (text = strchr(text, '\n')); text++)
		count++;
	return count;
}

/* Returns the screen of -h; the caller frees it. */
static char *help_screen(const struct command *command, bool all)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	help_print_common(command, all, out);
	fclose(out);
	return text;
}

static void help_print_screen(const struct command *command)
{
	CLEANUP(free_ptr) char *all = help_screen(command, true);
	CLEANUP(free_ptr) char *common = help_screen(command, false);

	fputs(help_count_lines(all) <= HELP_SCREEN_LINES ? all : common, stdout);
}

static void help_print_formats(const struct command *command)
{
	printf("\nFormats, by the extension of FILE or by FORMAT:\n");
	for (const struct format *const *format = formats; *format; format++)
		if ((*format)->write || command->takes_records)
			printf("  %-17s %-10s %s\n", (*format)->extensions[0], (*format)->name,
			       (*format)->summary);
}

/* Refers to the command that documents options of this one. */
static void help_print_reference(const struct command *command)
{
	CLEANUP(free_ptr) char *groups = options_group_names(command->options);
	CLEANUP(free_ptr)
	char *text = xasprintf("Many options of prof %s also work: prof %s --help GROUP lists "
			       "those of a group: %s.",
			       command->documented_by->name, command->name, groups);

	printf("\n");
	wrap_text(text, 0, 0, stdout);
}

static void help_print_all(const struct command *command)
{
	const struct command *other = command->documented_by;

	help_print_usage(command, stdout);
	options_help(command->options, GROUP_ALL, other ? other->options : NULL, stdout);
	if (other)
		help_print_reference(command);
	if (command->writes_profiles)
		help_print_formats(command);
	printf("\n");
	help_print_examples(command, stdout);
	printf("\nManual: man prof-%s\n", command->name);
}

int help_print(const struct command *command, enum option_group requested)
{
	if (requested == GROUP_COMMON)
		help_print_screen(command);
	else if (requested == GROUP_ALL)
		help_print_all(command);
	else
		options_help(command->options, requested, NULL, stdout);
	return STATUS_OK;
}
