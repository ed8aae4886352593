/*
 * The commands of prof: a const table, and one file per command.
 */
#ifndef PROF_CMD_COMMAND_H
#define PROF_CMD_COMMAND_H

#include <stdbool.h>

/* Exit statuses of prof itself, where no command's status is passed on. */
enum {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127
};

/* What follows the options: files, or a command that is run and has options of its own. */
enum command_operands { OPERANDS_FILES, OPERANDS_COMMAND };

struct option_entry;

struct command {
	const char *name;
	const char *summary;
	const struct option_entry *options;
	enum command_operands operands;
	const char *first_words; /* choices of the first operand, with spaces between; NULL: any */
	bool takes_records;	 /* has the formats that hold records rather than a profile */
	/* argv[0] is the command's name. The result is the exit status. */
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

/* All of them, in the order of the help; NULL at the end. */
extern const struct command *const commands[];

/* NULL if no command has this name. */
const struct command *command_find(const char *name);

/* The command name closest to a misspelled one; NULL if none is close. */
const char *command_nearest(const char *name);

#endif
