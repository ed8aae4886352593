#include "perf/branch.h"
#include "perf/late_threads.h"
#include "perf/layouts.h"
#include "perf/record.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include "unit_test.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

enum { TRAILER = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU };

static const struct record_layout side_band = {.sample_type = TRAILER, .build_ids = true};

/* A record under construction. */
struct raw {
	_Alignas(8) unsigned char bytes[4096];
	size_t len;
};

static void put(struct raw *raw, const void *data, size_t len)
{
	if (len)
		memcpy(raw->bytes + raw->len, data, len);
	raw->len += len;
}

static void put_u32(struct raw *raw, uint32_t value)
{
	put(raw, &value, sizeof(value));
}

static void put_u64(struct raw *raw, uint64_t value)
{
	put(raw, &value, sizeof(value));
}

/* Adds a string, padded with zeros to a multiple of 8. */
static void put_string(struct raw *raw, const char *str)
{
	put(raw, str, strlen(str) + 1);
	while (raw->len % 8)
		put(raw, "", 1);
}

static struct raw begin(uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};
	struct raw raw = {0};

	put(&raw, &header, sizeof(header));
	return raw;
}

static struct bytes finish(struct raw *raw)
{
	uint16_t size = (uint16_t)raw->len;

	memcpy(raw->bytes + offsetof(struct perf_event_header, size), &size, sizeof(size));
	return bytes_of(raw->bytes, raw->len);
}

/* pid 11, tid 12, time 1000, CPU 3, id 99. */
static struct bytes finish_with_trailer(struct raw *raw)
{
	put_u32(raw, 11);
	put_u32(raw, 12);
	put_u64(raw, 1000);
	put_u32(raw, 3);
	put_u32(raw, 0);
	put_u64(raw, 99);
	return finish(raw);
}

static uint64_t nth(struct bytes bytes, unsigned n)
{
	bytes_skip(&bytes, n * sizeof(uint64_t));
	return bytes_u64(&bytes);
}

static const uint64_t full_type = TRAILER | PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD |
				  PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
				  PERF_SAMPLE_STACK_USER;

static void put_sample_head(struct raw *raw, uint64_t id)
{
	put_u64(raw, id);
	put_u64(raw, 0x1234);
	put_u32(raw, 21);
	put_u32(raw, 22);
	put_u64(raw, 5000);
	put_u32(raw, 1);
	put_u32(raw, 0);
	put_u64(raw, 1001001);
}

static void put_chain(struct raw *raw, const uint64_t *chain, size_t count)
{
	put_u64(raw, count);
	put(raw, chain, count * sizeof(*chain));
}

TEST(a_sample_gives_its_chain_registers_and_stack)
{
	static const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL,
					 0xffffffff81000001,
					 0xffffffff81000002,
					 (uint64_t)PERF_CONTEXT_USER,
					 0x401000,
					 0x402000,
					 0x403000};
	struct record_layout layout = {.event = 2, .sample_type = full_type, .regs_mask = 0x105};
	struct raw raw = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	struct record record;

	put_sample_head(&raw, 900);
	put_chain(&raw, chain, ARRAY_SIZE(chain));
	put_u64(&raw, PERF_SAMPLE_REGS_ABI_64);
	put_u64(&raw, 100);
	put_u64(&raw, 102);
	put_u64(&raw, 108);
	put_u64(&raw, 24); /* reserved size */
	put(&raw, "0123456789abcdefghijklmn", 24);
	put_u64(&raw, 16); /* copied size */
	assert_true(record_decode(&layout, finish(&raw), &record));
	assert_int_equal(record.type, RECORD_SAMPLE);
	assert_int_equal(record.pid, 21);
	assert_int_equal(record.tid, 22);
	assert_int_equal(record.time_ns, 5000);
	assert_int_equal(record.cpu, 1);
	assert_int_equal(record.sample.event, 2);
	assert_int_equal(record.sample.ip, 0x1234);
	assert_int_equal(record.sample.period, 1001001);
	assert_true(record.sample.in_kernel);
	assert_int_equal(bytes_left(&record.sample.kernel_chain), 16);
	assert_int_equal(nth(record.sample.kernel_chain, 1), 0xffffffff81000002);
	assert_int_equal(bytes_left(&record.sample.user_chain), 24);
	assert_int_equal(nth(record.sample.user_chain, 0), 0x401000);
	assert_int_equal(record.sample.regs.abi, 2);
	assert_int_equal(nth(record.sample.regs.values, 2), 108);
	assert_int_equal(bytes_left(&record.sample.stack), 16);
	assert_memory_equal(record.sample.stack.at, "0123456789abcdef", 16);
}

