/*
 * Feeds records of allocations into a session with synthetic processes
 * (memory.h) and checks the profile.
 */
#include "record/memory.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "profile/allocation_classes.h"
#include "record/live_blocks.h"

#include "unit_test.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pid that no machine assigns. */
enum { PID = 1 << 29, CHILD, THREAD };
enum { PERIOD = 1 << 10, CODE = 0x1000, PROGRAM_BYTES = 0x10000 };

struct fixture {
	struct address_spaces *spaces;
	struct names *names;
	struct unwinder *unwinder;
	struct profile *profile;
	struct session *session;
	struct memory *memory;
	uint64_t now_ns;
};

static void feed(struct fixture *f, struct record record)
{
	record.time_ns = f->now_ns += 1000;
	memory_feed(f->memory, &record);
	session_feed(f->session, &record);
}

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->spaces = address_spaces_new("/proc");
	f->names = names_new("/proc");
	f->unwinder = unwinder_new(f->spaces, arch_native(), false);
	f->profile = profile_new();
	profile_keep_timestamps(f->profile);
	f->session = session_new(f->spaces, f->names, f->unwinder, arch_native(), f->profile);
	f->memory = memory_new(f->session, PERIOD);
	feed(f,
	     (struct record){.type = RECORD_COMM, .pid = PID, .tid = PID, .comm = {.name = "app"}});
	feed(f, (struct record){.type = RECORD_MMAP,
				.pid = PID,
				.tid = PID,
				.mmap = {.start = CODE,
					 .length_bytes = PROGRAM_BYTES,
					 .executable = true,
					 .path = "/app"}});
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	memory_free(f->memory);
	session_free(f->session);
	profile_free(f->profile);
	unwinder_free(f->unwinder);
	names_free(f->names);
	address_spaces_free(f->spaces);
	free(f);
	return 0;
}

/* An allocation at an offset of the program. */
static struct record allocated(pid_t pid, uint64_t offset, uint64_t address, uint64_t size_bytes)
{
	return (struct record){
		.type = RECORD_ALLOC,
		.pid = pid,
		.tid = pid,
		.allocation = {.address = address,
			       .size_bytes = size_bytes,
			       .period_bytes = PERIOD},
		.sample = {.ip = CODE + offset},
	};
}

static struct record freed(pid_t pid, uint64_t address)
{
	return (struct record){
		.type = RECORD_FREE, .pid = pid, .tid = pid, .allocation.address = address};
}

static struct record mapped(uint64_t offset, uint64_t address, uint64_t size_bytes)
{
	struct record record = allocated(PID, offset, address, size_bytes);

	record.allocation.is_mapping = true;
	return record;
}

static struct record unmapped(uint64_t address, uint64_t size_bytes)
{
	struct record record = freed(PID, address);

	record.allocation.size_bytes = size_bytes;
	return record;
}

/* Returns a sum over the samples of an event that have this label, or over all
 * samples if text is NULL. */
static uint64_t sum(const struct fixture *f, const char *event, const char *text)
{
	struct profile_samples samples = profile_samples(f->profile);
	uint64_t weight = 0;

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		const struct profile_label_set *set = profile_get_label_set(f->profile,
									    sample->labels);
		bool has_text = !text;

		for (uint32_t j = 0; j < set->count; j++)
			has_text |= text &&
				    !strcmp(profile_string(f->profile, set->labels[j].text), text);
		if (has_text &&
		    !strcmp(profile_string(f->profile,
					   profile_get_event(f->profile, sample->event)->name),
			    event))
			weight += sample->weight;
	}
	return weight;
}

/* Returns the weight of a sampled block of this size. */
static double weight_of(double size)
{
	return size / -expm1(-size / PERIOD);
}

static void assert_near(uint64_t value, double expected)
{
	if (fabs((double)value - expected) > 1.5)
		fail_msg("%" PRIu64 " is not %f", value, expected);
}

static void change_profile(struct fixture *f)
{
	struct profile *finished = f->profile;

	memory_settle(f->memory, f->now_ns);
	f->profile = profile_new();
	profile_keep_timestamps(f->profile);
	session_change_profile(f->session, f->profile);
	memory_begin_profile(f->memory, finished);
	profile_free(finished);
}

