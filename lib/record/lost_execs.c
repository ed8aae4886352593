#include "record/lost_execs.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "proc/executed_file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void lost_execs_deinit(struct lost_execs *lost)
{
	for (size_t i = 0; i < lost->count; i++) {
		free(lost->items[i].name);
		free(lost->items[i].path);
	}
	*lost = (struct lost_execs){0};
}

/* Sets path and privileges if the file that a command executes explains the
 * loss. */
static bool explain_by(struct lost_exec *exec, char *const *argv)
{
	CLEANUP(free_ptr) char *path = NULL;
	int fd = executed_file_open(argv, &path);
	struct stat file;

	close_fd(&fd);
	if (!path || stat(path, &file) < 0)
		return false;
	exec->privileges = exec_privileges_of(path, &file);
	if (exec->privileges == EXEC_KEEPS_PRIVILEGES)
		return false;
	exec->path = STEAL(path);
	return true;
}

static bool explain_by_word(struct lost_exec *exec, char *word)
{
	char *const argv[] = {word, NULL};

	return *word && explain_by(exec, argv);
}

/* Reads the first word of a process's command line. It is empty if the process
 * has ended. */
static void read_first_word(pid_t pid, char word[PATH_MAX])
{
	CLEANUP(free_ptr) char *name = xasprintf("/proc/%d/cmdline", (int)pid);
	CLEANUP(close_file) FILE *file = fopen(name, "re");
	size_t len = file ? fread(word, 1, PATH_MAX - 1, file) : 0;

	word[len] = '\0';
}

/*
 * As root, prof does not open a path that another user chose. A process that
 * has ended has no command line, so its file is searched in PATH and in the
 * current directory.
 */
static void lost_execs_explain(struct lost_exec *exec, char *const *command, pid_t pid)
{
	CLEANUP(free_ptr) char *here = xasprintf("./%s", exec->name);
	char word[PATH_MAX] = "";

	if (command && explain_by(exec, command))
		return;
	if (geteuid() != 0)
		read_first_word(pid, word);
	if (!explain_by_word(exec, word) && !explain_by_word(exec, exec->name) && geteuid() != 0)
		explain_by_word(exec, here);
}

static void lost_execs_note(struct lost_execs *lost, const struct begun_exec *begun)
{
	for (size_t i = 0; i < lost->count; i++) {
		if (!strcmp(lost->items[i].name, begun->name)) {
			lost->items[i].count++;
			return;
		}
	}
	if (lost->count == LOST_EXECS_MAX) {
		lost->unlisted++;
		return;
	}
	lost->items[lost->count] = (struct lost_exec){.name = xstrdup(begun->name), .count = 1};
	lost_execs_explain(&lost->items[lost->count++], lost->command, begun->pid);
}

/* If there are too many, drops the oldest one, whose next record was lost. */
static void lost_execs_begin(struct lost_execs *lost, const struct record *record)
{
	struct begun_exec *begun;

	if (lost->begun_count == BEGUN_EXECS_MAX)
		memmove(lost->begun, lost->begun + 1, sizeof(*begun) * --lost->begun_count);
	begun = &lost->begun[lost->begun_count++];
	*begun = (struct begun_exec){.pid = record->pid};
	snprintf(begun->name, sizeof(begun->name), "%s", record->comm.name);
}

static void lost_execs_end(struct lost_execs *lost, const struct record *record)
{
	size_t kept = 0;

	for (size_t i = 0; i < lost->begun_count; i++) {
		if (lost->begun[i].pid != record->pid)
			lost->begun[kept++] = lost->begun[i];
		else if (record->type == RECORD_EXIT && record->tid == record->pid)
			lost_execs_note(lost, &lost->begun[i]);
	}
	lost->begun_count = kept;
}

void lost_execs_feed(struct lost_execs *lost, const struct record *record)
{
	switch (record->type) {
	case RECORD_COMM:
		lost_execs_end(lost, record);
		if (record->comm.exec)
			lost_execs_begin(lost, record);
		break;
	case RECORD_MMAP:
	case RECORD_EXIT:
		lost_execs_end(lost, record);
		break;
	case RECORD_LOST: /* lost records may be mappings */
		lost->begun_count = 0;
		break;
	default:
		break;
	}
}

/* Returns what the program has or does, and a specific fix if there is one. The
 * caller frees the text. */
static char *lost_execs_reason_text(const struct lost_exec *exec)
{
	switch (exec->privileges) {
	case EXEC_SETS_USER:
		return xstrdup("it runs as another user (set-user-ID);");
	case EXEC_SETS_GROUP:
		return xstrdup("it runs with another group (set-group-ID);");
	case EXEC_ADDS_CAPABILITIES:
		return xasprintf("it has file capabilities; record a copy without them "
				 "(cp %s COPY), or",
				 exec->path);
	case EXEC_FORBIDS_READING:
		return xasprintf("you may not read it; allow that (chmod a+r %s), or", exec->path);
	case EXEC_KEEPS_PRIVILEGES:
		break;
	}
	return xstrdup("it gained privileges, or you may not read it;");
}

char *lost_exec_text(const struct lost_exec *exec, bool is_of_command)
{
	CLEANUP(free_ptr) char *reason = lost_execs_reason_text(exec);
	CLEANUP(free_ptr)
	char *times = exec->count > 1 ? xasprintf(" (%" PRIu64 " executions)", exec->count)
				      : xstrdup("");

	return xasprintf("%s%s was not sampled, because the kernel removed its perf events at "
			 "exec: %s run prof as root (sudo)%s",
			 exec->path ? exec->path : exec->name, times, reason,
			 is_of_command ? " or with kernel.perf_event_paranoid=0" : "");
}
