#include "inside/source.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/foreign_file.h"
#include "base/idmap.h"
#include "base/sched_attributes.h"
#include "inside/decode.h"
#include "inside/lane.h"
#include "inside/lane_owners.h"
#include "inside/members.h"
#include "inside/population.h"
#include "proc/maps.h"

#include <stdlib.h>
#include <string.h>

/* The lanes are read when this much is in all of them, as far as the last batch tells: a thread
 * whose lane is full goes on in the others. */
enum { FILL_BYTES = INSIDE_LANES * INSIDE_LANE_BYTES / 8 };
#define LEAST_INTERVAL_NS NS_PER_MS
#define MOST_INTERVAL_NS (20 * NS_PER_MS)
/* Of a recording that has just begun. */
#define FIRST_INTERVAL_NS (5 * NS_PER_MS)

enum {
	QUEUE_MAX = 4,	     /* records that come before the one that they are about */
	PIDS_MAX = 64 << 10, /* that are followed: records can claim any */
	STEPS_PER_CHECK = 8, /* reading the thread's clock is a system call */
};

/* The CPU time of a batch, with what the reader does with its records. */
#define BATCH_CPU_NS (100 * NS_PER_MS)

/* A process's mappings as the kernel lists them. */
struct listing {
	pid_t pid;	/* 0: none */
	uint64_t batch; /* in which it was read */
	char *text;	/* NULL: the process is no member */
	size_t len;
	uid_t user;
	struct maps maps;
	struct mapping at; /* the last one of maps */
	bool has_at;
};

struct inside_source {
	struct inside_options options;
	struct inside_control *control;
	struct lane lanes[INSIDE_LANES];
	struct lane_owners owners;
	struct population population;
	struct members members;
	struct idmap pids; /* whose records are kept, unless all are */
	uint32_t pid_count;

	uint64_t start_ns, limit_ns, until_ns, read_ns, looked_ns, interval_ns;
	bool is_paused, is_disabled;
	bool has_looked; /* in this batch */
	uint64_t batches, begin_cpu_ns, steps;
	uint64_t given_ns;    /* of the last record that was taken out of a lane */
	uint64_t complete_ns; /* the limit of the batch before */
	bool is_cut;	      /* the last batch has left records in the lanes */
	size_t change;	      /* the next one of the look to tell */

	struct lane *current; /* its record is given out by and by; NULL: none is */
	struct record queue[QUEUE_MAX];
	unsigned queued, next_queued;
	struct record of_mapping; /* pid, tid and time of those that follow */
	struct maps maps;	  /* that are still to be given out */
	struct listing listing;	  /* to compare them with */
	char name[COMM_BYTES], thread_name[COMM_BYTES];

	uint64_t lost;				/* as it was last read */
	uint64_t unreported;			/* lost samples for the next RECORD_LOST */
	uint64_t frees_before, mappings_before; /* lost by earlier recordings */
	struct inside_counts counts;
};

static uint64_t load(const uint64_t *shared)
{
	return __atomic_load_n(shared, __ATOMIC_RELAXED);
}

static void store_32(uint32_t *shared, uint32_t value)
{
	__atomic_store_n(shared, value, __ATOMIC_RELAXED);
}

static void note_lost(struct inside_source *source)
{
	uint64_t more = load(&source->control->lost) - source->lost;

	source->lost += more;
	if (more > UINT32_MAX) /* the program has written there */
		source->counts.damaged++;
	else
		source->unreported += more;
}

static void set_alloc_period(struct inside_source *source, uint64_t period)
{
	uint64_t scale = period && period < INSIDE_SCALE ? INSIDE_SCALE / period : !!period;

	__atomic_store_n(&source->control->alloc_period, period, __ATOMIC_RELAXED);
	__atomic_store_n(&source->control->alloc_scale, scale, __ATOMIC_RELEASE);
}

