/*
 * Stacks that go on beyond what was copied of them, in memory that is made up.
 */
#include "proc/stacks.h"

#include "base/alloc.h"
#include "proc/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { TID = 7, SP = 0x1000, COPIED = 4096, STACK_BYTES = 300 << 10 };

/* What the thread's stack holds right now, from SP on. */
static struct {
	bool gone;
	unsigned char bytes[STACK_BYTES];
} live;

static size_t read_live(pid_t tid, uint64_t address, void *into, size_t len)
{
	uint64_t at = address - SP;

	if (live.gone || tid != TID || at >= STACK_BYTES)
		return 0;
	if (len > STACK_BYTES - at)
		len = STACK_BYTES - at;
	memcpy(into, live.bytes + at, len);
	return len;
}

static unsigned char copy[STACK_BYTES]; /* what it held at the moment of the sample */

static int set_up(void **state)
{
	live.gone = false;
	for (unsigned i = 0; i < STACK_BYTES; i++)
		live.bytes[i] = copy[i] = (unsigned char)(i * 7 + i / 251);
	*state = stacks_new(read_live);
	return 0;
}

static int tear_down(void **state)
{
	stacks_free(*state);
	return 0;
}

/* A sample whose copy begins `from` bytes above SP: does it grow to the end of the stack? */
static bool grows(struct stacks *stacks, size_t from, struct bytes *copied)
{
	*copied = bytes_of(copy + from, COPIED);
	stacks_begin(stacks, TID, SP + from, *copied);
	while (bytes_left(copied) < STACK_BYTES - from)
		if (!stacks_grow(stacks, SP + STACK_BYTES, copied))
			return false;
	return true;
}

static void what_still_reads_the_same_is_continued_from_the_live_thread(void **state)
{
	struct bytes copied;

	/* Further in, the thread goes on working. */
	memset(live.bytes, 0x55, COPIED - STACKS_OVERLAP_BYTES);
	assert_true(grows(*state, 0, &copied));
	assert_int_equal(bytes_left(&copied), STACK_BYTES);
	assert_memory_equal(copied.at, copy, STACK_BYTES);
	assert_false(stacks_grow(*state, SP + STACK_BYTES + 8, &copied));
	assert_int_equal(stacks_end(*state, true), STACK_LIVE);
}

static void what_reads_otherwise_is_not_trusted(void **state)
{
	static const size_t changed[] = {COPIED - STACKS_OVERLAP_BYTES, COPIED - 1};
	struct bytes copied;

	for (unsigned i = 0; i < ARRAY_SIZE(changed); i++) {
		live.bytes[changed[i]] ^= 1;
		assert_false(grows(*state, 0, &copied));
		assert_ptr_equal(copied.at, copy);
		assert_int_equal(bytes_left(&copied), COPIED);
		assert_int_equal(stacks_end(*state, false), STACK_COPIED);
		live.bytes[changed[i]] ^= 1;
	}
}

static void a_thread_that_is_gone_is_joined_to_its_last_complete_stack(void **state)
{
	struct bytes copied;

	assert_true(grows(*state, 0, &copied));
	assert_int_equal(stacks_end(*state, true), STACK_LIVE);
	live.gone = true;
	for (size_t from = 0; from <= 2 * COPIED; from += COPIED) {
		assert_true(grows(*state, from, &copied));
		assert_memory_equal(copied.at, copy + from, STACK_BYTES - from);
		assert_int_equal(stacks_end(*state, true), STACK_KEPT);
	}
}

static void another_stack_is_not_joined(void **state)
{
	struct bytes copied;

	assert_true(grows(*state, COPIED, &copied));
	stacks_end(*state, true);
	live.gone = true;
	copy[2 * COPIED - 8]++; /* other callers */
	assert_false(grows(*state, COPIED, &copied));
	copy[2 * COPIED - 8]--;
	assert_false(grows(*state, 0, &copied)); /* ends where the kept one begins */
	assert_true(grows(*state, COPIED, &copied));
	stacks_forget(*state, TID);
	assert_false(grows(*state, COPIED, &copied));
}

