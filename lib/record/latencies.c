#include "record/latencies.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "profile/latency.h"
#include "unwind/arch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* Limit per thread and event. The oldest calls are dropped first. */
	OPEN_CALLS_MAX = 4096,
	/* Above this total (32 MB, plus 2 KB per thread), the open calls of a
	 * thread and event do not grow beyond OPEN_CALLS_MIN. */
	ALL_OPEN_CALLS_MAX = 1 << 20,
	OPEN_CALLS_MIN = 64,
	/*
	 * Maximum size of a return address on the stack. The stack pointer
	 * after the return is at most this much above its value at the entry.
	 */
	RETURN_ADDRESS_BYTES = 8,
	/* A stack pointer further away is on another stack, such as that of a
	 * coroutine. */
	LATENCIES_STACK_BYTES = 8 << 20,
	/* The address that replaces return addresses is the start of a page. */
	PAGE_BYTES = 4096,
};

/* A call that has not returned. */
struct open_call {
	uint64_t sp, time_ns;
	uint64_t return_pc; /* 0 if unknown */
	stack_id stack;
};

/* The open calls of a thread and event, innermost last. */
struct open_calls {
	bool are_measured;
	struct open_call *items;
	size_t count, room;
	uint32_t next_unused; /* list of unused entries: see first_unused */
};

struct latencies {
	struct latencies_options options;
	struct idmap threads; /* (tid, event) → index in open */
	struct open_calls *open;
	size_t count, room;
	uint32_t first_unused; /* first unused entry of open; IDMAP_NONE for none */
	size_t all_room;       /* capacity of all open calls */
	unsigned char
		*copy; /* copy of a stack with the original return addresses; NULL until needed */
	size_t copy_room;
	struct idmap labels; /* (labels of the thread, bucket) → labels of the sample */
	uint32_t generation; /* generation of the profile that labels belong to */
	uint64_t left, unpaired;
};

static bool measures(const struct latencies_options *options, unsigned event)
{
	return event < options->event_count && options->events[event].measures_calls;
}

static bool follows(const struct latencies_options *options, unsigned event)
{
	return measures(options, event) ||
	       (event < options->event_count && options->events[event].follows_calls);
}

struct latencies *latencies_new(const struct latencies_options *options)
{
	struct latencies *latencies;
	unsigned event = 0;

	while (event < options->event_count && !follows(options, event))
		event++;
	if (event == options->event_count)
		return NULL;
	latencies = xcalloc(1, sizeof(*latencies));
	latencies->options = *options;
	latencies->first_unused = IDMAP_NONE;
	return latencies;
}

void latencies_free(struct latencies *latencies)
{
	if (!latencies)
		return;
	for (size_t i = 0; i < latencies->count; i++)
		free(latencies->open[i].items);
	free(latencies->open);
	free(latencies->copy);
	idmap_deinit(&latencies->threads);
	idmap_deinit(&latencies->labels);
	free(latencies);
}

static struct open_calls *calls_of(struct latencies *latencies, pid_t tid, unsigned event)
{
	uint32_t *number = idmap_put(&latencies->threads, (uint32_t)tid, event);

	if (*number != IDMAP_NONE)
		return &latencies->open[*number];
	if (latencies->first_unused != IDMAP_NONE) {
		*number = latencies->first_unused;
		latencies->first_unused = latencies->open[*number].next_unused;
	} else {
		GROW(latencies->open, latencies->count, latencies->room);
		*number = (uint32_t)latencies->count++;
	}
	latencies->open[*number] =
		(struct open_calls){.are_measured = measures(&latencies->options, event)};
	return &latencies->open[*number];
}

/* The return address is at the stack pointer of the entry. */
static uint64_t return_pc(const struct record *record)
{
	struct bytes stack = record->sample.stack;

	return arch_native()->ra_in_register ? 0 : bytes_u64(&stack);
}