TEST(a_kernel_thread_has_neither_registers_nor_stack)
{
	struct record_layout layout = {.sample_type = full_type, .regs_mask = 0xff};
	struct raw raw = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	struct record record;

	put_sample_head(&raw, 1);
	put_chain(&raw, NULL, 0);
	put_u64(&raw, PERF_SAMPLE_REGS_ABI_NONE);
	put_u64(&raw, 0); /* no stack: size 0, and no count of copied bytes */
	assert_true(record_decode(&layout, finish(&raw), &record));
	assert_int_equal(record.sample.regs.abi, 0);
	assert_int_equal(bytes_left(&record.sample.regs.values), 0);
	assert_int_equal(bytes_left(&record.sample.stack), 0);
}

/* Puts registers where they show that all fields before them were skipped. */
static void assert_steps_over(struct record_layout layout, const void *field, size_t len)
{
	struct raw raw = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	struct record record;

	layout.sample_type |= PERF_SAMPLE_REGS_USER;
	layout.regs_mask = 1;
	put(&raw, field, len);
	put_u64(&raw, PERF_SAMPLE_REGS_ABI_64);
	put_u64(&raw, 0x7777);
	assert_true(record_decode(&layout, finish(&raw), &record));
	assert_int_equal(nth(record.sample.regs.values, 0), 0x7777);
}

TEST(counter_values_are_skipped)
{
	static const uint64_t single[] = {1, 2, 3, 4, 5};
	static const uint64_t group[] = {2, 10, 11, 12, 13};
	struct record_layout layout = {.sample_type = PERF_SAMPLE_READ};

	assert_steps_over(layout, single, sizeof(uint64_t));
	layout.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			     PERF_FORMAT_ID | 1 << 4 /* lost */;
	assert_steps_over(layout, single, sizeof(single));
	layout.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	assert_steps_over(layout, group, sizeof(group));
}

static struct record_sample decoded_branches(const void *field, size_t len, uint64_t type)
{
	static struct raw raw; /* borrowed by the sample */
	const struct record_layout layout = {.sample_type = PERF_SAMPLE_BRANCH_STACK,
					     .branch_type = type};
	struct record record;

	raw = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put(&raw, field, len);
	assert_true(record_decode(&layout, finish(&raw), &record));
	return record.sample;
}

TEST(branches_are_the_newest_first)
{
	static const uint64_t plain[] = {2,    0x11, 0x12,     1 | 7 << 4 | 5 << 20,
					 0x13, 0x14, 2 | 4 | 8};
	static const uint64_t indexed[] = {1, 99, 0x11, 0x12, 2};
	struct record_sample sample = decoded_branches(plain, sizeof(plain), 0);
	struct branch branch;

	assert_true(branch_next(&sample.branches, &branch));
	assert_int_equal(branch.from, 0x11);
	assert_int_equal(branch.to, 0x12);
	assert_true(branch.is_mispredicted && !branch.is_predicted);
	assert_false(branch.is_in_transaction || branch.is_abort);
	assert_int_equal(branch.cycles, 7);
	assert_string_equal(branch_type_name(branch.type), "IND_CALL");
	assert_true(branch_next(&sample.branches, &branch));
	assert_int_equal(branch.from, 0x13);
	assert_true(!branch.is_mispredicted && branch.is_predicted);
	assert_true(branch.is_in_transaction && branch.is_abort);
	assert_int_equal(branch.cycles, 0);
	assert_null(branch_type_name(branch.type));
	assert_false(branch_next(&sample.branches, &branch));
	assert_false(sample.are_branches_calls);

	sample = decoded_branches(indexed, sizeof(indexed),
				  PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_CALL_STACK);
	assert_true(sample.are_branches_calls);
	assert_true(branch_next(&sample.branches, &branch));
	assert_int_equal(branch.from, 0x11);
	assert_false(branch_next(&sample.branches, &branch));
}

