#include "perf/ring_merge.h"
#include "perf/time_heap.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <linux/perf_event.h>
#include <string.h>

enum { DATA_BYTES = 4096 };

TEST(the_earliest_comes_first_and_the_lower_source_on_equal_times)
{
	static const struct time_heap_item puts[] = {{30, 4}, {10, 9}, {20, 1}, {10, 2},
						     {20, 0}, {40, 3}, {10, 5}};
	static const unsigned expected[] = {2, 5, 9, 0, 1, 4, 3};
	CLEANUP(time_heap_deinit) struct time_heap order = {0};
	unsigned source = 0;

	for (size_t i = 0; i < ARRAY_SIZE(puts); i++)
		time_heap_put(&order, puts[i].time_ns, puts[i].source);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_true(time_heap_take(&order, &source));
		assert_int_equal(source, expected[i]);
	}
	assert_false(time_heap_take(&order, &source));
}

TEST(many_sources_come_out_sorted_while_others_are_put_in)
{
	enum { SOURCES = 61, ROUNDS = 5000 };
	CLEANUP(time_heap_deinit) struct time_heap order = {0};
	uint64_t times[SOURCES];
	uint64_t last = 0, random = 1;
	unsigned source = 0;

	for (unsigned i = 0; i < SOURCES; i++) {
		times[i] = i % 7;
		time_heap_put(&order, times[i], i);
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		assert_true(time_heap_take(&order, &source));
		assert_true(times[source] >= last);
		last = times[source];
		random = random * 6364136223846793005 + 1442695040888963407;
		times[source] += random >> 60;
		time_heap_put(&order, times[source], source);
	}
	assert_int_equal(order.count, SOURCES);
}

/* A ring in ordinary memory, filled like the kernel's. */
struct fake_ring {
	struct ring ring;
	struct perf_event_mmap_page *control;
};

static struct fake_ring fake_ring_new(uint64_t position)
{
	struct fake_ring fake = {0};

	fake.control = xcalloc(1, ring_control_bytes() + DATA_BYTES);
	fake.control->data_tail = fake.control->data_head = position;
	ring_init(&fake.ring, fake.control, DATA_BYTES);
	return fake;
}

static void fake_ring_free(struct fake_ring *fake)
{
	free(fake->ring.wrapped);
	free(fake->control);
}

static void fake_ring_put(struct fake_ring *fake, const void *bytes, size_t len)
{
	unsigned char *data = (unsigned char *)fake->control + ring_control_bytes();
	const unsigned char *from = bytes;

	for (size_t i = 0; i < len; i++)
		data[fake->control->data_head++ % DATA_BYTES] = from[i];
}

/* Adds a THROTTLE record, whose body is ignored and whose trailer has the time. */
static void fake_ring_put_record(struct fake_ring *fake, uint64_t time_ns, uint16_t padding)
{
	unsigned char zeros[DATA_BYTES] = {0};
	struct perf_event_header header = {
		.type = PERF_RECORD_THROTTLE,
		.size = (uint16_t)(sizeof(header) + padding + sizeof(time_ns))};

	fake_ring_put(fake, &header, sizeof(header));
	fake_ring_put(fake, zeros, padding);
	fake_ring_put(fake, &time_ns, sizeof(time_ns));
}

static struct record_layout times_only = {.sample_type = PERF_SAMPLE_TIME};
static const struct layouts one_layout = {.items = &times_only, .count = 1};

static void expect(struct ring_merge *stream, enum record_type type, uint64_t time_ns)
{
	const struct ring_head *front = ring_merge_next(stream);

	assert_non_null(front);
	assert_int_equal(front->record.type, type);
	assert_int_equal(front->record.time_ns, time_ns);
}

