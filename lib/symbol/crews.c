#include "symbol/crews.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Reading debug information takes a tenth of this per byte. */
enum { NS_PER_BYTE = 10 };

#define RUN_CPU_NS (10 * NS_PER_SECOND)
#define FOREIGN_SHARE_NS (2 * NS_PER_SECOND)
#define RUN_CPU_NS_MAX (3600 * NS_PER_SECOND)
#define FOREIGN_CPU_NS_MAX (60 * NS_PER_SECOND)
#define STANDSTILL_NS (10 * NS_PER_SECOND)
/* A stopped worker reads no slow disk. Ctrl-Z and fg stop and continue prof, too. */
#define STOPPED_NS NS_PER_SECOND

/*
 * A program of 50 MB with all its debug information takes 100 MB; names of a large profile 10 MB,
 * of which prof needs ten times as much in the end.
 */
enum { FOREIGN_MEMORY_BYTES = 256 << 20, FOREIGN_REPLY_BYTES = 16 << 20 };
#define REPLY_BYTES ((size_t)1 << 30)

/* More threads take more memory, and others want the CPUs, too. */
enum { FOREIGN_THREADS_MAX = 4 };

/* Who may write to a file. */
struct owner {
	uid_t uid;
	bool is_foreign;
};

/*
 * The first is the trusted one, the last shared. Anybody can own files under 65,536 ids (subuid),
 * so only so many are counted.
 */
enum { CREWS_MAX = 16, TRUSTED = 0, SHARED = CREWS_MAX - 1, OWNERS_MAX = 1000 };

/* Those who share. */
static const struct owner others = {.uid = CONFINED_NOBODY, .is_foreign = true};

struct owned_crew {
	struct owner owner;
	struct crew *crew; /* NULL: not used yet */
};

struct crews {
	struct crews_options options;
	struct owned_crew crews[CREWS_MAX];
	unsigned count; /* before SHARED */
};

/* The requests of one owner in a run. */
struct part {
	struct owner owner;
	size_t weight;
	uint64_t data_bytes;
	size_t *requests;
	size_t count, room;
};

struct parts {
	struct part *items;
	size_t count, room;
};

struct crews *crews_new(const struct crews_options *options)
{
	struct crews *crews = xcalloc(1, sizeof(*crews));

	crews->options = *options;
	crews->count = TRUSTED + 1;
	return crews;
}

void crews_free(struct crews *crews)
{
	if (!crews)
		return;
	for (size_t i = 0; i < CREWS_MAX; i++)
		crew_free(crews->crews[i].crew);
	free(crews);
}

static struct owner owner_of(const struct file_origin *origin)
{
	return origin->is_foreign ? (struct owner){.uid = origin->owner, .is_foreign = true}
				  : (struct owner){0};
}

static bool same_owner(const struct owner *a, const struct owner *b)
{
	return a->uid == b->uid && a->is_foreign == b->is_foreign;
}

static struct part *part_of(struct parts *parts, const struct owner *owner)
{
	for (size_t i = 0; i < parts->count; i++)
		if (same_owner(&parts->items[i].owner, owner))
			return &parts->items[i];
	if (parts->count >= OWNERS_MAX && !same_owner(owner, &others))
		return part_of(parts, &others);
	GROW(parts->items, parts->count, parts->room);
	parts->items[parts->count] = (struct part){.owner = *owner};
	return &parts->items[parts->count++];
}

static int compare_parts(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (a->owner.is_foreign != b->owner.is_foreign)
		return a->owner.is_foreign ? 1 : -1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->owner.uid > b->owner.uid) - (a->owner.uid < b->owner.uid);
}

static void add_request(struct part *part, size_t request, const struct crews_request *what)
{
	part->weight += what->weight;
	part->data_bytes += what->origin.data_bytes;
	GROW(part->requests, part->count, part->room);
	part->requests[part->count++] = request;
}

/* Those for whom there is no crew left become one part. */
static void merge_rest(struct parts *parts, const struct crews_run *run)
{
	struct part *rest;

	if (parts->count <= SHARED)
		return;
	rest = &parts->items[SHARED];
	rest->owner = others;
	while (parts->count > SHARED + 1) {
		struct part *last = &parts->items[--parts->count];

		for (size_t i = 0; i < last->count; i++)
			add_request(rest, last->requests[i], &run->requests[last->requests[i]]);
		free(last->requests);
	}
}

static struct parts divide(const struct crews_run *run)
{
	struct parts parts = {0};

	for (size_t i = 0; i < run->count; i++) {
		const struct crews_request *request = &run->requests[i];
		struct owner owner = owner_of(&request->origin);

		add_request(part_of(&parts, &owner), i, request);
	}
	if (parts.count)
		qsort(parts.items, parts.count, sizeof(*parts.items), compare_parts);
	merge_rest(&parts, run);
	return parts;
}

static void parts_deinit(struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		free(parts->items[i].requests);
	free(parts->items);
}

/* Files that the user of prof has brought along may take as much memory as root's. */
static bool is_caller(const struct crews *crews, const struct owner *owner)
{
	return owner->uid == 0 || owner->uid == geteuid() || owner->uid == crews->options.caller;
}

/* Of root's prof. A worker that were its owner's he could stop or slow down, and prof would wait.
 */
