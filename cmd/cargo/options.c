#include "cmd/cargo/options.h"

#include <stddef.h>

#define FIELD(name) offsetof(struct cargo_options, name)

static struct error *refuse(void *field, const char *argument)
{
	(void)field;
	(void)argument;
	return error_hint(error_new("prof cargo samples the programs that cargo starts"),
			  "prof record samples running processes, CPUs or the whole machine");
}

/* Taken, so that they are not unknown. */
#define REFUSED(letter, name, argument) OPTION_ENTRY(letter, name, argument, NULL, refuse, 0)

const struct option_entry cargo_option_table[] = {
	OPTION_ENTRY(0, "each", NULL,
		     "write a profile per process, named after its test or benchmark (default "
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
	{0, NULL, NULL, NULL, NULL, 0, OPTION_WORKS},
};

void cargo_options_init(struct cargo_options *options)
{
	*options = (struct cargo_options){0};
	record_options_init(&options->record);
}

void cargo_options_deinit(struct cargo_options *options)
{
	record_options_deinit(&options->record);
}