TEST(several_rings_are_one_stream_in_order_of_time)
{
	struct fake_ring a = fake_ring_new(0), b = fake_ring_new(64);
	struct ring rings[] = {a.ring, b.ring};
	struct ring_merge stream;

	ring_merge_init(&stream, rings, 2, &one_layout);
	fake_ring_put_record(&a, 10, 0);
	fake_ring_put_record(&a, 30, 8);
	fake_ring_put_record(&b, 10, 16);
	fake_ring_put_record(&b, 20, 0);
	ring_merge_batch(&stream, UINT64_MAX);
	fake_ring_put_record(&b, 25, 0); /* after the batch */
	expect(&stream, RECORD_THROTTLE, 10);
	assert_int_equal(stream.current->ring, 0);
	assert_int_equal(a.control->data_tail, 0); /* borrowed: not released yet */
	expect(&stream, RECORD_THROTTLE, 10);
	assert_int_equal(stream.current->ring, 1);
	assert_int_equal(a.control->data_tail, 16);
	expect(&stream, RECORD_THROTTLE, 20);
	expect(&stream, RECORD_THROTTLE, 30);
	assert_null(ring_merge_next(&stream));
	ring_merge_batch(&stream, UINT64_MAX);
	expect(&stream, RECORD_THROTTLE, 25);
	assert_null(ring_merge_next(&stream));
	assert_int_equal(b.control->data_tail, b.control->data_head);
	ring_merge_deinit(&stream);
	fake_ring_free(&a);
	fake_ring_free(&b);
}

TEST(a_record_that_wraps_around_the_end_is_whole)
{
	/* Eight bytes before the end, at a position that has wrapped many
	 * times. */
	struct fake_ring fake = fake_ring_new((uint64_t)DATA_BYTES * 1000 - 8);
	struct ring_merge stream;

	ring_merge_init(&stream, &fake.ring, 1, &one_layout);
	fake_ring_put_record(&fake, 77, 0);
	fake_ring_put_record(&fake, 78, 0);
	ring_merge_batch(&stream, UINT64_MAX);
	expect(&stream, RECORD_THROTTLE, 77);
	expect(&stream, RECORD_THROTTLE, 78);
	assert_null(ring_merge_next(&stream));
	ring_merge_deinit(&stream);
	fake_ring_free(&fake);
}

TEST(a_damaged_ring_is_skipped_and_counted_as_one_loss)
{
	static const uint16_t sizes[] = {0, 7, 4096, UINT16_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct fake_ring fake = fake_ring_new(0);
		struct perf_event_header bad = {.type = PERF_RECORD_THROTTLE, .size = sizes[i]};
		struct ring_merge stream;

		ring_merge_init(&stream, &fake.ring, 1, &one_layout);
		fake_ring_put_record(&fake, 5, 0);
		fake_ring_put(&fake, &bad, sizeof(bad));
		fake_ring_put_record(&fake, 6, 0);
		ring_merge_batch(&stream, UINT64_MAX);
		expect(&stream, RECORD_THROTTLE, 5);
		expect(&stream, RECORD_LOST, 5);
		assert_int_equal(stream.current->record.lost.count, 1);
		assert_null(ring_merge_next(&stream));
		fake_ring_put_record(&fake, 7, 0);
		ring_merge_batch(&stream, UINT64_MAX);
		expect(&stream, RECORD_THROTTLE, 7);
		ring_merge_deinit(&stream);
		fake_ring_free(&fake);
	}
}

TEST(a_head_that_is_nowhere_near_is_skipped)
{
	struct fake_ring fake = fake_ring_new(0);
	struct ring_merge stream;

	ring_merge_init(&stream, &fake.ring, 1, &one_layout);
	fake.control->data_head = UINT64_MAX - 7;
	ring_merge_batch(&stream, UINT64_MAX);
	expect(&stream, RECORD_LOST, 0);
	assert_null(ring_merge_next(&stream));
	assert_int_equal(fake.control->data_tail, UINT64_MAX - 7);
	ring_merge_deinit(&stream);
	fake_ring_free(&fake);
}

TEST(a_record_that_makes_no_sense_is_one_loss_and_the_next_is_read)
{
	struct fake_ring fake = fake_ring_new(0);
	struct perf_event_header bad = {.type = PERF_RECORD_MMAP2, .size = sizeof(bad)};
	struct ring_merge stream;

	ring_merge_init(&stream, &fake.ring, 1, &one_layout);
	fake_ring_put(&fake, &bad, sizeof(bad));
	fake_ring_put_record(&fake, 6, 0);
	ring_merge_batch(&stream, UINT64_MAX);
	expect(&stream, RECORD_LOST, 0);
	expect(&stream, RECORD_THROTTLE, 6);
	ring_merge_deinit(&stream);
	fake_ring_free(&fake);
}
