#include "cmd/command.h"

#include "base/alloc.h"
#include "base/nearest.h"

#include <string.h>

const struct command *const commands[] = {
	&command_record,
	&command_cargo,
	&command_report,
	&command_annotate,
	&command_top,
	&command_diff,
	&command_convert,
	&command_script,
	&command_serve,
	&command_inside,
	&command_list,
	&command_doctor,
	NULL,
};

const struct command *command_find(const char *name)
{
	for (const struct command *const *command = commands; *command; command++)
		if (!strcmp(name, (*command)->name))
			return *command;
	return NULL;
}

const char *command_nearest(const char *name)
{
	const char *names[ARRAY_SIZE(commands)] = {NULL};

	for (size_t i = 0; commands[i]; i++)
		names[i] = commands[i]->name;
	return nearest(name, names);
}