TEST(what_follows_a_stack_tells_of_an_access_to_memory)
{
	static const uint64_t words[] = {0x7fff1000, 0, 0x0004000300000102, 0x68100142};
	struct record_layout layout = {.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_STACK_USER |
						      PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC};
	struct raw raw = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	struct record record;

	put(&raw, words, sizeof(words));
	assert_true(record_decode(&layout, finish(&raw), &record));
	assert_int_equal(record.sample.data_address, 0x7fff1000);
	assert_int_equal(record.sample.latency_cycles, 0x0004000300000102);
	assert_int_equal(record.sample.data_source, 0x68100142);
	layout.sample_type ^= PERF_SAMPLE_WEIGHT | 1 << 24; /* a struct */
	assert_true(record_decode(&layout, finish(&raw), &record));
	assert_int_equal(record.sample.latency_cycles, 0x102);
	assert_int_equal(record.sample.data_source, 0x68100142);
	raw.len -= sizeof(uint64_t);
	assert_false(record_decode(&layout, finish(&raw), &record));
}

TEST(branch_stacks_are_stepped_over)
{
	static const uint64_t branches[] = {2, 1, 2, 3, 4, 5, 6};
	static const uint64_t indexed[] = {1, 99, 1, 2, 3};
	static const uint64_t counted[] = {1, 1, 2, 3, 55};
	struct record_layout layout = {.sample_type = PERF_SAMPLE_BRANCH_STACK};

	assert_steps_over(layout, branches, sizeof(branches));
	layout.branch_type = PERF_SAMPLE_BRANCH_HW_INDEX;
	assert_steps_over(layout, indexed, sizeof(indexed));
	layout.branch_type = 1 << 19; /* counters */
	assert_steps_over(layout, counted, sizeof(counted));
}

TEST(more_values_than_there_are_bytes_are_refused)
{
	struct record_layout group = {.sample_type = PERF_SAMPLE_READ,
				      .read_format = PERF_FORMAT_GROUP};
	struct record_layout branches = {.sample_type = PERF_SAMPLE_BRANCH_STACK};
	struct raw raw = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	struct record record;

	put_u64(&raw, UINT64_MAX / 8 + 2);
	assert_false(record_decode(&group, finish(&raw), &record));
	assert_false(record_decode(&branches, finish(&raw), &record));
}

TEST(a_sample_without_a_period_has_that_of_its_event)
{
	struct record_layout layout = {.sample_type = PERF_SAMPLE_IP, .period = 4000};
	struct raw raw = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	struct record record;

	put_u64(&raw, 0x1234);
	assert_true(record_decode(&layout, finish(&raw), &record));
	assert_int_equal(record.sample.period, 4000);
}

TEST(time_and_id_are_found_without_the_rest)
{
	struct record_layout layout = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
						      PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
						      PERF_SAMPLE_ID | PERF_SAMPLE_CPU |
						      PERF_SAMPLE_CALLCHAIN};
	struct raw sample = begin(PERF_RECORD_SAMPLE, 0);
	struct raw other = begin(PERF_RECORD_THROTTLE, 0);
	uint64_t value = 0;

	put_u64(&sample, 0x1234);
	put_u64(&sample, 0);
	put_u64(&sample, 5000);
	put_u64(&sample, 0xadd);
	put_u64(&sample, 77);
	assert_true(record_time(&layout, finish(&sample), &value));
	assert_int_equal(value, 5000);
	assert_true(record_id(&layout, finish(&sample), &value));
	assert_int_equal(value, 77);
	put_u64(&other, 0); /* tid */
	put_u64(&other, 6000);
	put_u64(&other, 78);
	put_u64(&other, 0); /* cpu */
	assert_true(record_time(&layout, finish(&other), &value));
	assert_int_equal(value, 6000);
	assert_true(record_id(&layout, finish(&other), &value));
	assert_int_equal(value, 78);
	layout.bare = true;
	assert_false(record_time(&layout, finish(&other), &value));
	assert_false(record_id(&layout, finish(&other), &value));
}

