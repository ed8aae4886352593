#include "record/balance.h"

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
	/* Processes that have ended and are not settled. */
	ENDED_MAX = 4096,
	/* Linux knows 8,192. */
	CPUS_MAX = 1 << 16,
	/* Less than this share is no word worth: each thread lacks the end of its last period. */
	LEAST_SHARE = 100,
	/* To read the threads in /proc may take a hundredth of the time. */
	READ_PAUSES = 100,
	READS_PER_SECOND = 5,
};

/* The rate of switches is measured over at least this time. */
#define RATE_NS (NS_PER_SECOND / 5)

/* A thread, from one exec to the next. */
struct account {
	pid_t pid, tid;
	char *process, *name; /* NULL: it runs */
	uint64_t running_ns;
	uint64_t read_ns;  /* what /proc said last; UINT64_MAX: not read */
	uint64_t *sampled; /* by event, since it was settled last; can be too much by a period */
};

struct on_cpu {
	pid_t pid, tid; /* 0: unknown */
	uint64_t since_ns;
};

struct event_balance {
	uint64_t sampled;      /* the weight of all samples */
	uint64_t added;	       /* to profiles, beside it */
	uint64_t added_kernel; /* of it, as the kernel's */
	uint64_t former;       /* of both, what former profiles have */
	bool is_known;
	uint64_t counted; /* when it was settled last */
};

struct balance {
	struct balance_options options;
	bool divides; /* switches are recorded */
	struct event_balance *events;

	struct account *accounts;
	uint32_t account_count, account_room;
	struct idmap running; /* (pid, tid) → its account, if it has not ended */
	uint32_t ended;
	uint64_t running_ns; /* of all threads, from the beginning */

	struct on_cpu *cpus;
	uint32_t cpu_room;
	bool is_paused;

	char *main_name; /* once it has ended */
	uint64_t switches, switches_before, rate_ns;
	uint64_t next_read_ns; /* of threads in /proc */
};

struct balance *balance_new(const struct balance_options *options)
{
	struct balance *balance = xcalloc(1, sizeof(*balance));

	balance->options = *options;
	balance->divides = options->has_switches;
	balance->events = xcalloc(options->event_count, sizeof(*balance->events));
	balance->rate_ns = clock_now_ns();
	return balance;
}

static void account_deinit(struct account *account)
{
	free(account->process);
	free(account->name);
	free(account->sampled);
}

void balance_free(struct balance *balance)
{
	if (!balance)
		return;
	for (uint32_t i = 0; i < balance->account_count; i++)
		account_deinit(&balance->accounts[i]);
	free(balance->accounts);
	idmap_deinit(&balance->running);
	free(balance->events);
	free(balance->cpus);
	free(balance->main_name);
	free(balance);
}

/* The account of a thread that runs. */
static struct account *account_of(struct balance *balance, pid_t pid, pid_t tid)
{
	uint32_t *index = idmap_put(&balance->running, (uint64_t)pid, (uint32_t)tid);

	if (*index != IDMAP_NONE)
		return &balance->accounts[*index];
	*index = balance->account_count;
	GROW(balance->accounts, balance->account_count, balance->account_room);
	balance->accounts[*index] = (struct account){
		.pid = pid,
		.tid = tid,
		.read_ns = UINT64_MAX,
		.sampled = xcalloc(balance->options.event_count, sizeof(uint64_t)),
	};
	return &balance->accounts[balance->account_count++];
}

/* The names are still what they were. */
static void end_account(struct balance *balance, struct names *names, pid_t pid, pid_t tid)
{
	uint32_t index = idmap_get(&balance->running, (uint64_t)pid, (uint32_t)tid);
	struct account *account;

	if (index == IDMAP_NONE)
		return;
	idmap_remove(&balance->running, (uint64_t)pid, (uint32_t)tid);
	account = &balance->accounts[index];
	account->process = xstrdup(names_get(names, pid, pid));
	account->name = xstrdup(names_get(names, pid, tid));
	balance->ended++;
}

