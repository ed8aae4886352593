#include "cmd/cargo/options.h"

#include <stddef.h>

#define FIELD(name) offsetof(struct cargo_options, name)

static struct error *cargo_options_refuse(void *field, const char *argument)
{
	(void)field;
	(void)argument;
	return error_hint(error_new("prof cargo samples the programs that cargo starts"),
			  "prof record samples running processes, CPUs or the whole machine");
}

/* Known options that are rejected with an explanation. */
#define REFUSED(letter, name, argument)                                                            \
	OPTION_ENTRY(NONE, letter, name, argument, NULL, cargo_options_refuse, 0)

#define PASS_ON(function, word)                                                                    \
	static struct error *function(void *field, const char *argument)                           \
	{                                                                                          \
		string_list_add(field, word);                                                      \
		if (argument)                                                                      \
			string_list_add(field, argument);                                          \
		return NULL;                                                                       \
	}

PASS_ON(pass_color, "--color")
PASS_ON(pass_config, "--config")
PASS_ON(pass_flag, "-Z")
PASS_ON(pass_frozen, "--frozen")
PASS_ON(pass_locked, "--locked")
PASS_ON(pass_offline, "--offline")

#define PASSED(letter, name, argument, function)                                                   \
	OPTION_ENTRY(NONE, letter, name, argument, NULL, function, FIELD(globals))

const struct option_entry cargo_option_table[] = {
	OPTION_COMMON(OUTPUT, 0, "each", NULL,
		      "write a profile per process; named after its test or benchmark (default "
		      "profiles/%e.pb.gz)",
		      option_true, FIELD(each)),
	RECORD_ENTRIES(struct cargo_options, record.),
	REFUSED('p', "pid", "PID[,PID]"),
	REFUSED('t', "tid", "TID[,TID]"),
	REFUSED('u', "uid", "USER"),
	REFUSED('G', "cgroup", "PATH"),
	REFUSED(0, "container", "ID|NAME"),
	REFUSED(0, "name", "NAME[,NAME]"),
	REFUSED('a', "all-cpus", NULL),
	REFUSED('C', "cpu", "LIST"),
	REFUSED('i', "no-inherit", NULL),
	PASSED(0, "color", "WHEN", pass_color),
	PASSED(0, "config", "KEY=VALUE", pass_config),
	PASSED('Z', NULL, "FLAG", pass_flag),
	PASSED(0, "frozen", NULL, pass_frozen),
	PASSED(0, "locked", NULL, pass_locked),
	PASSED(0, "offline", NULL, pass_offline),
	{0},
};
#undef FIELD

void cargo_options_init(struct cargo_options *options)
{
	*options = (struct cargo_options){0};
	record_options_init(&options->record);
}

void cargo_options_deinit(struct cargo_options *options)
{
	record_options_deinit(&options->record);
	string_list_deinit(&options->globals);
}