/* A thread takes its timer when it begins, so the rate is set from the beginning on. */
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
	source->start_ns = source->looked_ns = clock_now_ns();
	source->interval_ns = FIRST_INTERVAL_NS;
	source->is_paused = true;
	for (unsigned i = 0; i < INSIDE_LANES; i++)
		lane_init(&source->lanes[i], options->file->mapped, i);
	for (size_t i = 0; i < options->pid_count; i++)
		*idmap_put(&source->pids, (uint64_t)options->pids[i], 0) = 1;
	source->pid_count = (uint32_t)options->pid_count;
	members_init(&source->members, options->file->fd, options->pids, options->pid_count);
	/* What was lost before is not of this recording. */
	source->lost = load(&source->control->lost);
	source->frees_before = load(&source->control->lost_frees);
	source->mappings_before = load(&source->control->lost_mappings);
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

static struct error *enable(void *user)
{
	sched_request_short_slices();
	inside_source_resume(user);
	return NULL;
}

/* The library still writes the ends of sampled blocks. Nobody reads them. */
static void disable(void *user)
{
	struct inside_source *source = user;

	set_alloc_period(source, 0);
	store_32(&source->control->cpu_hz, 0);
	store_32(&source->control->records_mappings, 0);
	source->is_disabled = true;
}

static void close_source(void *user)
{
	struct inside_source *source = user;

	disable(source);
	for (unsigned i = 0; i < INSIDE_LANES; i++)
		lane_deinit(&source->lanes[i]);
	population_deinit(&source->population);
	members_deinit(&source->members);
	free(source->listing.text);
	idmap_deinit(&source->pids);
	free(source);
}

static void look(struct inside_source *source)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns - source->looked_ns < NS_PER_SECOND && !source->is_disabled)
		return;
	source->looked_ns = now_ns;
	source->has_looked = true;
	source->change = 0;
	population_look(&source->population);
	lane_owners_look(&source->owners, source->lanes, &source->population, now_ns);
}

static void set_interval(struct inside_source *source, uint64_t bytes, uint64_t elapsed_ns)
{
	uint64_t interval_ns = bytes ? elapsed_ns * FILL_BYTES / bytes : MOST_INTERVAL_NS;

	/* It may become faster from one moment to the next, and does not slow down at once. */
	if (interval_ns > 2 * source->interval_ns)
		interval_ns = 2 * source->interval_ns;
	if (interval_ns < LEAST_INTERVAL_NS)
		interval_ns = LEAST_INTERVAL_NS;
	source->interval_ns = interval_ns < MOST_INTERVAL_NS ? interval_ns : MOST_INTERVAL_NS;
}

static void batch(void *user)
{
	struct inside_source *source = user;
	uint64_t before_ns = source->limit_ns ? source->limit_ns : source->start_ns, written = 0;

	source->batches++;
	source->begin_cpu_ns = clock_thread_cpu_ns();
	/* What has ended or changed comes after the records of the batch that was cut. */
	if (!source->is_cut) {
		source->has_looked = false;
		look(source);
	}
	source->is_cut = false;
	source->complete_ns = source->limit_ns;
	source->limit_ns = clock_now_ns();
	for (unsigned i = 0; i < INSIDE_LANES; i++)
		written += lane_note_head(&source->lanes[i]);
	set_interval(source, written, source->limit_ns - before_ns);
	if (source->until_ns && source->limit_ns > source->until_ns)
		source->limit_ns = source->until_ns;
	note_lost(source);
	source->read_ns = clock_now_ns();
}

uint64_t inside_source_next_ns(const struct inside_source *source, uint64_t now_ns)
{
	uint64_t next_ns = source->read_ns + source->interval_ns;

	/* The records of the last batch may have taken longer. */
	return next_ns > now_ns ? next_ns : now_ns;
}

void inside_source_limit(struct inside_source *source, uint64_t until_ns)
{
	source->until_ns = until_ns;
}

uint64_t inside_source_complete_ns(const struct inside_source *source)
{
	return source->limit_ns;
}

bool inside_source_is_cut(const struct inside_source *source)
{
	return source->is_cut;
}

void inside_source_skip(struct inside_source *source)
{
	uint64_t now_ns = clock_now_ns();

	source->counts.skipped += source->next_queued < source->queued ||
				  bytes_left(&source->maps.rest) > 0;
	source->queued = source->next_queued = 0;
	source->maps.rest = (struct bytes){0};
	if (source->current)
		lane_drop(source->current);
	source->current = NULL;
	for (unsigned i = 0; i < INSIDE_LANES; i++)
		while (lane_peek(&source->lanes[i], now_ns)) {
			lane_drop(&source->lanes[i]);
			source->counts.skipped++;
		}
	source->is_cut = false;
	source->limit_ns = source->read_ns;
}

