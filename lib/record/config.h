/*
 * What is recorded and how: the options of a recorder. All pointers are borrowed and must outlive
 * the recorder.
 */
#ifndef PROF_RECORD_CONFIG_H
#define PROF_RECORD_CONFIG_H

#include "inside/file.h"
#include "perf/event.h"
#include "record/listener.h"
#include "record/process_choice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	/* The default. Not 1000, so that samples do not keep time with what programs do a thousand
	 * times per second. */
	RECORD_FREQUENCY_HZ = 999,
	/* The default of dump_bytes. */
	RECORD_DUMP_BYTES = 32 << 10,
};

/* As fast as the kernel allows. */
#define RECORD_FREQUENCY_MAX UINT64_MAX

/* What samples CPU time. */
enum record_via {
	RECORD_VIA_AUTO, /* perf events; if they are refused, the library, where it can */
	RECORD_VIA_PERF,
	RECORD_VIA_INSIDE, /* libprof-inside.so: of a command, and of no other event */
};

struct record_config {
	/* Events as event_parse() takes them; none: cycles, or cpu-clock without a counter. */
	char *const *events;
	size_t event_count;
	/* As event_set_filter() and event_set_weight() take them: of as many of the events, "": not
	 * given. */
	char *const *filters, *const *weights;
	size_t filter_count, weight_count;
	const enum event_role *roles; /* of as many of the events: their groups */
	size_t role_count;
	/* One more event, after those above or the default: recorder_trigger_count() counts its
	 * samples. NULL: none. */
	const char *trigger_event;
	uint64_t frequency_hz;	/* of events that have no period */
	uint64_t period;	/* 0: by frequency */
	uint64_t least_call_ns; /* of events that measure calls: shorter ones are left out */
	bool exclude_user, exclude_kernel;

	/*
	 * Waiting: what threads do while they have no CPU becomes the event "off-cpu" (waits.h),
	 * after the events above. samples_nothing: none of those is sampled.
	 */
	bool records_waiting, samples_nothing;
	uint64_t least_wait_ns; /* shorter waits are left out */
	bool ignores_idle;	/* leaves out threads that hardly ran */
	bool records_wakers;	/* root: who woke them */
	bool records_awaits;	/* where tasks of tokio wait: the event "await" (awaits.h) */

	unsigned readers; /* threads that find the stacks of samples; 0: as many as CPUs need */

	enum record_via via;
	/* The file that is shared with the library, which the target loads or has loaded; NULL: it
	 * does not. */
	const struct inside_file *inside_file;
	const char *no_inside; /* why the command cannot load it; NULL: unknown */
	/*
	 * Memory: allocations and what of them lives, as four events after those above (memory.h).
	 * samples_nothing: they are the only ones, and the library alone gives the records.
	 */
	uint64_t alloc_period; /* mean bytes between two sampled allocations; 0: no memory */
	bool allocs_maps;      /* mmap() and munmap() count as allocations, too */

	/*
	 * The target: a command that launch_prepare() has started, else processes, else threads,
	 * else the whole system.
	 */
	pid_t command;		    /* 0: not a command */
	char *const *command_words; /* its argv; NULL: not a command */
	const char *program;	    /* its name, as the shell takes it; NULL: not a command */
	bool commands_later; /* the command starts those that are recorded, which are given to
				recorder_add_command(); it inherits */
	const pid_t *pids;
	size_t pid_count;
	size_t found_count; /* as target.found_count, of pids */
	bool with_children; /* as target.with_children */
	/* pids are those that it lists, maybe none, and those that follow are recorded, too; NULL:
	 * no others follow. */
	const struct process_choice *choice;
	/* The window, and with it duration_ns, begins with the first process. */
	bool waits_for_target;
	const pid_t *tids;
	size_t tid_count;
	const unsigned *cpus; /* NULL: all */
	size_t cpu_count;
	bool inherit; /* follow forks and new threads */

	/* Samples that are left out: see sample_filter.h. */
	char *const *thread_names; /* globs; none: of all threads */
	size_t thread_name_count;
	bool keeps_own;	     /* samples of prof itself stay */
	bool labels_cgroups; /* samples have the labels of cgroup_labels.h */

	enum call_graph call_graph;
	uint64_t branch_filter;	 /* of the branches before each sample (perf/branch.h); 0: none */
	bool reads_data_sources; /* also of events that are not of memory by their name */
	uint32_t dump_bytes;	 /* of stack, with CALL_GRAPH_DWARF */
	unsigned depth;		 /* frames of a stack, at most */
	size_t ring_bytes;	 /* per CPU; 0: the default */
	/* Does not complete stacks that are larger than their copy, and polls less often. */
	bool low_overhead;

	/* Sampling begins this long after the start, or after the first command that comes later …
	 */
	uint64_t delay_ns;
	bool starts_paused;   /* … or with recorder_resume(); delay_ns is 0 then */
	uint64_t duration_ns; /* of sampling; 0: without an end */

	const char *debug_dir; /* where separate debug files are; NULL: /usr/lib/debug */
	bool needs_timestamps; /* the profile keeps when each sample was taken */
	bool counts_polls;     /* as in pipeline_options */
	/* Folds ended threads and processes: see session_fold_ended(). */
	bool folds_ended;
	bool counts_stat;    /* the events of stat_counts.h, beside the samples */
	bool adds_unsampled; /* recorder_settle() adds to the profile what no sample shows */
	bool writes_raw;     /* recorder_open() gets a file for the records */
};

/* Lowers the frequency to the kernel's limit and raises rings that are too small for stack copies;
 * the listener gets a notice of either. */
void record_config_settle(struct record_config *config, const struct listener *listener);

/* Whether sampling begins later than the command, if that is the target. */
bool record_config_starts_late(const struct record_config *config);

/* Whether samples hold a copy of the stack. */
bool record_config_dumps(const struct record_config *config);

#endif