TEST_WITH(set_up, tear_down, a_block_counts_for_the_bytes_that_were_allocated_for_each_sample)
{
	struct fixture *f = *state;

	feed(f, allocated(PID, 0, 0x100000, 64));
	feed(f, freed(PID, 0x100000));
	assert_near(sum(f, "alloc_space", NULL), weight_of(64));
	assert_near(sum(f, "alloc_objects", NULL), weight_of(64) / 64);
	feed(f, allocated(PID, 0, 0x100000, 100 * PERIOD));
	memory_settle(f->memory, f->now_ns);
	assert_near(sum(f, "alloc_objects", NULL), 1 + weight_of(64) / 64);
	assert_near(sum(f, "inuse_space", NULL), 100 * PERIOD);
	assert_near(sum(f, "inuse_objects", NULL), 1);
	assert_int_equal(memory_counts(f->memory).samples, 2);
	assert_near(memory_counts(f->memory).live_bytes, 100 * PERIOD);
}

static double random_share(unsigned *seed)
{
	return (rand_r(seed) + 1.0) / (RAND_MAX + 2.0);
}

/* Live blocks have different addresses, so all of them are in use. */
TEST_WITH(set_up, tear_down, sums_of_random_sizes_are_those_of_all_blocks)
{
	struct fixture *f = *state;
	double bytes = 0, objects = 0, bytes_variance = 0, objects_variance = 0;
	unsigned seed = 1;

	for (uint64_t i = 0; i < 400000; i++) {
		double size = floor(exp2(random_share(&seed) * 14)) + 1;
		double probability = -expm1(-size / PERIOD);

		bytes += size;
		objects++;
		bytes_variance += size * size * (1 - probability) / probability;
		objects_variance += (1 - probability) / probability;
		if (random_share(&seed) < probability)
			feed(f, allocated(PID, i % 100, i << 16, (uint64_t)size));
	}
	memory_settle(f->memory, f->now_ns);
	assert_true(fabs((double)sum(f, "inuse_space", NULL) - bytes) < 3 * sqrt(bytes_variance));
	assert_true(fabs((double)sum(f, "inuse_objects", NULL) - objects) <
		    3 * sqrt(objects_variance));
	assert_int_equal(sum(f, "alloc_space", NULL), sum(f, "inuse_space", NULL));
	assert_int_equal(sum(f, "alloc_space", NULL), memory_counts(f->memory).allocated_bytes);
}

TEST_WITH(set_up, tear_down, labels_are_the_classes_of_size_and_lifetime)
{
	struct fixture *f = *state;

	feed(f, allocated(PID, 0, 0x100000, 64));
	f->now_ns += 20000000;
	feed(f, freed(PID, 0x100000));
	feed(f, allocated(PID, 0, 0x100000, 5000));
	memory_settle(f->memory, f->now_ns);
	assert_near(sum(f, "alloc_space", "64 B to 127 B"), weight_of(64));
	assert_near(sum(f, "alloc_space", "10 ms to 100 ms"), weight_of(64));
	assert_near(sum(f, "alloc_space", "4 KiB to 8 KiB"), weight_of(5000));
	assert_near(sum(f, "alloc_space", allocation_live_class()), weight_of(5000));
	assert_near(sum(f, "inuse_space", allocation_live_class()), weight_of(5000));
}

TEST_WITH(set_up, tear_down, a_child_gives_back_its_parents_blocks_without_effect)
{
	struct fixture *f = *state;

	feed(f, allocated(PID, 0, 0x100000, 4096));
	feed(f, (struct record){.type = RECORD_FORK,
				.pid = CHILD,
				.tid = CHILD,
				.fork = {.parent_pid = PID, .parent_tid = PID}});
	feed(f, freed(CHILD, 0x100000));
	feed(f, allocated(CHILD, 0, 0x100000, 64));
	feed(f, freed(CHILD, 0x100000));
	memory_settle(f->memory, f->now_ns);
	assert_near(sum(f, "inuse_space", NULL), weight_of(4096));
	assert_near(sum(f, "alloc_space", NULL), weight_of(4096) + weight_of(64));
}

TEST_WITH(set_up, tear_down, a_process_that_ends_had_its_blocks_in_use)
{
	struct fixture *f = *state;

	feed(f, allocated(PID, 0, 0x100000, 4096));
	/* The first thread of the process ends before the other one. */
	feed(f, (struct record){.type = RECORD_FORK,
				.pid = PID,
				.tid = THREAD,
				.fork = {.parent_pid = PID, .parent_tid = PID}});
	feed(f, (struct record){.type = RECORD_EXIT, .pid = PID, .tid = PID});
	assert_int_equal(sum(f, "inuse_space", NULL), 0);
	feed(f, (struct record){.type = RECORD_EXIT, .pid = PID, .tid = THREAD});
	assert_near(sum(f, "inuse_space", NULL), weight_of(4096));
	memory_settle(f->memory, f->now_ns);
	assert_near(sum(f, "inuse_space", NULL), weight_of(4096));
}

