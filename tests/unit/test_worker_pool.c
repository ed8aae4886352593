#include "symbol/worker_pool.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "built_elf.h"
#include "folder.h"
#include "lacking.h"
#include "unit_test.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/resource.h>

enum { MODULES_MAX = 64, NOBODY = 65534 };

/* Modules to request, and their results. */
struct fixture {
	struct elf_file *elfs[MODULES_MAX]; /* by module id */
	uint32_t elf_count;
	struct engine_request requests[MODULES_MAX];
	size_t count;
	uint64_t addresses[MODULES_MAX];
	char *names[MODULES_MAX], *losses[MODULES_MAX];
	unsigned kills_left; /* number of kills by a module that kills its worker */
	unsigned workers;    /* number of killed workers */
	atomic_bool cancel;
	struct worker_pool *pool;
	struct worker_pool_run run;
};

__attribute__((noinline, used)) static void function_in_this_program(void)
{
	__asm__ volatile("");
}

static struct elf_file *elf_of(void *user, uint32_t module)
{
	const struct fixture *fixture = user;

	return fixture->elfs[module];
}

static uint32_t count_elfs(void *user)
{
	const struct fixture *fixture = user;

	return fixture->elf_count;
}

static void on_finished(void *user, size_t request, struct reply *reply)
{
	struct fixture *fixture = user;
	struct reply_line lines[REPLY_LINES_MAX];
	unsigned count = reply_lines(reply, 0, lines);

	assert_null(fixture->names[request]);
	assert_null(fixture->losses[request]);
	if (count) {
		struct reply_function function = reply_function(reply, lines[count - 1].function);
		struct bytes name = reply_string(reply, function.name);

		fixture->names[request] = xstrndup((const char *)name.at, bytes_left(&name));
	}
	reply_free(reply);
}

static void on_lost(void *user, size_t request, char *why)
{
	struct fixture *fixture = user;

	assert_null(fixture->names[request]);
	assert_null(fixture->losses[request]);
	fixture->losses[request] = why;
}

static void fixture_init(struct fixture *fixture, bool again)
{
	*fixture = (struct fixture){
		.run = {.limits = {.run_cpu_ns = 100 * NS_PER_SECOND,
				   .run_cpu_ns_max = 100 * NS_PER_SECOND,
				   .unit_cpu_ns = 100 * NS_PER_SECOND,
				   .standstill_ns = 100 * NS_PER_SECOND,
				   .stopped_ns = 100 * NS_PER_SECOND,
				   .reply_bytes = 1 << 20},
			.finished = on_finished,
			.lost = on_lost},
	};
	fixture->run.user = fixture;
	fixture->run.cancel = &fixture->cancel;
	fixture->pool = worker_pool_new(&(struct worker_pool_options){.uid = NOBODY,
								      .memory_bytes = 256 << 20,
								      .threads = 2,
								      .source = {.again = again},
								      .file_of = elf_of,
								      .file_count = count_elfs,
								      .user = fixture});
}

static void forget_results(struct fixture *fixture)
{
	for (size_t i = 0; i < MODULES_MAX; i++) {
		free(fixture->names[i]);
		free(fixture->losses[i]);
		fixture->names[i] = fixture->losses[i] = NULL;
	}
}

static void fixture_deinit(struct fixture *fixture)
{
	worker_pool_free(fixture->pool);
	forget_results(fixture);
	for (size_t i = 0; i < fixture->count; i++)
		close_file(&fixture->requests[i].module.map);
	for (uint32_t i = 0; i < fixture->elf_count; i++)
		elf_file_free(fixture->elfs[i]);
}

/* The request of module N is request N. */
static struct engine_request *add_module(struct fixture *fixture, struct elf_file *elf)
{
	struct engine_request *request = &fixture->requests[fixture->count];

	*request = (struct engine_request){
		.module = {.id = fixture->elf_count, .elf = elf},
		.addresses = &fixture->addresses[fixture->count],
		.count = 1,
	};
	fixture->elfs[fixture->elf_count++] = elf;
	fixture->count++;
	return request;
}