char *inside_source_load_maps(const struct inside_source *source, pid_t pid, size_t *len)
{
	return members_load_maps(&source->members, pid, len, NULL);
}

/* The lane whose next record is the earliest one of this batch; NULL: none is left. */
static struct lane *earliest(struct inside_source *source, const struct lane_record **ret)
{
	struct lane *found = NULL;

	for (unsigned i = 0; i < INSIDE_LANES; i++) {
		const struct lane_record *record = lane_peek(&source->lanes[i], source->read_ns);

		if (!record || record->time_ns > source->limit_ns ||
		    (found && record->time_ns >= (*ret)->time_ns))
			continue;
		found = &source->lanes[i];
		*ret = record;
	}
	return found;
}

static bool is_kept(const struct inside_source *source, pid_t pid)
{
	return !source->options.pid_count ||
	       idmap_get(&source->pids, (uint64_t)pid, 0) != IDMAP_NONE;
}

/* Whether a record can be of the process that it names. */
static bool is_believed(struct inside_source *source, pid_t pid)
{
	if (members_check(&source->members, pid, clock_now_ns()) != MEMBERSHIP_STRANGER)
		return true;
	source->counts.strangers++;
	return false;
}

static void keep_child(struct inside_source *source, pid_t parent, pid_t pid)
{
	if (!source->options.pid_count || !is_kept(source, parent) || is_kept(source, pid) ||
	    source->pid_count >= PIDS_MAX)
		return;
	*idmap_put(&source->pids, (uint64_t)pid, 0) = 1;
	source->pid_count++;
}

static struct record *enqueue(struct inside_source *source, enum record_type type,
			      const struct lane_record *from)
{
	struct record *record = &source->queue[source->queued++];

	*record = (struct record){
		.type = type, .pid = from->pid, .tid = from->tid, .time_ns = from->time_ns};
	return record;
}

static void enqueue_fork(struct inside_source *source, const struct lane_record *from, pid_t parent)
{
	struct record *record = enqueue(source, RECORD_FORK, from);

	record->fork.parent_pid = record->fork.parent_tid = parent;
}

static void enqueue_name(struct inside_source *source, const struct lane_record *from,
			 const char *name, bool exec)
{
	struct record *record = enqueue(source, RECORD_COMM, from);

	record->comm.name = name;
	record->comm.exec = exec;
}

/*
 * A program that was executed by a child of vfork() begins without a fork. One that was forked
 * under a number that is in use: the process of that number has ended, and nobody has looked since.
 */
static void begin_process(struct inside_source *source, const struct lane_record *from,
			  const struct inside_beginning *beginning)
{
	bool is_new;
	struct inhabitant *process = population_meet(&source->population, from->pid, from->pid,
						     &is_new);

	source->counts.processes += is_new || !beginning->is_exec;
	if (!is_new && !beginning->is_exec)
		enqueue(source, RECORD_EXIT, from);
	if (is_new || !beginning->is_exec)
		enqueue_fork(source, from, beginning->parent);
	/* The fork has given it its parent's name. */
	if (!*beginning->name)
		return;
	memcpy(source->name, beginning->name, sizeof(source->name));
	if (process) {
		process->has_ended = false;
		memcpy(process->name, beginning->name, sizeof(process->name));
		if (beginning->is_exec)
			process->exec_ns = clock_now_ns();
	}
	enqueue_name(source, from, source->name, beginning->is_exec);
}

static bool start(struct inside_source *source, struct lane *lane, const struct lane_record *from)
{
	struct inside_beginning beginning;

	if (!inside_decode_start(from, &beginning)) {
		lane_empty(lane);
		return false;
	}
	if (!is_believed(source, from->pid))
		return false;
	if (!beginning.is_exec)
		keep_child(source, beginning.parent, from->pid);
	if (!is_kept(source, from->pid) || source->options.allocations_only)
		return false;
	begin_process(source, from, &beginning);
	return true;
}