TEST(a_record_knows_its_own_bytes)
{
	struct raw raw = begin(PERF_RECORD_THROTTLE, 0);
	struct bytes bytes = finish_with_trailer(&raw);
	struct record record;

	assert_true(record_decode(&side_band, bytes, &record));
	assert_ptr_equal(record.raw.at, bytes.at);
	assert_int_equal(bytes_left(&record.raw), bytes_left(&bytes));
}

TEST(addresses_of_a_guest_belong_to_no_chain)
{
	static const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_GUEST, 1, 2,
					 (uint64_t)PERF_CONTEXT_USER, 3};
	struct record_layout layout = {.sample_type = PERF_SAMPLE_CALLCHAIN};
	struct raw raw = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	struct record record;

	put_chain(&raw, chain, ARRAY_SIZE(chain));
	assert_true(record_decode(&layout, finish(&raw), &record));
	assert_int_equal(bytes_left(&record.sample.kernel_chain), 0);
	assert_int_equal(bytes_left(&record.sample.user_chain), 8);
	assert_int_equal(nth(record.sample.user_chain, 0), 3);
}

TEST(several_events_are_told_apart_by_their_ids)
{
	CLEANUP(layouts_deinit) struct layouts layouts = {0};
	struct record_layout full = {.sample_type = full_type, .event = 0};
	struct record_layout bare = {.sample_type = TRAILER, .event = 1};
	struct record_layout other_place = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ID};
	struct raw sample = begin(PERF_RECORD_SAMPLE, 0), unknown = sample;
	struct raw comm = begin(PERF_RECORD_COMM, 0);

	assert_true(layouts_add(&layouts, &full));
	put_u64(&unknown, 6);
	/* With only one event, ids are ignored. */
	assert_int_equal(layouts_find(&layouts, finish(&unknown))->event, 0);

	assert_true(layouts_add(&layouts, &bare));
	assert_false(layouts_add(&layouts, &other_place));
	layouts_add_id(&layouts, 5, 0);
	layouts_add_id(&layouts, 70, 1);
	layouts_add_id(&layouts, 71, 1);
	put_u64(&sample, 71);
	assert_int_equal(layouts_find(&layouts, finish(&sample))->event, 1);
	assert_null(layouts_find(&layouts, finish(&unknown)));
	/* Side-band records come from events that take no samples. */
	assert_int_equal(layouts_find(&layouts, finish_with_trailer(&comm))->event, 0);
}

static void put_mmap2(struct raw *raw)
{
	put_u32(raw, 31);
	put_u32(raw, 32);
	put_u64(raw, 0x7f0000000000);
	put_u64(raw, 0x5000);
	put_u64(raw, 0x2000);
}

TEST(a_mapping_names_its_file_by_device_and_inode)
{
	struct raw raw = begin(PERF_RECORD_MMAP2, 0);
	struct record record;

	put_mmap2(&raw);
	put_u32(&raw, 8);
	put_u32(&raw, 1);
	put_u64(&raw, 4711);
	put_u64(&raw, 1);
	put_u32(&raw, PROT_READ | PROT_EXEC);
	put_u32(&raw, MAP_PRIVATE);
	put_string(&raw, "/usr/lib/libx.so");
	assert_true(record_decode(&side_band, finish_with_trailer(&raw), &record));
	assert_int_equal(record.type, RECORD_MMAP);
	assert_int_equal(record.pid, 31);
	assert_int_equal(record.tid, 32);
	assert_int_equal(record.time_ns, 1000);
	assert_int_equal(record.cpu, 3);
	assert_int_equal(record.mmap.start, 0x7f0000000000);
	assert_int_equal(record.mmap.length_bytes, 0x5000);
	assert_int_equal(record.mmap.offset, 0x2000);
	assert_int_equal(record.mmap.device_major, 8);
	assert_int_equal(record.mmap.device_minor, 1);
	assert_int_equal(record.mmap.inode, 4711);
	assert_int_equal(record.mmap.build_id_bytes, 0);
	assert_true(record.mmap.executable);
	assert_string_equal(record.mmap.path, "/usr/lib/libx.so");
}

