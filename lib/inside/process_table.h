/*
 * Tracks the processes and threads that have written records: which are new,
 * were renamed, or have ended. No record reports the last two, so the caller
 * polls /proc once per second.
 */
#ifndef PROF_INSIDE_PROCESS_TABLE_H
#define PROF_INSIDE_PROCESS_TABLE_H

#include "base/idmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { COMM_BYTES = 16 }; /* includes the NUL */

struct process_entry {
	pid_t pid, tid;
	char name[COMM_BYTES]; /* of the thread; empty if unknown */
	uint64_t exec_ns;      /* time of the process's last exec, or 0 */
	bool was_met;	       /* wrote a record since the last poll */
	/*
	 * Ended before the last poll. Records that it wrote before may still
	 * follow.
	 */
	bool has_ended;
};

/* A change that a poll found. */
struct process_table_change {
	pid_t pid, tid;
	bool has_ended;
	char name[COMM_BYTES]; /* the new name, unless has_ended */
};

struct process_table {
	struct process_entry *items;
	uint32_t count, room;
	struct idmap by_id;
	struct process_table_change *changes; /* found by the last poll */
	size_t change_count, change_room;
};

void process_table_deinit(struct process_table *table);
/*
 * Returns NULL if unknown. The result is valid until the next
 * process_table_meet() or process_table_look().
 */
struct process_entry *process_table_find(struct process_table *table, pid_t pid, pid_t tid);
/*
 * Returns a thread, and adds it with its name from /proc if it is not known, in
 * which case *is_new is set. Returns NULL if there are too many.
 */
struct process_entry *process_table_meet(struct process_table *table, pid_t pid, pid_t tid,
					 bool *is_new);
/*
 * Polls /proc for threads that have ended, and for new names of threads that
 * wrote records since the last poll. An ended thread is removed by the
 * following poll.
 */
void process_table_look(struct process_table *table);

#endif
