#include "record/memory.h"

#include "base/alloc.h"
#include "base/poisson.h"
#include "profile/allocation_classes.h"
#include "profile/label_sets.h"
#include "profile/memory_events.h"
#include "profile/stack_path.h"
#include "record/live_blocks.h"

#include <math.h>
#include <stdlib.h>

/* Limits for values in records, which are untrusted: 128 TiB per block, one
 * sample per TiB. Addresses are below ADDRESS_MAX. */
#define SIZE_MAX_BYTES (UINT64_C(1) << 47)
#define PERIOD_MAX_BYTES (UINT64_C(1) << 40)
#define ADDRESS_MAX (UINT64_C(1) << 57)

struct memory {
	struct session *session;
	unsigned first_event;
	struct live_blocks *blocks;
	struct label_sets threads; /* threads of the blocks */
	double objects_carry, bytes_carry;
	struct memory_counts counts;
};

static void fold_threads(void *user);

static void record_memory_add_events(struct session *session, uint64_t period_bytes)
{
	for (enum memory_event i = 0; i < MEMORY_EVENTS; i++) {
		struct profile_event event = memory_event_make(session_profile(session), i);

		if (event.kind == VALUE_BYTES)
			event.period = period_bytes;
		session_add_event(session, &event);
	}
}

struct memory *memory_new(struct session *session, uint64_t period_bytes)
{
	struct memory *memory = xcalloc(1, sizeof(*memory));

	memory->session = session;
	memory->blocks = live_blocks_new(LIVE_BLOCKS_MAX);
	memory->first_event = session_event_count(session);
	record_memory_add_events(session, period_bytes);
	session_on_fold(session, fold_threads, memory);
	return memory;
}

void memory_free(struct memory *memory)
{
	if (!memory)
		return;
	live_blocks_free(memory->blocks);
	label_sets_deinit(&memory->threads);
	free(memory);
}

struct memory_counts memory_counts(const struct memory *memory)
{
	return memory ? memory->counts : (struct memory_counts){0};
}

/* ---- Into the profile ---- */

/* lifetime is NULL if it is unknown. age is that of a block in use, else
 * NULL. */
static label_set_id record_memory_labels_of(struct memory *memory, const struct live_block *block,
					    const char *lifetime, const char *age)
{
	struct profile *profile = session_profile(memory->session);
	struct strtab *strings = profile_strings(profile);
	string_id none = strtab_add(strings, "");
	struct profile_label labels[3] = {
		{.key = strtab_add(strings, ALLOCATION_SIZE_LABEL),
		 .text = strtab_add(strings, allocation_size_class(block->requested_bytes)),
		 .unit = none},
	};
	uint32_t count = 1;

	if (lifetime)
		labels[count++] = (struct profile_label){
			.key = strtab_add(strings, ALLOCATION_LIFETIME_LABEL),
			.text = strtab_add(strings, lifetime),
			.unit = none,
		};
	if (age)
		labels[count++] = (struct profile_label){
			.key = strtab_add(strings, ALLOCATION_AGE_LABEL),
			.text = strtab_add(strings, age),
			.unit = none,
		};
	return profile_label_set(profile, &memory->threads.threads.items[block->thread], labels,
				 count);
}

static event_id record_memory_event_of(const struct memory *memory, enum memory_event event)
{
	return session_events(memory->session)[memory->first_event + event];
}

static uint32_t record_memory_add(struct memory *memory, const struct live_block *block,
				  label_set_id labels, enum memory_event event, uint64_t weight)
{
	return profile_add_samples(session_profile(memory->session), labels, block->stack,
				   record_memory_event_of(memory, event), block->objects > 0,
				   weight);
}

static void add_life(struct memory *memory, const struct live_block *block, uint32_t sample,
		     uint64_t end_ns)
{
	profile_add_interval(session_profile(memory->session),
			     &(struct profile_interval){
				     .start_ns = block->start_ns,
				     .end_ns = end_ns < block->start_ns ? block->start_ns : end_ns,
				     .weight = block->bytes,
				     .sample = sample,
			     });
}

