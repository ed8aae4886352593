/*
 * The records that libprof-inside.so writes (layout.h), as a record_source: those of all lanes in
 * the order of their times.
 *
 * It yields RECORD_FORK, RECORD_COMM and RECORD_MMAP for what a process's START and MAPS say,
 * RECORD_FORK and RECORD_COMM for threads that write for the first time, RECORD_SAMPLE of event
 * `cpu_event` for CPU time, and RECORD_ALLOC and RECORD_FREE. RECORD_LOST tells of samples that
 * found no room: of allocations, if those are recorded, for they are far more than samples of CPU
 * time. Once per second, and after the source was disabled, it looks which threads and
 * processes have ended (RECORD_EXIT) or have another name (RECORD_COMM).
 *
 * Nothing wakes the reader: it reads by time, inside_source_next_ns().
 *
 * A batch ends with the time at which it was begun. Nothing in the file is believed: a lane whose
 * records make no sense is emptied, and counted (`damaged`). Records of a process that does not
 * share the file are dropped. A mapping that a process names is replaced by the kernel's own; where
 * the kernel does not list it, record.mmap.is_claimed is set.
 */
#ifndef PROF_INSIDE_SOURCE_H
#define PROF_INSIDE_SOURCE_H

#include "inside/file.h"
#include "perf/record_source.h"

struct inside_options {
	const struct inside_file *file; /* borrowed */
	unsigned cpu_event;		/* record.sample.event of CPU samples */
	uint32_t cpu_hz;		/* 0: no CPU samples */
	uint64_t alloc_period;		/* mean bytes between samples; 0: no allocations */
	bool maps_too;			/* mmap and munmap count as allocations */
	/* Only RECORD_ALLOC, RECORD_FREE and RECORD_LOST: what is mapped is known in another way.
	 */
	bool allocations_only;
	unsigned pc_bit; /* of the pc in a mask of registers (asm/perf_regs.h) */
	/* Only records of these processes and of those that they fork from now on; none: of all
	 * that share the file. What runs already is the caller's to read from /proc. */
	const pid_t *pids;
	size_t pid_count;
};

/* Of the whole recording. */
struct inside_counts {
	uint64_t lost;	     /* samples of CPU time and allocations */
	uint64_t lost_frees; /* live bytes are too high */
	uint64_t lost_mappings;
	uint64_t untracked; /* sampled blocks whose end cannot be seen (since the file was made) */
	uint64_t damaged;   /* lanes and counters that made no sense */
	uint64_t strangers; /* records of processes that do not share the file (members.h) */
	uint64_t skipped;   /* records that were dropped because reading them took too long */
	uint32_t processes; /* that ran the library */
	uint32_t foreign;   /* of other pid namespaces, which were not recorded */
	uint32_t timers_refused;
};

struct inside_source;

/* What others have left in the file is dropped. Processes that begin are recorded from now on; all
 * else with the first inside_source_resume(), or enable. */
struct inside_source *inside_source_new(const struct inside_options *options);
/* Owns the inside_source. Its enable and disable set what the library records. */
struct record_source inside_record_source(struct inside_source *source);
/* No samples and no allocations until inside_source_resume() or enable; processes, mappings and the
 * ends of blocks are still recorded. */
void inside_source_pause(struct inside_source *source);
void inside_source_resume(struct inside_source *source);
/* All records up to this time were given out: the beginning of the last batch, unless it was cut.
 */
uint64_t inside_source_complete_ns(const struct inside_source *source);
/* The next batches end with this time, if they began later; 0: with their beginning. */
void inside_source_limit(struct inside_source *source, uint64_t until_ns);
/*
 * A batch ends after 100 ms of this thread's CPU time, whatever was written. Whether the last one
 * did and has left records in the lanes: the next one goes on with them.
 */
bool inside_source_is_cut(const struct inside_source *source);
/* Drops what the last batch has left, and counts it. */
void inside_source_skip(struct inside_source *source);
/* As maps_load(), of a process that shares the file now (members.h); else NULL. */
char *inside_source_load_maps(const struct inside_source *source, pid_t pid, size_t *len);
/* When to begin the next batch at the latest, so that no lane is full before. */
uint64_t inside_source_next_ns(const struct inside_source *source, uint64_t now_ns);
struct inside_counts inside_source_counts(const struct inside_source *source);
/* CPU timers tick with the kernel (CONFIG_HZ): the highest rate that is possible here. */
uint32_t inside_highest_cpu_hz(void);

#endif
