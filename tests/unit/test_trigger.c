/* Conditions of the flight recorder and the values that they read. A directory
 * replaces /proc. */
#include "cmd/record/trigger.h"

#include "base/clock.h"

#include "folder.h"
#include "unit_test.h"

#include <math.h>
#include <stdint.h>
#include <unistd.h>

#define REST_NS (30 * NS_PER_SECOND)

static struct trigger take(struct triggers *triggers, const char *text)
{
	assert_null(trigger_append(triggers, text));
	return triggers->items[triggers->count - 1];
}

TEST(conditions_have_a_name_and_a_limit)
{
	CLEANUP(triggers_deinit) struct triggers triggers = {0};
	struct trigger cpu = take(&triggers, "cpu>90%"), more = take(&triggers, "cpu>250");
	struct trigger rss = take(&triggers, "rss>2G"), load = take(&triggers, "load>1.5");

	assert_true(cpu.kind == TRIGGER_CPU && cpu.limit == 0.9);
	assert_true(more.kind == TRIGGER_CPU && more.limit == 2.5);
	assert_true(rss.kind == TRIGGER_RSS && rss.limit == 2147483648.0);
	assert_true(load.kind == TRIGGER_LOAD && load.limit == 1.5);
}

TEST(other_conditions_are_refused)
{
	static const char *const texts[] = {"",		"cpu",	   "cpu>",     "cpu>a",
					    "cpu<90%",	"cpu>-1%", "cpu>90%%", "cpu>nan",
					    "disk>90%", "rss>2%",  "rss>2X",   "load>2G"};
	CLEANUP(triggers_deinit) struct triggers triggers = {0};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct error *err = trigger_append(&triggers, texts[i]);

		assert_non_null(err);
		assert_non_null(strstr(error_hint_text(err), "cpu>90%"));
		error_free(err);
	}
	assert_int_equal(triggers.count, 0);
}

static bool fires(struct trigger *trigger, double cpu, uint64_t second)
{
	return trigger_fires(trigger, &(struct trigger_facts){.cpu = cpu}, second * NS_PER_SECOND,
			     REST_NS);
}

TEST(a_trigger_fires_once_while_its_condition_is_true)
{
	CLEANUP(triggers_deinit) struct triggers triggers = {0};
	struct trigger cpu = take(&triggers, "cpu>90%");

	assert_false(fires(&cpu, NAN, 1));
	assert_false(fires(&cpu, 0.9, 2));
	assert_true(fires(&cpu, 0.95, 3));
	assert_false(fires(&cpu, 0.95, 4));
	assert_false(fires(&cpu, 0.95, 100));
	assert_false(fires(&cpu, NAN, 100));
	assert_false(fires(&cpu, 0.95, 100));
	assert_false(fires(&cpu, 0.5, 101));
	assert_true(fires(&cpu, 0.95, 102));
}

TEST(a_condition_that_comes_and_goes_fires_after_a_rest)
{
	CLEANUP(triggers_deinit) struct triggers triggers = {0};
	struct trigger cpu = take(&triggers, "cpu>90%");

	assert_true(fires(&cpu, 1, 10));
	for (uint64_t second = 11; second < 40; second++)
		assert_false(fires(&cpu, second % 2 ? 1 : 0, second));
	assert_true(fires(&cpu, 1, 40));
}

static void check_reason(const char *condition, const char *expected)
{
	CLEANUP(triggers_deinit) struct triggers triggers = {0};
	struct trigger trigger = take(&triggers, condition);
	struct trigger_facts facts = {.cpu = 0.97, .rss_bytes = 3e9, .load = 8.125};
	CLEANUP(free_ptr) char *reason = trigger_reason(&trigger, &facts);

	assert_string_equal(reason, expected);
}

TEST(a_reason_has_the_condition_and_the_value)
{
	check_reason("cpu>90%", "cpu>90%: 97 %");
	check_reason("rss>2G", "rss>2G: 3.0 GB");
	check_reason("load>8", "load>8: 8.12");
}

static void write_text(const char *name, const char *text)
{
	write_file(name, text, strlen(text));
}

