/*
 * The records that libprof-inside.so writes (layout.h), as a record_source: those of all lanes in
 * the order of their times.
 *
 * It yields RECORD_FORK, RECORD_COMM and RECORD_MMAP for what a process's START and MAPS say,
 * RECORD_EXIT for each process that has ended, RECORD_SAMPLE of event `cpu_event` for CPU time, and
 * RECORD_ALLOC and RECORD_FREE. RECORD_LOST tells of samples that found no room.
 *
 * A batch ends with the time at which it was begun. Nothing in the file is believed: a lane whose
 * records make no sense is emptied, and counted (`damaged`).
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
	/* Only RECORD_ALLOC, RECORD_FREE and RECORD_LOST: what is mapped is known in another way. */
	bool allocations_only;
	/* Processes that run already: their threads and mappings are read from /proc. */
	const pid_t *pids;
	size_t pid_count;
};

/* Of the whole recording. */
struct inside_counts {
	uint64_t lost;	      /* samples of CPU time and allocations */
	uint64_t lost_frees;  /* live bytes are too high */
	uint64_t lost_mappings;
	uint64_t untracked;   /* sampled blocks whose end cannot be seen */
	uint64_t damaged;     /* lanes that made no sense */
	uint32_t processes;   /* that ran the library */
	uint32_t foreign;     /* of other pid namespaces, which were not recorded */
	uint32_t timers_refused;
};

struct inside_source;

struct inside_source *inside_source_new(const struct inside_options *options);
/* Owns the inside_source. Its enable and disable set what the library records. */
struct record_source inside_record_source(struct inside_source *source);
/* The library records nothing until inside_source_resume(), or the first enable. */
void inside_source_pause(struct inside_source *source);
void inside_source_resume(struct inside_source *source);
/* All records up to this time were given out: the beginning of the last batch. */
uint64_t inside_source_complete_ns(const struct inside_source *source);
/* The next batches end with this time, if they began later; 0: with their beginning. */
void inside_source_limit(struct inside_source *source, uint64_t until_ns);
struct inside_counts inside_source_counts(const struct inside_source *source);
/* CPU timers tick with the kernel (CONFIG_HZ): the rate that was asked for, or the highest possible
 * one, measured on this machine. */
uint32_t inside_highest_cpu_hz(void);

#endif
