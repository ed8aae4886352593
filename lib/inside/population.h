/*
 * The processes and threads that have written records: which are new, which have another name, and
 * which have ended. The kernel tells of none of this, so it is looked up, once per second.
 */
#ifndef PROF_INSIDE_POPULATION_H
#define PROF_INSIDE_POPULATION_H

#include "base/idmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { COMM_BYTES = 16 }; /* with the NUL */

struct inhabitant {
	pid_t pid, tid;
	char name[COMM_BYTES]; /* of the thread; empty: unknown */
	uint64_t exec_ns;      /* of a process: it executed a program then; 0: it did not */
	bool was_met;	       /* since the last look */
	bool has_ended;	       /* at the last look: what it wrote before may come after it */
};

/* What a look has shown. */
struct population_change {
	pid_t pid, tid;
	bool has_ended;
	char name[COMM_BYTES]; /* else its new name */
};

struct population {
	struct inhabitant *items;
	uint32_t count, room;
	struct idmap by_id;
	struct population_change *changes; /* of the last look */
	size_t change_count, change_room;
};

void population_deinit(struct population *population);
/* NULL: unknown. Valid until a thread is added, or the next look. */
struct inhabitant *population_find(struct population *population, pid_t pid, pid_t tid);
/* Adds it, with its name in /proc; *is_new: it was unknown. NULL: there are too many. */
struct inhabitant *population_meet(struct population *population, pid_t pid, pid_t tid,
				   bool *is_new);
/* Looks which threads have ended, which are forgotten at the next look, and which of those that
 * were met have another name. */
void population_look(struct population *population);

#endif
