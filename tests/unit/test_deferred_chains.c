/* Feeds samples and user parts in the orders in which a kernel or a malicious
 * writer produces them, and checks a line for each sample. */
#include "record/deferred_chains.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { TID = 7, OTHER = 8 };

struct fixture {
	struct deferred_chains *chains;
	FILE *out;
	char *text;
	size_t len;
	uint64_t given, joined;
};

/* "label: kernel addresses + user addresses" */
static void give(void *user, const struct record *record, uint32_t labels)
{
	struct fixture *f = user;
	const struct record_sample *sample = &record->sample;
	struct bytes kernel = sample->kernel_chain, at = sample->user_chain;

	f->given++;
	f->joined += bytes_left(&at) > 0;
	if (f->given > 100)
		return;
	fprintf(f->out, "%" PRIu32 ":", labels);
	while (bytes_left(&kernel))
		fprintf(f->out, " k%" PRIx64, bytes_u64(&kernel));
	while (bytes_left(&at))
		fprintf(f->out, " %" PRIx64, bytes_u64(&at));
	fputs(sample->is_chain_deferred ? " missing\n" : "\n", f->out);
}

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->chains = deferred_chains_new(give, f);
	f->out = open_memstream(&f->text, &f->len);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	deferred_chains_free(f->chains);
	fclose(f->out);
	free(f->text);
	free(f);
	return 0;
}

static void assert_given(struct fixture *f, const char *expected)
{
	fflush(f->out);
	assert_string_equal(f->text, expected);
}

/* The sample has one kernel address, which is overwritten afterwards, as in a
 * ring. */
static void add_sample(struct fixture *f, pid_t tid, uint64_t cookie, uint32_t label)
{
	uint64_t kernel = label;
	struct record record = {
		.type = RECORD_SAMPLE,
		.pid = TID,
		.tid = tid,
		.sample = {.kernel_chain = bytes_of(&kernel, sizeof(kernel)),
			   .is_chain_deferred = true,
			   .chain_cookie = cookie},
	};

	deferred_chains_add_sample(f->chains, &record, label);
	kernel = 0xdead;
}

static bool add_chain(struct fixture *f, pid_t tid, uint64_t cookie, uint64_t address)
{
	uint64_t chain[] = {address, address + 1};
	struct record record = {
		.type = RECORD_DEFERRED_CHAIN,
		.pid = TID,
		.tid = tid,
		.deferred_chain = {.cookie = cookie, .chain = bytes_of(chain, sizeof(chain))},
	};
	bool ret = deferred_chains_add_chain(f->chains, &record);

	chain[0] = chain[1] = 0xdead;
	return ret;
}

TEST_WITH(set_up, tear_down, a_sample_waits_for_the_user_part_of_its_thread_and_cookie)
{
	struct fixture *f = *state;

	add_sample(f, TID, 1, 10);
	add_sample(f, OTHER, 1, 20);
	assert_given(f, "");
	assert_true(add_chain(f, TID, 1, 0xa0));
	assert_given(f, "10: ka a0 a1\n");
	assert_true(add_chain(f, OTHER, 1, 0xb0));
	assert_given(f, "10: ka a0 a1\n20: k14 b0 b1\n");
}

TEST_WITH(set_up, tear_down, all_samples_of_one_entry_into_the_kernel_get_the_same_user_part)
{
	struct fixture *f = *state;

	add_sample(f, TID, 1, 10);
	add_sample(f, TID, 1, 11);
	add_chain(f, TID, 1, 0xa0);
	/* The sample is taken between the walk of the user stack and the return
	 * to it. */
	add_sample(f, TID, 1, 12);
	assert_given(f, "10: ka a0 a1\n11: kb a0 a1\n12: kc a0 a1\n");
}

TEST_WITH(set_up, tear_down, a_user_part_that_comes_twice_is_no_stray)
{
	struct fixture *f = *state;

	add_sample(f, TID, 1, 10);
	assert_true(add_chain(f, TID, 1, 0xa0));
	assert_true(add_chain(f, TID, 1, 0xa0));
	assert_given(f, "10: ka a0 a1\n");
}

TEST_WITH(set_up, tear_down, a_user_part_without_a_sample_is_a_stray_and_changes_nothing)
{
	struct fixture *f = *state;

	assert_false(add_chain(f, TID, 1, 0xa0));
	add_sample(f, TID, 2, 10);
	assert_true(add_chain(f, TID, 2, 0xb0));
	assert_given(f, "10: ka b0 b1\n");
}

TEST_WITH(set_up, tear_down, the_next_user_part_of_a_thread_ends_the_wait_for_one_that_was_lost)
{
	struct fixture *f = *state;

	add_sample(f, TID, 1, 10);
	add_sample(f, TID, 2, 11);
	add_sample(f, OTHER, 1, 20);
	add_chain(f, TID, 2, 0xa0);
	assert_given(f, "10: ka missing\n11: kb a0 a1\n");
}

TEST_WITH(set_up, tear_down, the_end_of_a_thread_ends_the_wait)
{
	struct fixture *f = *state;

	add_sample(f, TID, 1, 10);
	add_sample(f, OTHER, 1, 20);
	deferred_chains_end_thread(f->chains, TID);
	assert_given(f, "10: ka missing\n");
	deferred_chains_end_thread(f->chains, TID);
	deferred_chains_end_all(f->chains);
	assert_given(f, "10: ka missing\n20: k14 missing\n");
}

TEST_WITH(set_up, tear_down, the_former_user_part_is_not_that_of_a_new_thread_of_the_same_number)
{
	struct fixture *f = *state;

	add_chain(f, TID, 1, 0xa0);
	add_sample(f, OTHER, 1, 20);
	deferred_chains_end_thread(f->chains, TID);
	add_sample(f, TID, 1, 10);
	add_chain(f, OTHER, 1, 0xb0);
	deferred_chains_end_all(f->chains);
	assert_given(f, "20: k14 b0 b1\n10: ka missing\n");
}

TEST_WITH(set_up, tear_down, a_sample_in_execve_has_no_user_part)
{
	struct fixture *f = *state;

	add_sample(f, TID, 1, 10);
	deferred_chains_exec(f->chains, TID);
	assert_given(f, "10: ka\n");
	assert_false(add_chain(f, TID, 1, 0xa0));
}

TEST_WITH(set_up, tear_down, what_waits_and_is_kept_is_bounded)
{
	struct fixture *f = *state;
	enum { COUNT = 1000000, BYTES_MAX = 64 << 20 };
	size_t most = 0;

	/* An endless thread, endless new threads, and endless user parts. */
	for (uint32_t i = 0; i < COUNT; i++) {
		add_sample(f, TID, i, i);
		add_sample(f, OTHER + 1 + (pid_t)i, 1, i);
		add_chain(f, -1 - (pid_t)i, 1, i);
		if (i % 1024 == 0 && mallinfo2().uordblks + mallinfo2().hblkhd > most)
			most = mallinfo2().uordblks + mallinfo2().hblkhd;
	}
	assert_true(most < BYTES_MAX);
	deferred_chains_end_all(f->chains);
	assert_int_equal(f->given, 2 * COUNT);
	assert_int_equal(f->joined, 0);
}

TEST_WITH(set_up, tear_down, what_waits_at_the_end_is_freed)
{
	struct fixture *f = *state;

	add_sample(f, TID, 1, 10);
	add_chain(f, OTHER, 1, 0xa0);
	assert_given(f, "");
}