/* The name contains text that looks like fields. */
static void write_process(int pid, unsigned ticks, unsigned children_ticks, unsigned pages)
{
	CLEANUP(free_ptr) char *stat = xasprintf("%d/stat", pid);
	CLEANUP(free_ptr) char *statm = xasprintf("%d/statm", pid);
	CLEANUP(free_ptr)
	char *text =
		xasprintf("%d (a) R 1) S 1 1 1 0 -1 4194560 9 9 9 9 %u 0 %u 0 20 0 1 0 5 9 9\n",
			  pid, ticks, children_ticks);
	CLEANUP(free_ptr) char *memory = xasprintf("9999 %u 9 9 0 9 0\n", pages);

	write_text(stat, text);
	write_text(statm, memory);
}

static struct trigger_facts facts_after(struct trigger_reader *reader, uint64_t second)
{
	return trigger_read(reader, second * NS_PER_SECOND);
}

/* Process 10 has two threads, which have started 11 and 12. Process 11 has
 * started 13. */
TEST_IN_FOLDER(a_target_is_its_processes_and_their_descendants)
{
	unsigned second = (unsigned)sysconf(_SC_CLK_TCK);
	pid_t pids[] = {10, 11};
	struct trigger_reader reader = {.proc = folder, .pids = pids, .pid_count = 2};
	struct trigger_facts facts;

	write_text("10/task/10/children", "11 ");
	write_text("10/task/20/children", "12 ");
	write_text("11/task/11/children", "13 ");
	write_process(10, second, second, 1);
	write_process(11, 0, 0, 2);
	write_process(12, 0, 0, 4);
	write_process(13, 5 * second, 0, 8);
	write_process(14, 0, 0, 16);
	write_text("loadavg", "1.50 0.70 0.60 1/99 1234\n");
	facts = facts_after(&reader, 100);
	assert_true(isnan(facts.cpu));
	assert_true(facts.rss_bytes == 15.0 * (double)sysconf(_SC_PAGESIZE));
	assert_true(facts.load == 1.5);
	write_process(10, 2 * second, second, 1);
	write_process(13, 6 * second, 0, 8);
	write_process(14, 9 * second, 0, 16);
	assert_true(fabs(facts_after(&reader, 102).cpu - 1) < 1e-9);
}

TEST_IN_FOLDER(a_target_that_loses_time_with_a_descendant_is_unknown)
{
	pid_t pid = 10;
	struct trigger_reader reader = {.proc = folder, .pids = &pid, .pid_count = 1};

	write_process(10, 500, 0, 1);
	facts_after(&reader, 1);
	write_process(10, 400, 0, 1);
	assert_true(isnan(facts_after(&reader, 2).cpu));
	write_process(10, 400 + (unsigned)sysconf(_SC_CLK_TCK), 0, 1);
	assert_true(fabs(facts_after(&reader, 3).cpu - 1) < 1e-9);
}

static void write_machine(unsigned busy_seconds)
{
	unsigned ticks = busy_seconds * (unsigned)sysconf(_SC_CLK_TCK);
	CLEANUP(free_ptr)
	char *text = xasprintf("cpu  %u 0 %u 7777 888 0 0 0 0 0\ncpu0 1 1 1\ncpu1 1 1 1\nintr 5\n",
			       ticks / 2, ticks / 2);

	write_text("stat", text);
}

TEST_IN_FOLDER(the_machine_is_busy_if_all_its_cpus_are)
{
	struct trigger_reader reader = {.proc = folder};

	write_text("meminfo", "MemTotal:  4000 kB\nMemFree: 10 kB\nMemAvailable:  1000 kB\n");
	write_machine(10);
	assert_true(facts_after(&reader, 1).rss_bytes == 3000.0 * 1024);
	write_machine(12);
	assert_true(fabs(facts_after(&reader, 2).cpu - 1) < 1e-9);
	write_machine(13);
	assert_true(fabs(facts_after(&reader, 3).cpu - 0.5) < 1e-9);
}

TEST_IN_FOLDER(what_cannot_be_read_is_nothing)
{
	pid_t pid = 10;
	struct trigger_reader reader = {.proc = folder, .pids = &pid, .pid_count = 1};
	struct trigger_facts facts;

	facts_after(&reader, 1);
	facts = facts_after(&reader, 2);
	assert_true(facts.cpu == 0 && facts.rss_bytes == 0 && facts.load == 0);
}