static void add_this_program(struct fixture *fixture)
{
	void (*function)(void) = function_in_this_program;
	struct elf_file *elf;
	struct link_map *map;
	Dl_info info;

	assert_null(elf_file_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "self", &elf));
	assert_int_not_equal(
		dladdr1((void *)(uintptr_t)function, &info, (void **)&map, RTLD_DL_LINKMAP), 0);
	fixture->addresses[fixture->count] = (uint64_t)(uintptr_t)function - map->l_addr;
	add_module(fixture, elf);
}

/* Returns the pid of the worker process, or 0. */
static pid_t worker_pid(void)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/self/task/%d/children", (int)gettid());
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	int pid;

	return file && fscanf(file, "%d", &pid) == 1 ? pid : 0;
}

static bool can_find_workers(void)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/self/task/%d/children", (int)gettid());

	return access(path, R_OK) == 0;
}

#define NEED_WORKER_PIDS()                                                                         \
	do {                                                                                       \
		if (!can_find_workers())                                                           \
			RETURN_LACKING("a kernel with /proc/PID/task/TID/children");               \
	} while (0)

/* Kills the worker when it asks for a debug file. */
static int kill_worker(void *user, const struct debugfile_question *question, unsigned attempt,
		       char **path)
{
	struct fixture *fixture = user;

	(void)question, (void)attempt, (void)path;
	if (fixture->kills_left) {
		fixture->kills_left--;
		fixture->workers++;
		kill(worker_pid(), SIGKILL);
	}
	return -1;
}

/* Adds a module without symbols, whose worker is killed while it works on the
 * module. */
static void add_killer(struct fixture *fixture)
{
	static const char id[] = "a build-id";
	unsigned char note[80];
	size_t len = built_elf_build_id(note, id, sizeof(id));
	struct built_elf built;
	struct elf_file *elf;
	Elf64_Shdr *section;

	built_elf_init(&built);
	section = built_elf_section(&built, (Elf64_Shdr){.sh_type = SHT_NOTE}, ".note", note, len);
	built_elf_segment(
		&built,
		(Elf64_Phdr){.p_type = PT_NOTE, .p_offset = section->sh_offset, .p_filesz = len});
	built_elf_finish(&built);
	assert_null(elf_file_from_memory(built.data, built.len, "killer", &elf));
	add_module(fixture, elf)->module.opener = (struct debugfile_opener){.open = kill_worker,
									    .user = fixture};
}

static void add_map(struct fixture *fixture, FILE *map)
{
	assert_non_null(map);
	fixture->addresses[fixture->count] = 0x1008;
	add_module(fixture, NULL)->module.map = map;
}

/* Adds a map whose writer never finishes. */
static void add_silent_map(struct fixture *fixture, int *writer)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	*writer = ends[1];
	add_map(fixture, fdopen(ends[0], "r"));
}

static FILE *new_map(void)
{
	return tmpfile();
}

static void add_small_map(struct fixture *fixture)
{
	FILE *map = new_map();

	fputs("1000 10 compiled\n", map);
	rewind(map);
	add_map(fixture, map);
}

static void run(struct fixture *fixture)
{
	CLEANUP(free_ptr)
	const struct engine_request **requests = xcalloc(fixture->count, sizeof(*requests));

	for (size_t i = 0; i < fixture->count; i++)
		requests[i] = &fixture->requests[i];
	fixture->run.requests = requests;
	fixture->run.count = fixture->count;
	worker_pool_run(fixture->pool, &fixture->run);
}

static void assert_named(const struct fixture *fixture, size_t module)
{
	assert_non_null(fixture->names[module]);
	assert_string_equal(fixture->names[module], "function_in_this_program");
}

static void assert_lost(const struct fixture *fixture, size_t module, const char *why)
{
	assert_non_null(fixture->losses[module]);
	if (!strstr(fixture->losses[module], why))
		fail_msg("%s", fixture->losses[module]);
}

TEST(files_and_lists_are_symbolized_by_a_worker)
{
	CLEANUP(fixture_deinit) struct fixture fixture = {0};

	fixture_init(&fixture, false);
	add_this_program(&fixture);
	add_small_map(&fixture);
	run(&fixture);
	assert_named(&fixture, 0);
	assert_string_equal(fixture.names[1], "compiled");
	assert_true(worker_pool_cost(fixture.pool).cpu_ns > 0);
	assert_true(worker_pool_cost(fixture.pool).peak_bytes > 0);
}

