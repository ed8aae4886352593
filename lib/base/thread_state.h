/*
 * Reads whether a thread runs, sleeps or is stopped. Source:
 * proc_pid_stat(5).
 */
#ifndef PROF_BASE_THREAD_STATE_H
#define PROF_BASE_THREAD_STATE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Returns the letter of the thread's state: R if it is running or runnable, and
 * X (dead) if it has ended. path: of its stat file, "/proc/PID/task/TID/stat".
 */
char thread_state(const char *path);

/*
 * Returns whether a thread of this process sleeps instead of being runnable. A
 * thread that has not run yet, whose tid is 0, does not sleep.
 */
bool thread_is_asleep(pid_t tid);

#endif
