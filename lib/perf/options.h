/*
 * What a sampler is opened with: the target and the options.
 */
#ifndef PROF_PERF_OPTIONS_H
#define PROF_PERF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum target_kind {
	TARGET_COMMAND,	  /* ids[0]: a child that will exec; sampling starts at the exec */
	TARGET_PROCESSES, /* ids: every present and future thread of these processes */
	TARGET_THREADS,	  /* ids: these threads only */
	TARGET_SYSTEM,	  /* every process on the CPUs */
};

/*
 * A rule by which processes belong to the target, whenever they begin: those of cgroups and their
 * descendants, or those with a name that matches, and their children.
 */
struct target_rule {
	/* Descriptors of their directories, none of which is in another, where events of cgroups
	 * are possible; else none. */
	const int *cgroups;
	size_t cgroup_count;
	/* The first event samples the first cgroup alone, the second event the second one, and so
	 * on; else each event samples all cgroups. */
	bool has_cgroup_per_event;
	char *const *names; /* globs, as globs_match() */
	size_t name_count;
};

struct target {
	enum target_kind kind;
	const pid_t *ids;
	size_t id_count;
	const unsigned *cpus; /* NULL: all online CPUs */
	size_t cpu_count;
	bool inherit; /* follow forks and new threads */
	/*
	 * A TARGET_COMMAND that inherits: it starts the commands that are sampled, which are given
	 * to sampler_add_command(). Records of other processes are dropped.
	 */
	bool commands_later;
	/*
	 * A TARGET_COMMAND that inherits: sample whole CPUs and drop records of other processes
	 * than the command's process tree, if that is allowed and suits the events. An inherited
	 * event begins its period anew in each child, so it would miss children that live shorter
	 * than that.
	 */
	bool prefers_cpus;
	/* So many of the ids, the last ones, come from a listing of /proc. Processes that have
	 * ended or may not be sampled are skipped; it is an error if that leaves none. */
	size_t found_count;
	/* Of TARGET_PROCESSES: descendants of the ids that run already are sampled, too, and
	 * treated as found. */
	bool with_children;
	/*
	 * Of TARGET_PROCESSES: ids are those that the rule applies to by now, maybe none; NULL:
	 * there is no rule. Where it is allowed, whole CPUs are sampled (facts.follows_rule) and no
	 * process is missed; else the caller looks for processes, and gives them to
	 * sampler_add_process().
	 */
	const struct target_rule *rule;
};

/* Copies what can be read of another process's memory and returns its length; memory_read() of
 * proc/memory.h is one. */
typedef size_t memory_reader(pid_t tid, uint64_t address, void *into, size_t len);

struct sampler_options {
	size_t ring_bytes;  /* per CPU; rounded down to a power of two of pages; 0: by the rates */
	bool data_mappings; /* mmap records for data, too: perf reads CFI from such mappings */
	bool switches;	    /* of a TARGET_COMMAND that inherits: records of context switches, if
			       possible, until sampler_end_switches() */
	/* Records of the context switches of all threads of the target, in rings of their own,
	 * which wake the reader only when half full: read them by time. They are those of
	 * `switches`, too, and do not end. */
	bool waits;
	bool keeps_order; /* records come in order of their times over all batches */
	bool starts_late; /* a TARGET_COMMAND is sampled from sampler_enable() on, not from exec */

	/* Deep-stack capture (capture.h); NULL: never. */
	memory_reader *read_memory;
	uint64_t read_patience_ns; /* after which a copier that reads is left behind; 0: 1 s */
	bool captures_from_start;
	bool copies_in_kernel;	  /* stacks that capture is not needed for, if possible
				     (stack_program.h) */
	bool copies_whole_stacks; /* by it, for a file of the records */
	unsigned sp_bit, pc_bit;  /* of the stack pointer and the pc in the mask of registers */
	unsigned g_bit;		  /* likewise of the register in which Go keeps its g */
};

#endif
