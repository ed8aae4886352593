/*
 * The last seconds of a recorder of this process. The tests need a kernel that
 * allows sampling with cpu-clock, and are skipped otherwise.
 */
#include "record/history.h"

#include "base/clock.h"

#include "folder.h"
#include "lacking.h"
#include "unit_test.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEEP_NS (100 * NS_PER_MS)

/* More modules than all processes of the machine have. A renewed recorder reads
 * them all. */
enum { MODULES_MAX = 2000 };

struct fixture {
	struct record_config config;
	struct loop *loop;
	struct recorder *recorder;
	struct history *history;
	uint64_t longest_ns; /* longest time between two steps */
	pid_t pid;
};

static char name[] = "cpu-clock", *cpu_clock[] = {name};

static void fixture_deinit(struct fixture *f)
{
	history_free(f->history);
	recorder_free(f->recorder);
	loop_free(f->loop);
}

/* Returns false if the recorder cannot be opened here. */
static bool start(struct fixture *f)
{
	struct error *err;

	f->pid = getpid();
	f->config = (struct record_config){
		.target = {.pids = &f->pid, .pid_count = 1, .keeps_own = true},
		.events = {.names = cpu_clock, .count = 1, .frequency_hz = RECORD_FREQUENCY_HZ},
		.stacks = {.call_graph = CALL_GRAPH_FP, .depth = RECORD_DEPTH},
		.output = {.needs_timestamps = true, .debug_dir = "/usr/lib/debug"},
	};
	assert_null(loop_new(&f->loop));
	assert_null(recorder_new(&f->config, NULL, &f->recorder));
	err = recorder_open(f->recorder, f->loop, -1);
	if (err) {
		error_free(err);
		return false;
	}
	assert_null(recorder_start(f->recorder));
	f->history = history_new(f->recorder, KEEP_NS, MODULES_MAX);
	return true;
}

static const struct profile *profile_of(const struct fixture *f)
{
	return recorder_pipeline(f->recorder)->profile;
}

static uint64_t samples_now(const struct fixture *f)
{
	return session_counts(recorder_pipeline(f->recorder)->session)->quality.samples;
}

/* Uses CPU time during the recording, until there is another sample. */
static void run(struct fixture *f, uint64_t ns)
{
	uint64_t last_ns = clock_now_ns(), until_ns = last_ns + ns, before = samples_now(f);

	while (last_ns < until_ns || samples_now(f) == before) {
		uint64_t now_ns;

		loop_run(f->loop, 0);
		assert_false(history_step(f->history));
		now_ns = clock_now_ns();
		if (now_ns - last_ns > f->longest_ns)
			f->longest_ns = now_ns - last_ns;
		last_ns = now_ns;
	}
}

static uint64_t samples_of(const struct profile *profile)
{
	const struct profile_samples samples = profile_samples(profile);
	uint64_t sum = 0;

	for (uint64_t i = 0; i < samples.count; i++)
		sum += samples.items[i].samples;
	return sum;
}

TEST(it_keeps_its_time_and_an_eighth_more_at_most)
{
	CLEANUP(fixture_deinit) struct fixture f = {0};
	struct recorder_window window;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	run(&f, 3 * KEEP_NS);
	history_cut(f.history);
	window = history_window(f.history);
	assert_in_range(window.end_ns - window.start_ns, KEEP_NS,
			KEEP_NS * 9 / 8 + 2 * f.longest_ns);
}

TEST(together_they_are_what_was_sampled_in_the_order_of_time)
{
	CLEANUP(fixture_deinit) struct fixture f = {0};
	struct profile_timed_samples timed;
	struct recorder_window window;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	run(&f, 3 * KEEP_NS / 4);
	history_cut(f.history);
	assert_int_equal(samples_of(profile_of(&f)), 0);
	history_gather(f.history);
	assert_true(samples_of(profile_of(&f)) > 0);
	assert_int_equal(samples_of(profile_of(&f)), history_counts(f.history).quality.samples);
	timed = profile_timed_samples(profile_of(&f));
	window = history_window(f.history);
	assert_int_equal(timed.count, samples_of(profile_of(&f)));
	assert_true(timed.items[0].time_ns + 10 * NS_PER_MS >= window.start_ns);
	for (uint64_t i = 1; i < timed.count; i++)
		assert_true(timed.items[i].time_ns + NS_PER_MS >= timed.items[i - 1].time_ns);
}

/* A module has the same number in the profile and in the address spaces, which
 * finds its file. */
TEST(modules_keep_their_numbers)
{
	CLEANUP(fixture_deinit) struct fixture f = {0};
	const struct profile *profile;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	run(&f, KEEP_NS);
	history_cut(f.history);
	history_gather(f.history);
	profile = profile_of(&f);
	for (frame_id i = 0; i < profile_frame_count(profile); i++) {
		uint32_t module = profile_get_frame(profile, i).module;

		if (module == PROFILE_SYNTHETIC)
			continue;
		assert_true(module <
			    address_spaces_module_count(recorder_pipeline(f.recorder)->spaces));
	}
}

TEST(what_was_forgotten_is_gone)
{
	CLEANUP(fixture_deinit) struct fixture f = {0};

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	run(&f, KEEP_NS);
	history_forget(f.history);
	assert_int_equal(history_counts(f.history).quality.samples, 0);
	assert_int_equal(samples_of(profile_of(&f)), 0);
}

static void map_a_file(unsigned number)
{
	CLEANUP(free_ptr) char *file_name = xasprintf("code%u", number);
	CLEANUP(free_ptr) char *path = path_of(file_name);
	CLEANUP(close_fd) int fd = -1;
	void *mapped;

	write_file(file_name, "code", 4);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	mapped = mmap(NULL, 4, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(mapped, MAP_FAILED);
	assert_int_equal(munmap(mapped, 4), 0);
}

TEST_IN_FOLDER(many_mapped_files_cost_what_was_kept_and_no_more)
{
	CLEANUP(fixture_deinit) struct fixture f = {0};
	bool is_lost = false;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	run(&f, KEEP_NS);
	for (unsigned i = 0; i <= MODULES_MAX; i++) {
		map_a_file(i);
		recorder_drain(f.recorder); /* the ring holds fewer */
	}
	while (!is_lost) {
		loop_run(f.loop, 0);
		is_lost = history_step(f.history);
	}
	assert_int_equal(history_counts(f.history).quality.samples, 0);
	run(&f, KEEP_NS);
	history_cut(f.history);
	history_gather(f.history);
	assert_true(samples_of(profile_of(&f)) > 0);
	assert_int_equal(samples_of(profile_of(&f)), history_counts(f.history).quality.samples);
}

static const char *main_module_of(const struct fixture *f)
{
	const struct profile *profile = profile_of(f);

	session_finish(recorder_pipeline(f->recorder)->session);
	for (uint32_t i = 0; i < profile_module_count(profile); i++)
		if (profile_get_module(profile, i)->is_main)
			return profile_string(profile, profile_get_module(profile, i)->path);
	return NULL;
}

TEST(a_renewed_recorder_knows_the_main_program_and_its_name)
{
	CLEANUP(fixture_deinit) struct fixture f = {0};
	const char *path;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	recorder_name_command(f.recorder, f.pid, "main", "a longer name");
	names_set(recorder_pipeline(f.recorder)->names, f.pid, "main");
	recorder_renew(f.recorder);
	assert_string_equal(names_get(recorder_pipeline(f.recorder)->names, f.pid, f.pid),
			    "a longer name");
	run(&f, 0);
	path = main_module_of(&f);
	assert_non_null(path);
	assert_non_null(strstr(path, "test_history"));
}
