#include "inside/source.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/sched_attributes.h"
#include "base/untrusted_file.h"
#include "inside/agent_ring.h"
#include "inside/agent_ring_owners.h"
#include "inside/decode.h"
#include "inside/members.h"
#include "inside/process_table.h"
#include "proc/maps.h"

#include <stdlib.h>
#include <string.h>

/*
 * The rings are read when they contain this much in total, estimated from the
 * last batch. A thread whose ring is full uses the others.
 */
enum { FILL_BYTES = INSIDE_RINGS * INSIDE_RING_BYTES / 8 };
#define LEAST_INTERVAL_NS NS_PER_MS
#define MOST_INTERVAL_NS (20 * NS_PER_MS)
/* The interval at the start of a recording. */
#define FIRST_INTERVAL_NS (5 * NS_PER_MS)

enum {
	QUEUE_MAX = 4,	     /* records that must precede the current one */
	PIDS_MAX = 64 << 10, /* kept processes; a limit, because records can claim any pid */
	STEPS_PER_CHECK = 8, /* reading the thread's CPU clock is a system call */
};

/* The CPU time per batch, including what the reader does with its records. */
#define BATCH_CPU_NS (100 * NS_PER_MS)

/* A process's mappings according to the kernel. */
struct inside_source_listing {
	pid_t pid;	/* 0 if none */
	uint64_t batch; /* in which it was read */
	char *text;	/* NULL if the process is not a member */
	size_t len;
	uid_t user;
	struct maps maps;
	struct mapping at; /* last result of `maps`, if has_at */
	bool has_at;
};

/* Times of the recording and of its batches. */
struct batches {
	uint64_t count;
	uint64_t start_ns, limit_ns, until_ns, read_ns, interval_ns;
	uint64_t begin_cpu_ns, steps;
	uint64_t given_ns;    /* of the last record that was taken out of a ring */
	uint64_t complete_ns; /* limit of the previous batch */
	bool is_cut;	      /* the last batch has left records in the rings */
};

/* The last poll for threads and processes that have ended or were renamed. */
struct last_look {
	uint64_t at_ns;
	bool is_of_batch;
	size_t change; /* next change to report */
};

/* The processes that write to the rings. */
struct processes {
	struct process_table table;
	struct members members;
	struct idmap pids; /* whose records are kept, unless all are */
	uint32_t pid_count;
};

/*
 * The record that is being processed, and the records that it is converted to.
 */
struct giving {
	struct agent_ring *ring; /* of that record; NULL if there is none */
	struct record queue[QUEUE_MAX];
	unsigned queued, next_queued;
	struct record of_mapping;	      /* pid, tid and time of the following mappings */
	struct maps maps;		      /* mappings that are still to be returned */
	struct inside_source_listing listing; /* to check them against */
	char name[COMM_BYTES], thread_name[COMM_BYTES];
};

struct losses {
	uint64_t lost;				/* value at the last read */
	uint64_t unreported;			/* lost samples for the next RECORD_LOST */
	uint64_t frees_before, mappings_before; /* lost by earlier recordings */
};

struct inside_source {
	struct inside_options options;
	struct inside_control *control;
	struct agent_ring rings[INSIDE_RINGS];
	struct agent_ring_owners owners;
	struct processes processes;
	bool is_paused, is_disabled;
	struct batches batches;
	struct last_look look;
	struct giving giving;
	struct losses losses;
	struct inside_counts counts;
};

static uint64_t inside_source_load(const uint64_t *shared)
{
	return __atomic_load_n(shared, __ATOMIC_RELAXED);
}

static void store_32(uint32_t *shared, uint32_t value)
{
	__atomic_store_n(shared, value, __ATOMIC_RELAXED);
}

static void note_lost(struct inside_source *source)
{
	uint64_t more = inside_source_load(&source->control->lost) - source->losses.lost;

	source->losses.lost += more;
	if (more > UINT32_MAX) /* the program overwrote the counter */
		source->counts.damaged++;
	else
		source->losses.unreported += more;
}

static void set_alloc_period(struct inside_source *source, uint64_t period)
{
	uint64_t scale = period && period < INSIDE_SCALE ? INSIDE_SCALE / period : !!period;

	__atomic_store_n(&source->control->alloc_period, period, __ATOMIC_RELAXED);
	__atomic_store_n(&source->control->alloc_scale, scale, __ATOMIC_RELEASE);
}

