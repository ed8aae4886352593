/*
 * The processes that descend from commands, or from processes of some name: which of the records of
 * more processes are of them.
 *
 * A tree begins when a command's process executes its program, when a process gets a name that is
 * admitted, or with a process that runs already. Each process that a member forks
 * is a member from its FORK record on, even if it gets another parent later. A process stays a
 * member after its EXIT record, because it is still sampled while the kernel tears it down, until
 * its number is given to another process. So nothing needs to be forgotten, and the memory is two
 * bits for each possible pid: at most one MiB, of which only the pages in use exist.
 *
 * Processes outside prof's pid namespace have pid 0 or -1 in records; they are no members.
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

/* command: a process whose tree begins with the first program that it executes after since_ns, a
 * time of records. Records from before it may still come. */
void process_tree_add_command(struct process_tree *tree, pid_t command, uint64_t since_ns);
/* A process that runs becomes a member. */
void process_tree_add_process(struct process_tree *tree, pid_t pid);
/* Processes become members when their name matches one of the globs, which are borrowed. */
void process_tree_admit_names(struct process_tree *tree, char *const *globs, size_t count);

/*
 * Lets the kernel drop the samples of processes that are known as strangers, on the descriptors
 * that process_tree_filter_event() is called with; is_probe: it samples hits of code; has_probes:
 * one of them does, so that the kernel has to follow forks, which takes prof 14 ms to arrange;
 * next: as for pid_filter_new(). Both are to be called before the first record. A process that gets
 * the pid of an ended one that was a stranger loses samples until its FORK record is read, within a
 * few milliseconds. False: not possible, so that samples of strangers come as before.
 */
bool process_tree_begin_filter(struct process_tree *tree, bool has_probes,
			       const struct bpf_code *next);
bool process_tree_filter_event(const struct process_tree *tree, int fd, bool is_probe);

/* Whether the record is of a member, or of no process (RECORD_LOST). To be called for every record,
 * in time order: FORK and COMM records change the tree. */
bool process_tree_takes(struct process_tree *tree, const struct record *record);

/* Whether records so far have shown that the process is sampled without being a member. For any
 * thread. */
bool process_tree_knows_as_stranger(const struct process_tree *tree, pid_t pid);

#endif
