#include "cmd/options/sampling_title.h"

#include "base/alloc.h"
#include "cmd/program_name.h"
#include "proc/names.h"

#include <stdlib.h>
#include <string.h>

/* So many processes, threads or CPUs are listed; of more, the first and the number of the rest. */
enum { LISTED_MAX = 3 };

static char *title_of_command(char *const *command, const char *program)
{
	char *title = program_name(program ? program : command[0]);

	for (size_t i = 1; command[i]; i++) {
		CLEANUP(free_ptr) char *before = title;

		title = xasprintf("%s %s", before, command[i]);
	}
	return title;
}

/* "nginx (pid 812), redis (pid 815)", "nginx (pid 812) and 7 more" */
static char *title_of_ids(const pid_t *ids, size_t count, const char *kind)
{
	CLEANUP(names_cleanup) struct names *names = names_new("/proc");
	size_t listed = count > LISTED_MAX ? 1 : count;
	char *title = xstrdup("");

	for (size_t i = 0; i < listed; i++) {
		CLEANUP(free_ptr) char *before = title;

		title = xasprintf("%s%s%s (%s %d)", before, i ? ", " : "",
				  names_get(names, ids[i], ids[i]), kind, (int)ids[i]);
	}
	if (listed < count) {
		CLEANUP(free_ptr) char *before = title;

		title = xasprintf("%s and %zu more", before, count - listed);
	}
	return title;
}

static char *title_of_cpus(const struct cpu_list *cpus)
{
	char *title;

	if (cpus->count > LISTED_MAX)
		return xasprintf("%zu CPUs", cpus->count);
	title = xstrdup(cpus->count > 1 ? "CPUs" : "CPU");
	for (size_t i = 0; i < cpus->count; i++) {
		CLEANUP(free_ptr) char *before = title;

		title = xasprintf("%s%s %u", before, i ? "," : "", cpus->items[i]);
	}
	return title;
}

char *sampling_title(const struct sampling_options *options, char *const *command,
		     const char *program)
{
	size_t given = options->pids.count - options->found_count;

	if (sampling_is_of_command(options))
		return title_of_command(command, program);
	if (options->user.is_given)
		return xasprintf("processes of user %u", (unsigned)options->user.id);
	if (target_is_chosen(&options->target))
		return target_text(&options->target);
	if (given)
		return title_of_ids(options->pids.items, given, "pid");
	if (options->tids.count)
		return title_of_ids(options->tids.items, options->tids.count, "tid");
	return options->cpus.count ? title_of_cpus(&options->cpus) : xstrdup("the whole machine");
}