/*
 * A thread creates its timer when it starts, so the rate must be set from the
 * start.
 */
static void prepare_library(struct inside_source *source)
{
	const struct inside_options *options = &source->options;
	struct inside_control *control = source->control;

	set_alloc_period(source, 0);
	store_32(&control->alloc_maps, options->maps_too);
	store_32(&control->cpu_hz, options->cpu_hz);
	store_32(&control->records_mappings, !options->allocations_only);
}

struct inside_source *inside_source_new(const struct inside_options *options)
{
	struct inside_source *source = xcalloc(1, sizeof(*source));

	source->options = *options;
	source->control = options->file->control;
	source->batches.start_ns = source->look.at_ns = clock_now_ns();
	source->batches.interval_ns = FIRST_INTERVAL_NS;
	source->is_paused = true;
	for (unsigned i = 0; i < INSIDE_RINGS; i++)
		agent_ring_init(&source->rings[i], options->file->mapped, i);
	for (size_t i = 0; i < options->pid_count; i++)
		*idmap_put(&source->processes.pids, (uint64_t)options->pids[i], 0) = 1;
	source->processes.pid_count = (uint32_t)options->pid_count;
	members_init(&source->processes.members, options->file->fd, options->pids,
		     options->pid_count);
	/* Losses before now do not belong to this recording. */
	source->losses.lost = inside_source_load(&source->control->lost);
	source->losses.frees_before = inside_source_load(&source->control->lost_frees);
	source->losses.mappings_before = inside_source_load(&source->control->lost_mappings);
	prepare_library(source);
	return source;
}

void inside_source_pause(struct inside_source *source)
{
	set_alloc_period(source, 0);
	source->is_paused = true;
}

void inside_source_resume(struct inside_source *source)
{
	set_alloc_period(source, source->options.alloc_period);
	source->is_paused = false;
}

static struct error *inside_source_enable(void *user)
{
	sched_request_short_slices();
	inside_source_resume(user);
	return NULL;
}

/*
 * The library still writes the frees of sampled blocks, which are not read any
 * more.
 */
static void disable(void *user)
{
	struct inside_source *source = user;

	set_alloc_period(source, 0);
	store_32(&source->control->cpu_hz, 0);
	store_32(&source->control->records_mappings, 0);
	source->is_disabled = true;
}

static void inside_source_close(void *user)
{
	struct inside_source *source = user;

	disable(source);
	for (unsigned i = 0; i < INSIDE_RINGS; i++)
		agent_ring_deinit(&source->rings[i]);
	process_table_deinit(&source->processes.table);
	members_deinit(&source->processes.members);
	free(source->giving.listing.text);
	idmap_deinit(&source->processes.pids);
	free(source);
}

static void inside_source_look(struct inside_source *source)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns - source->look.at_ns < NS_PER_SECOND && !source->is_disabled)
		return;
	source->look.at_ns = now_ns;
	source->look.is_of_batch = true;
	source->look.change = 0;
	process_table_look(&source->processes.table);
	agent_ring_owners_look(&source->owners, source->rings, &source->processes.table, now_ns);
}

static void set_interval(struct inside_source *source, uint64_t bytes, uint64_t elapsed_ns)
{
	uint64_t interval_ns = bytes ? elapsed_ns * FILL_BYTES / bytes : MOST_INTERVAL_NS;

	/* The interval may shrink at once, but grows only step by step. */
	if (interval_ns > 2 * source->batches.interval_ns)
		interval_ns = 2 * source->batches.interval_ns;
	if (interval_ns < LEAST_INTERVAL_NS)
		interval_ns = LEAST_INTERVAL_NS;
	source->batches.interval_ns = interval_ns < MOST_INTERVAL_NS ? interval_ns
								     : MOST_INTERVAL_NS;
}