/* NULL: the CPU has an impossible number. */
static struct on_cpu *cpu_of(struct balance *balance, uint32_t cpu)
{
	if (cpu >= CPUS_MAX)
		return NULL;
	while (cpu >= balance->cpu_room) {
		uint32_t room = balance->cpu_room;

		GROW(balance->cpus, balance->cpu_room, room);
		memset(balance->cpus + balance->cpu_room, 0,
		       (room - balance->cpu_room) * sizeof(*balance->cpus));
		balance->cpu_room = room;
	}
	return &balance->cpus[cpu];
}

static void enter_cpu(struct balance *balance, const struct record *record)
{
	struct on_cpu *cpu = cpu_of(balance, record->cpu);

	if (cpu)
		*cpu = (struct on_cpu){record->pid, record->tid, record->time_ns};
}

static void add_running(struct balance *balance, const struct on_cpu *cpu, uint64_t now_ns)
{
	if (balance->is_paused || now_ns <= cpu->since_ns)
		return;
	account_of(balance, cpu->pid, cpu->tid)->running_ns += now_ns - cpu->since_ns;
	balance->running_ns += now_ns - cpu->since_ns;
}

static void leave_cpu(struct balance *balance, const struct record *record)
{
	struct on_cpu *cpu = cpu_of(balance, record->cpu);

	if (cpu && cpu->tid == record->tid)
		add_running(balance, cpu, record->time_ns);
	if (cpu)
		*cpu = (struct on_cpu){0};
}

/* --- the time of threads in /proc --- */

bool balance_reads_threads(const struct balance *balance)
{
	return balance->options.proc && balance->options.adds_missing && !balance->divides;
}

/* adds: what it used since the last reading counts. */
static void read_thread(struct balance *balance, struct account *account, bool adds)
{
	uint64_t ns = usage_of_thread(balance->options.proc, account->pid, account->tid);

	if (ns == UINT64_MAX)
		return;
	if (adds && ns > account->read_ns) {
		account->running_ns += ns - account->read_ns;
		balance->running_ns += ns - account->read_ns;
	}
	account->read_ns = ns;
}

static void read_all(struct balance *balance, bool adds)
{
	for (uint32_t i = 0; balance_reads_threads(balance) && i < balance->account_count; i++)
		if (!balance->accounts[i].name)
			read_thread(balance, &balance->accounts[i], adds);
}

void balance_read_threads(struct balance *balance, uint64_t now_ns)
{
	struct effort before;

	if (!balance_reads_threads(balance) || balance->is_paused || now_ns < balance->next_read_ns)
		return;
	before = effort_start();
	read_all(balance, true);
	balance->next_read_ns = now_ns + NS_PER_SECOND / READS_PER_SECOND +
				READ_PAUSES * effort_ns(&before);
}

void balance_add_thread(struct balance *balance, pid_t pid, pid_t tid)
{
	if (balance_reads_threads(balance))
		read_thread(balance, account_of(balance, pid, tid), false);
}

static void feed_fork(struct balance *balance, struct names *names, const struct record *record)
{
	/* If the end of its predecessor was lost. */
	end_account(balance, names, record->pid, record->tid);
	if (balance_reads_threads(balance) && balance->options.with_children)
		account_of(balance, record->pid, record->tid)->read_ns = 0;
}

/* --- records --- */

static void feed_sample(struct balance *balance, const struct record *record)
{
	uint64_t period = record->sample.period;

	balance->events[record->sample.event].sampled += period;
	if (balance->divides || balance_reads_threads(balance))
		account_of(balance, record->pid, record->tid)->sampled[record->sample.event] +=
			period;
}

static void feed_switch(struct balance *balance, const struct record *record)
{
	balance->switches++;
	if (record->switched.is_out)
		leave_cpu(balance, record);
	else
		enter_cpu(balance, record);
}