static void a_last_complete_stack_that_says_otherwise_is_a_second_opinion(void **state)
{
	struct bytes copied, other;

	assert_true(grows(*state, 0, &copied));
	assert_false(stacks_other(*state, &other)); /* there is none yet */
	assert_int_equal(stacks_end(*state, true), STACK_LIVE);
	assert_true(grows(*state, 0, &copied));
	assert_false(stacks_other(*state, &other)); /* it says the same */
	stacks_end(*state, true);
	/* The thread has gone further out: what it left behind still reads the same. */
	live.bytes[STACK_BYTES - 8] ^= 1;
	for (unsigned i = 0; i < STACKS_CONTESTS; i++) {
		assert_true(grows(*state, 0, &copied));
		assert_true(stacks_other(*state, &other));
		assert_int_equal(bytes_left(&other), STACK_BYTES);
		assert_memory_equal(other.at, copy, STACK_BYTES);
		assert_memory_equal(copied.at, live.bytes, STACK_BYTES);
		stacks_end_contested(*state);
	}
	assert_true(grows(*state, 0, &copied)); /* so it has other callers for good */
	assert_false(stacks_other(*state, &other));
	assert_int_equal(stacks_end(*state, true), STACK_LIVE);
}

static void a_stack_that_did_not_lead_to_the_root_is_not_kept(void **state)
{
	struct bytes copied;

	assert_true(grows(*state, 0, &copied));
	assert_int_equal(stacks_end(*state, false), STACK_COPIED);
	live.gone = true;
	assert_false(grows(*state, 0, &copied));
}

static void nonsense_is_not_read_for(void **state)
{
	struct bytes copied = bytes_of(copy, COPIED);

	stacks_begin(*state, TID, SP, copied);
	assert_false(stacks_grow(*state, SP + STACKS_GROWN_BYTES + 1, &copied));
	assert_false(stacks_grow(*state, UINT64_MAX - 8, &copied));
	copied = bytes_of(copy, 0); /* nothing to compare */
	stacks_begin(*state, TID, SP, copied);
	assert_false(stacks_grow(*state, SP + 8, &copied));
}

static void memory_is_read_up_to_where_it_ends(void **state)
{
	(void)state;
	enum { PAGE = 4096, PAGES = 40 };
	CLEANUP(free_ptr) unsigned char *into = xmalloc((PAGES + 1) * PAGE);
	unsigned char *pages = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t start = (uint64_t)pages;

	assert_true(pages != MAP_FAILED);
	memset(pages, 0x11, PAGES * PAGE);
	assert_int_equal(mprotect(pages + PAGES * PAGE, PAGE, PROT_NONE), 0);
	assert_int_equal(memory_read(getpid(), start + 8, into, PAGES * PAGE - 8),
			 PAGES * PAGE - 8);
	assert_memory_equal(into, pages, PAGES * PAGE - 8);
	assert_int_equal(memory_read(getpid(), start, into, (PAGES + 1) * PAGE), PAGES * PAGE);
	assert_int_equal(memory_read(getpid(), start + PAGES * PAGE, into, 8), 0);
	assert_int_equal(memory_read(1 << 29, start, into, 8), 0); /* no such thread */
	munmap(pages, (PAGES + 1) * PAGE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_still_reads_the_same_is_continued_from_the_live_thread, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(what_reads_otherwise_is_not_trusted, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_thread_that_is_gone_is_joined_to_its_last_complete_stack, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(another_stack_is_not_joined, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_last_complete_stack_that_says_otherwise_is_a_second_opinion, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_stack_that_did_not_lead_to_the_root_is_not_kept,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(nonsense_is_not_read_for, set_up, tear_down),
		cmocka_unit_test(memory_is_read_up_to_where_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
