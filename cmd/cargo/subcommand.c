#include "cmd/cargo/subcommand.h"

#include "cmd/command.h"

#include <string.h>

#define SUBCOMMAND_NAME "with-prof"

bool cargo_subcommand_is_meant(const char *program)
{
	return !strcmp(basename(program), "cargo-" SUBCOMMAND_NAME);
}

int cargo_subcommand_run(int argc, char **argv)
{
	static char command[] = "cargo";
	int first = argc > 1 && !strcmp(argv[1], SUBCOMMAND_NAME);

	argv[first] = command;
	return command_cargo.run(argc - first, argv + first);
}
