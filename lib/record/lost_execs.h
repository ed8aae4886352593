/*
 * Detects programs that are not sampled because the kernel removed their perf
 * events at exec (proc/exec_privileges.h). The kernel does so unless whole CPUs
 * are sampled.
 *
 * In this case the kernel writes an EXIT record directly after the COMM record
 * of the exec. Programs that keep their events map files between both records.
 */
#ifndef PROF_RECORD_LOST_EXECS_H
#define PROF_RECORD_LOST_EXECS_H

#include "perf/record.h"
#include "proc/exec_privileges.h"

#include <stdbool.h>

struct lost_exec {
	char *name;			 /* of the process (comm) */
	char *path;			 /* the executed file; NULL if unknown */
	enum exec_privileges privileges; /* EXEC_KEEPS_PRIVILEGES if unknown */
	uint64_t count;
};

/* A process that has executed a program and has not mapped it yet. */
struct begun_exec {
	pid_t pid;
	char name[16]; /* TASK_COMM_LEN */
};

/* Maximum number of processes in exec at the same time, and of listed
 * programs. */
enum { BEGUN_EXECS_MAX = 64, LOST_EXECS_MAX = 8 };

/* A zeroed struct is empty. */
struct lost_execs {
	char *const *command; /* argv of the command that prof launches; borrowed; NULL for none */
	struct lost_exec items[LOST_EXECS_MAX];
	size_t count;
	uint64_t unlisted; /* executions of programs that are not listed */
	struct begun_exec begun[BEGUN_EXECS_MAX];
	size_t begun_count;
};

void lost_execs_deinit(struct lost_execs *lost);
/* Takes every record in time order. */
void lost_execs_feed(struct lost_execs *lost, const struct record *record);

/*
 * Returns a sentence that explains why the program was not sampled, and the
 * fix. The caller frees it. is_of_command is set if prof launched the target;
 * it then samples whole CPUs if it may.
 */
char *lost_exec_text(const struct lost_exec *exec, bool is_of_command);

#endif
