#include "symbol/worker_pools.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Ten times what reading debug information takes per byte. */
enum { NS_PER_BYTE = 10 };

#define RUN_CPU_NS (10 * NS_PER_SECOND)
#define UNTRUSTED_SHARE_NS (2 * NS_PER_SECOND)
#define RUN_CPU_NS_MAX (3600 * NS_PER_SECOND)
#define UNTRUSTED_CPU_NS_MAX (60 * NS_PER_SECOND)
#define STANDSTILL_NS (10 * NS_PER_SECOND)
/*
 * A stopped worker cannot be waiting for a slow disk. Ctrl-Z and fg stop and
 * continue prof, too.
 */
#define STOPPED_NS NS_PER_SECOND

/*
 * Enough for a large program with all its debug information, and for the names
 * of a large profile. prof needs up to ten times the size of a reply.
 */
enum { UNTRUSTED_MEMORY_BYTES = 256 << 20, UNTRUSTED_REPLY_BYTES = 16 << 20 };
#define REPLY_BYTES ((size_t)1 << 30)

/* More threads need more memory and take the CPUs from other owners. */
enum { UNTRUSTED_THREADS_MAX = 4 };

/* The user who may write to a file. */
struct worker_pools_owner {
	uid_t uid;
	bool is_untrusted;
};

/*
 * The first pool is the trusted one, the last one is shared. A user can own
 * files under 65,536 ids (subuid), so the number of owners is limited.
 */
enum { WORKER_POOLS_MAX = 16, TRUSTED = 0, SHARED = WORKER_POOLS_MAX - 1, OWNERS_MAX = 1000 };

/* The owners that share a pool. */
static const struct worker_pools_owner others = {.uid = CONFINED_NOBODY, .is_untrusted = true};

struct owned_worker_pool {
	struct worker_pools_owner owner;
	struct worker_pool *pool; /* NULL if not used yet */
};

struct worker_pools {
	struct worker_pools_options options;
	struct owned_worker_pool pools[WORKER_POOLS_MAX];
	unsigned count; /* number of pools before SHARED */
};

/* The requests of one owner in a run. */
struct worker_pools_part {
	struct worker_pools_owner owner;
	size_t weight;
	uint64_t data_bytes;
	size_t *requests;
	size_t count, room;
};

struct worker_pools_parts {
	struct worker_pools_part *items;
	size_t count, room;
};

struct worker_pools *worker_pools_new(const struct worker_pools_options *options)
{
	struct worker_pools *pools = xcalloc(1, sizeof(*pools));

	pools->options = *options;
	pools->count = TRUSTED + 1;
	return pools;
}

void worker_pools_free(struct worker_pools *pools)
{
	if (!pools)
		return;
	for (size_t i = 0; i < WORKER_POOLS_MAX; i++)
		worker_pool_free(pools->pools[i].pool);
	free(pools);
}

static struct worker_pools_owner worker_pools_owner_of(const struct file_origin *origin)
{
	return origin->is_untrusted
		       ? (struct worker_pools_owner){.uid = origin->owner, .is_untrusted = true}
		       : (struct worker_pools_owner){0};
}

static bool same_owner(const struct worker_pools_owner *a, const struct worker_pools_owner *b)
{
	return a->uid == b->uid && a->is_untrusted == b->is_untrusted;
}

static struct worker_pools_part *part_of(struct worker_pools_parts *parts,
					 const struct worker_pools_owner *owner)
{
	for (size_t i = 0; i < parts->count; i++)
		if (same_owner(&parts->items[i].owner, owner))
			return &parts->items[i];
	if (parts->count >= OWNERS_MAX && !same_owner(owner, &others))
		return part_of(parts, &others);
	GROW(parts->items, parts->count, parts->room);
	parts->items[parts->count] = (struct worker_pools_part){.owner = *owner};
	return &parts->items[parts->count++];
}

static int compare_parts(const void *left, const void *right)
{
	const struct worker_pools_part *a = left, *b = right;

	if (a->owner.is_untrusted != b->owner.is_untrusted)
		return a->owner.is_untrusted ? 1 : -1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->owner.uid > b->owner.uid) - (a->owner.uid < b->owner.uid);
}

