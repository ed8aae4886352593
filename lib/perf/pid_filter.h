/*
 * Samples of the processes in a set are dropped by the kernel before they are written: they take no
 * copy of a stack, no room in a ring, and wake nothing.
 *
 * The set is memory that is shared with a BPF program of 20 instructions, a bit for each pid. It
 * can be changed at any time. Needs CAP_BPF and CAP_PERFMON, or root, in the first pid namespace,
 * where pids are those that the program sees.
 */
#ifndef PROF_PERF_PID_FILTER_H
#define PROF_PERF_PID_FILTER_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

/* PID_MAX_LIMIT of the kernel (include/linux/threads.h). */
enum { PIDS_MAX = 4 << 20, PIDS_PER_WORD = 64 };

/* One thread changes it, any thread reads it. */
struct pid_set {
	_Atomic uint64_t words[PIDS_MAX / PIDS_PER_WORD];
};

struct bpf_code;
struct pid_filter;

/* next: instructions for the samples that are kept (stack_program.h); or NULL. NULL: it is not
 * possible here. */
struct pid_filter *pid_filter_new(const struct bpf_code *next);
/* Events that it was attached to keep the program; the set is gone. */
void pid_filter_free(struct pid_filter *filter);
DEFINE_CLEANUP(pid_filter, pid_filter_free)

/* Empty at first; as long as the filter. */
struct pid_set *pid_filter_dropped(struct pid_filter *filter);

/*
 * Changes how probes are filtered that are attached from now on: a set of processes whose samples
 * are kept, all others' being dropped. A probe of a library would else be one of all new processes
 * of the machine. What a process in the set forks is in it from its first instruction on, and a
 * child of another one is not: the kernel adds it (Linux 5.12, with BTF). Empty at first. Words are
 * changed by atomic operations. NULL: not possible; then nothing has changed.
 */
struct pid_set *pid_filter_keep(struct pid_filter *filter);

/* False: the event of this descriptor cannot be filtered. is_probe: it is one of code. */
bool pid_filter_attach(const struct pid_filter *filter, int fd, bool is_probe);

#endif