/* The process executes another program on this CPU. */
static void feed_exec(struct balance *balance, struct names *names, const struct record *record)
{
	leave_cpu(balance, record);
	end_account(balance, names, record->pid, record->tid);
	enter_cpu(balance, record);
}

static void feed_exit(struct balance *balance, struct names *names, const struct record *record)
{
	if (balance->divides)
		leave_cpu(balance, record);
	end_account(balance, names, record->pid, record->tid);
	if (record->tid != balance->options.main_pid)
		return;
	free(balance->main_name);
	balance->main_name = xstrdup(names_get(names, record->pid, record->pid));
}

void balance_feed(struct balance *balance, struct names *names, const struct record *record)
{
	switch (record->type) {
	case RECORD_SAMPLE:
		feed_sample(balance, record);
		break;
	case RECORD_SWITCH:
		if (balance->divides)
			feed_switch(balance, record);
		break;
	case RECORD_COMM:
		if (balance->divides && record->comm.exec)
			feed_exec(balance, names, record);
		break;
	case RECORD_FORK:
		feed_fork(balance, names, record);
		break;
	case RECORD_EXIT:
		feed_exit(balance, names, record);
		break;
	default:
		break;
	}
}

void balance_pause(struct balance *balance, uint64_t now_ns)
{
	for (uint32_t i = 0; i < balance->cpu_room; i++)
		if (balance->cpus[i].tid)
			add_running(balance, &balance->cpus[i], now_ns);
	read_all(balance, true);
	balance->is_paused = true;
}

/* Without records of the pause, the threads that had the CPUs before are taken to have them now. If
 * that is wrong, the next record of the CPU is that of a thread that gets it. */
void balance_resume(struct balance *balance, uint64_t now_ns)
{
	balance->is_paused = false;
	read_all(balance, false);
	for (uint32_t i = 0; i < balance->cpu_room; i++)
		balance->cpus[i].since_ns = now_ns;
}

bool balance_ends_switches(struct balance *balance, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - balance->rate_ns, records;

	if (!balance->divides || passed_ns < RATE_NS)
		return false;
	/* Two a switch: one thread leaves, the next one comes. */
	records = (balance->switches - balance->switches_before) * NS_PER_SECOND / passed_ns;
	balance->switches_before = balance->switches;
	balance->rate_ns = now_ns;
	balance->divides = records <= 2ULL * SWITCHES_MAX_HZ * balance->options.cpu_count;
	read_all(balance, false);
	return !balance->divides;
}

bool balance_is_full(const struct balance *balance)
{
	return balance->ended >= ENDED_MAX;
}

/* --- settling --- */

struct settlement {
	struct balance *balance;
	const struct balance_count *counts;
	bool all;
	struct names *names;
	struct profile *profile;
	const event_id *events;
	stack_id stack, kernel_stack; /* [not sampled], [kernel] */
	double kernel_share;	      /* of what the present event lacks */
};

/* What was counted and is in no profile; 0 if it is little. */
static uint64_t missing_of(const struct settlement *settlement, unsigned event)
{
	const struct event_balance *balance = &settlement->balance->events[event];
	const struct balance_count *count = &settlement->counts[event];
	uint64_t has = balance->sampled + balance->added;
	uint64_t missing = count->is_known && count->value > has ? count->value - has : 0;

	return missing >= count->value / LEAST_SHARE ? missing : 0;
}

/* What an account lacks, as far as its time on CPUs tells. */
static uint64_t lacks(const struct settlement *settlement, const struct account *account,
		      unsigned event)
{
	const struct balance_count *count = &settlement->counts[event];
	uint64_t expected = account->running_ns;

	if (!count->is_clock && settlement->balance->running_ns)
		expected = (uint64_t)((double)expected * (double)count->value /
				      (double)settlement->balance->running_ns);
	return expected > account->sampled[event] ? expected - account->sampled[event] : 0;
}

