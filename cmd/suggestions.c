#include "cmd/suggestions.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/shell_word.h"
#include "cmd/command.h"
#include "cmd/input/input.h"
#include "cmd/ui/message.h"
#include "cmd/ui/terminal.h"
#include "perf/permissions.h"
#include "proc/busiest.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUILT_PROGRAMS "target/release"

enum { SUGGESTIONS = 5 };

struct suggestion {
	char *command, *purpose;
};

/* Libraries and dependency files have an extension. */
static bool suggestions_is_program(int directory, const char *name, struct stat *st)
{
	return !strchr(name, '.') && fstatat(directory, name, st, 0) == 0 && S_ISREG(st->st_mode) &&
	       faccessat(directory, name, X_OK, 0) == 0;
}

/* Returns the path of the newest program that cargo has built here, or NULL. */
static char *suggestions_find_program(void)
{
	CLEANUP(close_dir) DIR *directory = opendir(BUILT_PROGRAMS);
	time_t newest = 0;
	char *path = NULL;

	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		struct stat st;

		if (!suggestions_is_program(dirfd(directory), entry->d_name, &st) ||
		    (path && st.st_mtime <= newest))
			continue;
		free(path);
		path = xasprintf("./%s/%s", BUILT_PROGRAMS, entry->d_name);
		newest = st.st_mtime;
	}
	return path;
}

static struct suggestion suggestions_of_program(void)
{
	CLEANUP(free_ptr) char *path = suggestions_find_program();
	CLEANUP(free_ptr) char *word = shell_word(path ? path : "./app");

	if (!path && access("Cargo.toml", F_OK) == 0)
		return (struct suggestion){xstrdup("prof cargo run --release"),
					   xstrdup("record this Rust project")};
	return (struct suggestion){xasprintf("prof record %s", word),
				   xstrdup(path ? "record this program" : "record a program")};
}

static struct suggestion suggestions_of_process(bool may_sample)
{
	bool is_root = geteuid() == 0;
	const char *sudo = is_root || may_sample ? "" : "sudo ";
	struct busiest busy;

	if (!busiest_process(geteuid(), is_root, &busy))
		return (struct suggestion){xasprintf("%sprof record -p PID --duration 10", sudo),
					   xstrdup("record a running process")};
	return (struct suggestion){
		xasprintf("%sprof record -p %d --duration 10", sudo, (int)busy.pid),
		xasprintf("record %s, which uses %.0f %% of a CPU", busy.name, 100 * busy.cpus)};
}

static struct suggestion suggestions_of_machine(bool may_sample)
{
	bool is_root = geteuid() == 0;

	if (is_root && !may_sample)
		return (struct suggestion){
			xstrdup("prof doctor"),
			xstrdup("find out why the whole machine cannot be recorded")};
	return (struct suggestion){
		xasprintf("%sprof record -a --duration 10", may_sample ? "" : "sudo "),
		xstrdup("record the whole machine")};
}

static struct suggestion suggestions_of_file(void)
{
	const char *file = input_default();

	return (struct suggestion){xstrdup("prof report"),
				   xasprintf("show the hottest functions of %s",
					     file ? file : "the last recording here")};
}

static void suggestions_print_rows(struct suggestion *rows)
{
	size_t width = 0;

	for (size_t i = 0; i < SUGGESTIONS; i++)
		if (strlen(rows[i].command) > width)
			width = strlen(rows[i].command);
	for (size_t i = 0; i < SUGGESTIONS; i++) {
		message_row("  %-*s   # %s", (int)width, rows[i].command, rows[i].purpose);
		free(rows[i].command);
		free(rows[i].purpose);
	}
}

bool suggestions_are_possible(void)
{
	return terminal_is_possible() && isatty(STDERR_FILENO);
}

int suggestions_print(const char *problem)
{
	struct permissions may;

	permissions_probe(0, &may);
	message("%s; for example:", problem);
	suggestions_print_rows((struct suggestion[SUGGESTIONS]){
		suggestions_of_program(),
		suggestions_of_process(!may.user),
		suggestions_of_machine(!may.cpus),
		{xasprintf("%sprof top", may.cpus && geteuid() != 0 ? "sudo " : ""),
		 xstrdup("show live what the machine does")},
		suggestions_of_file(),
	});
	message_row("prof -h lists all commands, prof doctor what can be recorded here");
	return STATUS_USAGE;
}
