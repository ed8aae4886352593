/*
 * The labels "cgroup" and "container" of processes: the path of their cgroup, and what it names
 * (proc/cgroup_name.h).
 *
 * /proc/PID/cgroup is read when a process is first sampled, and again after it has executed a
 * program: a container's first process moves into its cgroup before that. A process that is gone by
 * then has the labels of its parent. Memory is bounded: beyond 65,536 processes all are read again.
 *
 * Few processes move. Where the last 8 that were read had the cgroup of their parent's, which was
 * the same one, those that follow in that cgroup are read only when they have a sample a second
 * after they began or executed a program, or by one of 17: reading takes 40 us, as much as all else
 * of ten samples. Parents that have no sample are read under the same conditions.
 */
#ifndef PROF_RECORD_CGROUP_LABELS_H
#define PROF_RECORD_CGROUP_LABELS_H

#include "perf/record.h"
#include "profile/labels.h"

struct cgroup_labels;

enum { CGROUP_LABELS_MAX = 2 };

/* proc: "/proc". */
struct cgroup_labels *cgroup_labels_new(const char *proc);
void cgroup_labels_free(struct cgroup_labels *labels);

/* A process begins or executes a program. */
void cgroup_labels_feed(struct cgroup_labels *labels, const struct record *record);

/* Adds the texts to the profile's strings and writes the labels; returns their number. A process of
 * the root cgroup has none. *is_final: they stay until the process executes a program. */
uint32_t cgroup_labels_of(struct cgroup_labels *labels, pid_t pid, struct strtab *strings,
			  struct profile_label ret[CGROUP_LABELS_MAX], bool *is_final);

#endif
