/*
 * The commands of prof: one const table in main.c, one file a command.
 */
#ifndef PROF_CMD_COMMAND_H
#define PROF_CMD_COMMAND_H

/* Exit statuses of prof itself, where no command's status is passed on. */
enum {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127
};

struct command {
	const char *name;
	const char *summary;
	/* argv[0] is the command's name. The result is the exit status. */
	int (*run)(int argc, char **argv);
};

extern const struct command command_annotate;
extern const struct command command_convert;
extern const struct command command_diff;
extern const struct command command_record;
extern const struct command command_report;
extern const struct command command_top;

#endif
