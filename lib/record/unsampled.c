#include "record/unsampled.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/effort.h"
#include "base/idmap.h"
#include "proc/usage.h"
#include "profile/unsampled.h"

#include <stdlib.h>
#include <string.h>

enum {
	SWITCHES_MAX_HZ = 10000, /* per CPU */
	/* Limit of processes that have ended and are not settled. */
	ENDED_MAX = 4096,
	/* Linux supports 8,192. */
	CPUS_MAX = 1 << 16,
	/* Smaller shares are ignored: each thread lacks the end of its last
	 * period. */
	UNSAMPLED_LEAST_SHARE = 100,
	/* Reading the threads from /proc may take 1 % of the time. */
	READ_PAUSES = 100,
	READS_PER_SECOND = 5,
};

/* The rate of switches is measured over at least this time. */
#define UNSAMPLED_RATE_NS (NS_PER_SECOND / 5)

/* A thread, from one exec to the next. */
struct account {
	pid_t pid, tid;
	char *process, *name; /* NULL while the thread runs */
	uint64_t running_ns;
	uint64_t read_ns;  /* last value from /proc; UINT64_MAX if not read */
	uint64_t *sampled; /* by event, since the last settling; can exceed the time by up to a
			      period */
};

struct on_cpu {
	pid_t pid, tid; /* 0 if unknown */
	uint64_t since_ns;
};

struct event_unsampled {
	uint64_t sampled;      /* weight of all samples */
	uint64_t added;	       /* weight added to profiles in addition to that */
	uint64_t added_kernel; /* part of added that belongs to the kernel */
	uint64_t former;       /* part of sampled and added that previous profiles contain */
	bool is_known;
	uint64_t counted; /* kernel's count at the last settling */
};

struct unsampled {
	struct unsampled_options options;
	bool divides; /* switches are recorded */
	struct event_unsampled *events;

	struct account *accounts;
	uint32_t account_count, account_room;
	struct idmap running; /* (pid, tid) → index of its account, while the thread runs */
	uint32_t ended;
	uint64_t running_ns; /* total of all threads since the start */

	struct on_cpu *cpus;
	uint32_t cpu_room;
	bool is_paused;

	char *main_name; /* set when the main process has ended */
	uint64_t switches, switches_before, rate_ns;
	uint64_t next_read_ns; /* earliest time of the next read from /proc */
};

struct unsampled *unsampled_new(const struct unsampled_options *options)
{
	struct unsampled *unsampled = xcalloc(1, sizeof(*unsampled));

	unsampled->options = *options;
	unsampled->divides = options->has_switches;
	unsampled->events = xcalloc(options->event_count, sizeof(*unsampled->events));
	unsampled->rate_ns = clock_now_ns();
	return unsampled;
}

static void account_deinit(struct account *account)
{
	free(account->process);
	free(account->name);
	free(account->sampled);
}

void unsampled_free(struct unsampled *unsampled)
{
	if (!unsampled)
		return;
	for (uint32_t i = 0; i < unsampled->account_count; i++)
		account_deinit(&unsampled->accounts[i]);
	free(unsampled->accounts);
	idmap_deinit(&unsampled->running);
	free(unsampled->events);
	free(unsampled->cpus);
	free(unsampled->main_name);
	free(unsampled);
}

/* Returns the account of a running thread. */
static struct account *account_of(struct unsampled *unsampled, pid_t pid, pid_t tid)
{
	uint32_t *index = idmap_put(&unsampled->running, (uint64_t)pid, (uint32_t)tid);

	if (*index != IDMAP_NONE)
		return &unsampled->accounts[*index];
	*index = unsampled->account_count;
	GROW(unsampled->accounts, unsampled->account_count, unsampled->account_room);
	unsampled->accounts[*index] = (struct account){
		.pid = pid,
		.tid = tid,
		.read_ns = UINT64_MAX,
		.sampled = xcalloc(unsampled->options.event_count, sizeof(uint64_t)),
	};
	return &unsampled->accounts[unsampled->account_count++];
}

/* Must be called while the names are still those of the thread. */
static void end_account(struct unsampled *unsampled, struct names *names, pid_t pid, pid_t tid)
{
	uint32_t index = idmap_get(&unsampled->running, (uint64_t)pid, (uint32_t)tid);
	struct account *account;

	if (index == IDMAP_NONE)
		return;
	idmap_remove(&unsampled->running, (uint64_t)pid, (uint32_t)tid);
	account = &unsampled->accounts[index];
	account->process = xstrdup(names_get(names, pid, pid));
	account->name = xstrdup(names_get(names, pid, tid));
	unsampled->ended++;
}