/* Adds the allocation, unless a previous profile contains it. */
static void put_allocated(struct memory *memory, const struct live_block *block,
			  label_set_id labels, uint64_t end_ns)
{
	struct profile *profile = session_profile(memory->session);
	uint32_t sample;

	if (!block->is_allocated) {
		record_memory_add(memory, block, labels, MEMORY_ALLOC_OBJECTS, block->objects);
		sample = record_memory_add(memory, block, labels, MEMORY_ALLOC_SPACE, block->bytes);
		add_life(memory, block, sample, end_ns);
	} else if (profile_keeps_timestamps(profile)) {
		sample = profile_add_samples(profile, labels, block->stack,
					     record_memory_event_of(memory, MEMORY_ALLOC_SPACE), 0,
					     0);
		add_life(memory, block, sample, end_ns);
	}
}

static const char *life_class(const struct live_block *block, uint64_t end_ns)
{
	return allocation_lifetime_class(end_ns > block->start_ns ? end_ns - block->start_ns : 0);
}

/* Adds a block that was freed before the end. */
static void put_ended(struct memory *memory, const struct live_block *block, uint64_t end_ns)
{
	put_allocated(memory, block,
		      record_memory_labels_of(memory, block, life_class(block, end_ns), NULL),
		      end_ns);
	memory->counts.live_bytes -= block->bytes;
}

/* Adds a block whose end was not seen. */
static void put_unknown(struct memory *memory, const struct live_block *block)
{
	put_allocated(memory, block, record_memory_labels_of(memory, block, NULL, NULL),
		      block->start_ns);
}

static void put_live(struct memory *memory, const struct live_block *block, uint64_t now_ns)
{
	label_set_id labels = record_memory_labels_of(memory, block, allocation_live_class(),
						      life_class(block, now_ns));

	put_allocated(memory, block, labels, now_ns);
	record_memory_add(memory, block, labels, MEMORY_INUSE_OBJECTS, block->objects);
	record_memory_add(memory, block, labels, MEMORY_INUSE_SPACE, block->bytes);
}

/* ---- Allocations ---- */

/* Returns the integer part of *carry + value and keeps the rest in *carry. */
static uint64_t round_down(double value, double *carry)
{
	double whole = floor(value + *carry);

	*carry += value - whole;
	return (uint64_t)whole;
}

static void record_memory_weigh(struct memory *memory, uint64_t period_bytes,
				struct live_block *block)
{
	double size = (double)(block->requested_bytes ? block->requested_bytes : 1);
	double period = (double)(period_bytes ? period_bytes : 1);
	double objects = poisson_objects(size, period);

	block->objects = round_down(objects, &memory->objects_carry);
	block->bytes = round_down(objects * size, &memory->bytes_carry);
}

static thread_id thread_of(struct memory *memory, const struct record *record)
{
	label_set_id labels = session_labels(memory->session, record->pid, record->tid);

	return label_sets_thread(&memory->threads,
				 profile_thread_of(session_profile(memory->session), labels));
}