static void batch(void *user)
{
	struct inside_source *source = user;
	uint64_t before_ns = source->batches.limit_ns ? source->batches.limit_ns
						      : source->batches.start_ns,
		 written = 0;

	source->batches.count++;
	source->batches.begin_cpu_ns = clock_thread_cpu_ns();
	/*
	 * Ended and renamed threads are reported after the remaining records of
	 * a cut batch.
	 */
	if (!source->batches.is_cut) {
		source->look.is_of_batch = false;
		inside_source_look(source);
	}
	source->batches.is_cut = false;
	source->batches.complete_ns = source->batches.limit_ns;
	source->batches.limit_ns = clock_now_ns();
	for (unsigned i = 0; i < INSIDE_RINGS; i++)
		written += agent_ring_note_head(&source->rings[i]);
	set_interval(source, written, source->batches.limit_ns - before_ns);
	if (source->batches.until_ns && source->batches.limit_ns > source->batches.until_ns)
		source->batches.limit_ns = source->batches.until_ns;
	note_lost(source);
	source->batches.read_ns = clock_now_ns();
}

uint64_t inside_source_next_ns(const struct inside_source *source, uint64_t now_ns)
{
	uint64_t next_ns = source->batches.read_ns + source->batches.interval_ns;

	/* Processing the last batch may have taken longer than the interval. */
	return next_ns > now_ns ? next_ns : now_ns;
}

void inside_source_limit(struct inside_source *source, uint64_t until_ns)
{
	source->batches.until_ns = until_ns;
}

uint64_t inside_source_complete_ns(const struct inside_source *source)
{
	return source->batches.limit_ns;
}

bool inside_source_is_cut(const struct inside_source *source)
{
	return source->batches.is_cut;
}

void inside_source_skip(struct inside_source *source)
{
	uint64_t now_ns = clock_now_ns();

	source->counts.skipped += source->giving.next_queued < source->giving.queued ||
				  bytes_left(&source->giving.maps.rest) > 0;
	source->giving.queued = source->giving.next_queued = 0;
	source->giving.maps.rest = (struct bytes){0};
	if (source->giving.ring)
		agent_ring_drop(source->giving.ring);
	source->giving.ring = NULL;
	for (unsigned i = 0; i < INSIDE_RINGS; i++)
		while (agent_ring_peek(&source->rings[i], now_ns)) {
			agent_ring_drop(&source->rings[i]);
			source->counts.skipped++;
		}
	source->batches.is_cut = false;
	source->batches.limit_ns = source->batches.read_ns;
}

char *inside_source_load_maps(const struct inside_source *source, pid_t pid, size_t *len)
{
	return members_load_maps(&source->processes.members, pid, len, NULL);
}

/*
 * Returns the ring whose next record is the earliest one of this batch, or NULL
 * if none is left.
 */
static struct agent_ring *earliest(struct inside_source *source,
				   const struct agent_ring_record **ret)
{
	struct agent_ring *found = NULL;

	for (unsigned i = 0; i < INSIDE_RINGS; i++) {
		const struct agent_ring_record *record = agent_ring_peek(&source->rings[i],
									 source->batches.read_ns);

		if (!record || record->time_ns > source->batches.limit_ns ||
		    (found && record->time_ns >= (*ret)->time_ns))
			continue;
		found = &source->rings[i];
		*ret = record;
	}
	return found;
}

static bool inside_source_is_kept(const struct inside_source *source, pid_t pid)
{
	return !source->options.pid_count ||
	       idmap_get(&source->processes.pids, (uint64_t)pid, 0) != IDMAP_NONE;
}

/* Returns whether a record can come from the process that it names. */
static bool is_believed(struct inside_source *source, pid_t pid, bool has_begun)
{
	if (members_check(&source->processes.members, pid, has_begun, clock_now_ns()) !=
	    MEMBERSHIP_STRANGER)
		return true;
	source->counts.strangers++;
	return false;
}

static void keep_child(struct inside_source *source, pid_t parent, pid_t pid)
{
	if (!source->options.pid_count || !inside_source_is_kept(source, parent) ||
	    inside_source_is_kept(source, pid) || source->processes.pid_count >= PIDS_MAX)
		return;
	*idmap_put(&source->processes.pids, (uint64_t)pid, 0) = 1;
	source->processes.pid_count++;
}

static struct record *enqueue(struct inside_source *source, enum record_type type,
			      const struct agent_ring_record *from)
{
	struct record *record = &source->giving.queue[source->giving.queued++];

	*record = (struct record){
		.type = type, .pid = from->pid, .tid = from->tid, .time_ns = from->time_ns};
	return record;
}

