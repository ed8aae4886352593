/*
 * The recorder's end of perf_event_open: opens the events on the target, and gives out its records
 * in order.
 *
 * One ring a CPU for samples and a small one for the side band (mmap, comm, fork, exit), so that a
 * burst of samples cannot lose a mapping. Where stacks are copied, another one, for samples that
 * wake stand-ins (standin.h); the reader chooses which of the two is filled. Records come in
 * batches: sampler_batch() takes note of how far each ring is filled, sample rings first; then
 * sampler_next() gives the side band and the samples up to there, merged by time. Code that a
 * sample executes was mapped by a call that had returned, so its mapping is always in the same
 * batch or an earlier one, and comes first.
 *
 * A thread that was started while we attached is sampled once (coverage.h), but its side band may
 * come twice, one record right behind the other.
 *
 * Nothing here stops or slows the target. Every wait is a file descriptor.
 */
#ifndef PROF_PERF_SAMPLER_H
#define PROF_PERF_SAMPLER_H

#include "base/error.h"
#include "perf/event.h"
#include "perf/record.h"

enum target_kind {
	TARGET_COMMAND,	  /* ids[0]: a child that will exec; counting starts at the exec */
	TARGET_PROCESSES, /* ids: every present and future thread, and child, of these processes */
	TARGET_THREADS,	  /* ids: these threads alone (and what they fork) */
	TARGET_SYSTEM,	  /* every process on the CPUs */
};

struct target {
	enum target_kind kind;
	const pid_t *ids;
	size_t id_count;
	const unsigned *cpus; /* NULL: all online CPUs */
	size_t cpu_count;
	bool inherit; /* follow forks and new threads */
	/* The processes were found in a list, not named: one that has ended meanwhile, or may not
	 * be sampled, is left out; that all are is an error. */
	bool were_found;
};

/* Copies what can be read of another process's memory; as memory_read() of proc/memory.h. */
typedef size_t memory_reader(pid_t tid, uint64_t address, void *into, size_t len);

struct sampler_options {
	uint64_t regs_mask;   /* user registers to dump; 0: none */
	uint32_t stack_bytes; /* user stack to dump; 0: none; a multiple of 8, at most 65528 */
	bool kernel_chain;    /* ask for call chains of the kernel … */
	bool user_chain;      /* … and of user space, by frame pointers */
	bool data_mappings; /* tell of mappings of data too: perf reads call frame information there
			     */
	size_t ring_bytes;  /* a CPU; 0: a good default. A power of two of pages is taken from it */
	/* Where stacks are dumped, for stand-ins to copy more of them; NULL: never. */
	memory_reader *read_memory;
	bool attends;		 /* from the start, where it is known how many samples will come */
	unsigned sp_bit, pc_bit; /* of regs_mask: the stack pointer and the pc */
	bool starts_late;	 /* a TARGET_COMMAND counts from sampler_enable() on, too */
};

/* What was really opened, for the user to know. */
struct sampler_facts {
	bool kernel_excluded; /* no right to sample the kernel: user space only */
	size_t ring_bytes;    /* a CPU, after halving it until the kernel agreed */
	bool ring_shrunk;
	size_t descriptors;
	unsigned cpus;
	/* So often the rings are to be read while samples are attended to. */
	int attended_ms;
	int holds_ms; /* of samples, in a ring; 0: nobody knows */
};

struct sampler;

/*
 * Opens everything, disabled. The kernel's refusal is turned into one error with the hint that
 * helps (paranoid level, capability, mlock, seccomp, descriptors, PMU); sampling without the kernel
 * is tried before giving up. A target that is gone: error_number() is ESRCH. The limit of
 * descriptors (RLIMIT_NOFILE) is raised as far as needed and allowed. Each event must have a period
 * or a frequency.
 */
MUST_CHECK struct error *sampler_open(const struct event *events, size_t event_count,
				      const struct target *target,
				      const struct sampler_options *options, struct sampler **ret);
void sampler_free(struct sampler *sampler);
DEFINE_CLEANUP(sampler, sampler_free)

const struct sampler_facts *sampler_facts(const struct sampler *sampler);

/* For a file of the records: the perf_event_attr that an event was opened with, and what records
 * look like, with the ids of the events where there are several. */
struct bytes sampler_attr(const struct sampler *sampler, unsigned event);
const struct record_layout *sampler_layout(const struct sampler *sampler);

/* Starts counting; a TARGET_COMMAND starts by itself at its exec, unless it is to start late. The
 * side band counts from the opening on. The calling thread is the one that reads (scheduling.h). */
MUST_CHECK struct error *sampler_enable(struct sampler *sampler);
/* Stops counting; what the rings hold can still be read. */
void sampler_disable(struct sampler *sampler);

/* Readable (poll) when a ring is worth reading; not while samples are attended to, unless the side
 * band has news. Owned by the sampler. */
int sampler_fd(const struct sampler *sampler);

/*
 * Stand-ins attend to each sample from now on, or no longer; never, where there are none. It costs
 * the sampled thread a switch of context a sample, and records come two milliseconds late. The
 * change takes a while (redirection.h): before it is complete another is not begun, so ask again.
 */
void sampler_attend(struct sampler *sampler, bool attend);
bool sampler_attends(const struct sampler *sampler);
/* For them to know how much there is to copy: see standin.h. */
void sampler_expect_stack(struct sampler *sampler, pid_t tid, struct stack_extent extent);

void sampler_batch(struct sampler *sampler);
/* False at the end of the batch. The record is borrowed until the next call. */
bool sampler_next(struct sampler *sampler, struct record *ret);

/*
 * CLOCK_MONOTONIC, the clock of every record: now. Records still unread are newer than the end of
 * the last batch minus a second; whoever keeps history may forget what is older.
 */
uint64_t sampler_now_ns(void);

#endif
