#include "format/tracks.h"

#include "base/affinity.h"

#include "sample_profile.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 5, TIMED_SAMPLES = 300000, INTERVALS = 100 };

/* The number of threads that sort. */
static unsigned cpus = 1;

unsigned __wrap_affinity_cpu_count(void);
unsigned __wrap_affinity_cpu_count(void)
{
	return cpus;
}

/* Makes samples and intervals of threads without order. */
static struct profile *busy_profile(void)
{
	struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	stack_id stack = profile_push(profile, STACK_EMPTY, profile_frame(profile, 0, 1, false));
	uint32_t seed = 1;

	profile_keep_timestamps(profile);
	for (int i = 0; i < THREADS; i++)
		profile_add(profile, profile_thread_labels(profile, 7, 7 + i, "p", "p"), stack,
			    event, 1);
	for (uint64_t i = 0; i < TIMED_SAMPLES; i++) {
		seed = seed * 1103515245 + 12345;
		profile_add_timed_sample(
			profile, &(struct profile_timed_sample){.time_ns = i,
								.sample = (seed >> 16) % THREADS});
	}
	for (uint32_t i = 0; i < INTERVALS; i++)
		profile_add_interval(profile, &(struct profile_interval){.start_ns = i,
									 .end_ns = i + 1,
									 .sample = i % THREADS});
	return profile;
}

static struct tracks tracks_by(const struct profile *profile, unsigned threads)
{
	CLEANUP(error_cleanup) struct error *err = NULL;
	struct tracks tracks;

	cpus = threads;
	err = tracks_init(&tracks, profile, 0, UINT64_MAX);
	assert_null(err);
	return tracks;
}

TEST(each_track_has_the_samples_and_intervals_of_its_thread_in_their_order)
{
	CLEANUP(profile_cleanup) struct profile *profile = busy_profile();
	struct tracks tracks = tracks_by(profile, 2);

	assert_true(tracks.by_time);
	assert_int_equal(tracks.count, THREADS);
	assert_int_equal(tracks.first[0], 0);
	assert_int_equal(tracks.first[THREADS], TIMED_SAMPLES + INTERVALS);
	for (uint32_t track = 0; track < THREADS; track++)
		for (uint32_t i = tracks.first[track]; i < tracks.first[track + 1]; i++) {
			uint32_t item = tracks.timed_samples[i];

			assert_int_equal(tracks.samples[i], track);
			assert_true(i == tracks.first[track] || tracks.timed_samples[i - 1] < item);
			assert_int_equal(item < TIMED_SAMPLES
						 ? profile_timed_samples(profile).items[item].sample
						 : profile_intervals(profile)
							   .items[item - TIMED_SAMPLES]
							   .sample,
					 track);
		}
	tracks_deinit(&tracks);
}

TEST(tracks_do_not_depend_on_the_number_of_cpus)
{
	CLEANUP(profile_cleanup) struct profile *profile = busy_profile();
	struct tracks expected = tracks_by(profile, 1);
	size_t bytes = (TIMED_SAMPLES + INTERVALS) * sizeof(*expected.samples);

	for (unsigned threads = 2; threads <= 32; threads *= 2) {
		struct tracks tracks = tracks_by(profile, threads);

		assert_memory_equal(tracks.samples, expected.samples, bytes);
		assert_memory_equal(tracks.timed_samples, expected.timed_samples, bytes);
		assert_memory_equal(tracks.first, expected.first,
				    (THREADS + 2) * sizeof(*expected.first));
		tracks_deinit(&tracks);
	}
	tracks_deinit(&expected);
}