static void add_to(struct settlement *settlement, unsigned event, label_set_id labels,
		   stack_id stack, uint64_t weight)
{
	if (weight)
		profile_add_samples(settlement->profile, labels, stack, settlement->events[event],
				    0, weight);
}

static void add(struct settlement *settlement, unsigned event, label_set_id labels, uint64_t weight)
{
	struct event_balance *balance = &settlement->balance->events[event];
	uint64_t kernel = (uint64_t)((double)weight * settlement->kernel_share);

	balance->added += weight;
	balance->added_kernel += kernel;
	add_to(settlement, event, labels, settlement->kernel_stack, kernel);
	add_to(settlement, event, labels, settlement->stack, weight - kernel);
}

/* How much of what is missing the threads were in the kernel. */
static double kernel_share(const struct settlement *settlement, unsigned event, uint64_t missing)
{
	uint64_t kernel = settlement->counts[event].kernel;
	uint64_t added = settlement->balance->events[event].added_kernel;

	if (!missing || kernel <= added)
		return 0;
	return kernel - added < missing ? (double)(kernel - added) / (double)missing : 1;
}

static bool is_settled(const struct settlement *settlement, const struct account *account)
{
	return settlement->all || account->name;
}

static const char *process_name(const struct settlement *settlement, const struct account *account)
{
	return account->name ? account->process
			     : names_get(settlement->names, account->pid, account->pid);
}

static const char *thread_name(const struct settlement *settlement, const struct account *account)
{
	return account->name ? account->name
			     : names_get(settlement->names, account->pid, account->tid);
}

/* What was added or sampled too much is kept against what comes. */
static void settle_account(struct settlement *settlement, struct account *account, unsigned event,
			   double factor)
{
	uint64_t weight = (uint64_t)((double)lacks(settlement, account, event) * factor);
	label_set_id labels;

	if (!weight)
		return;
	labels = profile_thread_labels(settlement->profile, account->pid, account->tid,
				       process_name(settlement, account),
				       thread_name(settlement, account));
	add(settlement, event, labels, weight);
	account->sampled[event] += weight;
}

static void settle_event(struct settlement *settlement, unsigned event)
{
	struct balance *balance = settlement->balance;
	uint64_t missing = missing_of(settlement, event), lacking = 0;
	double factor = 1;

	settlement->kernel_share = kernel_share(settlement, event, missing);
	for (uint32_t i = 0; i < balance->account_count; i++)
		if (is_settled(settlement, &balance->accounts[i]))
			lacking += lacks(settlement, &balance->accounts[i], event);
	if (lacking > missing)
		factor = (double)missing / (double)lacking;
	for (uint32_t i = 0; i < balance->account_count; i++)
		if (is_settled(settlement, &balance->accounts[i]))
			settle_account(settlement, &balance->accounts[i], event, factor);
}

static bool is_addition(const struct settlement *settlement, const struct profile_sample *sample,
			unsigned event)
{
	return (sample->stack == settlement->stack || sample->stack == settlement->kernel_stack) &&
	       sample->event == settlement->events[event];
}

/*
 * The kernel goes on counting when a thread is switched in and out and after its end, unseen by
 * events. So what remains is of short processes, like what was added.
 */
static bool spread(struct settlement *settlement, unsigned event, uint64_t rest)
{
	uint64_t count = profile_samples(settlement->profile).count, sum = 0, seen = 0, given = 0;

	for (uint64_t i = 0; i < count; i++) {
		const struct profile_sample *sample =
			&profile_samples(settlement->profile).items[i];

		if (is_addition(settlement, sample, event))
			sum += sample->weight;
	}
	for (uint64_t i = 0; sum && i < count; i++) {
		struct profile_sample sample = profile_samples(settlement->profile).items[i];
		uint64_t until;

		if (!is_addition(settlement, &sample, event))
			continue;
		seen += sample.weight;
		until = (uint64_t)((double)rest * ((double)seen / (double)sum));
		add(settlement, event, sample.labels, until - given);
		given = until;
	}
	return sum;
}

