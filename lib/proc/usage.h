/*
 * CPU time and memory of processes, and of the machine, cheap enough to be read every second.
 * Sources: proc_pid_stat(5), proc_pid_statm(5), proc_tid_children(5), proc_stat(5),
 * proc_meminfo(5), proc_loadavg(5). proc is "/proc". What cannot be read counts as 0.
 */
#ifndef PROF_PROC_USAGE_H
#define PROF_PROC_USAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct usage {
	uint64_t cpu_ns;
	uint64_t memory_bytes;
};

/* Of these processes and all of their living descendants, each once; their CPU time includes that
 * of children that have been waited for. Memory is resident memory. */
struct usage usage_of_processes(const char *proc, const pid_t *pids, size_t count);
/* How long a process was in the kernel in its life, without its children. */
uint64_t usage_in_kernel_ns(const char *proc, pid_t pid);
/*
 * How long a thread has had a CPU in its life; UINT64_MAX: unknown. Source: schedstat of
 * proc_pid_task(5).
 */
uint64_t usage_of_thread(const char *proc, pid_t pid, pid_t tid);
/* Resident pages of files that this process has mapped. */
uint64_t usage_of_mapped_files(void);
/* The mean CPU time of a CPU, and the memory that is not available. */
struct usage usage_of_machine(const char *proc);
/* The load average of the last minute. */
double usage_load(const char *proc);

#endif