TEST_WITH(set_up, tear_down, a_process_that_executes_a_program_gives_all_back)
{
	struct fixture *f = *state;

	feed(f, allocated(PID, 0, 0x100000, 4096));
	feed(f, (struct record){.type = RECORD_COMM,
				.pid = PID,
				.tid = PID,
				.comm = {.name = "other", .exec = true}});
	memory_settle(f->memory, f->now_ns);
	assert_int_equal(sum(f, "inuse_space", NULL), 0);
	assert_near(sum(f, "alloc_space", "1 µs to 10 µs"), weight_of(4096));
}

TEST_WITH(set_up, tear_down, a_mapping_is_given_back_in_parts)
{
	struct fixture *f = *state;
	const uint64_t all = 16 << 20;

	feed(f, mapped(0, 0x10000000, all));
	feed(f, mapped(0, 0x20000000, all));
	/* The last quarter, a hole in the middle, the first quarter and the
	 * memory before it. */
	feed(f, unmapped(0x10000000 + all / 4 * 3, all / 4));
	feed(f, unmapped(0x10000000 + all / 8 * 3, all / 8));
	feed(f, unmapped(0x10000000 - all, all / 4 * 5));
	assert_near(sum(f, "alloc_space", NULL), (double)(all / 8 * 5));
	assert_int_equal(sum(f, "alloc_objects", NULL), 0);
	assert_near(memory_counts(f->memory).live_bytes, (double)(all + all / 8 * 3));
	/* The rest of both. */
	feed(f, unmapped(0x10000000, 0x20000000));
	assert_near(sum(f, "alloc_space", NULL), (double)(2 * all));
	assert_int_equal(sum(f, "alloc_objects", NULL), 2);
	assert_int_equal(memory_counts(f->memory).live_bytes, 0);
	memory_settle(f->memory, f->now_ns);
	assert_int_equal(sum(f, "inuse_space", NULL), 0);
}

TEST_WITH(set_up, tear_down, a_mapping_over_another_one_replaces_it)
{
	struct fixture *f = *state;
	const uint64_t all = 16 << 20;

	feed(f, mapped(0, 0x10000000, all));
	feed(f, mapped(0, 0x10000000 + all / 2, all));
	assert_near(memory_counts(f->memory).live_bytes, (double)(all + all / 2));
	feed(f, mapped(0, 0x10000000, 2 * all));
	assert_near(memory_counts(f->memory).live_bytes, (double)(2 * all));
}

TEST_WITH(set_up, tear_down, an_address_that_is_allocated_again_was_given_back_before)
{
	struct fixture *f = *state;

	feed(f, allocated(PID, 0, 0x100000, 4096));
	feed(f, allocated(PID, 0, 0x100000, 8192));
	memory_settle(f->memory, f->now_ns);
	assert_near(sum(f, "inuse_space", NULL), weight_of(8192));
	assert_near(sum(f, "alloc_space", NULL), weight_of(4096) + weight_of(8192));
	/* The time of the allocation is unknown. */
	assert_near(sum(f, "alloc_space", allocation_live_class()), weight_of(8192));
}

TEST_WITH(set_up, tear_down, a_block_whose_end_cannot_be_seen_is_never_in_use)
{
	struct fixture *f = *state;
	struct record record = allocated(PID, 0, 0x100000, 4096);

	record.allocation.is_untracked = true;
	feed(f, record);
	memory_settle(f->memory, f->now_ns);
	assert_near(sum(f, "alloc_space", NULL), weight_of(4096));
	assert_int_equal(sum(f, "inuse_space", NULL), 0);
	assert_int_equal(sum(f, "alloc_space", allocation_live_class()), 0);
}

TEST_WITH(set_up, tear_down, blocks_that_live_on_are_in_use_in_the_next_profile)
{
	struct fixture *f = *state;
	uint64_t chain[] = {CODE + 0x10, CODE + 0x20, CODE + 0x30, 0x7777777};
	struct record record = allocated(PID, 0, 0x100000, 4096);
	struct profile_samples samples;
	struct profile_stack leaf;

	record.sample.user_chain = bytes_of(chain, sizeof(chain));
	feed(f, record);
	feed(f, allocated(PID, 0x40, 0x200000, 64));
	change_profile(f);
	feed(f, freed(PID, 0x200000));
	feed(f, allocated(PID, 0x50, 0x300000, 64));
	feed(f, freed(PID, 0x300000));
	memory_settle(f->memory, f->now_ns);
	assert_near(sum(f, "alloc_space", NULL), weight_of(64));
	assert_near(sum(f, "inuse_space", NULL), weight_of(4096));
	/* With its stack, which is truncated, and its thread's name. */
	samples = profile_samples(f->profile);
	leaf = profile_stacks(f->profile).items[samples.items[samples.count - 1].stack];
	assert_int_equal(leaf.depth, 4);
	assert_int_equal(profile_get_frame(f->profile, leaf.frame).offset, 0x10);
	while (leaf.parent != STACK_EMPTY)
		leaf = profile_stacks(f->profile).items[leaf.parent];
	assert_int_equal(profile_get_frame(f->profile, leaf.frame).module, PROFILE_SYNTHETIC);
	assert_string_equal(
		profile_string(
			f->profile,
			profile_thread_of(f->profile, samples.items[samples.count - 1].labels)
				->process),
		"app");
}

