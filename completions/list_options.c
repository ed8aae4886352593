/*
 * Prints the option tables of all commands, for complete.py, which makes the shells' completions of
 * them. Lines of fields between tabs:
 *
 *	command NAME FILES|COMMAND WORDS SUMMARY    WORDS: the first operand's choices; may be empty
 *	option LETTER NAME ARGUMENT HELP     of the last command; a field may be empty
 *	format NAME SUMMARY                  one that the last command writes
 */
#include "cmd/command.h"
#include "cmd/ui/options.h"
#include "format/format.h"

static const char *text(const char *maybe)
{
	return maybe ? maybe : "";
}

static void list_command(const struct command *command)
{
	printf("command\t%s\t%s\t%s\t%s\n", command->name,
	       command->operands == OPERANDS_COMMAND ? "COMMAND" : "FILES",
	       text(command->first_words), command->summary);
	for (const struct option_entry *entry = command->options; !option_is_end(entry); entry++)
		if (entry->group)
			printf("option\t%.1s\t%s\t%s\t%s\n", &entry->letter, text(entry->name),
			       text(entry->argument), entry->help);
	for (const struct format *const *format = formats; *format; format++)
		if ((*format)->write || command->takes_records)
			printf("format\t%s\t%s\n", (*format)->name, (*format)->summary);
}

int main(void)
{
	for (const struct command *const *command = commands; *command; command++)
		list_command(*command);
	return fflush(stdout) != 0 || ferror(stdout);
}