TEST(a_mapping_names_its_file_by_build_id)
{
	static const unsigned char id[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	struct raw raw = begin(PERF_RECORD_MMAP2, 1 << 14);
	struct record record;

	put_mmap2(&raw);
	put_u32(&raw, 10); /* its length in a byte, three reserved bytes */
	put(&raw, id, sizeof(id));
	put_u32(&raw, PROT_READ);
	put_u32(&raw, MAP_PRIVATE);
	put_string(&raw, "/bin/x");
	assert_true(record_decode(&side_band, finish_with_trailer(&raw), &record));
	assert_int_equal(record.mmap.build_id_bytes, 10);
	assert_memory_equal(record.mmap.build_id, id, 10);
	assert_int_equal(record.mmap.inode, 0);
	assert_false(record.mmap.executable);
	assert_string_equal(record.mmap.path, "/bin/x");
}

TEST(without_having_asked_the_mark_of_a_build_id_means_nothing)
{
	struct raw raw = begin(PERF_RECORD_MMAP2, 1 << 14);
	struct record_layout layout = side_band;
	struct record record;

	layout.build_ids = false;
	put_mmap2(&raw);
	put_u32(&raw, 254);
	put_u32(&raw, 1);
	put_u64(&raw, 4711);
	put_u64(&raw, 1);
	put_u32(&raw, PROT_READ | PROT_EXEC);
	put_u32(&raw, MAP_PRIVATE);
	put_string(&raw, "/bin/x");
	assert_true(record_decode(&layout, finish_with_trailer(&raw), &record));
	assert_int_equal(record.mmap.device_major, 254);
	assert_int_equal(record.mmap.inode, 4711);
	assert_int_equal(record.mmap.build_id_bytes, 0);
}

TEST(comm_fork_exit_and_lost_records_are_decoded)
{
	struct record record;
	struct raw raw = begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);

	put_u32(&raw, 41);
	put_u32(&raw, 42);
	put_string(&raw, "cc1plus");
	assert_true(record_decode(&side_band, finish_with_trailer(&raw), &record));
	assert_int_equal(record.type, RECORD_COMM);
	assert_int_equal(record.tid, 42);
	assert_true(record.comm.exec);
	assert_string_equal(record.comm.name, "cc1plus");

	raw = begin(PERF_RECORD_FORK, 0);
	put_u32(&raw, 51);
	put_u32(&raw, 50);
	put_u32(&raw, 53);
	put_u32(&raw, 52);
	put_u64(&raw, 1000);
	assert_true(record_decode(&side_band, finish_with_trailer(&raw), &record));
	assert_int_equal(record.type, RECORD_FORK);
	assert_int_equal(record.pid, 51);
	assert_int_equal(record.tid, 53);
	assert_int_equal(record.fork.parent_pid, 50);
	assert_int_equal(record.fork.parent_tid, 52);

	raw = begin(PERF_RECORD_LOST, 0);
	put_u64(&raw, 99);
	put_u64(&raw, 17);
	assert_true(record_decode(&side_band, finish_with_trailer(&raw), &record));
	assert_int_equal(record.type, RECORD_LOST);
	assert_int_equal(record.lost.count, 17);

	raw = begin(PERF_RECORD_LOST_SAMPLES, 0);
	put_u64(&raw, 18);
	assert_true(record_decode(&side_band, finish_with_trailer(&raw), &record));
	assert_int_equal(record.type, RECORD_LOST);
	assert_int_equal(record.lost.count, 18);
}