static uint64_t record_memory_at_most(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

static void free_mapped(struct memory *memory, const struct record *record, uint64_t size_bytes)
{
	uint64_t start = record_memory_at_most(record->allocation.address, ADDRESS_MAX);
	uint64_t end = start + record_memory_at_most(size_bytes, SIZE_MAX_BYTES);
	struct live_block part;

	while (live_blocks_take_mapped(memory->blocks, record->pid, start, end, &part))
		put_ended(memory, &part, record->time_ns);
}

/* The blocks that were at this address have ended unnoticed. */
static void clear_place(struct memory *memory, const struct record *record,
			const struct live_block *place)
{
	struct live_block block;

	if (place->is_mapping)
		free_mapped(memory, record, place->size_bytes);
	if (!live_blocks_take(memory->blocks, place->pid, place->address, &block))
		return;
	memory->counts.live_bytes -= block.bytes;
	put_unknown(memory, &block);
}

static void feed_alloc(struct memory *memory, const struct record *record)
{
	const struct record_allocation *allocation = &record->allocation;
	struct live_block block = {
		.pid = record->pid,
		.address = allocation->address,
		.size_bytes = record_memory_at_most(allocation->size_bytes, SIZE_MAX_BYTES),
		.start_ns = record->time_ns,
	};
	struct stack_extent extent;

	block.requested_bytes = block.size_bytes;
	block.is_mapping = allocation->is_mapping && block.size_bytes;
	record_memory_weigh(
		memory, record_memory_at_most(allocation->period_bytes, PERIOD_MAX_BYTES), &block);
	block.thread = thread_of(memory, record);
	block.stack = session_find_stack(memory->session, record, &extent);
	memory->counts.samples++;
	memory->counts.allocated_bytes += block.bytes;
	clear_place(memory, record, &block);
	if (!allocation->is_untracked && block.address < ADDRESS_MAX) {
		if (live_blocks_add(memory->blocks, &block)) {
			memory->counts.live_bytes += block.bytes;
			return;
		}
		memory->counts.left_out++;
	}
	put_unknown(memory, &block);
}

static void feed_free(struct memory *memory, const struct record *record)
{
	struct live_block block;

	if (record->allocation.size_bytes)
		free_mapped(memory, record, record->allocation.size_bytes);
	else if (live_blocks_take(memory->blocks, record->pid, record->allocation.address, &block))
		put_ended(memory, &block, record->time_ns);
}

/* ---- Processes ---- */

/* The remaining blocks were in use when the process ended. */
static void record_memory_end_process(struct memory *memory, pid_t pid, uint64_t time_ns)
{
	struct live_block block;

	while (live_blocks_take_any(memory->blocks, pid, &block))
		put_live(memory, &block, time_ns);
}

static void execute(struct memory *memory, pid_t pid, uint64_t time_ns)
{
	struct live_block block;

	while (live_blocks_take_any(memory->blocks, pid, &block))
		put_ended(memory, &block, time_ns);
}

void memory_feed(struct memory *memory, const struct record *record)
{
	if (!memory)
		return;
	switch (record->type) {
	case RECORD_ALLOC:
		feed_alloc(memory, record);
		break;
	case RECORD_FREE:
		feed_free(memory, record);
		break;
	case RECORD_FORK:
		/* A previous process with this pid has ended unnoticed. */
		if (record->pid != record->fork.parent_pid && !record->fork.existing)
			record_memory_end_process(memory, record->pid, record->time_ns);
		break;
	case RECORD_COMM:
		if (record->comm.exec)
			execute(memory, record->pid, record->time_ns);
		break;
	case RECORD_EXIT:
		if (session_ends_with(memory->session, record->pid, record->tid))
			record_memory_end_process(memory, record->pid, record->time_ns);
		break;
	default:
		break;
	}
}

void memory_settle(struct memory *memory, uint64_t now_ns)
{
	struct live_block *block;
	uint32_t at = 0;

	if (!memory)
		return;
	while ((block = live_blocks_next(memory->blocks, &at))) {
		put_live(memory, block, now_ns);
		block->is_allocated = true;
	}
}

/* ---- Another profile ---- */

/* Updates the threads of the blocks after the session has folded its
 * threads. */
static void fold_threads(void *user)
{
	struct memory *memory = user;
	struct label_sets former = memory->threads;
	struct live_block *block;
	uint32_t at = 0;

	memory->threads = (struct label_sets){0};
	while ((block = live_blocks_next(memory->blocks, &at))) {
		struct profile_thread thread = former.threads.items[block->thread];

		session_fold_thread(memory->session, &thread);
		block->thread = label_sets_thread(&memory->threads, &thread);
	}
	label_sets_deinit(&former);
}

/* Moves stacks and threads from the previous profile to the new one, which has
 * the same module ids. */
struct move {
	const struct profile *from;
	struct profile *to;
	struct label_sets threads; /* threads of the previous profile */
	uint32_t *stacks;	   /* stack in the previous profile → stack in the new one */
	struct stack_path path;
};

static string_id move_string(const struct move *move, string_id id)
{
	return strtab_add(profile_strings(move->to), profile_string(move->from, id));
}

static function_id move_function(const struct move *move, function_id id)
{
	struct profile_function function = *profile_get_function(move->from, id);

	function.name = move_string(move, function.name);
	function.system_name = move_string(move, function.system_name);
	function.file = move_string(move, function.file);
	return profile_function(move->to, &function);
}

static frame_id move_named_frame(const struct move *move, const struct profile_frame *frame)
{
	CLEANUP(free_ptr)
	struct profile_line *lines = xcalloc(frame->line_count, sizeof(*lines));

	for (unsigned i = 0; i < frame->line_count; i++) {
		lines[i] = frame->lines[i];
		lines[i].function = move_function(move, lines[i].function);
	}
	return profile_named_frame(move->to, frame->module, frame->offset, lines,
				   frame->line_count);
}

static frame_id move_frame(const struct move *move, frame_id id)
{
	struct profile_frame frame = profile_get_frame(move->from, id);

	if (frame.module == PROFILE_SYNTHETIC) {
		function_id text = frame.lines[0].function;
		string_id name = profile_get_function(move->from, text)->name;

		return profile_synthetic_frame(move->to, profile_string(move->from, name));
	}
	if (frame.is_named)
		return move_named_frame(move, &frame);
	return profile_frame(move->to, frame.module, frame.offset, frame.is_return_address);
}

static uint32_t *make_stack_map(const struct profile *from)
{
	uint32_t count = profile_stacks(from).count;
	uint32_t *stacks = xreallocarray(NULL, count, sizeof(*stacks));

	for (uint32_t i = 0; i < count; i++)
		stacks[i] = i == STACK_EMPTY ? STACK_EMPTY : UINT32_MAX;
	return stacks;
}

static stack_id record_memory_move_stack(struct move *move, stack_id id)
{
	struct profile_stacks stacks = profile_stacks(move->from);
	stack_id next = id;

	while (move->stacks[next] == UINT32_MAX)
		next = stack_path_up(&move->path, stacks, next);
	while (stack_path_down(&move->path, &next)) {
		struct profile_stack stack = stacks.items[next];

		move->stacks[next] = profile_push(move->to, move->stacks[stack.parent],
						  move_frame(move, stack.frame));
	}
	return move->stacks[id];
}

static struct profile_thread move_thread(const struct move *move, thread_id id)
{
	struct profile_thread thread = move->threads.threads.items[id];

	thread.process = move_string(move, thread.process);
	thread.name = move_string(move, thread.name);
	return thread;
}

void memory_begin_profile(struct memory *memory, const struct profile *finished)
{
	struct move move = {.from = finished};
	struct live_block *block;
	uint32_t at = 0;

	if (!memory)
		return;
	move.to = session_profile(memory->session);
	move.stacks = make_stack_map(finished);
	move.threads = memory->threads;
	memory->threads = (struct label_sets){0};
	memory->counts = (struct memory_counts){0};
	while ((block = live_blocks_next(memory->blocks, &at))) {
		struct profile_thread thread = move_thread(&move, block->thread);

		block->thread = label_sets_thread(&memory->threads, &thread);
		block->stack = record_memory_move_stack(&move, block->stack);
		memory->counts.live_bytes += block->bytes;
	}
	label_sets_deinit(&move.threads);
	free(move.path.items);
	free(move.stacks);
}