/* Returns NULL if the CPU number is out of range. */
static struct on_cpu *unsampled_cpu_of(struct unsampled *unsampled, uint32_t cpu)
{
	if (cpu >= CPUS_MAX)
		return NULL;
	while (cpu >= unsampled->cpu_room) {
		uint32_t room = unsampled->cpu_room;

		GROW(unsampled->cpus, unsampled->cpu_room, room);
		memset(unsampled->cpus + unsampled->cpu_room, 0,
		       (room - unsampled->cpu_room) * sizeof(*unsampled->cpus));
		unsampled->cpu_room = room;
	}
	return &unsampled->cpus[cpu];
}

static void enter_cpu(struct unsampled *unsampled, const struct record *record)
{
	struct on_cpu *cpu = unsampled_cpu_of(unsampled, record->cpu);

	if (cpu)
		*cpu = (struct on_cpu){record->pid, record->tid, record->time_ns};
}

static void add_running(struct unsampled *unsampled, const struct on_cpu *cpu, uint64_t now_ns)
{
	if (unsampled->is_paused || now_ns <= cpu->since_ns)
		return;
	account_of(unsampled, cpu->pid, cpu->tid)->running_ns += now_ns - cpu->since_ns;
	unsampled->running_ns += now_ns - cpu->since_ns;
}

static void leave_cpu(struct unsampled *unsampled, const struct record *record)
{
	struct on_cpu *cpu = unsampled_cpu_of(unsampled, record->cpu);

	if (cpu && cpu->tid == record->tid)
		add_running(unsampled, cpu, record->time_ns);
	if (cpu)
		*cpu = (struct on_cpu){0};
}

/* ---- Time of threads in /proc ---- */

bool unsampled_reads_threads(const struct unsampled *unsampled)
{
	return unsampled->options.proc && unsampled->options.adds_missing && !unsampled->divides;
}

/* With adds, adds the time since the last read. */
static void read_thread(struct unsampled *unsampled, struct account *account, bool adds)
{
	uint64_t ns = usage_of_thread(unsampled->options.proc, account->pid, account->tid);

	if (ns == UINT64_MAX)
		return;
	if (adds && ns > account->read_ns) {
		account->running_ns += ns - account->read_ns;
		unsampled->running_ns += ns - account->read_ns;
	}
	account->read_ns = ns;
}

static void unsampled_read_all(struct unsampled *unsampled, bool adds)
{
	for (uint32_t i = 0; unsampled_reads_threads(unsampled) && i < unsampled->account_count;
	     i++)
		if (!unsampled->accounts[i].name)
			read_thread(unsampled, &unsampled->accounts[i], adds);
}

void unsampled_read_threads(struct unsampled *unsampled, uint64_t now_ns)
{
	struct effort before;

	if (!unsampled_reads_threads(unsampled) || unsampled->is_paused ||
	    now_ns < unsampled->next_read_ns)
		return;
	before = effort_start();
	unsampled_read_all(unsampled, true);
	unsampled->next_read_ns = now_ns + NS_PER_SECOND / READS_PER_SECOND +
				  READ_PAUSES * effort_ns(&before);
}

void unsampled_add_thread(struct unsampled *unsampled, pid_t pid, pid_t tid)
{
	if (unsampled_reads_threads(unsampled))
		read_thread(unsampled, account_of(unsampled, pid, tid), false);
}

static void unsampled_feed_fork(struct unsampled *unsampled, struct names *names,
				const struct record *record)
{
	/* In case the exit of the previous thread with this tid was lost. */
	end_account(unsampled, names, record->pid, record->tid);
	if (unsampled_reads_threads(unsampled) && unsampled->options.with_children)
		account_of(unsampled, record->pid, record->tid)->read_ns = 0;
}

/* ---- Records ---- */

static void unsampled_feed_sample(struct unsampled *unsampled, const struct record *record)
{
	uint64_t period = record->sample.period;

	unsampled->events[record->sample.event].sampled += period;
	if (unsampled->divides || unsampled_reads_threads(unsampled))
		account_of(unsampled, record->pid, record->tid)->sampled[record->sample.event] +=
			period;
}