TEST(a_module_that_kills_its_worker_costs_no_other_names)
{
	CLEANUP(fixture_deinit) struct fixture fixture = {0};

	NEED_WORKER_PIDS();
	fixture_init(&fixture, false);
	fixture.kills_left = UINT_MAX;
	add_killer(&fixture);
	add_this_program(&fixture);
	add_killer(&fixture);
	run(&fixture);
	assert_lost(&fixture, 0, "its symbol worker died (Killed)");
	assert_named(&fixture, 1);
	assert_lost(&fixture, 2, "its symbol worker died (Killed)");
}

TEST(a_worker_that_dies_once_costs_nothing)
{
	CLEANUP(fixture_deinit) struct fixture fixture = {0};

	NEED_WORKER_PIDS();
	fixture_init(&fixture, false);
	fixture.kills_left = 1;
	add_killer(&fixture);
	add_this_program(&fixture);
	run(&fixture);
	assert_int_equal(fixture.workers, 1);
	assert_null(fixture.losses[0]);
	assert_named(&fixture, 1);
}

TEST(many_modules_that_kill_their_workers_cost_few_workers)
{
	CLEANUP(fixture_deinit) struct fixture fixture = {0};

	NEED_WORKER_PIDS();
	fixture_init(&fixture, false);
	fixture.kills_left = UINT_MAX;
	for (unsigned i = 0; i < MODULES_MAX; i++)
		add_killer(&fixture);
	run(&fixture);
	for (unsigned i = 0; i < MODULES_MAX; i++)
		assert_lost(&fixture, i, "died");
	assert_in_range(fixture.workers, 2, 20);
}

TEST(a_worker_that_stands_still_is_not_waited_for)
{
	if (HAS_THREAD_SANITIZER)
		RETURN_LACKING(
			"a process that uses no CPU time: the thread sanitizer's own thread does");
	CLEANUP(fixture_deinit) struct fixture fixture = {0};
	CLEANUP(close_fd) int writer = -1;

	fixture_init(&fixture, false);
	fixture.run.limits.standstill_ns = 100 * NS_PER_MS;
	add_silent_map(&fixture, &writer);
	add_this_program(&fixture);
	run(&fixture);
	assert_lost(&fixture, 0, "its symbol worker stalled for 100 ms");
	assert_named(&fixture, 1);
}

/* Returns a file of zeros with the maximum length of a map. */
static FILE *long_map(void)
{
	FILE *map = new_map();

	assert_int_equal(ftruncate(fileno(map), 256 << 20), 0);
	return map;
}

TEST(a_module_that_takes_too_long_costs_no_other_names)
{
	CLEANUP(fixture_deinit) struct fixture fixture = {0};

	fixture_init(&fixture, false);
	fixture.run.limits.unit_cpu_ns = 20 * NS_PER_MS;
	add_map(&fixture, long_map());
	add_small_map(&fixture);
	run(&fixture);
	assert_lost(&fixture, 0, "its symbol worker took longer than 20 ms");
	assert_string_equal(fixture.names[1], "compiled");
}

TEST(all_modules_together_have_a_limit_of_time)
{
	CLEANUP(fixture_deinit) struct fixture fixture = {0};

	fixture_init(&fixture, false);
	fixture.run.limits.run_cpu_ns = 50 * NS_PER_MS;
	for (unsigned i = 0; i < MODULES_MAX; i++)
		add_map(&fixture, long_map());
	run(&fixture);
	assert_lost(&fixture, MODULES_MAX - 1, "its symbol worker took longer than");
}

/* Adds a list of long names, all of which are requested. */
static void add_large_map(struct fixture *fixture, uint64_t *addresses, size_t count)
{
	FILE *map = new_map();

	for (size_t i = 0; i < count; i++) {
		addresses[i] = 16 * i;
		fprintf(map, "%zx 10 %04000zu\n", 16 * i, i);
	}
	rewind(map);
	add_map(fixture, map);
	fixture->requests[fixture->count - 1].addresses = addresses;
	fixture->requests[fixture->count - 1].count = count;
}

