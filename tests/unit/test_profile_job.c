#include "serve/profile_job.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "lacking.h"
#include "serve/processes.h"
#include "unit_test.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* A job executes this program itself. */
static int be_job(char *const *words)
{
	static const char block[1 << 16];

	if (!strcmp(words[1], "writes")) {
		fputs("a profile", stdout);
		fputs("prof: 12 samples, 3 lost (20 %)\n", stderr);
		return 0;
	}
	if (!strcmp(words[1], "fails")) {
		fputs("prof: no\n", stderr);
		return 1;
	}
	while (!strcmp(words[1], "fills"))
		if (write(STDOUT_FILENO, block, sizeof(block)) < 0)
			return 1;
	pause();
	return 0;
}

static void mark(void *user)
{
	*(bool *)user = true;
}

static struct profile_job *start(struct loop *loop, const char *what, bool *done)
{
	const char *words[] = {"test", what, NULL};
	struct profile_job *job;

	assert_null(profile_job_start((char *const *)words, loop, mark, done, &job));
	return job;
}

static struct profile_result run(const char *what)
{
	CLEANUP(loop_cleanup) struct loop *loop = NULL;
	struct profile_result result;
	struct profile_job *job;
	bool done = false;

	assert_null(loop_new(&loop));
	job = start(loop, what, &done);
	while (!done)
		loop_run(loop, LOOP_FOREVER);
	profile_job_finish(job, &result);
	return result;
}

static void result_deinit(struct profile_result *result)
{
	close(result->fd);
	free(result->words);
}

TEST(a_job_gives_what_its_command_writes)
{
	CLEANUP(result_deinit) struct profile_result result = run("writes");
	char text[32] = "";
	struct profile_counts counts = profile_counts_of(result.words);

	assert_true(result.is_whole);
	assert_int_equal(result.bytes, strlen("a profile"));
	assert_int_equal(pread(result.fd, text, sizeof(text), 0), result.bytes);
	assert_string_equal(text, "a profile");
	assert_int_equal(counts.samples, 12);
	assert_int_equal(counts.lost, 3);
}

TEST(a_command_that_fails_gives_its_words)
{
	CLEANUP(result_deinit) struct profile_result result = run("fails");

	assert_false(result.is_whole);
	assert_string_equal(result.words, "prof: no\n");
}

TEST(a_profile_cannot_fill_the_memory)
{
	CLEANUP(result_deinit) struct profile_result result = run("fills");

	assert_false(result.is_whole);
	assert_true(result.bytes <= PROFILE_JOB_BYTES_MAX);
}

TEST(a_cancelled_job_leaves_no_process)
{
	CLEANUP(loop_cleanup) struct loop *loop = NULL;
	bool done = false;

	assert_null(loop_new(&loop));
	profile_job_cancel(start(loop, "waits", &done));
	profile_job_cancel(NULL);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void assert_counts(const char *words, uint64_t samples, uint64_t lost)
{
	struct profile_counts counts = profile_counts_of(words);

	assert_int_equal(counts.samples, samples);
	assert_int_equal(counts.lost, lost);
}

TEST(the_numbers_of_a_recording_are_read_from_its_words)
{
	assert_counts("prof: sampling cpu-clock: …\n   2.5 %\nprof: 1,234,567 samples, 0 lost, 1 "
		      "truncated\n",
		      1234567, 0);
	assert_counts("prof: 20 sampled allocations, 1,000 lost (98 %)", 20, 1000);
	assert_counts("prof: 3 thread-seconds: 1 on CPU, 2 waiting\n\n\n", 0, 0);
	assert_counts("prof: 12 samples\nprof: 13 other, 14 lost\n", 0, 0);
	assert_counts("", 0, 0);
}

TEST(processes_are_found_by_name_and_cgroup)
{
	struct processes before, now;
	bool found = false;

	processes_read(&before);
	processes_read(&now);
	processes_compare(&now, &before);
	for (size_t i = 0; i < now.count; i++)
		found |= now.items[i].pid == getpid() && now.items[i].user == geteuid();
	assert_true(found);
	assert_true(processes_have_name(&now, "test_profile_j*"));
	assert_false(processes_have_name(&now, "no such process"));
	assert_false(processes_have_cgroup(&now, "/no/such/cgroup"));
	processes_deinit(&now);
	processes_deinit(&before);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return be_job(argv);
	/* It would execute the emulator. */
	if (!has_seccomp())
		return lacking_all("a process that is not an emulator");
	return unit_tests_run();
}