static void feed_switch(struct unsampled *unsampled, const struct record *record)
{
	unsampled->switches++;
	if (record->switched.is_out)
		leave_cpu(unsampled, record);
	else
		enter_cpu(unsampled, record);
}

/* The process executes another program on this CPU. */
static void feed_exec(struct unsampled *unsampled, struct names *names, const struct record *record)
{
	leave_cpu(unsampled, record);
	end_account(unsampled, names, record->pid, record->tid);
	enter_cpu(unsampled, record);
}

static void unsampled_feed_exit(struct unsampled *unsampled, struct names *names,
				const struct record *record)
{
	if (unsampled->divides)
		leave_cpu(unsampled, record);
	end_account(unsampled, names, record->pid, record->tid);
	if (record->tid != unsampled->options.main_pid)
		return;
	free(unsampled->main_name);
	unsampled->main_name = xstrdup(names_get(names, record->pid, record->pid));
}

void unsampled_feed(struct unsampled *unsampled, struct names *names, const struct record *record)
{
	switch (record->type) {
	case RECORD_SAMPLE:
		unsampled_feed_sample(unsampled, record);
		break;
	case RECORD_SWITCH:
		if (unsampled->divides)
			feed_switch(unsampled, record);
		break;
	case RECORD_COMM:
		if (unsampled->divides && record->comm.exec)
			feed_exec(unsampled, names, record);
		break;
	case RECORD_FORK:
		unsampled_feed_fork(unsampled, names, record);
		break;
	case RECORD_EXIT:
		unsampled_feed_exit(unsampled, names, record);
		break;
	default:
		break;
	}
}

void unsampled_pause(struct unsampled *unsampled, uint64_t now_ns)
{
	for (uint32_t i = 0; i < unsampled->cpu_room; i++)
		if (unsampled->cpus[i].tid)
			add_running(unsampled, &unsampled->cpus[i], now_ns);
	unsampled_read_all(unsampled, true);
	unsampled->is_paused = true;
}

/*
 * Records of the pause may be missing. Assumes that the threads on the CPUs are
 * the same as before. If this is wrong, the next record of a CPU is that of a
 * thread that gets it.
 */
void unsampled_resume(struct unsampled *unsampled, uint64_t now_ns)
{
	if (!unsampled->is_paused)
		return;
	unsampled->is_paused = false;
	unsampled_read_all(unsampled, false);
	for (uint32_t i = 0; i < unsampled->cpu_room; i++)
		unsampled->cpus[i].since_ns = now_ns;
}

bool unsampled_ends_switches(struct unsampled *unsampled, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - unsampled->rate_ns, records;

	if (!unsampled->divides || passed_ns < UNSAMPLED_RATE_NS)
		return false;
	/* Each switch has two records: one thread leaves the CPU, another one
	 * gets it. */
	records = (unsampled->switches - unsampled->switches_before) * NS_PER_SECOND / passed_ns;
	unsampled->switches_before = unsampled->switches;
	unsampled->rate_ns = now_ns;
	unsampled->divides = records <= 2ULL * SWITCHES_MAX_HZ * unsampled->options.cpu_count;
	unsampled_read_all(unsampled, false);
	return !unsampled->divides;
}

bool unsampled_is_full(const struct unsampled *unsampled)
{
	return unsampled->ended >= ENDED_MAX;
}

/* ---- Settling ---- */

struct settlement {
	struct unsampled *unsampled;
	const struct unsampled_count *counts;
	bool all;
	struct names *names;
	struct profile *profile;
	const event_id *events;
	stack_id stack, kernel_stack; /* the frames [not sampled] and [kernel] */
	double kernel_share; /* share of the kernel in the unsampled weight of the current event */
};

/* Returns the weight that was counted and is in no profile, or 0 if it is
 * negligible. */
static uint64_t missing_of(const struct settlement *settlement, unsigned event)
{
	const struct event_unsampled *unsampled = &settlement->unsampled->events[event];
	const struct unsampled_count *count = &settlement->counts[event];
	uint64_t has = unsampled->sampled + unsampled->added;
	uint64_t missing = count->is_known && count->value > has ? count->value - has : 0;

	return missing >= count->value / UNSAMPLED_LEAST_SHARE ? missing : 0;
}

/* Returns the unsampled weight of an account, as far as its CPU time shows
 * it. */
