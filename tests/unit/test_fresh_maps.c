#include "record/fresh_maps.h"

#include "base/clock.h"
#include "unit_test.h"

#include <unistd.h>

#define TIME_NS 1000

struct fixture {
	struct address_spaces *spaces;
	struct fresh_maps fresh;
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){.spaces = address_spaces_new("/proc")};
	f.fresh.spaces = f.spaces;
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fresh_maps_deinit(&f->fresh);
	address_spaces_free(f->spaces);
	return 0;
}

#define TEST_PREPARED(name) TEST_WITH(setup, teardown, name)

/* Returns an address in a mapping of this program that was not reported by a
 * record. */
static uint64_t own_pc(void)
{
	return (uint64_t)(uintptr_t)&own_pc;
}

static bool find(struct fixture *f, uint64_t pc)
{
	return fresh_maps_find(&f->fresh, getpid(), TIME_NS, pc);
}

TEST_PREPARED(a_mapping_that_no_record_tells_of_is_read)
{
	struct fixture *f = *state;
	struct location location;

	assert_false(address_spaces_locate(f->spaces, getpid(), TIME_NS, own_pc(), &location));
	assert_true(find(f, own_pc()));
	assert_true(address_spaces_locate(f->spaces, getpid(), TIME_NS, own_pc(), &location));
}

TEST_PREPARED(what_is_no_pc_costs_nothing)
{
	struct fixture *f = *state;

	assert_false(find(f, 1));
	assert_false(find(f, UINT64_MAX - 1));
	assert_int_equal(f->fresh.share.spent_ns, 0);
	assert_true(find(f, own_pc()));
}

TEST_PREPARED(a_process_that_was_read_in_vain_waits)
{
	struct fixture *f = *state;
	uint32_t pause_ms = 0;

	for (unsigned i = 0; i < 8; i++) {
		idmap_deinit(&f->fresh.due_ms); /* as if the time had passed */
		assert_false(find(f, 4096));
		assert_int_not_equal(idmap_get(&f->fresh.due_ms, (uint64_t)getpid(), 0),
				     IDMAP_NONE);
		assert_true(idmap_get(&f->fresh.pauses_ms, (uint64_t)getpid(), 0) > pause_ms ||
			    pause_ms == 320);
		pause_ms = idmap_get(&f->fresh.pauses_ms, (uint64_t)getpid(), 0);
	}
	assert_int_equal(pause_ms, 320);
	*idmap_put(&f->fresh.due_ms, (uint64_t)getpid(), 0) = UINT32_MAX - 1;
	assert_false(find(f, own_pc()));
	idmap_deinit(&f->fresh.due_ms);
	assert_true(find(f, own_pc()));
	assert_int_equal(idmap_get(&f->fresh.pauses_ms, (uint64_t)getpid(), 0), IDMAP_NONE);
}

TEST_PREPARED(all_processes_together_have_a_share_of_the_time)
{
	struct fixture *f = *state;

	f->fresh.share = (struct time_share){.second_ns = clock_now_ns(),
					     .spent_ns = 3600 * NS_PER_SECOND};
	assert_false(find(f, own_pc()));
}