static void add_rest(struct settlement *settlement, unsigned event)
{
	struct balance *balance = settlement->balance;
	pid_t pid = balance->options.main_pid;
	uint64_t rest = missing_of(settlement, event);
	const char *process = "[processes]", *thread = process;

	if (!rest || (balance->divides && spread(settlement, event, rest)))
		return;
	if (pid) {
		process = balance->main_name ? balance->main_name
					     : names_get(settlement->names, pid, pid);
		thread = "[threads]";
	} else {
		pid = -1;
	}
	add(settlement, event, profile_thread_labels(settlement->profile, pid, -1, process, thread),
	    rest);
}

/* Those that run begin anew, with what was sampled too much of them. */
static void keep_running(struct balance *balance, const struct balance_count *counts, bool all)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < balance->account_count; i++) {
		struct account *account = &balance->accounts[i];

		if (account->name) {
			account_deinit(account);
			continue;
		}
		for (unsigned event = 0; all && event < balance->options.event_count; event++) {
			uint64_t *sampled = &account->sampled[event];

			if (counts[event].is_clock && *sampled > account->running_ns)
				*sampled -= account->running_ns;
			else
				*sampled = 0;
		}
		if (all)
			account->running_ns = 0;
		*idmap_put(&balance->running, (uint64_t)account->pid,
			   (uint32_t)account->tid) = kept;
		balance->accounts[kept++] = *account;
	}
	balance->account_count = kept;
	balance->ended = 0;
}

static void reduce_excess(const struct settlement *settlement, unsigned event)
{
	struct event_balance *of = &settlement->balance->events[event];
	uint64_t total = of->sampled + of->added;

	if (!of->is_known || !settlement->counts[event].is_exact || total <= of->counted)
		return;
	profile_reduce_weight(settlement->profile, settlement->events[event], total - of->counted);
	of->sampled -= total - of->counted < of->sampled ? total - of->counted : of->sampled;
}

void balance_settle(struct balance *balance, const struct balance_count *counts, bool all,
		    struct names *names, struct profile *profile, const event_id *events)
{
	struct settlement settlement = {
		.balance = balance,
		.counts = counts,
		.all = all,
		.names = names,
		.profile = profile,
		.events = events,
	};

	if (all && !balance->is_paused)
		read_all(balance, true);
	for (unsigned i = 0; i < balance->options.event_count; i++) {
		balance->events[i].is_known = counts[i].is_known;
		balance->events[i].counted = counts[i].value;
	}
	if (balance->options.adds_missing) {
		settlement.stack = profile_push(profile, STACK_EMPTY,
						profile_synthetic_frame(profile, UNSAMPLED_FRAME));
		settlement.kernel_stack =
			profile_push(profile, STACK_EMPTY,
				     profile_synthetic_frame(profile, UNSAMPLED_KERNEL_FRAME));
		for (unsigned i = 0; i < balance->options.event_count; i++) {
			settle_event(&settlement, i);
			if (all)
				add_rest(&settlement, i);
		}
	}
	for (unsigned i = 0; all && i < balance->options.event_count; i++)
		reduce_excess(&settlement, i);
	keep_running(balance, counts, all);
}

bool balance_counted(const struct balance *balance, unsigned event, uint64_t *ret)
{
	const struct event_balance *of = &balance->events[event];

	if (event >= balance->options.event_count)
		return false;
	*ret = of->counted > of->former ? of->counted - of->former : 0;
	return of->is_known;
}

void balance_begin_profile(struct balance *balance)
{
	for (unsigned i = 0; i < balance->options.event_count; i++)
		balance->events[i].former = balance->events[i].sampled + balance->events[i].added;
}
