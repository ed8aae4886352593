/*
 * The executable mappings of one process through time: rectangles of address × time that never
 * overlap.
 *
 * There is no record of munmap(2): a mapping ends where another replaces it, and all end at an
 * exec or exit. Changes may arrive in any order and take effect at their own time: a late change
 * gives way to what is known to have happened after it.
 *
 * The present mappings are a table (proc/region_table.h). A fork shares it, and an exec or exit
 * moves it to the ended tables. The first changes to a large table that is shared are a table of
 * their own above it, so that a process that forks and maps something copies nothing. Single
 * regions that ended are in an array. What has ended is kept for samples that are handled late,
 * until regions_forget() or until there is too much of it.
 *
 * A change that arrives in order takes time for the regions that it replaces, and otherwise about
 * the logarithm of their number. A late change reads what is in its way. The process has a budget
 * for that, which regions_forget() renews; when it is spent, late changes of the process are
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
	struct region_table *table, *base; /* as live and base */
	uint64_t since_ns;		   /* as live_since_ns */
	uint64_t until_ns;
};

/* Zero-initialized but for the account: empty. */
struct regions {
	struct region_account *account;
	struct region_table *live; /* has no end yet */
	/* Large and shared: NULL, or what is mapped where live has nothing. Live has a region of it
	   as a whole or not at all. */
	struct region_table *base;
	uint64_t live_since_ns; /* no live region is valid earlier: the last exec, exit or fork */
	struct ended_region *past; /* in no order */
	size_t past_count, past_room;
	struct ended_table *ended; /* by time */
	size_t ended_count, ended_room;
	uint64_t *clears; /* times of exec, exit; in no order */
	size_t clear_count, clear_room;
	uint64_t past_until_ns; /* nothing that ended lasts longer */
	uint64_t changed_ns;	/* the time of the last change */
	size_t late_work;	/* spent since regions_forget() */
	bool has_lost;		/* mappings; counted by the account */
};

#define REGION_FOREVER UINT64_MAX

void regions_deinit(struct regions *regions);

/*
 * A mapping that is known already takes no room, however often it is reported: mprotect(2) on JIT
 * memory reports it endlessly.
 */
void regions_map(struct regions *regions, const struct region *new);
/* Ends all regions that began before time_ns. */
void regions_clear(struct regions *regions, uint64_t time_ns);
/* A new process: ends all regions, and adds what the parent had at time_ns. */
void regions_fork(struct regions *child, struct regions *parent, uint64_t time_ns);
/* Adds what `from` held at time_ns between start and end. `from` pays for the work. */
void regions_inherit(struct regions *regions, struct regions *from, uint64_t time_ns,
		     uint64_t start, uint64_t end);
/* False, and the loss is noted, if the budget for late changes does not allow this work. */
bool regions_spend(struct regions *regions, size_t work);

/* NULL if nothing was mapped at pc at that time. Borrowed until the next change. */
const struct region *regions_find(const struct regions *regions, uint64_t time_ns, uint64_t pc);
/*
 * Notes that the region that was found has samples, and that its module is this one. Processes that
 * share the region since a fork learn it, too: they map the same file there.
 */
void regions_note_sample(const struct region *region, module_id module);

/* Notes that a region that was taken for a copy is memory of this module, whose offset is the pc.
 */
void regions_refute_copy(const struct region *region, module_id memory);

/* The live region that has the address, or else the next one. False: there is none. */
bool regions_next(const struct regions *regions, uint64_t address, struct region *ret);
/* The live region that starts last, at or before this address. NULL: none does. */
const struct region *regions_before(const struct regions *regions, uint64_t address);
/* The number of live regions; those that changed since a fork can count twice. */
size_t regions_count(const struct regions *regions);
/* Drops the half of the live regions that did not change for longest. */
void regions_halve(struct regions *regions);
/* Forgets what has ended. */
void regions_drop_past(struct regions *regions);
/* Notes that the process has lost mappings. */
void regions_note_loss(struct regions *regions);
/* No time before before_ns will be looked up. True if nothing is left. */
bool regions_forget(struct regions *regions, uint64_t before_ns);
bool regions_empty(const struct regions *regions);

/*
 * What the process needs, in a measure of its own: of what several share, each has its part, so
 * that the sum over all processes is what is needed. All calls of one measurement have the same
 * stamp, which is new: ++account->stamp.
 */
struct region_measure {
	uint64_t stamp;
	/* Of one region; NULL: the bytes that are allocated for it. */
	size_t (*cost)(void *user, const struct region *region);
	void *user;
};
size_t regions_cost(const struct regions *regions, const struct region_measure *measure);

/* Visits all regions, those that processes share once per stamp. */
void regions_visit(const struct regions *regions, uint64_t stamp,
		   void (*visit)(void *user, const struct region *region), void *user);

#endif
