/*
 * Computes the labels "cgroup" and "container" of processes: the path of their
 * cgroup, and the container that it names (proc/cgroup_name.h).
 *
 * /proc/PID/cgroup is read when a process is first sampled, and again after an
 * exec, because a container's first process moves into its cgroup before that.
 * A process that is gone by then gets the labels of its parent. Beyond 65,536
 * processes the cache is dropped, which bounds memory.
 *
 * Few processes move between cgroups, and reading the file costs as much as ten
 * samples. If the last 8 processes read in a cgroup all had their parent's
 * cgroup, further processes there inherit it. Their file is read only if they
 * are sampled a second or more after their fork or exec, and for one in 17 of
 * them. Parents without samples are read under the same conditions.
 */
#ifndef PROF_RECORD_CGROUP_LABELS_H
#define PROF_RECORD_CGROUP_LABELS_H

#include "perf/record.h"
#include "profile/labels.h"

struct cgroup_labels;

enum { CGROUP_LABELS_MAX = 2 };

/* proc is "/proc", except in tests. */
struct cgroup_labels *cgroup_labels_new(const char *proc);
void cgroup_labels_free(struct cgroup_labels *labels);

/* Takes the next record. Only those of new processes and of exec matter. */
void cgroup_labels_feed(struct cgroup_labels *labels, const struct record *record);

/*
 * Adds the texts to the profile's strings, writes the labels and returns their
 * number, which is 0 for a process of the root cgroup. Sets *is_final if the
 * labels cannot change before the next exec.
 */
uint32_t cgroup_labels_of(struct cgroup_labels *labels, pid_t pid, struct strtab *strings,
			  struct profile_label ret[CGROUP_LABELS_MAX], bool *is_final);

#endif
