/*
 * The commands of prof: a const table, and one file per command.
 */
#ifndef PROF_CMD_COMMAND_H
#define PROF_CMD_COMMAND_H

#include <stdbool.h>

/* Exit statuses of prof itself. Commands that run a program return its status. */
enum {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127
};

/* The operands after the options: files, or a command that is run and has its own options. */
enum command_operands { OPERANDS_FILES, OPERANDS_COMMAND };

struct option_entry;

struct command {
	const char *name;
	const char *summary;	 /* a line for the list of commands, starting with a verb */
	const char *usage;	 /* the text after "prof NAME", a line for each form */
	const char *description; /* a paragraph for the help */
	const char *examples;	 /* lines of commands, for the help */
	const struct option_entry *options;
	/* The help refers to this command for options that both have. If NULL,
	 * the help lists all options. */
	const struct command *documented_by;
	enum command_operands operands;
	/* choices of the first operand, separated by spaces; NULL if any is
	 * allowed */
	const char *first_words;
	bool takes_records;   /* writes records as well as profiles */
	bool writes_profiles; /* the help lists the formats */
	/* argv[0] is the command's name. Returns the exit status. */
	int (*run)(int argc, char **argv);
};

extern const struct command command_annotate;
extern const struct command command_cargo;
extern const struct command command_convert;
extern const struct command command_diff;
extern const struct command command_doctor;
extern const struct command command_inside;
extern const struct command command_list;
extern const struct command command_record;
extern const struct command command_report;
extern const struct command command_script;
extern const struct command command_serve;
extern const struct command command_top;

/* All commands, in the order of the help; NULL at the end. */
extern const struct command *const commands[];

/* Returns NULL if no command has this name. */
const struct command *command_find(const char *name);

/* Returns the command name closest to a misspelled one, or NULL if none is close. */
const char *command_nearest(const char *name);

#endif
