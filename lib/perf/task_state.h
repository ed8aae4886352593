/*
 * Parses the state of a thread from the NUL-terminated text of /proc files.
 * Source: proc(5).
 */
#ifndef PROF_PERF_TASK_STATE_H
#define PROF_PERF_TASK_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the thread ran last on the CPU and is runnable, or blocked if
 * or_blocked is set. stat is the text of /proc/PID/task/TID/stat. */
bool task_state_is_on(const char *stat, unsigned cpu, bool or_blocked);

/* Returns whether the thread is blocked in the kernel, which it entered at this
 * sp and pc. syscall is the text of /proc/PID/task/TID/syscall. */
bool task_state_waits_at(const char *syscall, uint64_t sp, uint64_t pc);

#endif
