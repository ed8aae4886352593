/*
 * Reads the records that libprof-inside.so writes (layout.h) as a
 * record_source: merges all rings in the order of time.
 *
 * START and MAPS records become RECORD_FORK, RECORD_COMM and RECORD_MMAP. The
 * first record of a thread adds RECORD_FORK and RECORD_COMM. CPU samples become
 * RECORD_SAMPLE of event `cpu_event`; allocations and frees become RECORD_ALLOC
 * and RECORD_FREE. RECORD_LOST counts samples that found no room. They count as
 * allocations if allocations are recorded, because those are far more frequent
 * than CPU samples. Once per second, and after the source was disabled, /proc
 * is polled for threads and processes that have ended (RECORD_EXIT) or were
 * renamed (RECORD_COMM).
 *
 * Nothing wakes the reader. It reads by time: see inside_source_next_ns(). A
 * batch ends with the time at which it was started.
 *
 * Everything in the file is untrusted. A ring with invalid records is discarded
 * and counted in `damaged`. Records of a process that does not share the file
 * are dropped. A mapping that a record names is replaced by the kernel's own.
 * If the kernel does not list it, record.mmap.is_claimed is set. Not
 * thread-safe.
 */
#ifndef PROF_INSIDE_SOURCE_H
#define PROF_INSIDE_SOURCE_H

#include "inside/file.h"
#include "perf/record_source.h"

struct inside_options {
	const struct inside_file *file; /* borrowed */
	unsigned cpu_event;		/* record.sample.event of CPU samples */
	uint32_t cpu_hz;		/* 0 for no CPU samples */
	uint64_t alloc_period;		/* mean bytes between samples; 0 for no allocations */
	bool maps_too;			/* mmap and munmap count as allocations, too */
	/*
	 * Yield only RECORD_ALLOC, RECORD_FREE and RECORD_LOST, because another
	 * source provides the mappings.
	 */
	bool allocations_only;
	unsigned pc_bit; /* bit of the pc in a register mask (asm/perf_regs.h) */
	/*
	 * Keep only the records of these processes and of those that they fork
	 * from now on. If empty, keep all processes that share the file. The
	 * caller reads already running processes from /proc.
	 */
	const pid_t *pids;
	size_t pid_count;
};

/* Counts over the whole recording. */
struct inside_counts {
	uint64_t lost;	     /* CPU samples and allocations */
	uint64_t lost_frees; /* frees; in-use bytes are overstated */
	uint64_t lost_mappings;
	/*
	 * Sampled blocks whose free cannot be seen, since the file was created.
	 */
	uint64_t untracked;
	uint64_t damaged;	  /* invalid rings and counters */
	uint64_t strangers;	  /* records of processes that do not share the file (members.h) */
	uint64_t skipped;	  /* records dropped because reading them took too long */
	uint32_t processes;	  /* that ran the library */
	uint32_t other_namespace; /* processes in other PID namespaces, which were not recorded */
	uint32_t timers_refused;
	uint32_t unhooked_loads; /* as in struct inside_control, since the file was created */
};

struct inside_source;

/*
 * Discards older records in the file. Process starts are recorded from now on.
 * Everything else is recorded after the first inside_source_resume() or enable.
 */
struct inside_source *inside_source_new(const struct inside_options *options);
/*
 * The record_source owns the inside_source. Its enable and disable control what
 * the library records.
 */
struct record_source inside_record_source(struct inside_source *source);
/*
 * Stops samples and allocations until inside_source_resume() or enable.
 * Processes, mappings and frees are still recorded.
 */
void inside_source_pause(struct inside_source *source);
void inside_source_resume(struct inside_source *source);
/*
 * Returns the time up to which all records were yielded. That is the start of
 * the last batch, unless the batch was cut.
 */
uint64_t inside_source_complete_ns(const struct inside_source *source);
/*
 * Makes the following batches end at this time if they start later. 0 removes
 * the limit.
 */
void inside_source_limit(struct inside_source *source, uint64_t until_ns);
/*
 * Returns whether the last batch was cut and left records in the rings, which
 * the next batch continues. A batch ends after 100 ms of this thread's CPU
 * time, even if there are more records.
 */
bool inside_source_is_cut(const struct inside_source *source);
/* Drops and counts the records that the last batch left. */
void inside_source_skip(struct inside_source *source);
/*
 * Does maps_load() for a process that shares the file now (members.h).
 * Otherwise returns NULL.
 */
char *inside_source_load_maps(const struct inside_source *source, pid_t pid, size_t *len);
/*
 * Returns the latest time to start the next batch, so that no ring gets full
 * before.
 */
uint64_t inside_source_next_ns(const struct inside_source *source, uint64_t now_ns);
struct inside_counts inside_source_counts(const struct inside_source *source);
/*
 * Returns the highest possible rate of CPU timers here, which is the rate of
 * the kernel's tick (CONFIG_HZ).
 */
uint32_t inside_highest_cpu_hz(void);

#endif