static void worker_pools_add_request(struct worker_pools_part *part, size_t request,
				     const struct worker_pools_request *what)
{
	part->weight += what->weight;
	part->data_bytes += what->origin.data_bytes;
	GROW(part->requests, part->count, part->room);
	part->requests[part->count++] = request;
}

/* Merges the owners without a worker pool into one part. */
static void merge_rest(struct worker_pools_parts *parts, const struct worker_pools_run *run)
{
	struct worker_pools_part *rest;

	if (parts->count <= SHARED)
		return;
	rest = &parts->items[SHARED];
	rest->owner = others;
	while (parts->count > SHARED + 1) {
		struct worker_pools_part *last = &parts->items[--parts->count];

		for (size_t i = 0; i < last->count; i++)
			worker_pools_add_request(rest, last->requests[i],
						 &run->requests[last->requests[i]]);
		free(last->requests);
	}
}

static struct worker_pools_parts worker_pools_divide(const struct worker_pools_run *run)
{
	struct worker_pools_parts parts = {0};

	for (size_t i = 0; i < run->count; i++) {
		const struct worker_pools_request *request = &run->requests[i];
		struct worker_pools_owner owner = worker_pools_owner_of(&request->origin);

		worker_pools_add_request(part_of(&parts, &owner), i, request);
	}
	if (parts.count)
		qsort(parts.items, parts.count, sizeof(*parts.items), compare_parts);
	merge_rest(&parts, run);
	return parts;
}

static void worker_pools_parts_deinit(struct worker_pools_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		free(parts->items[i].requests);
	free(parts->items);
}

/*
 * Returns true if the files of this owner may take as much memory as root's:
 * they belong to root or to the user who runs prof.
 */
static bool is_caller(const struct worker_pools *pools, const struct worker_pools_owner *owner)
{
	return owner->uid == 0 || owner->uid == geteuid() || owner->uid == pools->options.caller;
}

/*
 * Returns the user of a worker if prof runs as root. It must not be the owner
 * of the files, who could stop or slow down the worker while prof waits.
 */
static uid_t uid_for(const struct worker_pools *pools, const struct worker_pools_owner *owner)
{
	uid_t caller = pools->options.caller;
	bool is_callers = !owner->is_untrusted || owner->uid == caller;

	return caller && is_callers ? caller : CONFINED_NOBODY;
}

static uint64_t memory_for(const struct worker_pools *pools, const struct worker_pools_owner *owner)
{
	uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t untrusted = pools->options.limits.untrusted_memory_bytes;

	if (is_caller(pools, owner))
		return machine / 4;
	return untrusted ? untrusted : UNTRUSTED_MEMORY_BYTES;
}

/*
 * Returns true if prof has any capability. If it has none, a malicious file in
 * the stand-in process gains nothing: its owner could run it himself.
 */
static bool has_privileges(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3] = {0};

	return geteuid() == 0 || syscall(SYS_capget, &header, has) < 0 || has[0].permitted ||
	       has[1].permitted;
}

static struct worker_pool *new_worker_pool(const struct worker_pools *pools,
					   const struct worker_pools_owner *owner)
{
	struct worker_pool_options options = pools->options.pool;

	options.uid = uid_for(pools, owner);
	options.memory_bytes = memory_for(pools, owner);
	options.may_stand_in = !owner->is_untrusted && !has_privileges();
	if (!is_caller(pools, owner) && options.threads > UNTRUSTED_THREADS_MAX)
		options.threads = UNTRUSTED_THREADS_MAX;
	return worker_pool_new(&options);
}

static struct worker_pool *worker_pool_of(struct worker_pools *pools,
					  const struct worker_pools_owner *owner)
{
	struct owned_worker_pool *found = &pools->pools[SHARED];

	for (unsigned i = 0; i < pools->count; i++)
		if (same_owner(&pools->pools[i].owner, owner))
			found = &pools->pools[i];
	if (found == &pools->pools[SHARED] && pools->count < SHARED) {
		found = &pools->pools[pools->count++];
		found->owner = *owner;
	}
	if (!found->pool)
		found->pool = new_worker_pool(pools,
					      found == &pools->pools[SHARED] ? &others : owner);
	return found->pool;
}