TEST(a_switch_says_which_way_and_why)
{
	struct raw in = begin(PERF_RECORD_SWITCH, 0);
	struct raw out = begin(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT);
	struct raw preempted = begin(PERF_RECORD_SWITCH_CPU_WIDE,
				     PERF_RECORD_MISC_SWITCH_OUT |
					     PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	struct record record;

	assert_true(record_decode(&side_band, finish_with_trailer(&in), &record));
	assert_int_equal(record.type, RECORD_SWITCH);
	assert_false(record.switched.is_out);
	assert_int_equal(record.pid, 11);
	assert_int_equal(record.tid, 12);
	assert_int_equal(record.time_ns, 1000);

	assert_true(record_decode(&side_band, finish_with_trailer(&out), &record));
	assert_true(record.switched.is_out);
	assert_false(record.switched.is_preempted);
	assert_int_equal(record.switched.other_tid, 0);

	put_u32(&preempted, 61);
	put_u32(&preempted, 62);
	assert_true(record_decode(&side_band, finish_with_trailer(&preempted), &record));
	assert_true(record.switched.is_out && record.switched.is_preempted);
	assert_int_equal(record.tid, 12);
	assert_int_equal(record.switched.other_pid, 61);
	assert_int_equal(record.switched.other_tid, 62);
}

TEST(a_cgroup_has_an_id_and_a_path)
{
	struct raw raw = begin(PERF_RECORD_CGROUP, 0);
	struct record record;

	put_u64(&raw, 4242);
	put_string(&raw, "/system.slice/shop.service");
	assert_true(record_decode(&side_band, finish_with_trailer(&raw), &record));
	assert_int_equal(record.type, RECORD_CGROUP);
	assert_int_equal(record.cgroup.id, 4242);
	assert_string_equal(record.cgroup.path, "/system.slice/shop.service");
}

TEST(a_text_poke_has_the_old_code_and_the_new)
{
	static const uint16_t lengths[] = {5, 2};
	struct raw raw = begin(PERF_RECORD_TEXT_POKE, 0);
	struct record record;

	put_u64(&raw, 0xffffffff81000000);
	put(&raw, lengths, sizeof(lengths));
	put(&raw,
	    "oldie"
	    "ne"
	    "\0\0\0\0\0",
	    12); /* padded to a multiple of 8 */
	assert_true(record_decode(&side_band, finish_with_trailer(&raw), &record));
	assert_int_equal(record.type, RECORD_TEXT_POKE);
	assert_int_equal(record.text_poke.address, 0xffffffff81000000);
	assert_int_equal(bytes_left(&record.text_poke.old_code), 5);
	assert_memory_equal(record.text_poke.old_code.at, "oldie", 5);
	assert_int_equal(bytes_left(&record.text_poke.new_code), 2);
	assert_memory_equal(record.text_poke.new_code.at, "ne", 2);
}

TEST(code_that_comes_and_goes_in_the_kernel_is_named)
{
	static const uint16_t bpf_removed[] = {PERF_RECORD_KSYMBOL_TYPE_BPF,
					       PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER};
	static const uint16_t loaded[] = {PERF_BPF_EVENT_PROG_LOAD, 0};
	struct raw symbol = begin(PERF_RECORD_KSYMBOL, 0),
		   program = begin(PERF_RECORD_BPF_EVENT, 0);
	struct record record;

	put_u64(&symbol, 0xffffffffc0000000);
	put_u32(&symbol, 64);
	put(&symbol, bpf_removed, sizeof(bpf_removed));
	put_string(&symbol, "bpf_prog_6deef7357e7b4530");
	assert_true(record_decode(&side_band, finish_with_trailer(&symbol), &record));
	assert_int_equal(record.type, RECORD_KSYMBOL);
	assert_int_equal(record.ksymbol.address, 0xffffffffc0000000);
	assert_int_equal(record.ksymbol.length_bytes, 64);
	assert_true(record.ksymbol.is_removed);
	assert_string_equal(record.ksymbol.name, "bpf_prog_6deef7357e7b4530");

	put(&program, loaded, sizeof(loaded));
	put_u32(&program, 17);
	put(&program, "\x6d\xee\xf7\x35\x7e\x7b\x45\x30", 8);
	assert_true(record_decode(&side_band, finish_with_trailer(&program), &record));
	assert_int_equal(record.type, RECORD_BPF_EVENT);
	assert_int_equal(record.bpf_event.id, 17);
	assert_false(record.bpf_event.is_unloaded);
	assert_int_equal(record.bpf_event.tag[7], 0x30);
}

/* Linux 6.19: type 22, and the marker -640 in the sample. */
TEST(a_deferred_chain_belongs_to_the_sample_with_its_cookie)
{
	static const uint64_t sampled[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000001,
					   (uint64_t)-640, 777};
	static const uint64_t deferred[] = {(uint64_t)PERF_CONTEXT_USER, 0x401000, 0x402000};
	struct record_layout layout = {.sample_type = PERF_SAMPLE_CALLCHAIN};
	struct raw sample = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	struct raw raw = begin(22, 0), unmarked = begin(22, 0);
	struct record record;

	put_chain(&sample, sampled, ARRAY_SIZE(sampled));
	assert_true(record_decode(&layout, finish(&sample), &record));
	assert_true(record.sample.is_chain_deferred);
	assert_int_equal(record.sample.chain_cookie, 777);
	assert_int_equal(bytes_left(&record.sample.kernel_chain), 8);
	assert_int_equal(bytes_left(&record.sample.user_chain), 0);

	put_u64(&raw, 777);
	put_chain(&raw, deferred, ARRAY_SIZE(deferred));
	assert_true(record_decode(&side_band, finish_with_trailer(&raw), &record));
	assert_int_equal(record.type, RECORD_DEFERRED_CHAIN);
	assert_int_equal(record.deferred_chain.cookie, 777);
	assert_int_equal(bytes_left(&record.deferred_chain.chain), 16);
	assert_int_equal(nth(record.deferred_chain.chain, 1), 0x402000);

	put_u64(&unmarked, 778);
	put_chain(&unmarked, deferred + 1, ARRAY_SIZE(deferred) - 1);
	assert_true(record_decode(&side_band, finish_with_trailer(&unmarked), &record));
	assert_int_equal(record.deferred_chain.cookie, 778);
	assert_int_equal(nth(record.deferred_chain.chain, 1), 0x402000);
}

TEST(a_deferred_chain_that_claims_too_many_addresses_is_malformed)
{
	struct raw raw = begin(22, 0);
	struct record record;

	put_u64(&raw, 777);
	put_u64(&raw, UINT64_MAX / 8 + 2); /* 8 bytes, if the product overflowed */
	put_u64(&raw, 0x401000);
	assert_false(record_decode(&side_band, finish_with_trailer(&raw), &record));
}

TEST(a_sample_gives_the_data_of_its_tracepoint)
{
	struct record_layout layout = {.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_RAW |
						      PERF_SAMPLE_REGS_USER,
				       .regs_mask = 1};
	struct raw raw = begin(PERF_RECORD_SAMPLE, 0);
	struct record record;

	put_u32(&raw, 21);
	put_u32(&raw, 22);
	put_u32(&raw, 12); /* a multiple of 8 with its own 4 bytes */
	put(&raw, "fields of it", 12);
	put_u64(&raw, PERF_SAMPLE_REGS_ABI_64);
	put_u64(&raw, 0x7777);
	assert_true(record_decode(&layout, finish(&raw), &record));
	assert_int_equal(bytes_left(&record.sample.raw_data), 12);
	assert_memory_equal(record.sample.raw_data.at, "fields of it", 12);
	assert_int_equal(nth(record.sample.regs.values, 0), 0x7777);
}

/* Each type, with its body truncated to every shorter multiple of 8. */
TEST(records_that_end_too_early_are_refused)
{
	static const struct {
		uint32_t type;
		unsigned least_words;
	} types[] = {
		{PERF_RECORD_SWITCH_CPU_WIDE, 1}, {PERF_RECORD_CGROUP, 2},
		{PERF_RECORD_TEXT_POKE, 2},	  {PERF_RECORD_KSYMBOL, 3},
		{PERF_RECORD_BPF_EVENT, 2},	  {22, 2},
	};
	struct record record;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		for (unsigned words = 0; words <= types[i].least_words; words++) {
			struct raw raw = begin(types[i].type, 0);

			for (unsigned j = 0; j < words; j++)
				put_u64(&raw, 0);
			assert_int_equal(
				record_decode(&side_band, finish_with_trailer(&raw), &record),
				words == types[i].least_words);
		}
	}
}

