/*
 * Programs that are not sampled because the kernel removed their perf events at exec
 * (proc/exec_privileges.h). It does so unless whole CPUs are sampled.
 *
 * The kernel then writes an EXIT record directly after the COMM record of the exec. Other programs
 * map files between both records.
 */
#ifndef PROF_RECORD_LOST_EXECS_H
#define PROF_RECORD_LOST_EXECS_H

#include "perf/record.h"
#include "proc/exec_privileges.h"

#include <stdbool.h>

struct lost_exec {
	char *name;			 /* of the process (comm) */
	char *path;			 /* the executed file; NULL: unknown */
	enum exec_privileges privileges; /* EXEC_KEEPS_PRIVILEGES: unknown */
	uint64_t count;
};

/* A process that has executed a program and not mapped it yet. */
struct begun_exec {
	pid_t pid;
	char name[16]; /* TASK_COMM_LEN */
};

/* Processes that are in exec at the same time, and programs that are listed. */
enum { BEGUN_EXECS_MAX = 64, LOST_EXECS_MAX = 8 };

/* Zeroed: none. */
struct lost_execs {
	char *const *command; /* argv of the command that prof launches, borrowed; NULL: none */
	struct lost_exec items[LOST_EXECS_MAX];
	size_t count;
	uint64_t unlisted; /* executions of further programs */
	struct begun_exec begun[BEGUN_EXECS_MAX];
	size_t begun_count;
};

void lost_execs_deinit(struct lost_execs *lost);
/* To be called for every record, in time order. */
void lost_execs_feed(struct lost_execs *lost, const struct record *record);

/* Why the program was not sampled and what helps, as one sentence; the caller frees it.
 * is_of_command: prof launched the target, and samples whole CPUs if it may. */
char *lost_exec_text(const struct lost_exec *exec, bool is_of_command);

#endif
