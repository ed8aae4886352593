#include "format/pprof/batches.h"

#include "base/affinity.h"
#include "base/alloc.h"
#include "format/pprof/fields.h"
#include "format/pprof/wire.h"

#include "unit_test.h"

#include <stdlib.h>

enum { SAMPLES = 6000, DEPTH = 50, LOCATIONS = 20000 };

/* With more than one CPU, a thread decodes. */
static unsigned cpus = 1;

unsigned __wrap_affinity_cpu_count(void);
unsigned __wrap_affinity_cpu_count(void)
{
	return cpus;
}

/* Returns a number that differs from that of the location. */
static frame_id frame_of(uint64_t location)
{
	return (frame_id)(location * 3 + 1);
}

static uint64_t location_of(size_t sample, size_t depth)
{
	return 1 + (sample * 7919 + depth * 104729) % LOCATIONS;
}

static struct id_table frames_by_location(void)
{
	struct id_table frames;

	id_table_init(&frames, LOCATIONS);
	for (uint64_t i = 1; i <= LOCATIONS; i++)
		id_table_put(&frames, i, frame_of(i));
	return frames;
}

static void put_sample(struct wire_message *to, size_t sample, size_t depth)
{
	struct wire_message list = {0}, message = {0};

	for (size_t i = 0; i < depth; i++)
		wire_put_varint(&list, location_of(sample, i));
	wire_put_message(&message, PPROF_SAMPLE_LOCATION, &list);
	wire_put_number(&message, PPROF_SAMPLE_VALUE, 1);
	wire_put_message(to, PPROF_PROFILE_SAMPLE, &message);
	free(list.bytes);
	free(message.bytes);
}

static void assert_list(const struct pprof_list *list, size_t sample)
{
	assert_int_equal(list->count, DEPTH);
	for (size_t i = 0; i < DEPTH; i++)
		assert_int_equal(list->frames[i], frame_of(location_of(sample, i)));
}

/* Returns the rest of the message after some fields. */
static struct bytes after(struct bytes message, size_t fields)
{
	struct wire_field field;

	while (fields--)
		assert_true(wire_next(&message, &field));
	return message;
}

/* Requests only every n-th batch. */
static void assert_batches(struct bytes message, size_t every)
{
	struct id_table frames = frames_by_location();
	struct pprof_batches *batches = pprof_batches_new(&frames);

	for (size_t first = 0; first < SAMPLES; first += every * PPROF_BATCH) {
		const struct pprof_batch *batch = pprof_batches_at(batches, message);
		size_t left = SAMPLES - first;

		assert_ptr_equal(batch->at, message.at);
		assert_int_equal(batch->count, left < PPROF_BATCH ? left : PPROF_BATCH);
		for (size_t i = 0; i < batch->count; i++)
			assert_list(&batch->lists[i], first + i);
		if (left > every * PPROF_BATCH)
			message = after(message, every * PPROF_BATCH);
	}
	pprof_batches_free(batches);
	id_table_deinit(&frames);
}

TEST(batches_have_the_frames_of_all_samples_that_are_asked_for)
{
	static const size_t every[] = {1, 3, 40, 100};
	struct wire_message message = {0};

	for (size_t i = 0; i < SAMPLES; i++)
		put_sample(&message, i, DEPTH);
	for (cpus = 1; cpus <= 2; cpus++)
		for (size_t i = 0; i < ARRAY_SIZE(every); i++)
			assert_batches(bytes_of(message.bytes, message.len), every[i]);
	free(message.bytes);
}

TEST(what_is_not_plain_is_left_out)
{
	struct id_table frames = frames_by_location();
	struct pprof_batches *batches = pprof_batches_new(&frames);
	struct wire_message message = {0}, sample = {0};
	const struct pprof_batch *batch;

	wire_put_number(&sample, PPROF_SAMPLE_LOCATION, 1);
	wire_put_number(&sample, PPROF_SAMPLE_LOCATION, 2);
	wire_put_message(&message, PPROF_PROFILE_SAMPLE, &sample);
	sample.len = 0;
	wire_put_number(&sample, PPROF_SAMPLE_LOCATION, LOCATIONS + 1); /* does not exist */
	wire_put_message(&message, PPROF_PROFILE_SAMPLE, &sample);
	put_sample(&message, 2, 0);
	put_sample(&message, 3, 10000);
	put_sample(&message, 4, DEPTH);
	/* another field, which ends the batch */
	wire_put_number(&message, PPROF_PROFILE_TIME, 1);
	put_sample(&message, 5, DEPTH);

	batch = pprof_batches_at(batches, bytes_of(message.bytes, message.len));
	assert_int_equal(batch->count, 1);
	assert_list(&batch->lists[0], 4);
	batch = pprof_batches_at(batches, after(bytes_of(message.bytes, message.len), 6));
	assert_int_equal(batch->count, 1);
	assert_list(&batch->lists[0], 5);
	pprof_batches_free(batches);
	id_table_deinit(&frames);
	free(sample.bytes);
	free(message.bytes);
}

/* The batch does not continue after them either, because all samples of other
 * producers may be like this. */
TEST(a_batch_of_samples_that_are_not_plain_is_empty)
{
	struct id_table frames = frames_by_location();
	struct pprof_batches *batches = pprof_batches_new(&frames);
	struct wire_message message = {0};

	for (unsigned i = 0; i < PPROF_BATCH; i++)
		put_sample(&message, i, 0);
	put_sample(&message, PPROF_BATCH, DEPTH);
	assert_int_equal(pprof_batches_at(batches, bytes_of(message.bytes, message.len))->count, 0);
	pprof_batches_free(batches);
	id_table_deinit(&frames);
	free(message.bytes);
}

TEST(lists_are_fresh_up_to_the_end_that_they_share_with_the_list_before)
{
	struct id_table frames = frames_by_location();
	struct pprof_batches *batches = pprof_batches_new(&frames);
	struct wire_message message = {0};
	const struct pprof_batch *batch;

	for (unsigned i = 0; i < PPROF_BATCH; i++)
		put_sample(&message, 1, DEPTH);
	batch = pprof_batches_at(batches, bytes_of(message.bytes, message.len));
	assert_int_equal(batch->fresh_bytes * PPROF_BATCH, batch->list_bytes);
	pprof_batches_free(batches);
	id_table_deinit(&frames);
	free(message.bytes);
}