TEST(an_unknown_record_type_is_valid_and_ignored)
{
	struct raw raw = begin(45, 0);
	struct record record;

	assert_true(record_decode(&side_band, finish_with_trailer(&raw), &record));
	assert_int_equal(record.type, RECORD_OTHER);
	assert_int_equal(record.time_ns, 1000);
}

/* Records truncated to every shorter length, with a matching size field: the
 * result must never contain wrong data. */
TEST(a_record_cut_short_anywhere_is_refused)
{
	struct record_layout layout = {.sample_type = full_type, .regs_mask = 0x3};
	static const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_USER, 1, 2};
	struct raw raw = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	struct record record;
	size_t whole = 0;

	put_sample_head(&raw, 1);
	put_chain(&raw, chain, ARRAY_SIZE(chain));
	put_u64(&raw, PERF_SAMPLE_REGS_ABI_64);
	put_u64(&raw, 1);
	put_u64(&raw, 2);
	put_u64(&raw, 8);
	put_u64(&raw, 0x55);
	put_u64(&raw, 8);
	assert_true(record_decode(&layout, finish(&raw), &record));
	whole = raw.len;
	for (size_t len = 0; len < whole; len++) {
		raw.len = len;
		assert_false(record_decode(&layout, finish(&raw), &record));
	}
}

