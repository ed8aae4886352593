#include "record/balance.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/idmap.h"

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
};

/* The rate of switches is measured over at least this time. */
#define RATE_NS (NS_PER_SECOND / 5)

/* A process, from one exec to the next. */
struct account {
	pid_t pid;
	char *name; /* NULL: it runs */
	uint64_t running_ns;
	uint64_t *sampled; /* by event, since it was settled last; can be too much by a period */
};

struct on_cpu {
	pid_t pid, tid; /* 0: unknown */
	uint64_t since_ns;
};

struct event_balance {
	uint64_t sampled; /* the weight of all samples */
	uint64_t added;	  /* to profiles, beside it */
	uint64_t former;  /* of both, what former profiles have */
	bool is_known;
	uint64_t counted; /* when it was settled last */
};

struct balance {
	struct balance_options options;
	bool divides; /* switches are recorded */
	struct event_balance *events;

	struct account *accounts;
	uint32_t account_count, account_room;
	struct idmap running; /* (pid, 0) → its account, if it has not ended */
	uint32_t ended;
	uint64_t running_ns; /* of all processes, from the beginning */

	struct on_cpu *cpus;
	uint32_t cpu_room;
	bool is_paused;

	char *main_name; /* once it has ended */
	uint64_t switches, switches_before, rate_ns;
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

/* Of a process that runs. */
static struct account *account_of(struct balance *balance, pid_t pid)
{
	uint32_t *index = idmap_put(&balance->running, (uint64_t)pid, 0);

	if (*index != IDMAP_NONE)
		return &balance->accounts[*index];
	*index = balance->account_count;
	GROW(balance->accounts, balance->account_count, balance->account_room);
	balance->accounts[*index] = (struct account){
		.pid = pid,
		.sampled = xcalloc(balance->options.event_count, sizeof(uint64_t)),
	};
	return &balance->accounts[balance->account_count++];
}

/* The name is still what it was. */
static void end_account(struct balance *balance, struct names *names, pid_t pid)
{
	uint32_t index = idmap_get(&balance->running, (uint64_t)pid, 0);

	if (index == IDMAP_NONE)
		return;
	idmap_remove(&balance->running, (uint64_t)pid, 0);
	balance->accounts[index].name = xstrdup(names_get(names, pid, pid));
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
	account_of(balance, cpu->pid)->running_ns += now_ns - cpu->since_ns;
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

static void feed_sample(struct balance *balance, const struct record *record)
{
	uint64_t period = record->sample.period;

	balance->events[record->sample.event].sampled += period;
	if (balance->divides)
		account_of(balance, record->pid)->sampled[record->sample.event] += period;
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
	end_account(balance, names, record->pid);
	enter_cpu(balance, record);
}

static void feed_exit(struct balance *balance, struct names *names, const struct record *record)
{
	if (balance->divides)
		leave_cpu(balance, record);
	/* Of threads that outlive their first one, more may come. */
	if (record->tid != record->pid)
		return;
	end_account(balance, names, record->pid);
	if (record->pid != balance->options.main_pid)
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
		/* If the end of its predecessor was lost. */
		if (record->pid != record->fork.parent_pid)
			end_account(balance, names, record->pid);
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
	balance->is_paused = true;
}

/* Without records of the pause, the threads that had the CPUs before are taken to have them now. If
 * that is wrong, the next record of the CPU is that of a thread that gets it. */
void balance_resume(struct balance *balance, uint64_t now_ns)
{
	balance->is_paused = false;
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
	stack_id stack; /* [not sampled] */
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

static void add(struct settlement *settlement, unsigned event, label_set_id labels, uint64_t weight)
{
	settlement->balance->events[event].added += weight;
	profile_add_samples(settlement->profile, labels, settlement->stack,
			    settlement->events[event], 0, weight);
}

static label_set_id labels_of(struct profile *profile, pid_t pid, const char *name)
{
	return profile_thread_labels(profile, pid, pid, name, name);
}

static bool is_settled(const struct settlement *settlement, const struct account *account)
{
	return settlement->all || account->name;
}

/* What was added or sampled too much is kept against what comes. */
static void settle_account(struct settlement *settlement, struct account *account, unsigned event,
			   double factor)
{
	const char *name = account->name ? account->name
					 : names_get(settlement->names, account->pid, account->pid);
	uint64_t weight = (uint64_t)((double)lacks(settlement, account, event) * factor);

	if (!weight)
		return;
	add(settlement, event, labels_of(settlement->profile, account->pid, name), weight);
	account->sampled[event] += weight;
}

static void settle_event(struct settlement *settlement, unsigned event)
{
	struct balance *balance = settlement->balance;
	uint64_t missing = missing_of(settlement, event), lacking = 0;
	double factor = 1;

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
	return sample->stack == settlement->stack && sample->event == settlement->events[event];
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
	label_set_id labels;

	if (!rest || (balance->divides && spread(settlement, event, rest)))
		return;
	if (!pid)
		labels = profile_thread_labels(settlement->profile, -1, -1, "[processes]",
					       "[processes]");
	else
		labels = labels_of(settlement->profile, pid,
				   balance->main_name ? balance->main_name
						      : names_get(settlement->names, pid, pid));
	add(settlement, event, labels, rest);
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
		*idmap_put(&balance->running, (uint64_t)account->pid, 0) = kept;
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

	for (unsigned i = 0; i < balance->options.event_count; i++) {
		balance->events[i].is_known = counts[i].is_known;
		balance->events[i].counted = counts[i].value;
	}
	if (balance->options.adds_missing) {
		settlement.stack = profile_push(profile, STACK_EMPTY,
						profile_synthetic_frame(profile, BALANCE_FRAME));
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