/* Copies the stack of the sample to private memory, which can be changed. */
static unsigned char *copy_stack(struct latencies *latencies, struct record *record)
{
	size_t len = bytes_left(&record->sample.stack);

	if (record->sample.stack.at == latencies->copy)
		return latencies->copy;
	if (latencies->copy_room < len) {
		latencies->copy = xreallocarray(latencies->copy, len, 1);
		latencies->copy_room = len;
	}
	memcpy(latencies->copy, record->sample.stack.at, len);
	record->sample.stack = bytes_of(latencies->copy, len);
	return latencies->copy;
}

static void restore_return(struct latencies *latencies, const struct open_call *call, uint64_t sp,
			   struct record *record)
{
	struct bytes place = bytes_at(record->sample.stack, call->sp - sp);
	uint64_t replaced = bytes_u64(&place);

	/* A call that ended without a return may be overwritten by now. */
	if (!call->return_pc || call->sp < sp || !bytes_ok(&place) || replaced % PAGE_BYTES)
		return;
	memcpy(copy_stack(latencies, record) + (call->sp - sp), &call->return_pc,
	       sizeof(call->return_pc));
}

static void restore_returns(struct latencies *latencies, uint64_t sp, struct record *record)
{
	for (unsigned event = 0; event < latencies->options.event_count; event++) {
		uint32_t number = idmap_get(&latencies->threads, (uint32_t)record->tid, event);
		const struct open_calls *calls = number == IDMAP_NONE ? NULL
								      : &latencies->open[number];

		for (size_t i = 0; calls && i < calls->count; i++)
			restore_return(latencies, &calls->items[i], sp, record);
	}
}

static void latencies_enter(struct latencies *latencies, const struct record *record, uint64_t sp)
{
	struct open_calls *calls = calls_of(latencies, record->tid, record->sample.event);
	bool is_full = calls->count == calls->room && calls->count >= OPEN_CALLS_MIN &&
		       latencies->all_room >= ALL_OPEN_CALLS_MAX;

	if (is_full || calls->count == OPEN_CALLS_MAX) {
		latencies->left += calls->are_measured;
		memmove(calls->items, calls->items + 1, --calls->count * sizeof(*calls->items));
	}
	latencies->all_room -= calls->room;
	GROW(calls->items, calls->count, calls->room);
	latencies->all_room += calls->room;
	calls->items[calls->count++] = (struct open_call){
		.sp = sp,
		.time_ns = record->time_ns,
		.return_pc = return_pc(record),
		.stack = calls->are_measured
				 ? session_take_stack(latencies->options.session, record)
				 : 0,
	};
}

/* Takes the call that returns, and drops the calls inside it, which ended
 * without a return. */
static bool take_call(struct latencies *latencies, struct open_calls *calls, uint64_t sp,
		      struct open_call *ret)
{
	size_t at = calls->count, kept;

	while (at && !(calls->items[at - 1].sp <= sp &&
		       sp - calls->items[at - 1].sp <= RETURN_ADDRESS_BYTES))
		at--;
	if (!at)
		return false;
	*ret = calls->items[--at];
	kept = at;
	for (size_t i = at + 1; i < calls->count; i++) {
		bool is_further_in = calls->items[i].sp <= ret->sp &&
				     ret->sp - calls->items[i].sp < LATENCIES_STACK_BYTES;

		if (!is_further_in)
			calls->items[kept++] = calls->items[i];
		latencies->left += is_further_in && calls->are_measured;
	}
	calls->count = kept;
	return true;
}

/* Returns the thread's labels plus the histogram bucket of the time. */
static label_set_id add_class(struct profile *profile, label_set_id thread, unsigned class_number)
{
	struct strtab *strings = profile_strings(profile);
	const struct profile_label_set *set = profile_get_label_set(profile, thread);
	CLEANUP(free_ptr)
	struct profile_label *labels = xcalloc(set->count + 1, sizeof(*labels));
	const struct profile_thread of = *profile_thread_of(profile, thread);
	uint32_t count = set->count;
	char name[LATENCY_NAME_BYTES];

	for (uint32_t i = 0; i < count; i++)
		labels[i] = set->labels[i];
	latency_class_name(class_number, name);
	labels[count++] = (struct profile_label){
		.key = strtab_add(strings, LATENCY_LABEL),
		.text = strtab_add(strings, name),
		.unit = strtab_add(strings, ""),
	};
	return profile_label_set(profile, &of, labels, count);
}