TEST_WITH(set_up, tear_down, a_block_is_an_interval_of_its_bytes)
{
	struct fixture *f = *state;
	struct profile_intervals intervals;

	feed(f, allocated(PID, 0, 0x200000, 4096));
	feed(f, allocated(PID, 0, 0x100000, 64));
	feed(f, freed(PID, 0x100000));
	change_profile(f);
	feed(f, freed(PID, 0x200000));
	memory_settle(f->memory, f->now_ns);
	intervals = profile_intervals(f->profile);
	assert_int_equal(intervals.count, 1);
	assert_int_equal(intervals.items[0].end_ns, f->now_ns);
	assert_int_equal(intervals.items[0].start_ns, f->now_ns - 3000);
	assert_near(intervals.items[0].weight, weight_of(4096));
	assert_int_equal(sum(f, "alloc_space", NULL), 0);
}

TEST_WITH(set_up, tear_down, threads_that_end_fold_with_their_blocks)
{
	struct fixture *f = *state;
	struct profile *kept = f->profile;
	struct record record = allocated(PID, 0, 0x100000, 4096);
	struct profile_samples samples;
	const struct profile_thread *thread;

	/* Timestamps and folding exclude each other. */
	f->profile = profile_new();
	session_change_profile(f->session, f->profile);
	profile_free(kept);
	session_fold_ended(f->session, 1);
	feed(f, (struct record){.type = RECORD_FORK,
				.pid = PID,
				.tid = THREAD,
				.fork = {.parent_pid = PID, .parent_tid = PID}});
	record.tid = THREAD;
	feed(f, record);
	feed(f, (struct record){.type = RECORD_EXIT, .pid = PID, .tid = THREAD});
	memory_settle(f->memory, f->now_ns);
	samples = profile_samples(f->profile);
	thread = profile_thread_of(f->profile, samples.items[0].labels);
	assert_int_equal(thread->pid, PID);
	assert_int_equal(thread->tid, -1);
}

/* A program may write arbitrary records. */
TEST_WITH(set_up, tear_down, any_record_is_survived)
{
	struct fixture *f = *state;
	unsigned seed = 7;

	for (int i = 0; i < 300000; i++) {
		struct record record = allocated(PID + rand_r(&seed) % 3, 0,
						 UINT64_MAX >> (rand_r(&seed) % 64),
						 UINT64_MAX >> (rand_r(&seed) % 64));

		record.type = rand_r(&seed) % 3 ? RECORD_ALLOC : RECORD_FREE;
		record.allocation.period_bytes = UINT64_MAX >> (rand_r(&seed) % 65 % 64);
		record.allocation.is_mapping = rand_r(&seed) % 2;
		if (rand_r(&seed) % 2)
			record.allocation.address = (uint64_t)rand_r(&seed) % 1000 << 12;
		if (record.type == RECORD_FREE && rand_r(&seed) % 2)
			record.allocation.size_bytes = 0;
		feed(f, record);
	}
	memory_settle(f->memory, f->now_ns);
}

TEST_WITH(set_up, tear_down, a_process_has_no_more_mappings_than_the_kernel_allows)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 66000; i++)
		feed(f, mapped(0, i << 20, 4096));
	assert_int_equal(memory_counts(f->memory).left_out, 66000 - 65536);
	assert_int_equal(memory_counts(f->memory).samples, 66000);
}

/* Tests LIVE_BLOCKS_MAX, whose memory the compiler checks. */
TEST(a_full_set_takes_no_more_blocks)
{
	struct live_blocks *blocks = live_blocks_new(2);
	struct live_block block = {.pid = PID};

	for (block.address = 1; block.address <= 2; block.address++)
		assert_true(live_blocks_add(blocks, &block));
	assert_false(live_blocks_add(blocks, &block));
	assert_true(live_blocks_take(blocks, PID, 1, &(struct live_block){0}));
	assert_true(live_blocks_add(blocks, &block));
	live_blocks_free(blocks);
}
