/*
 * Reads whether a thread runs, sleeps or is stopped. Source:
 * proc_pid_stat(5).
 */
#ifndef PROF_BASE_THREAD_STATE_H
#define PROF_BASE_THREAD_STATE_H

/*
 * Returns the letter of the thread's state: R if it is running or runnable, and
 * X (dead) if it has ended. path: of its stat file, "/proc/PID/task/TID/stat".
 */
char thread_state(const char *path);

#endif
