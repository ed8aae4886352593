#include "cmd/record/command_hint.h"

#include "base/alloc.h"
#include "base/pids.h"
#include "base/shell_word.h"
#include "cmd/command.h"
#include "cmd/program_name.h"
#include "cmd/ui/message.h"
#include "cmd/ui/options.h"
#include "record/process_choice.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A server that cannot bind its port may try again for seconds. */
enum { SOON_SECONDS = 5 };

/* Only root may record the processes of other users. */
static bool command_hint_needs_root(pid_t pid)
{
	uid_t owner = pids_owner(pid);

	return geteuid() != 0 && owner != PIDS_NO_OWNER && owner != geteuid();
}

/* Returns the number of processes of this name. *ret is one of them. */
static size_t command_hint_find(char *name, pid_t *ret)
{
	const struct process_choice choice = {.names = &name, .name_count = 1};
	CLEANUP(free_ptr) pid_t *pids = NULL;
	size_t count, found = 0;

	process_choice_list(&choice, &pids, &count);
	for (size_t i = 0; i < count; i++) {
		if (!pids_has_program(pids[i]))
			continue;
		*ret = pids[i];
		found++;
	}
	return found;
}

/* Returns a line with the command that records the running processes of this name, or NULL. */
static char *command_hint_running(const char *name, const char *prof)
{
	CLEANUP(free_ptr) char *comm = program_comm(name);
	CLEANUP(free_ptr) char *word = shell_word(comm);
	pid_t pid;
	size_t count = *comm && !strpbrk(comm, "*?[\\,") ? command_hint_find(comm, &pid) : 0;
	const char *sudo;

	if (!count)
		return NULL;
	sudo = command_hint_needs_root(pid) ? "sudo " : "";
	return count == 1
		       ? xasprintf("%sprof %s -p %d   # the running %s", sudo, prof, (int)pid, comm)
		       : xasprintf("%sprof %s --name %s   # %zu running processes", sudo, prof,
				   word, count);
}

/* Returns a line for a command that is a number, or NULL if it is not. */
static char *command_hint_number(const char *name, bool is_target, const char *prof)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%s", name);
	uint64_t ns = 0;
	struct error *err = option_time(&ns, name);

	error_free(err);
	if (err || !isdigit((unsigned char)*name))
		return NULL;
	if (is_target && access(path, F_OK) == 0)
		return xasprintf("prof %s -p %s   # the running process", prof, name);
	return !strcmp(prof, "record") ? xasprintf("--duration %s   # stops after %s s", name, name)
				       : NULL;
}

/* Returns a line for a program of this name in a usual directory, or NULL. */
static char *command_hint_file(const char *name, const char *prof)
{
	static const char *const directories[] = {".", "target/release", "target/debug", "build"};

	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/%s", directories[i], name);
		CLEANUP(free_ptr) char *word = shell_word(path);
		struct stat st;

		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0)
			return xasprintf("prof %s %s", prof, word);
	}
	return NULL;
}

struct error *command_hint(struct error *err, const struct recording *recording, const char *prof)
{
	const char *name = recording->command[0]; /* NULL if there is no command */
	int refusal = recording->launch.refusal;
	bool is_target = recording->is_of_command, is_path = name && strchr(name, '/');
	CLEANUP(free_ptr) char *line = NULL;

	/* Without permission to search a directory of PATH, a missing command is EACCES. */
	if (!err || (refusal != ENOENT && (refusal != EACCES || is_path)))
		return err;
	line = command_hint_number(name, is_target, prof);
	if (!line && is_target)
		line = command_hint_running(name, prof);
	if (!line && is_target && !is_path)
		line = command_hint_file(name, prof);
	if (line)
		return error_hint(err, "%s", line);
	return is_path ? err : error_hint(err, "no such command in PATH");
}

void command_hint_after(const struct recording *recording, int status)
{
	CLEANUP(free_ptr) char *line = NULL;

	if (status == STATUS_OK || recording->quiet || !recording->is_of_command ||
	    recording->command[1] || recording_seconds(recording) > SOON_SECONDS)
		return;
	line = command_hint_running(recording->command[0], "record");
	if (line)
		message("%s failed; did you mean %s", recording->command[0], line);
}