static void meet_thread(struct inside_source *source, const struct lane_record *from)
{
	bool is_new;
	const struct inhabitant *thread;

	population_meet(&source->population, from->pid, from->pid, &is_new);
	source->counts.processes += is_new;
	if (from->tid == from->pid)
		return;
	thread = population_meet(&source->population, from->pid, from->tid, &is_new);
	if (!is_new || !thread)
		return;
	enqueue_fork(source, from, from->pid);
	memcpy(source->thread_name, thread->name, sizeof(source->thread_name));
	if (*source->thread_name)
		enqueue_name(source, from, source->thread_name, false);
}

static bool decode(struct inside_source *source, struct lane *lane, const struct lane_record *from)
{
	struct record record;

	if (!inside_decode(from, source->options.pc_bit, &record)) {
		lane_empty(lane);
		return false;
	}
	if (!is_kept(source, from->pid) || !is_believed(source, from->pid))
		return false;
	if (record.type == RECORD_SAMPLE &&
	    (source->is_paused || source->options.allocations_only || !source->options.cpu_hz))
		return false;
	if (!source->options.allocations_only && record.type != RECORD_FREE)
		meet_thread(source, from);
	if (record.type == RECORD_SAMPLE)
		record.sample.event = source->options.cpu_event;
	source->queue[source->queued++] = record;
	return true;
}

/* The records of a batch were written before its listings are read. */
static void prepare_listing(struct inside_source *source, pid_t pid)
{
	struct listing *listing = &source->listing;

	if (listing->pid == pid && listing->batch == source->batches)
		return;
	free(listing->text);
	*listing = (struct listing){.pid = pid, .batch = source->batches};
	listing->text = members_load_maps(&source->members, pid, &listing->len, &listing->user);
	listing->maps.rest = bytes_of(listing->text, listing->text ? listing->len : 0);
}

static bool begin_maps(struct inside_source *source, struct lane *lane,
		       const struct lane_record *from)
{
	struct bytes text;

	if (!inside_decode_maps(from, &text)) {
		lane_empty(lane);
		return false;
	}
	if (!is_kept(source, from->pid) || source->options.allocations_only ||
	    !is_believed(source, from->pid))
		return false;
	source->of_mapping = (struct record){
		.type = RECORD_MMAP, .pid = from->pid, .tid = from->tid, .time_ns = from->time_ns};
	source->maps.rest = text;
	prepare_listing(source, from->pid);
	return true;
}

/* False: the record is not for the reader. */
static bool expand(struct inside_source *source, struct lane *lane, struct lane_record from)
{
	/* No process that is recorded began earlier. */
	if (from.time_ns < source->start_ns)
		from.time_ns = source->start_ns;
	source->queued = source->next_queued = 0;
	if (from.type == INSIDE_START)
		return start(source, lane, &from);
	if (from.type == INSIDE_MAPS)
		return begin_maps(source, lane, &from);
	return decode(source, lane, &from);
}

