/*
 * What /proc tells of a thread that does not run. Pure: each takes the text of one file, which ends
 * with a NUL. Source: proc(5).
 */
#ifndef PROF_PERF_TASK_STATE_H
#define PROF_PERF_TASK_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* /proc/PID/task/TID/stat: is it ready to run, in the queue of that CPU? */
bool task_state_is_queued(const char *stat, unsigned cpu);

/* /proc/PID/task/TID/syscall: does it wait in the kernel, which it entered from there? */
bool task_state_waits_at(const char *syscall, uint64_t sp, uint64_t pc);

#endif
