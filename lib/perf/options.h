/*
 * The target and the options of a sampler.
 */
#ifndef PROF_PERF_OPTIONS_H
#define PROF_PERF_OPTIONS_H

#include "runtime/scripts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum target_kind {
	/* ids[0] is a child that will exec; sampling starts at the exec. */
	TARGET_COMMAND,
	/* Ids are processes; all present and future threads are sampled. */
	TARGET_PROCESSES,
	TARGET_THREADS, /* only the threads in ids are sampled */
	TARGET_SYSTEM,	/* every process on the CPUs is sampled */
};

/*
 * A rule that decides which processes belong to the target, at any time. They
 * are the processes in cgroups and in cgroups below them, or the processes
 * whose name matches and their children.
 */
struct target_rule {
	/* Descriptors of the cgroup directories, none of which contains
	 * another. Empty if the kernel cannot sample cgroups. */
	const int *cgroups;
	size_t cgroup_count;
	/* The first event samples only the first cgroup, the second event the
	 * second one, and so on. Otherwise each event samples all cgroups. */
	bool has_cgroup_per_event;
	char *const *names; /* globs for globs_match() */
	size_t name_count;
};

struct target {
	enum target_kind kind;
	const pid_t *ids;
	size_t id_count;
	const unsigned *cpus; /* NULL for all online CPUs */
	size_t cpu_count;
	bool inherit; /* follow forks and new threads */
	/*
	 * For a TARGET_COMMAND that inherits: it starts the commands to sample,
	 * which the caller passes to sampler_add_command(). Records of other
	 * processes are dropped.
	 */
	bool commands_later;
	/*
	 * For a TARGET_COMMAND that inherits: sample whole CPUs and drop
	 * records of processes outside the command's process tree, if that is
	 * allowed and suits the events. An inherited event restarts its period
	 * in each child, and would miss children that use less CPU time than
	 * that.
	 */
	bool prefers_cpus;
	/* The last found_count ids come from a listing of /proc. Processes that
	 * have exited or may not be sampled are skipped; it is an error if no
	 * id remains. */
	size_t found_count;
	/* For TARGET_PROCESSES: also sample the running descendants of the ids,
	 * and treat them as found. */
	bool with_children;
	/*
	 * For TARGET_PROCESSES: the rule of the target, or NULL. ids are the
	 * processes that it already applies to, possibly none. If it is
	 * allowed, whole CPUs are sampled (facts.follows_rule) and no process
	 * is missed. Otherwise the caller searches for processes and passes
	 * them to sampler_add_process().
	 */
	const struct target_rule *rule;
};

/* Copies the readable part of another process's memory and returns its length,
 * like memory_read() of proc/memory.h. */
typedef size_t memory_reader(pid_t tid, uint64_t address, void *into, size_t len);

struct sampler_options {
	/* Per CPU, rounded down to a power of two of pages; 0 to derive it from
	 * the sampling rates. */
	size_t ring_bytes;
	/* Record mmap events of data as well: perf reads CFI from such
	 * mappings. */
	bool data_mappings;
	/* For a TARGET_COMMAND that inherits: record context switches, if
	 * possible, until sampler_end_switches(). */
	bool switches;
	/* Record the context switches of all threads of the target in separate
	 * rings, which wake the reader only when half full: poll them by time.
	 * These include the records of `switches`, and they do not end. */
	bool waits;
	bool keeps_order; /* return records in time order across batches */
	/* Sample a TARGET_COMMAND from sampler_enable() on, not from the
	 * exec. */
	bool starts_late;

	/* Reads stacks for deep-stack capture (capture.h); NULL disables it. */
	memory_reader *read_memory;
	/* A copier that hangs in a read is abandoned after this time; 0 for 1
	 * s. */
	uint64_t read_timeout_ns;
	bool captures_from_start;
	/* Copy deep stacks in the kernel where possible (stack_program.h), so
	 * that they need no capture. */
	bool copies_in_kernel;
	/* The kernel copies whole stacks, because the records are written into
	 * a file. */
	bool copies_whole_stacks;
	/* Bits of the stack pointer and the pc in the register mask. */
	unsigned sp_bit, pc_bit;
	unsigned g_bit; /* bit of the register in which Go keeps its g */
	/* Processes whose interpreter's frames copiers read; borrowed, or
	 * NULL. */
	struct scripts *scripts;
};

#endif