static struct worker_limits limits_for(const struct worker_pools *pools,
				       const struct worker_pools_part *part,
				       size_t untrusted_owners)
{
	const struct worker_pools_limits *options = &pools->options.limits;
	uint64_t cpu_ns = options->run_cpu_ns ? options->run_cpu_ns : RUN_CPU_NS;
	bool is_untrusted = part->owner.is_untrusted;
	struct worker_limits limits = {
		.run_cpu_ns_max = is_untrusted ? UNTRUSTED_CPU_NS_MAX : RUN_CPU_NS_MAX,
		.ns_per_byte = NS_PER_BYTE,
		.standstill_ns = options->standstill_ns ? options->standstill_ns : STANDSTILL_NS,
		.stopped_ns = STOPPED_NS,
		.reply_bytes = is_caller(pools, &part->owner) ? REPLY_BYTES : UNTRUSTED_REPLY_BYTES,
	};

	if (is_untrusted && untrusted_owners)
		cpu_ns /= untrusted_owners;
	if (is_untrusted && cpu_ns < UNTRUSTED_SHARE_NS && !options->run_cpu_ns)
		cpu_ns = UNTRUSTED_SHARE_NS;
	limits.run_cpu_ns = cpu_ns + part->data_bytes * NS_PER_BYTE;
	if (limits.run_cpu_ns > limits.run_cpu_ns_max)
		limits.run_cpu_ns = limits.run_cpu_ns_max;
	limits.unit_cpu_ns = limits.run_cpu_ns / 2;
	return limits;
}

/* Maps the requests of a part to their numbers in the run. */
struct numbered {
	const struct worker_pools_run *run;
	const struct worker_pools_part *part;
};

static void worker_pools_on_finished(void *user, size_t request, struct reply *reply)
{
	const struct numbered *numbered = user;

	numbered->run->finished(numbered->run->user, numbered->part->requests[request], reply);
}

static void worker_pools_on_lost(void *user, size_t request, char *why)
{
	const struct numbered *numbered = user;

	numbered->run->lost(numbered->run->user, numbered->part->requests[request], why);
}

static void worker_pools_run_part(struct worker_pools *pools, const struct worker_pools_run *run,
				  const struct worker_pools_part *part, size_t untrusted_owners)
{
	struct numbered numbered = {.run = run, .part = part};
	CLEANUP(free_ptr)
	const struct engine_request **requests = xcalloc(part->count, sizeof(*requests));
	struct worker_pool_run work = {
		.requests = requests,
		.count = part->count,
		.limits = limits_for(pools, part, untrusted_owners),
		.cancel = run->cancel,
		.done = run->done,
		.between = run->between,
		.between_user = run->between_user,
		.finished = worker_pools_on_finished,
		.lost = worker_pools_on_lost,
		.user = &numbered,
	};

	for (size_t i = 0; i < part->count; i++)
		requests[i] = &run->requests[part->requests[i]].request;
	worker_pool_run(worker_pool_of(pools, &part->owner), &work);
}

void worker_pools_run(struct worker_pools *pools, const struct worker_pools_run *run)
{
	CLEANUP(worker_pools_parts_deinit)
	struct worker_pools_parts parts = worker_pools_divide(run);
	size_t untrusted_owners = 0;

	for (size_t i = 0; i < parts.count; i++)
		untrusted_owners += parts.items[i].owner.is_untrusted;
	for (size_t i = 0; i < parts.count; i++)
		if (!run->cancel || !atomic_load(run->cancel))
			worker_pools_run_part(pools, run, &parts.items[i], untrusted_owners);
}

struct worker_cost worker_pools_cost(const struct worker_pools *pools)
{
	struct worker_cost all = {0};

	for (size_t i = 0; i < WORKER_POOLS_MAX; i++)
		if (pools->pools[i].pool)
			worker_cost_add(&all, worker_pool_cost(pools->pools[i].pool));
	return all;
}
