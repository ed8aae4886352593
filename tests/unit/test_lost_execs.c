#include "record/lost_execs.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include "unit_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* No command in PATH has this name. */
#define NAME "no-such-program"

static void feed(struct lost_execs *lost, enum record_type type, pid_t pid, pid_t tid)
{
	lost_execs_feed(lost, &(struct record){.type = type, .pid = pid, .tid = tid});
}

static void feed_name(struct lost_execs *lost, pid_t pid, const char *name, bool is_exec)
{
	lost_execs_feed(lost, &(struct record){.type = RECORD_COMM,
					       .pid = pid,
					       .tid = pid,
					       .comm = {.name = name, .exec = is_exec}});
}

TEST(an_end_before_the_first_mapping_is_a_loss)
{
	struct lost_execs lost = {0};

	feed_name(&lost, 7, NAME, true);
	feed(&lost, RECORD_EXIT, 8, 8);
	assert_int_equal(lost.count, 0);
	feed(&lost, RECORD_EXIT, 7, 7);
	assert_int_equal(lost.count, 1);
	assert_string_equal(lost.items[0].name, NAME);
	assert_null(lost.items[0].path);
	feed(&lost, RECORD_EXIT, 7, 7);
	assert_int_equal(lost.items[0].count, 1);
	feed_name(&lost, 9, NAME, true);
	feed(&lost, RECORD_EXIT, 9, 9);
	assert_int_equal(lost.count, 1);
	assert_int_equal(lost.items[0].count, 2);
	lost_execs_deinit(&lost);
}

TEST(other_programs_are_mapped_first)
{
	struct lost_execs lost = {0};

	feed_name(&lost, 7, NAME, true);
	feed(&lost, RECORD_MMAP, 7, 7);
	feed(&lost, RECORD_EXIT, 7, 7);
	feed_name(&lost, 7, NAME, false);
	feed(&lost, RECORD_EXIT, 7, 7);
	feed_name(&lost, 7, NAME, true);
	feed(&lost, RECORD_LOST, 0, 0);
	feed(&lost, RECORD_EXIT, 7, 7);
	assert_int_equal(lost.count, 0);
	lost_execs_deinit(&lost);
}

TEST(what_is_kept_is_bounded)
{
	struct lost_execs lost = {0};

	for (pid_t pid = 1; pid <= BEGUN_EXECS_MAX + 3; pid++) {
		CLEANUP(free_ptr) char *name = xasprintf(NAME "%d", pid % 10);

		feed_name(&lost, pid, name + 3, true);
	}
	assert_int_equal(lost.begun_count, BEGUN_EXECS_MAX);
	for (pid_t pid = 1; pid <= BEGUN_EXECS_MAX + 3; pid++)
		feed(&lost, RECORD_EXIT, pid, pid);
	assert_int_equal(lost.begun_count, 0);
	assert_int_equal(lost.count, LOST_EXECS_MAX);
	assert_true(lost.unlisted > 0);
	lost_execs_deinit(&lost);
}

TEST(the_text_has_the_reason_and_what_helps)
{
	const struct {
		enum exec_privileges privileges;
		const char *reason, *help;
	} cases[] = {
		{EXEC_SETS_USER, "set-user-ID", "as root"},
		{EXEC_SETS_GROUP, "set-group-ID", "as root"},
		{EXEC_ADDS_CAPABILITIES, "file capabilities", "cp /bin/x"},
		{EXEC_FORBIDS_READING, "may not read", "chmod a+r /bin/x"},
		{EXEC_KEEPS_PRIVILEGES, "gained privileges, or", "as root"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct lost_exec exec = {.name = (char[]){"x"},
					       .path = (char[]){"/bin/x"},
					       .privileges = cases[i].privileges,
					       .count = i + 1};
		CLEANUP(free_ptr) char *text = lost_exec_text(&exec, i % 2);

		assert_non_null(strstr(text, "/bin/x"));
		assert_non_null(strstr(text, cases[i].reason));
		assert_non_null(strstr(text, cases[i].help));
		assert_int_equal(strstr(text, "executions)") != NULL, i > 0);
		assert_int_equal(strstr(text, "paranoid=0") != NULL, i % 2);
	}
}
