/*
 * Drops the samples of a set of processes in the kernel. A dropped sample
 * copies no stack, takes no space in a ring and wakes no thread.
 *
 * The set is a bitmap by pid in memory that is shared with a small BPF program.
 * It can be changed at any time. The filter needs CAP_BPF and CAP_PERFMON, or
 * root, in the first pid namespace, because the program sees pids of that
 * namespace.
 */
#ifndef PROF_PERF_PID_FILTER_H
#define PROF_PERF_PID_FILTER_H

#include "base/cleanup.h"
#include "perf/pid_set.h"

struct pid_filter;

/* Returns NULL if the system does not support it. next: instructions that run
 * for samples that are kept (stack_program.h), or NULL. */
struct pid_filter *pid_filter_new(const struct bpf_code *next);
/* Frees the set. Events that the filter is attached to keep the program. */
void pid_filter_free(struct pid_filter *filter);
DEFINE_CLEANUP(pid_filter, pid_filter_free)

/* Returns the set of processes whose samples are dropped. It is empty at first,
 * and lives as long as the filter. */
struct pid_set *pid_filter_dropped(struct pid_filter *filter);

/*
 * Makes probes that are attached from now on keep only the samples of a set of
 * processes, and returns that set, which is empty at first. Returns NULL and
 * changes nothing if this is not possible (Linux 5.12, with BTF).
 *
 * Without it, a probe of a library would sample all new processes of the
 * machine. The kernel adds a forked child to the set if its parent is a member,
 * so the child is sampled from its first instruction on. Change words of the
 * set only with atomic operations.
 */
struct pid_set *pid_filter_keep(struct pid_filter *filter);

/* Returns false if the event of this descriptor cannot be filtered. is_probe:
 * the event is a probe. */
bool pid_filter_attach(const struct pid_filter *filter, int fd, bool is_probe);

#endif