TEST(a_module_that_needs_too_much_memory_costs_no_other_names)
{
	static uint64_t addresses[2000];
	CLEANUP(fixture_deinit) struct fixture fixture = {0};

	if (SANITIZED)
		RETURN_LACKING("a process that needs little memory: a sanitizer's shadow counts");
	fixture_init(&fixture, false);
	worker_pool_free(fixture.pool);
	fixture.pool = worker_pool_new(&(struct worker_pool_options){.uid = NOBODY,
								     .memory_bytes = 4 << 20,
								     .threads = 1,
								     .file_of = elf_of,
								     .file_count = count_elfs,
								     .user = &fixture});
	fixture.run.limits.reply_bytes = 100 << 20;
	add_large_map(&fixture, addresses, ARRAY_SIZE(addresses));
	add_this_program(&fixture);
	run(&fixture);
	assert_lost(&fixture, 0, "its symbol worker needed more than 4.2 MB of memory");
	assert_named(&fixture, 1);
}

TEST(more_names_than_the_limit_are_refused)
{
	static uint64_t addresses[2000];
	CLEANUP(fixture_deinit) struct fixture fixture = {0};

	fixture_init(&fixture, false);
	add_large_map(&fixture, addresses, ARRAY_SIZE(addresses));
	add_this_program(&fixture);
	run(&fixture);
	assert_lost(&fixture, 0, "its symbol worker sent an invalid reply");
	assert_named(&fixture, 1);
}

TEST(workers_are_kept_and_a_new_file_gets_another)
{
	CLEANUP(fixture_deinit) struct fixture fixture = {0};
	pid_t first;

	NEED_WORKER_PIDS();
	fixture_init(&fixture, true);
	add_this_program(&fixture);
	run(&fixture);
	assert_named(&fixture, 0);
	first = worker_pid();
	assert_true(first > 0);

	forget_results(&fixture);
	add_this_program(&fixture);
	run(&fixture);
	assert_named(&fixture, 0);
	assert_named(&fixture, 1);
	assert_int_equal(worker_pid(), first);

	worker_pool_free(STEAL(fixture.pool));
	assert_int_equal(worker_pid(), 0);
}

TEST(a_kept_worker_that_was_stopped_is_replaced)
{
	CLEANUP(fixture_deinit) struct fixture fixture = {0};
	pid_t first;

	NEED_WORKER_PIDS();
	fixture_init(&fixture, true);
	fixture.run.limits.stopped_ns = 100 * NS_PER_MS;
	add_this_program(&fixture);
	run(&fixture);
	first = worker_pid();
	assert_int_equal(kill(first, SIGSTOP), 0);

	forget_results(&fixture);
	run(&fixture);
	assert_named(&fixture, 0);
	assert_int_not_equal(worker_pid(), first);
}

static void cancel(void *user)
{
	struct fixture *fixture = user;

	atomic_store(&fixture->cancel, true);
}

TEST(a_cancelled_worker_is_not_waited_for)
{
	CLEANUP(fixture_deinit) struct fixture fixture = {0};
	CLEANUP(close_fd) int writer = -1;

	NEED_WORKER_PIDS();
	fixture_init(&fixture, false);
	fixture.run.between = cancel;
	fixture.run.between_user = &fixture;
	add_silent_map(&fixture, &writer);
	run(&fixture);
	assert_null(fixture.names[0]);
	assert_null(fixture.losses[0]);
	assert_int_equal(worker_pid(), 0);
}

TEST(without_a_worker_names_are_lost_or_found_here)
{
	for (int may_stand_in = 0; may_stand_in < 2; may_stand_in++) {
		CLEANUP(fixture_deinit) struct fixture fixture = {0};
		struct rlimit before, none = {0};

		fixture_init(&fixture, false);
		worker_pool_free(fixture.pool);
		fixture.pool = worker_pool_new(
			&(struct worker_pool_options){.uid = NOBODY,
						      .memory_bytes = 256 << 20,
						      .threads = 2,
						      .file_of = elf_of,
						      .file_count = count_elfs,
						      .user = &fixture,
						      .may_stand_in = may_stand_in});
		add_this_program(&fixture);
		assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
		none.rlim_max = before.rlim_max;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
		run(&fixture);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		if (may_stand_in)
			assert_named(&fixture, 0);
		else
			assert_lost(&fixture, 0, "no symbol worker: ");
	}
}

int main(void)
{
	if (!has_seccomp())
		return lacking_all("filters of system calls (seccomp)");
	return unit_tests_run();
}
