/*
 * Reads CPU time and memory usage of processes and of the machine, cheaply
 * enough for once per second. `proc` is "/proc". Values that cannot be read
 * count as 0. Sources: proc_pid_stat(5), proc_pid_statm(5),
 * proc_tid_children(5), proc_stat(5), proc_meminfo(5), proc_loadavg(5).
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

/*
 * Returns the usage of these processes and all of their living descendants,
 * each counted once. CPU time includes that of children that were waited for.
 * Memory is resident memory.
 */
struct usage usage_of_processes(const char *proc, const pid_t *pids, size_t count);
/*
 * Returns the total time that a process spent in the kernel, without its
 * children.
 */
uint64_t usage_in_kernel_ns(const char *proc, pid_t pid);
/*
 * Returns the total CPU time of a thread, or UINT64_MAX if unknown. Source:
 * schedstat of proc_pid_task(5).
 */
uint64_t usage_of_thread(const char *proc, pid_t pid, pid_t tid);
/* Returns the resident file-backed memory of this process. */
uint64_t usage_of_mapped_files(void);
/*
 * Returns the CPU time per CPU, averaged over all CPUs, and the memory that is
 * not available.
 */
struct usage usage_of_machine(const char *proc);
/* Returns the 1-minute load average. */
double usage_load(const char *proc);

#endif
