/*
 * The options of a recorder: the target, the events and the contents of the
 * profile.
 *
 * All pointers are borrowed and must outlive the recorder.
 */
#ifndef PROF_RECORD_CONFIG_H
#define PROF_RECORD_CONFIG_H

#include "inside/file.h"
#include "perf/event.h"
#include "record/listener.h"
#include "record/process_choice.h"
#include "unwind/call_chain.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Defaults. Members that have no constant here default to 0. */
enum {
	/* Not 1000, so that sampling does not run in lockstep with activity
	 * that repeats every millisecond. */
	RECORD_FREQUENCY_HZ = 999,
	RECORD_DUMP_BYTES = 32 << 10,
	RECORD_DEPTH = UNWIND_DEPTH_MAX,
};

/* The highest frequency that the kernel allows. */
#define RECORD_FREQUENCY_MAX UINT64_MAX

/* How CPU time is sampled. */
enum record_via {
	RECORD_VIA_AUTO, /* perf events, or the preloaded agent if they are refused */
	RECORD_VIA_PERF,
	RECORD_VIA_INSIDE, /* the preloaded agent (libprof-inside.so): only CPU time of a command */
};

struct record_config {
	/* The target: a command that launch_prepare() has started, else
	 * processes, else threads, else the whole system. */
	struct {
		pid_t command;		    /* 0 if the target is not a command */
		char *const *command_words; /* its argv; NULL without a command */
		const char *program; /* its name as typed in a shell; NULL without a command */
		bool commands_later; /* record the descendants of the command that are passed to
					recorder_add_command(), not the command itself */
		/* The buffer shared with the agent, which the target loads or
		 * has loaded. NULL if the target does not use the agent. */
		const struct inside_file *inside_file;
		const char *no_inside; /* why the command cannot load the agent; NULL if unknown */
		const pid_t *pids;
		size_t pid_count;
		size_t found_count; /* see target.found_count (perf/options.h) */
		bool with_children; /* see target.with_children */
		/*
		 * The rule that selected pids, which may be empty. Processes
		 * that match it later are recorded, too. NULL if the set is
		 * fixed.
		 */
		const struct process_choice *choice;
		/* The recorded window and duration_ns start with the first
		 * process. */
		bool is_awaited;
		const pid_t *tids;
		size_t tid_count;
		const unsigned *cpus; /* NULL for all CPUs */
		size_t cpu_count;
		bool inherit; /* follow forks and new threads */
		/* Samples to omit, as in sample_filter.h. */
		char *const *thread_names; /* globs; an empty list selects all threads */
		size_t thread_name_count;
		bool keeps_own; /* keep samples of prof itself */
	} target;

	/* The events and their rates. */
	struct {
		/* Strings for event_parse(). An empty list selects cycles, or
		 * cpu-clock if there is no hardware counter. */
		char *const *names;
		size_t count;
		/* Arguments of event_set_filter() and event_set_weight() for
		 * the first events of the list. "" means none. */
		char *const *filters, *const *weights;
		size_t filter_count, weight_count;
		const enum event_role *roles; /* groups: the roles of the first role_count events */
		size_t role_count;
		/*
		 * An additional event after those above or the default. Its
		 * samples are counted by recorder_trigger_count(). NULL for
		 * none.
		 */
		const char *trigger;
		/*
		 * Sample none of the events above, only off-CPU time, memory or
		 * both. If only memory is recorded, all records come from the
		 * agent.
		 */
		bool samples_nothing;
		enum record_via via;
		uint64_t frequency_hz; /* for events without a period */
		uint64_t period;       /* 0 to sample by frequency */
		/* Calls that are shorter are omitted, for events that measure
		 * calls. */
		uint64_t least_call_ns;
		bool exclude_user, exclude_kernel;
		uint64_t branch_filter;	 /* of the branches of each sample (perf/branch.h) */
		bool reads_data_sources; /* also for events that are not memory events by name */
		size_t ring_bytes; /* per CPU; 0 to derive it from the rates (perf/options.h) */
	} events;

	struct {
		enum call_graph call_graph;
		uint32_t dump_bytes; /* size of the stack copy with CALL_GRAPH_DWARF */
		unsigned depth;	     /* maximum number of frames in a stack */
		/* Do not capture stacks larger than their copy, and poll less
		 * often. */
		bool low_overhead;
	} stacks;

	/* Off-CPU time, as the event "off-cpu" after the events above
	 * (waits.h). */
	struct {
		bool is_recorded;
		bool records_elapsed;	  /* also record elapsed time, as the event after it
					     (elapsed.h); needs is_recorded */
		bool finds_critical_path; /* and the event critical-path; needs records_elapsed */
		/* The name or tid of the thread whose end the critical path
		 * explains; NULL for the main thread. */
		const char *critical_thread;
		uint64_t least_ns;   /* omit shorter waits */
		bool ignores_idle;   /* omit threads that hardly ran */
		bool records_wakers; /* record the wakers of threads; needs root */
		bool records_awaits; /* record where tokio tasks wait, as the event "await"
					(awaits.h) */
	} waiting;

	/* Allocations and in-use memory, as four events after those above
	 * (memory.h). */
	struct {
		uint64_t alloc_period; /* mean bytes between two samples; 0 to record none */
		bool allocs_maps;      /* count mmap() and munmap() as allocations, too */
	} memory;

	/* The contents of the profile. */
	struct {
		bool needs_timestamps; /* keep the time of each sample */
		bool labels_cgroups;   /* add the labels of cgroup_labels.h */
		bool counts_polls;     /* see pipeline_options */
		bool counts_stat; /* count the events of stat_counts.h in addition to sampling */
		/* Fold ended threads and processes: see
		 * session_fold_ended(). */
		bool folds_ended;
		bool writes_raw;       /* recorder_open() gets a file for the records */
		const char *debug_dir; /* of separate debug files; NULL for /usr/lib/debug */
	} output;

	/* When to sample. */
	struct {
		/* Delay before sampling starts, from recorder_start() or, with
		 * commands_later, from the first command. */
		uint64_t delay_ns;
		bool starts_paused; /* sampling starts with recorder_resume(); delay_ns must be 0 */
		uint64_t duration_ns; /* of sampling; 0 for no limit */
	} control;
};

/* Lowers the frequency to the kernel's limit and enlarges rings that are too
 * small for stack copies. The listener gets a notice of each change. */
void record_config_settle(struct record_config *config, const struct listener *listener);

/* Whether the target is the whole system. */
bool record_config_is_system(const struct record_config *config);

/* Whether the target is a command and sampling starts later than it. */
bool record_config_starts_late(const struct record_config *config);

/* Whether samples contain a copy of the stack. */
bool record_config_dumps(const struct record_config *config);

#endif