TEST(invalid_counts_are_refused)
{
	struct record_layout chain = {.sample_type = PERF_SAMPLE_CALLCHAIN};
	struct record_layout stack = {.sample_type = PERF_SAMPLE_STACK_USER};
	struct raw raw = begin(PERF_RECORD_SAMPLE, 0);
	struct record record;

	put_u64(&raw, 1ULL << 61); /* times 8 is 0 */
	assert_false(record_decode(&chain, finish(&raw), &record));

	raw = begin(PERF_RECORD_SAMPLE, 0);
	put_u64(&raw, 8);
	put_u64(&raw, 0);
	put_u64(&raw, 9); /* more bytes copied than reserved */
	assert_false(record_decode(&stack, finish(&raw), &record));
}

TEST(the_id_is_found_in_samples_and_in_trailers)
{
	struct raw raw = begin(PERF_RECORD_SAMPLE, 0);
	uint64_t id = 0;

	put_sample_head(&raw, 123);
	assert_true(record_id(&side_band, finish(&raw), &id));
	assert_int_equal(id, 123);
	raw = begin(PERF_RECORD_LOST_SAMPLES, 0);
	put_u64(&raw, 1);
	assert_true(record_id(&side_band, finish_with_trailer(&raw), &id));
	assert_int_equal(id, 99);
	assert_false(record_id(&side_band, bytes_of(raw.bytes, 8), &id));
}

/* --- coverage --- */

static bool sample_counts(struct late_threads *late_threads, pid_t tid, uint64_t id)
{
	struct record sample = {.type = RECORD_SAMPLE, .tid = tid};

	return late_threads_counts(late_threads, &sample, id);
}

static void fork_thread(struct late_threads *late_threads, pid_t parent, pid_t child)
{
	struct record fork = {.type = RECORD_FORK, .tid = child, .fork.parent_tid = parent};

	assert_true(late_threads_counts(late_threads, &fork, 0));
}

TEST(a_thread_that_two_descriptors_sample_counts_once)
{
	enum { EARLY_ID = 7, LATE_ID = 8 };
	CLEANUP(late_threads_deinit) struct late_threads late_threads = {0};
	struct record end = {.type = RECORD_EXIT, .tid = 200};

	late_threads_add_descriptor(&late_threads, late_threads_add(&late_threads, 200), LATE_ID);
	fork_thread(&late_threads, 100, 200); /* its own fork, read after it was opened */
	assert_true(sample_counts(&late_threads, 100, EARLY_ID));
	assert_true(sample_counts(&late_threads, 200, LATE_ID));
	assert_false(sample_counts(&late_threads, 200, EARLY_ID));

	fork_thread(&late_threads, 200, 300);
	assert_true(sample_counts(&late_threads, 300, LATE_ID));
	assert_false(sample_counts(&late_threads, 300, EARLY_ID));

	/* The thread id is reused for a child of an early thread. */
	assert_true(late_threads_counts(&late_threads, &end, LATE_ID));
	fork_thread(&late_threads, 100, 200);
	assert_true(sample_counts(&late_threads, 200, EARLY_ID));
	assert_false(sample_counts(&late_threads, 300, EARLY_ID));
}

TEST(the_nearest_late_ancestor_decides)
{
	CLEANUP(late_threads_deinit) struct late_threads late_threads = {0};

	late_threads_add_descriptor(&late_threads, late_threads_add(&late_threads, 200), 8);
	late_threads_add_descriptor(&late_threads, late_threads_add(&late_threads, 300), 9);
	fork_thread(&late_threads, 200, 300); /* read late */
	fork_thread(&late_threads, 300, 400);
	assert_true(sample_counts(&late_threads, 400, 9));
	assert_false(sample_counts(&late_threads, 400, 8));
}