static void enqueue_fork(struct inside_source *source, const struct agent_ring_record *from,
			 pid_t parent)
{
	struct record *record = enqueue(source, RECORD_FORK, from);

	record->fork.parent_pid = record->fork.parent_tid = parent;
}

static void enqueue_name(struct inside_source *source, const struct agent_ring_record *from,
			 const char *name, bool exec)
{
	struct record *record = enqueue(source, RECORD_COMM, from);

	record->comm.name = name;
	record->comm.exec = exec;
}

/*
 * Two cases have no fork or exit record. A program that a child of vfork()
 * executes starts without a fork. If a process is forked under a pid in use,
 * the previous process has ended since the last poll.
 */
static void begin_process(struct inside_source *source, const struct agent_ring_record *from,
			  const struct inside_beginning *beginning)
{
	bool is_new;
	struct process_entry *process = process_table_meet(&source->processes.table, from->pid,
							   from->pid, &is_new);

	source->counts.processes += is_new || !beginning->is_exec;
	if (!is_new && !beginning->is_exec)
		enqueue(source, RECORD_EXIT, from);
	if (is_new || !beginning->is_exec)
		enqueue_fork(source, from, beginning->parent);
	/* The fork has given it its parent's name. */
	if (!*beginning->name)
		return;
	memcpy(source->giving.name, beginning->name, sizeof(source->giving.name));
	if (process) {
		process->has_ended = false;
		memcpy(process->name, beginning->name, sizeof(process->name));
		if (beginning->is_exec)
			process->exec_ns = clock_now_ns();
	}
	enqueue_name(source, from, source->giving.name, beginning->is_exec);
}

static bool inside_source_start(struct inside_source *source, struct agent_ring *ring,
				const struct agent_ring_record *from)
{
	struct inside_beginning beginning;

	if (!inside_decode_start(from, &beginning)) {
		agent_ring_empty(ring);
		return false;
	}
	if (!is_believed(source, from->pid, true))
		return false;
	if (!beginning.is_exec)
		keep_child(source, beginning.parent, from->pid);
	if (!inside_source_is_kept(source, from->pid) || source->options.allocations_only)
		return false;
	begin_process(source, from, &beginning);
	return true;
}

static void meet_thread(struct inside_source *source, const struct agent_ring_record *from)
{
	bool is_new;
	const struct process_entry *thread;

	process_table_meet(&source->processes.table, from->pid, from->pid, &is_new);
	source->counts.processes += is_new;
	if (from->tid == from->pid)
		return;
	thread = process_table_meet(&source->processes.table, from->pid, from->tid, &is_new);
	if (!is_new || !thread)
		return;
	enqueue_fork(source, from, from->pid);
	memcpy(source->giving.thread_name, thread->name, sizeof(source->giving.thread_name));
	if (*source->giving.thread_name)
		enqueue_name(source, from, source->giving.thread_name, false);
}

static bool inside_source_decode(struct inside_source *source, struct agent_ring *ring,
				 const struct agent_ring_record *from)
{
	struct record record;

	if (!inside_decode(from, source->options.pc_bit, &record)) {
		agent_ring_empty(ring);
		return false;
	}
	if (!inside_source_is_kept(source, from->pid) || !is_believed(source, from->pid, false))
		return false;
	if (record.type == RECORD_SAMPLE &&
	    (source->is_paused || source->options.allocations_only || !source->options.cpu_hz))
		return false;
	if (!source->options.allocations_only && record.type != RECORD_FREE)
		meet_thread(source, from);
	if (record.type == RECORD_SAMPLE)
		record.sample.event = source->options.cpu_event;
	source->giving.queue[source->giving.queued++] = record;
	return true;
}

/*
 * The listing is read after the records of the batch were written, so it is not
 * older than they are.
 */
static void prepare_listing(struct inside_source *source, pid_t pid)
{
	struct inside_source_listing *listing = &source->giving.listing;

	if (listing->pid == pid && listing->batch == source->batches.count)
		return;
	free(listing->text);
	*listing = (struct inside_source_listing){.pid = pid, .batch = source->batches.count};
	listing->text = members_load_maps(&source->processes.members, pid, &listing->len,
					  &listing->user);
	listing->maps.rest = bytes_of(listing->text, listing->text ? listing->len : 0);
}