static label_set_id latencies_labels_of(struct latencies *latencies, const struct record *record,
					uint64_t ns)
{
	struct session *session = latencies->options.session;
	struct profile *profile = session_profile(session);
	label_set_id thread = session_labels(session, record->pid, record->tid);
	unsigned class_number = latency_class(ns);
	uint32_t *known;

	if (latencies->generation != profile_generation(profile))
		idmap_deinit(&latencies->labels);
	latencies->generation = profile_generation(profile);
	known = idmap_put(&latencies->labels, thread, class_number);
	if (*known == IDMAP_NONE)
		*known = add_class(profile, thread, class_number);
	return *known;
}

static void latencies_leave(struct latencies *latencies, const struct record *record, uint64_t sp)
{
	struct open_calls *calls = calls_of(latencies, record->tid, record->sample.event);
	struct open_call call;
	uint64_t ns;

	if (!take_call(latencies, calls, sp, &call)) {
		latencies->unpaired += calls->are_measured;
		return;
	}
	if (!calls->are_measured)
		return;
	ns = record->time_ns > call.time_ns ? record->time_ns - call.time_ns : 0;
	if (ns >= latencies->options.least_ns)
		session_add_call(latencies->options.session, record,
				 latencies_labels_of(latencies, record, ns), call.stack, ns);
}

static void end_thread(struct latencies *latencies, pid_t tid)
{
	for (unsigned event = 0; event < latencies->options.event_count; event++) {
		uint32_t number = idmap_get(&latencies->threads, (uint32_t)tid, event);
		struct open_calls *calls = &latencies->open[number];

		if (number == IDMAP_NONE)
			continue;
		if (calls->are_measured)
			latencies->left += calls->count;
		latencies->all_room -= calls->room;
		free(calls->items);
		*calls = (struct open_calls){.next_unused = latencies->first_unused};
		latencies->first_unused = number;
		idmap_remove(&latencies->threads, (uint32_t)tid, event);
	}
}

bool latencies_feed(struct latencies *latencies, struct record *record)
{
	bool is_measured;
	uint64_t sp;

	if (!latencies)
		return false;
	if (record->type == RECORD_EXIT || (record->type == RECORD_COMM && record->comm.exec))
		end_thread(latencies, record->tid);
	if (record->type != RECORD_SAMPLE)
		return false;
	sp = record_register(&record->sample.regs, latencies->options.sp_bit);
	restore_returns(latencies, sp, record);
	if (!follows(&latencies->options, record->sample.event))
		return false;
	is_measured = measures(&latencies->options, record->sample.event);
	if (record->sample.is_other_end == is_measured)
		latencies_leave(latencies, record, sp);
	else
		latencies_enter(latencies, record, sp);
	return is_measured || record->sample.is_other_end;
}

void latencies_begin_profile(struct latencies *latencies)
{
	if (!latencies)
		return;
	for (size_t i = 0; i < latencies->count; i++)
		if (latencies->open[i].are_measured)
			latencies->open[i].count = 0;
}

void latencies_tell(const struct latencies *latencies, const struct listener *listener)
{
	uint64_t open = 0;

	if (!latencies)
		return;
	for (size_t i = 0; i < latencies->count; i++)
		if (latencies->open[i].are_measured)
			open += latencies->open[i].count;
	if (latencies->left)
		listener_notice(listener,
				"%" PRIu64 " calls have no matching return (longjmp, an exception, "
				"a thread's exit, more than %d nested calls) and are omitted",
				latencies->left, OPEN_CALLS_MAX);
	if (open)
		listener_notice(listener, "%" PRIu64 " calls had not returned at the end", open);
	if (latencies->unpaired)
		listener_notice(listener,
				"%" PRIu64 " returns have no matching call: the entry was lost or "
				"before the recording",
				latencies->unpaired);
}
