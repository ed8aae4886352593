/*
 * Tracks the processes that descend from commands or from processes with
 * certain names, and decides which records belong to them when more processes
 * are sampled.
 *
 * A tree starts when the process of a command execs its program, when a process
 * gets an admitted name, or with a process that is already running. A child of
 * a member is a member from its FORK record on, even if it gets another parent
 * later. A process remains a member after its EXIT record, because it is still
 * sampled while the kernel tears it down. It stops being a member when its pid
 * is reused. So members are never removed explicitly, and the memory is two
 * bits per possible pid: at most 1 MiB, of which only touched pages are
 * allocated.
 *
 * Records have pid 0 or -1 for processes outside prof's pid namespace. These
 * are never members.
 */
#ifndef PROF_PERF_PROCESS_TREE_H
#define PROF_PERF_PROCESS_TREE_H

#include "base/cleanup.h"
#include "perf/record.h"

struct bpf_code;
struct process_tree;

struct process_tree *process_tree_new(void);
void process_tree_free(struct process_tree *tree);
DEFINE_CLEANUP(process_tree, process_tree_free)

/* command is a process whose tree starts with the first program that it execs
 * after since_ns, a time of records. Records from before since_ns may still
 * arrive. */
void process_tree_add_command(struct process_tree *tree, pid_t command, uint64_t since_ns);
/* Makes a running process a member. */
void process_tree_add_process(struct process_tree *tree, pid_t pid);
/* Makes processes members when their name matches one of the globs, which are
 * borrowed. */
void process_tree_admit_names(struct process_tree *tree, char *const *globs, size_t count);

/*
 * Lets the kernel drop the samples of processes that are known to be outside
 * the target, on the descriptors that are passed to
 * process_tree_filter_event(). Returns false if that is not possible; their
 * samples then arrive as before. Call both functions before the first record.
 *
 *  - is_probe: the descriptor samples a probe.
 *  - has_probes: one of the descriptors does, so the kernel must track forks,
 *    which takes prof several milliseconds to set up.
 *  - next: as for pid_filter_new().
 *
 * If a new process reuses the pid of a dropped process, its samples are lost
 * until its FORK record is read, within a few milliseconds.
 */
bool process_tree_begin_filter(struct process_tree *tree, bool has_probes,
			       const struct bpf_code *next);
bool process_tree_filter_event(const struct process_tree *tree, int fd, bool is_probe);

/* Returns whether the record belongs to a member or to no process
 * (RECORD_LOST). Must be called for every record, in time order, because FORK
 * and COMM records change the tree. */
bool process_tree_takes(struct process_tree *tree, const struct record *record);

/* Returns whether the records so far have shown that the process is sampled
 * without being a member. May be called by any thread. */
bool process_tree_knows_as_stranger(const struct process_tree *tree, pid_t pid);

#endif