static bool begin_maps(struct inside_source *source, struct agent_ring *ring,
		       const struct agent_ring_record *from)
{
	struct bytes text;

	if (!inside_decode_maps(from, &text)) {
		agent_ring_empty(ring);
		return false;
	}
	if (!inside_source_is_kept(source, from->pid) || source->options.allocations_only ||
	    !is_believed(source, from->pid, false))
		return false;
	source->giving.of_mapping = (struct record){
		.type = RECORD_MMAP, .pid = from->pid, .tid = from->tid, .time_ns = from->time_ns};
	source->giving.maps.rest = text;
	prepare_listing(source, from->pid);
	return true;
}

/* Returns false if the record is not for the reader. */
static bool inside_source_expand(struct inside_source *source, struct agent_ring *ring,
				 struct agent_ring_record from)
{
	/* No recorded process started earlier. */
	if (from.time_ns < source->batches.start_ns)
		from.time_ns = source->batches.start_ns;
	source->giving.queued = source->giving.next_queued = 0;
	if (from.type == INSIDE_START)
		return inside_source_start(source, ring, &from);
	if (from.type == INSIDE_MAPS)
		return begin_maps(source, ring, &from);
	return inside_source_decode(source, ring, &from);
}

/*
 * Finds the kernel's mapping at that address, or the next one above it. Both
 * lists are sorted.
 */
static bool inside_source_find_listed(struct inside_source_listing *listing, uint64_t address)
{
	if (listing->has_at && listing->at.start > address) {
		listing->maps.rest = bytes_of(listing->text, listing->len);
		listing->has_at = false;
	}
	while (!listing->has_at || listing->at.end <= address)
		if (!(listing->has_at = maps_next(&listing->maps, &listing->at)))
			return false;
	return true;
}

static bool is_same_mapping(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->device_major == b->device_major && a->device_minor == b->device_minor &&
	       a->inode == b->inode;
}

static bool inside_source_is_anonymous(const struct mapping *mapping)
{
	return !*mapping->path && !mapping->inode;
}

/*
 * Replaces the mapping by the kernel's own, or notes who claims it. Returns
 * false if it must not be used.
 *
 * The library reports memory that became executable as anonymous, even if it is
 * a part of a larger mapping or of a file. So the kernel's mapping there is
 * used. If the kernel lists none for a running process, the memory was unmapped
 * since. It is not a claim, because the process could have mapped it.
 */
static bool check_mapping(struct inside_source_listing *listing, struct mapping *mapping)
{
	bool is_code = listing->text && inside_source_is_anonymous(mapping);

	if (listing->text && inside_source_find_listed(listing, mapping->start) &&
	    (is_same_mapping(&listing->at, mapping) ||
	     (is_code && listing->at.start < mapping->end))) {
		*mapping = listing->at;
		return true;
	}
	if (is_code)
		return true;
	mapping->is_claimed = true;
	mapping->claimant = listing->text ? listing->user : UNTRUSTED_USER_NOBODY;
	return strcmp(mapping->path, "[vdso]") == 0 || (*mapping->path == '/' && mapping->inode);
}

static bool next_mapping(struct inside_source *source, struct record *ret)
{
	struct mapping mapping;

	do
		if (!bytes_left(&source->giving.maps.rest) ||
		    !maps_next(&source->giving.maps, &mapping))
			return false;
	while (!check_mapping(&source->giving.listing, &mapping));
	*ret = source->giving.of_mapping;
	ret->mmap = (struct record_mmap){
		.start = mapping.start,
		.length_bytes = mapping.end - mapping.start,
		.offset = mapping.offset,
		.device_major = mapping.device_major,
		.device_minor = mapping.device_minor,
		.inode = mapping.inode,
		.executable = true,
		.is_claimed = mapping.is_claimed,
		.claimant = mapping.claimant,
		.path = mapping.path,
	};
	return true;
}

/* Returns the next of the records that the current record is converted to. */
static bool next_of_current(struct inside_source *source, struct record *ret)
{
	if (source->giving.next_queued < source->giving.queued) {
		*ret = source->giving.queue[source->giving.next_queued++];
		return true;
	}
	return next_mapping(source, ret);
}

/*
 * Changes come after the batch's records, because a thread that had ended at
 * the poll wrote none later.
 */