static uid_t uid_for(const struct crews *crews, const struct owner *owner)
{
	uid_t caller = crews->options.caller;
	bool is_callers = !owner->is_foreign || owner->uid == caller;

	return caller && is_callers ? caller : CONFINED_NOBODY;
}

static uint64_t memory_for(const struct crews *crews, const struct owner *owner)
{
	uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t foreign = crews->options.limits.foreign_memory_bytes;

	if (is_caller(crews, owner))
		return machine / 4;
	return foreign ? foreign : FOREIGN_MEMORY_BYTES;
}

/* Then a file that its owner could run himself can take nothing over. */
static bool has_privileges(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3] = {0};

	return geteuid() == 0 || syscall(SYS_capget, &header, has) < 0 || has[0].permitted ||
	       has[1].permitted;
}

static struct crew *new_crew(const struct crews *crews, const struct owner *owner)
{
	struct crew_options options = crews->options.crew;

	options.uid = uid_for(crews, owner);
	options.memory_bytes = memory_for(crews, owner);
	options.may_stand_in = !owner->is_foreign && !has_privileges();
	if (!is_caller(crews, owner) && options.threads > FOREIGN_THREADS_MAX)
		options.threads = FOREIGN_THREADS_MAX;
	return crew_new(&options);
}

static struct crew *crew_of(struct crews *crews, const struct owner *owner)
{
	struct owned_crew *found = &crews->crews[SHARED];

	for (unsigned i = 0; i < crews->count; i++)
		if (same_owner(&crews->crews[i].owner, owner))
			found = &crews->crews[i];
	if (found == &crews->crews[SHARED] && crews->count < SHARED) {
		found = &crews->crews[crews->count++];
		found->owner = *owner;
	}
	if (!found->crew)
		found->crew = new_crew(crews, found == &crews->crews[SHARED] ? &others : owner);
	return found->crew;
}

static struct worker_limits limits_for(const struct crews *crews, const struct part *part,
				       size_t foreign_owners)
{
	const struct crews_limits *options = &crews->options.limits;
	uint64_t cpu_ns = options->run_cpu_ns ? options->run_cpu_ns : RUN_CPU_NS;
	bool is_foreign = part->owner.is_foreign;
	struct worker_limits limits = {
		.run_cpu_ns_max = is_foreign ? FOREIGN_CPU_NS_MAX : RUN_CPU_NS_MAX,
		.ns_per_byte = NS_PER_BYTE,
		.standstill_ns = options->standstill_ns ? options->standstill_ns : STANDSTILL_NS,
		.stopped_ns = STOPPED_NS,
		.reply_bytes = is_caller(crews, &part->owner) ? REPLY_BYTES : FOREIGN_REPLY_BYTES,
	};

	if (is_foreign && foreign_owners)
		cpu_ns /= foreign_owners;
	if (is_foreign && cpu_ns < FOREIGN_SHARE_NS && !options->run_cpu_ns)
		cpu_ns = FOREIGN_SHARE_NS;
	limits.run_cpu_ns = cpu_ns + part->data_bytes * NS_PER_BYTE;
	if (limits.run_cpu_ns > limits.run_cpu_ns_max)
		limits.run_cpu_ns = limits.run_cpu_ns_max;
	limits.unit_cpu_ns = limits.run_cpu_ns / 2;
	return limits;
}

/* Requests of a part have numbers of their own. */
struct numbered {
	const struct crews_run *run;
	const struct part *part;
};

static void on_finished(void *user, size_t request, struct reply *reply)
{
	const struct numbered *numbered = user;

	numbered->run->finished(numbered->run->user, numbered->part->requests[request], reply);
}

static void on_lost(void *user, size_t request, char *why)
{
	const struct numbered *numbered = user;

	numbered->run->lost(numbered->run->user, numbered->part->requests[request], why);
}

static void run_part(struct crews *crews, const struct crews_run *run, const struct part *part,
		     size_t foreign_owners)
{
	struct numbered numbered = {.run = run, .part = part};
	CLEANUP(free_ptr)
	const struct engine_request **requests = xcalloc(part->count, sizeof(*requests));
	struct crew_run work = {
		.requests = requests,
		.count = part->count,
		.limits = limits_for(crews, part, foreign_owners),
		.cancel = run->cancel,
		.done = run->done,
		.between = run->between,
		.between_user = run->between_user,
		.finished = on_finished,
		.lost = on_lost,
		.user = &numbered,
	};

	for (size_t i = 0; i < part->count; i++)
		requests[i] = &run->requests[part->requests[i]].request;
	crew_run(crew_of(crews, &part->owner), &work);
}

void crews_run(struct crews *crews, const struct crews_run *run)
{
	CLEANUP(parts_deinit) struct parts parts = divide(run);
	size_t foreign_owners = 0;

	for (size_t i = 0; i < parts.count; i++)
		foreign_owners += parts.items[i].owner.is_foreign;
	for (size_t i = 0; i < parts.count; i++)
		if (!run->cancel || !atomic_load(run->cancel))
			run_part(crews, run, &parts.items[i], foreign_owners);
}

struct worker_cost crews_cost(const struct crews *crews)
{
	struct worker_cost all = {0};

	for (size_t i = 0; i < CREWS_MAX; i++)
		if (crews->crews[i].crew)
			worker_cost_add(&all, crew_cost(crews->crews[i].crew));
	return all;
}