/* The kernel's mapping at that address, or the next one above it; both texts are in order. */
static bool find_listed(struct listing *listing, uint64_t start)
{
	if (listing->has_at && listing->at.start > start) {
		listing->maps.rest = bytes_of(listing->text, listing->len);
		listing->has_at = false;
	}
	while (!listing->has_at || listing->at.start < start)
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

/* Replaces it by the kernel's own, or notes whose claim it is. False: it is not to be used. */
static bool check_mapping(struct listing *listing, struct mapping *mapping)
{
	if (listing->text && find_listed(listing, mapping->start) &&
	    is_same_mapping(&listing->at, mapping)) {
		*mapping = listing->at;
		return true;
	}
	mapping->is_claimed = true;
	mapping->claimant = listing->text ? listing->user : FOREIGN_USER_NOBODY;
	return strcmp(mapping->path, "[vdso]") == 0 || (*mapping->path == '/' && mapping->inode);
}

static bool next_mapping(struct inside_source *source, struct record *ret)
{
	struct mapping mapping;

	do
		if (!bytes_left(&source->maps.rest) || !maps_next(&source->maps, &mapping))
			return false;
	while (!check_mapping(&source->listing, &mapping));
	*ret = source->of_mapping;
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

/* What a record of the library consists of. */
static bool next_of_current(struct inside_source *source, struct record *ret)
{
	if (source->next_queued < source->queued) {
		*ret = source->queue[source->next_queued++];
		return true;
	}
	return next_mapping(source, ret);
}

/* To be told after the batch's records: a thread that had ended at the look wrote none later. */
static bool next_change(struct inside_source *source, struct record *ret)
{
	const struct population_change *change;

	if (!source->has_looked || source->change >= source->population.change_count)
		return false;
	change = &source->population.changes[source->change++];
	*ret = (struct record){
		.type = change->has_ended ? RECORD_EXIT : RECORD_COMM,
		.pid = change->pid,
		.tid = change->tid,
		.time_ns = source->limit_ns,
	};
	if (!change->has_ended)
		ret->comm.name = change->name;
	return true;
}

static bool next_lost(struct inside_source *source, struct record *ret)
{
	if (!source->unreported)
		return false;
	*ret = (struct record){.type = RECORD_LOST, .time_ns = source->limit_ns};
	ret->lost.count = source->unreported;
	if (source->options.alloc_period)
		ret->lost.what = LOST_ALLOCATIONS;
	source->counts.lost += source->unreported;
	source->unreported = 0;
	return true;
}

/* A program may write more than can be read, and mappings that take long to add. */
static bool has_used_its_time(struct inside_source *source)
{
	if (!source->is_cut && source->steps++ % STEPS_PER_CHECK == 0)
		source->is_cut = clock_thread_cpu_ns() - source->begin_cpu_ns > BATCH_CPU_NS;
	return source->is_cut;
}

/* The next record of the lanes that is for the reader becomes the current one. */
static bool advance(struct inside_source *source)
{
	const struct lane_record *record = NULL;

	if (source->current)
		lane_drop(source->current);
	source->current = NULL;
	while (!has_used_its_time(source)) {
		struct lane *lane = earliest(source, &record);

		if (!lane)
			return false;
		source->given_ns = record->time_ns;
		if (expand(source, lane, *record)) {
			source->current = lane;
			return true;
		}
		lane_drop(lane);
	}
	return false;
}

/* The next batch goes on with the rest. */
static void end_cut_batch(struct inside_source *source)
{
	uint64_t end_ns = source->given_ns > source->complete_ns ? source->given_ns
								 : source->complete_ns;

	if (end_ns < source->limit_ns)
		source->limit_ns = end_ns;
}

static bool next(void *user, struct record *ret)
{
	struct inside_source *source = user;

	do
		if (!has_used_its_time(source) && source->current && next_of_current(source, ret))
			return true;
	while (!source->is_cut && advance(source));
	if (source->is_cut) {
		end_cut_batch(source);
		return false;
	}
	return next_change(source, ret) || next_lost(source, ret);
}

struct record_source inside_record_source(struct inside_source *source)
{
	static const struct record_source_ops ops = {
		.enable = enable,
		.disable = disable,
		.batch = batch,
		.next = next,
		.close = close_source,
	};

	return (struct record_source){.ops = &ops, .source = source};
}

struct inside_counts inside_source_counts(const struct inside_source *source)
{
	const struct inside_control *control = source->control;
	struct inside_counts counts = source->counts;

	for (unsigned i = 0; i < INSIDE_LANES; i++)
		counts.damaged += source->lanes[i].damaged;
	counts.lost_frees = load(&control->lost_frees) - source->frees_before;
	counts.lost_mappings = load(&control->lost_mappings) - source->mappings_before;
	counts.untracked = load(&control->untracked);
	counts.foreign = __atomic_load_n(&control->foreign, __ATOMIC_RELAXED);
	counts.timers_refused = __atomic_load_n(&control->timers_refused, __ATOMIC_RELAXED);
	return counts;
}

uint32_t inside_highest_cpu_hz(void)
{
	struct timespec tick;

	/* The coarse clock moves with each tick. */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) < 0 || tick.tv_sec || tick.tv_nsec <= 0)
		return 100;
	return (uint32_t)((NS_PER_SECOND + (uint64_t)tick.tv_nsec / 2) / (uint64_t)tick.tv_nsec);
}