static uint64_t unsampled_lacks(const struct settlement *settlement, const struct account *account,
				unsigned event)
{
	const struct unsampled_count *count = &settlement->counts[event];
	uint64_t expected = account->running_ns;

	if (!count->is_clock && settlement->unsampled->running_ns)
		expected = (uint64_t)((double)expected * (double)count->value /
				      (double)settlement->unsampled->running_ns);
	return expected > account->sampled[event] ? expected - account->sampled[event] : 0;
}

static void add_to(struct settlement *settlement, unsigned event, label_set_id labels,
		   stack_id stack, uint64_t weight)
{
	if (weight)
		profile_add_samples(settlement->profile, labels, stack, settlement->events[event],
				    0, weight);
}

static void unsampled_add(struct settlement *settlement, unsigned event, label_set_id labels,
			  uint64_t weight)
{
	struct event_unsampled *unsampled = &settlement->unsampled->events[event];
	uint64_t kernel = (uint64_t)((double)weight * settlement->kernel_share);

	unsampled->added += weight;
	unsampled->added_kernel += kernel;
	add_to(settlement, event, labels, settlement->kernel_stack, kernel);
	add_to(settlement, event, labels, settlement->stack, weight - kernel);
}

/* Returns the share of the kernel in the missing weight. */
static double kernel_share(const struct settlement *settlement, unsigned event, uint64_t missing)
{
	uint64_t kernel = settlement->counts[event].kernel;
	uint64_t added = settlement->unsampled->events[event].added_kernel;

	if (!missing || kernel <= added)
		return 0;
	return kernel - added < missing ? (double)(kernel - added) / (double)missing : 1;
}

static bool is_settled(const struct settlement *settlement, const struct account *account)
{
	return settlement->all || account->name;
}

static const char *unsampled_process_name(const struct settlement *settlement,
					  const struct account *account)
{
	return account->name ? account->process
			     : names_get(settlement->names, account->pid, account->pid);
}

static const char *thread_name(const struct settlement *settlement, const struct account *account)
{
	return account->name ? account->name
			     : names_get(settlement->names, account->pid, account->tid);
}

/* Weight that was added or sampled in excess is deducted from later weight. */
static void settle_account(struct settlement *settlement, struct account *account, unsigned event,
			   double factor)
{
	uint64_t weight = (uint64_t)((double)unsampled_lacks(settlement, account, event) * factor);
	label_set_id labels;

	if (!weight)
		return;
	labels = profile_thread_labels(settlement->profile, account->pid, account->tid,
				       unsampled_process_name(settlement, account),
				       thread_name(settlement, account));
	unsampled_add(settlement, event, labels, weight);
	account->sampled[event] += weight;
}

static void settle_event(struct settlement *settlement, unsigned event)
{
	struct unsampled *unsampled = settlement->unsampled;
	uint64_t missing = missing_of(settlement, event), lacking = 0;
	double factor = 1;

	settlement->kernel_share = kernel_share(settlement, event, missing);
	for (uint32_t i = 0; i < unsampled->account_count; i++)
		if (is_settled(settlement, &unsampled->accounts[i]))
			lacking += unsampled_lacks(settlement, &unsampled->accounts[i], event);
	if (lacking > missing)
		factor = (double)missing / (double)lacking;
	for (uint32_t i = 0; i < unsampled->account_count; i++)
		if (is_settled(settlement, &unsampled->accounts[i]))
			settle_account(settlement, &unsampled->accounts[i], event, factor);
}

static bool unsampled_is_addition(const struct settlement *settlement,
				  const struct profile_sample *sample, unsigned event)
{
	return (sample->stack == settlement->stack || sample->stack == settlement->kernel_stack) &&
	       sample->event == settlement->events[event];
}

/*
 * Distributes the rest in proportion to the weight that was added. The kernel
 * counts also during context switches and after a thread's end, where events do
 * not sample. So the rest belongs mainly to short processes, like the weight
 * that was added.
 */
static bool spread(struct settlement *settlement, unsigned event, uint64_t rest)
{
	uint64_t count = profile_samples(settlement->profile).count, sum = 0, seen = 0, given = 0;

	for (uint64_t i = 0; i < count; i++) {
		const struct profile_sample *sample =
			&profile_samples(settlement->profile).items[i];

		if (unsampled_is_addition(settlement, sample, event))
			sum += sample->weight;
	}
	for (uint64_t i = 0; sum && i < count; i++) {
		struct profile_sample sample = profile_samples(settlement->profile).items[i];
		uint64_t until;

		if (!unsampled_is_addition(settlement, &sample, event))
			continue;
		seen += sample.weight;
		until = (uint64_t)((double)rest * ((double)seen / (double)sum));
		unsampled_add(settlement, event, sample.labels, until - given);
		given = until;
	}
	return sum;
}

