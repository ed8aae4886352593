#include "base/team.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { MEMBERS = 4, ITEMS = 1000, JOBS = 300 };

struct counts {
	atomic_uint of_item[ITEMS];
	atomic_bool is_busy[MEMBERS];
	atomic_bool shared_number;
};

static void count(void *context, size_t item, unsigned member)
{
	struct counts *counts = context;

	if (atomic_exchange(&counts->is_busy[member], true))
		atomic_store(&counts->shared_number, true);
	atomic_fetch_add(&counts->of_item[item], 1);
	atomic_store(&counts->is_busy[member], false);
}

TEST(each_item_of_each_job_is_done_once_by_a_member_of_its_own)
{
	CLEANUP(team_cleanup) struct team *team = team_new(MEMBERS);
	CLEANUP(free_ptr) struct counts *counts = xcalloc(1, sizeof(*counts));

	for (unsigned job = 1; job <= JOBS; job++) {
		team_begin(team, ITEMS, count, counts);
		team_finish(team);
		for (size_t i = 0; i < ITEMS; i++)
			assert_int_equal(atomic_load(&counts->of_item[i]), job);
	}
	assert_false(atomic_load(&counts->shared_number));
}

/* No other thread can have done the work, because threads that arrive after the
 * job has finished do not take part. */
TEST(a_team_of_one_works_when_it_finishes)
{
	CLEANUP(team_cleanup) struct team *team = team_new(1);
	CLEANUP(free_ptr) struct counts *counts = xcalloc(1, sizeof(*counts));

	assert_int_equal(team_size(team), 1);
	team_begin(team, ITEMS, count, counts);
	assert_int_equal(atomic_load(&counts->of_item[0]), 0);
	team_finish(team);
	assert_int_equal(atomic_load(&counts->of_item[ITEMS - 1]), 1);
}

TEST(a_team_ends_without_a_job)
{
	team_free(team_new(MEMBERS));
	team_free(NULL);
}
