/*
 * The state of a thread, parsed from the text of a file of /proc, NUL-terminated. Source: proc(5).
 */
#ifndef PROF_PERF_TASK_STATE_H
#define PROF_PERF_TASK_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* /proc/PID/task/TID/stat: whether it is runnable on that CPU. */
bool task_state_is_queued(const char *stat, unsigned cpu);

/* /proc/PID/task/TID/syscall: whether it waits in the kernel and has entered it at this sp and pc.
 */
bool task_state_waits_at(const char *syscall, uint64_t sp, uint64_t pc);

#endif