static void add_rest(struct settlement *settlement, unsigned event)
{
	struct unsampled *unsampled = settlement->unsampled;
	pid_t pid = unsampled->options.main_pid;
	uint64_t rest = missing_of(settlement, event);
	const char *process = "[processes]", *thread = process;

	if (!rest || (unsampled->divides && spread(settlement, event, rest)))
		return;
	if (pid) {
		process = unsampled->main_name ? unsampled->main_name
					       : names_get(settlement->names, pid, pid);
		thread = "[threads]";
	} else {
		pid = -1;
	}
	unsampled_add(settlement, event,
		      profile_thread_labels(settlement->profile, pid, -1, process, thread), rest);
}

/* Resets the accounts of running threads, except for the weight that was
 * sampled in excess. */
static void keep_running(struct unsampled *unsampled, const struct unsampled_count *counts,
			 bool all)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < unsampled->account_count; i++) {
		struct account *account = &unsampled->accounts[i];

		if (account->name) {
			account_deinit(account);
			continue;
		}
		for (unsigned event = 0; all && event < unsampled->options.event_count; event++) {
			uint64_t *sampled = &account->sampled[event];

			if (counts[event].is_clock && *sampled > account->running_ns)
				*sampled -= account->running_ns;
			else
				*sampled = 0;
		}
		if (all)
			account->running_ns = 0;
		*idmap_put(&unsampled->running, (uint64_t)account->pid,
			   (uint32_t)account->tid) = kept;
		unsampled->accounts[kept++] = *account;
	}
	unsampled->account_count = kept;
	unsampled->ended = 0;
}

static void reduce_excess(const struct settlement *settlement, unsigned event)
{
	struct event_unsampled *of = &settlement->unsampled->events[event];
	uint64_t total = of->sampled + of->added;

	if (!of->is_known || !settlement->counts[event].is_exact || total <= of->counted)
		return;
	profile_reduce_weight(settlement->profile, settlement->events[event], total - of->counted);
	of->sampled -= total - of->counted < of->sampled ? total - of->counted : of->sampled;
}

void unsampled_settle(struct unsampled *unsampled, const struct unsampled_count *counts, bool all,
		      struct names *names, struct profile *profile, const event_id *events)
{
	struct settlement settlement = {
		.unsampled = unsampled,
		.counts = counts,
		.all = all,
		.names = names,
		.profile = profile,
		.events = events,
	};

	if (all && !unsampled->is_paused)
		unsampled_read_all(unsampled, true);
	for (unsigned i = 0; i < unsampled->options.event_count; i++) {
		unsampled->events[i].is_known = counts[i].is_known;
		unsampled->events[i].counted = counts[i].value;
	}
	if (unsampled->options.adds_missing) {
		settlement.stack = profile_push(profile, STACK_EMPTY,
						profile_synthetic_frame(profile, UNSAMPLED_FRAME));
		settlement.kernel_stack =
			profile_push(profile, STACK_EMPTY,
				     profile_synthetic_frame(profile, UNSAMPLED_KERNEL_FRAME));
		for (unsigned i = 0; i < unsampled->options.event_count; i++) {
			settle_event(&settlement, i);
			if (all)
				add_rest(&settlement, i);
		}
	}
	for (unsigned i = 0; all && i < unsampled->options.event_count; i++)
		reduce_excess(&settlement, i);
	keep_running(unsampled, counts, all);
}

bool unsampled_counted(const struct unsampled *unsampled, unsigned event, uint64_t *ret)
{
	const struct event_unsampled *of = &unsampled->events[event];

	if (event >= unsampled->options.event_count)
		return false;
	*ret = of->counted > of->former ? of->counted - of->former : 0;
	return of->is_known;
}

void unsampled_begin_profile(struct unsampled *unsampled)
{
	for (unsigned i = 0; i < unsampled->options.event_count; i++)
		unsampled->events[i].former = unsampled->events[i].sampled +
					      unsampled->events[i].added;
}
