#include "symbol/worker_pools.h"

#include "built_elf.h"
#include "lacking.h"
#include "unit_test.h"

/* More owners than the maximum. */
enum { OWNERS = 1100, SOMEBODY = 100000 };

/* Files of many owners. */
struct fixture {
	struct elf_file *elf;
	struct worker_pools *pools;
	struct worker_pools_request requests[OWNERS];
	size_t count;
	size_t order[OWNERS]; /* request numbers in the order in which they finished */
	size_t finished;
	unsigned workers; /* number of started workers */
};

static struct elf_file *elf_of(void *user, uint32_t module)
{
	const struct fixture *fixture = user;

	(void)module;
	return fixture->elf;
}

/* Called for each new worker. */
static uint32_t count_elfs(void *user)
{
	struct fixture *fixture = user;

	fixture->workers++;
	return OWNERS;
}

static void on_finished(void *user, size_t request, struct reply *reply)
{
	struct fixture *fixture = user;

	fixture->order[fixture->finished++] = request;
	reply_free(reply);
}

static void on_lost(void *user, size_t request, char *why)
{
	(void)user, (void)request;
	fail_msg("%s", why);
}

static void fixture_init(struct fixture *fixture)
{
	struct built_elf built;

	*fixture = (struct fixture){0};
	built_elf_init(&built);
	built_elf_finish(&built);
	assert_null(elf_file_from_memory(built.data, built.len, "file", &fixture->elf));
	fixture->pools = worker_pools_new(&(struct worker_pools_options){
		.pool = {.threads = 1,
			 .file_of = elf_of,
			 .file_count = count_elfs,
			 .user = fixture},
	});
}

static void fixture_deinit(struct fixture *fixture)
{
	worker_pools_free(fixture->pools);
	elf_file_free(fixture->elf);
}

static void add(struct fixture *fixture, struct file_origin origin, size_t weight)
{
	static const uint64_t address = 0x1000;

	fixture->requests[fixture->count] = (struct worker_pools_request){
		.request = {.module = {.id = (uint32_t)fixture->count, .elf = fixture->elf},
			    .addresses = &address,
			    .count = 1},
		.origin = origin,
		.weight = weight,
	};
	fixture->count++;
}

static void run(struct fixture *fixture)
{
	worker_pools_run(fixture->pools, &(struct worker_pools_run){.requests = fixture->requests,
								    .count = fixture->count,
								    .finished = on_finished,
								    .lost = on_lost,
								    .user = fixture});
}

TEST(trusted_files_come_first_then_owners_with_the_most_work)
{
	CLEANUP(fixture_deinit) struct fixture fixture;

	fixture_init(&fixture);
	add(&fixture, (struct file_origin){.owner = SOMEBODY, .is_untrusted = true}, 1);
	add(&fixture, (struct file_origin){.owner = SOMEBODY + 1, .is_untrusted = true}, 1000);
	add(&fixture, (struct file_origin){.owner = 0}, 1);
	run(&fixture);
	assert_int_equal(fixture.finished, 3);
	assert_int_equal(fixture.order[0], 2);
	assert_int_equal(fixture.order[1], 1);
	assert_int_equal(fixture.order[2], 0);
	assert_int_equal(fixture.workers, 3);
}

TEST(files_of_one_owner_share_a_worker)
{
	CLEANUP(fixture_deinit) struct fixture fixture;

	fixture_init(&fixture);
	for (unsigned i = 0; i < 10; i++)
		add(&fixture, (struct file_origin){.owner = SOMEBODY + i % 2, .is_untrusted = true},
		    1);
	run(&fixture);
	assert_int_equal(fixture.finished, 10);
	assert_int_equal(fixture.workers, 2);
}

/* A file of root that others can write to is not reliable for root's other
 * files. */
TEST(files_of_root_that_others_can_write_are_apart)
{
	CLEANUP(fixture_deinit) struct fixture fixture;

	fixture_init(&fixture);
	add(&fixture, (struct file_origin){.owner = 0}, 1);
	add(&fixture, (struct file_origin){.owner = 0, .is_untrusted = true}, 1);
	run(&fixture);
	assert_int_equal(fixture.finished, 2);
	assert_int_equal(fixture.workers, 2);
}

TEST(a_thousand_owners_have_few_workers)
{
	CLEANUP(fixture_deinit) struct fixture fixture;

	fixture_init(&fixture);
	for (unsigned i = 0; i < OWNERS; i++)
		add(&fixture, (struct file_origin){.owner = SOMEBODY + i, .is_untrusted = true}, 1);
	run(&fixture);
	assert_int_equal(fixture.finished, OWNERS);
	assert_in_range(fixture.workers, 2, 16);
}

int main(void)
{
	if (!has_seccomp())
		return lacking_all("filters of system calls (seccomp)");
	return unit_tests_run();
}
