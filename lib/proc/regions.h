/*
 * Stores the executable mappings of one process over time, as rectangles of
 * address × time that never overlap.
 *
 * There is no record of munmap(2). A mapping ends when another replaces it, and
 * all end at an exec or exit. Changes may arrive in any order and take effect
 * at their own time. A late change does not override what is known to have
 * happened after it.
 *
 * The current mappings are a table (proc/region_table.h). A fork shares it, and
 * an exec or exit moves it to the ended tables. The first changes to a large
 * shared table go to a separate table on top of it, so a process that forks and
 * maps something copies nothing. Single regions that ended are in an array.
 * Ended regions are kept for late samples until regions_forget(), or until
 * there is too much of it.
 *
 * A change in order takes time for the regions that it replaces, and otherwise
 * about the logarithm of their number. A late change reads the regions that it
 * conflicts with. The process has a budget for that work, which
 * regions_forget() renews. Once it is spent, late changes of the process are
 * dropped.
 */
#ifndef PROF_PROC_REGIONS_H
#define PROF_PROC_REGIONS_H

#include "proc/region_table.h"

struct ended_region {
	struct region region;
	uint64_t until_ns;
};

struct ended_table {
	struct region_table *table, *base; /* as `live` and `base` of struct regions */
	uint64_t since_ns;		   /* as live_since_ns */
	uint64_t until_ns;
};

/* Empty when zero-initialized, except for the account. */
struct regions {
	struct region_account *account;
	struct region_table *live; /* the mappings that have not ended */
	/*
	 * The large shared table below `live`, or NULL. It applies where `live`
	 * has no region. A region of it is in `live` either as a whole or not
	 * at all.
	 */
	struct region_table *base;
	/* The last exec, exit or fork. No live region is valid before it. */
	uint64_t live_since_ns;
	struct ended_region *past; /* unsorted */
	size_t past_count, past_room;
	struct ended_table *ended; /* sorted by time */
	size_t ended_count, ended_room;
	uint64_t *clears; /* times of exec and exit, unsorted */
	size_t clear_count, clear_room;
	uint64_t past_until_ns; /* latest end of anything that has ended */
	uint64_t changed_ns;	/* time of the last change */
	size_t late_work;	/* spent since regions_forget() */
	bool has_lost;		/* lost mappings; counted by the account */
};

#define REGION_FOREVER UINT64_MAX

void regions_deinit(struct regions *regions);

/*
 * Adds a region. A mapping that is already known takes no room, because
 * mprotect(2) on JIT memory reports the same mapping endlessly.
 */
void regions_map(struct regions *regions, const struct region *new);
/* Ends all regions that started before time_ns. */
void regions_clear(struct regions *regions, uint64_t time_ns);
/*
 * Starts a new process: ends all its regions, and adds the parent's regions at
 * time_ns.
 */
void regions_fork(struct regions *child, struct regions *parent, uint64_t time_ns);
/*
 * Adds the regions of `from` at time_ns between start and end. The work is
 * charged to `from`.
 */
void regions_inherit(struct regions *regions, struct regions *from, uint64_t time_ns,
		     uint64_t start, uint64_t end);
/*
 * Charges work to the budget for late changes. Returns false, and notes the
 * loss, if the budget is exceeded.
 */
bool regions_spend(struct regions *regions, size_t work);

/*
 * Returns NULL if nothing was mapped at pc at that time. The result is borrowed
 * until the next change.
 */
const struct region *regions_find(const struct regions *regions, uint64_t time_ns, uint64_t pc);
/*
 * Notes that a region from regions_find() has samples, and belongs to this
 * module. This also applies to processes that share the region since a fork,
 * because they map the same file there.
 */
void regions_note_sample(const struct region *region, module_id module);

/*
 * Notes that a region that was assumed to be a copy is memory of this module,
 * whose offset is the pc.
 */
void regions_refute_copy(const struct region *region, module_id memory);

/*
 * Returns the live region that contains the address, or the next one. Returns
 * false if there is none.
 */
bool regions_next(const struct regions *regions, uint64_t address, struct region *ret);
/*
 * Returns the last live region that starts at or before this address, or NULL.
 */
const struct region *regions_before(const struct regions *regions, uint64_t address);
/*
 * Returns the number of live regions. Those that changed since a fork may count
 * twice.
 */
size_t regions_count(const struct regions *regions);
/* Drops the least recently changed half of the live regions. */
void regions_halve(struct regions *regions);
/* Forgets what has ended. */
void regions_drop_past(struct regions *regions);
/* Notes that the process has lost mappings. */
void regions_note_loss(struct regions *regions);
/*
 * Forgets what ended before before_ns. No earlier time may be looked up.
 * Returns true if nothing is left.
 */
bool regions_forget(struct regions *regions, uint64_t before_ns);
bool regions_empty(const struct regions *regions);

/*
 * Measures the cost of a process in the caller's unit. Shared parts are divided
 * among the processes, so that the sum over all processes is the total. All
 * calls of one measurement have the same new stamp: ++account->stamp.
 */
struct region_measure {
	uint64_t stamp;
	/*
	 * The cost of one region. NULL means the bytes that are allocated for
	 * it.
	 */
	size_t (*cost)(void *user, const struct region *region);
	void *user;
};
size_t regions_cost(const struct regions *regions, const struct region_measure *measure);

/*
 * Calls `visit` for all regions. Regions that processes share are visited once
 * per stamp.
 */
void regions_visit(const struct regions *regions, uint64_t stamp,
		   void (*visit)(void *user, const struct region *region), void *user);

#endif