static bool next_change(struct inside_source *source, struct record *ret)
{
	const struct process_table_change *change;

	if (!source->look.is_of_batch ||
	    source->look.change >= source->processes.table.change_count)
		return false;
	change = &source->processes.table.changes[source->look.change++];
	*ret = (struct record){
		.type = change->has_ended ? RECORD_EXIT : RECORD_COMM,
		.pid = change->pid,
		.tid = change->tid,
		.time_ns = source->batches.limit_ns,
	};
	if (!change->has_ended)
		ret->comm.name = change->name;
	return true;
}

static bool next_lost(struct inside_source *source, struct record *ret)
{
	if (!source->losses.unreported)
		return false;
	*ret = (struct record){.type = RECORD_LOST, .time_ns = source->batches.limit_ns};
	ret->lost.count = source->losses.unreported;
	if (source->options.alloc_period)
		ret->lost.what = LOST_ALLOCATIONS;
	source->counts.lost += source->losses.unreported;
	source->losses.unreported = 0;
	return true;
}

/*
 * A program may write more than can be read, including mappings that take long
 * to add.
 */
static bool has_used_its_time(struct inside_source *source)
{
	if (!source->batches.is_cut && source->batches.steps++ % STEPS_PER_CHECK == 0)
		source->batches.is_cut = clock_thread_cpu_ns() - source->batches.begin_cpu_ns >
					 BATCH_CPU_NS;
	return source->batches.is_cut;
}

/* Makes the next record for the reader the current one. */
static bool inside_source_advance(struct inside_source *source)
{
	const struct agent_ring_record *record = NULL;

	if (source->giving.ring)
		agent_ring_drop(source->giving.ring);
	source->giving.ring = NULL;
	while (!has_used_its_time(source)) {
		struct agent_ring *ring = earliest(source, &record);

		if (!ring)
			return false;
		source->batches.given_ns = record->time_ns;
		if (inside_source_expand(source, ring, *record)) {
			source->giving.ring = ring;
			return true;
		}
		agent_ring_drop(ring);
	}
	return false;
}

/* The next batch continues with the rest. */
static void end_cut_batch(struct inside_source *source)
{
	uint64_t end_ns = source->batches.given_ns > source->batches.complete_ns
				  ? source->batches.given_ns
				  : source->batches.complete_ns;

	if (end_ns < source->batches.limit_ns)
		source->batches.limit_ns = end_ns;
}

static bool next(void *user, struct record *ret)
{
	struct inside_source *source = user;

	do
		if (!has_used_its_time(source) && source->giving.ring &&
		    next_of_current(source, ret))
			return true;
	while (!source->batches.is_cut && inside_source_advance(source));
	if (source->batches.is_cut) {
		end_cut_batch(source);
		return false;
	}
	return next_change(source, ret) || next_lost(source, ret);
}

struct record_source inside_record_source(struct inside_source *source)
{
	static const struct record_source_ops ops = {
		.enable = inside_source_enable,
		.disable = disable,
		.batch = batch,
		.next = next,
		.close = inside_source_close,
	};

	return (struct record_source){.ops = &ops, .source = source};
}

struct inside_counts inside_source_counts(const struct inside_source *source)
{
	const struct inside_control *control = source->control;
	struct inside_counts counts = source->counts;

	for (unsigned i = 0; i < INSIDE_RINGS; i++)
		counts.damaged += source->rings[i].damaged;
	counts.lost_frees = inside_source_load(&control->lost_frees) - source->losses.frees_before;
	counts.lost_mappings = inside_source_load(&control->lost_mappings) -
			       source->losses.mappings_before;
	counts.untracked = inside_source_load(&control->untracked);
	counts.other_namespace = __atomic_load_n(&control->other_namespace, __ATOMIC_RELAXED);
	counts.timers_refused = __atomic_load_n(&control->timers_refused, __ATOMIC_RELAXED);
	counts.unhooked_loads = __atomic_load_n(&control->unhooked_loads, __ATOMIC_RELAXED);
	return counts;
}

uint32_t inside_highest_cpu_hz(void)
{
	struct timespec tick;

	/* The coarse clock advances with each tick. */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) < 0 || tick.tv_sec || tick.tv_nsec <= 0)
		return 100;
	return (uint32_t)((NS_PER_SECOND + (uint64_t)tick.tv_nsec / 2) / (uint64_t)tick.tv_nsec);
}
