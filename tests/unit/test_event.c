#include "perf/cpus.h"
#include "perf/event.h"
#include "perf/refusal.h"
#include "perf/tracepoint.h"

#include "base/alloc.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static struct event parse(const char *spec)
{
	struct event event = {0};
	struct error *err = event_parse(spec, &event);

	if (err)
		print_error("%s: %s\n", spec, error_text(err));
	assert_null(err);
	assert_string_equal(event.name, spec);
	assert_int_equal(event.period, 0);
	assert_int_equal(event.frequency_hz, 0);
	return event;
}

static void names_and_aliases_are_the_same_event(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
		bool counts_ns;
	} cases[] = {
		{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
		{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
		{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false},
		{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, false},
		{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true},
		{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true},
		{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
		{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false},
		{"r1a8", PERF_TYPE_RAW, 0x1a8, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(event_deinit) struct event event = parse(cases[i].name);

		assert_int_equal(event.type, cases[i].type);
		assert_int_equal(event.config, cases[i].config);
		assert_int_equal(event.counts_ns, cases[i].counts_ns);
		assert_false(event.exclude_user || event.exclude_kernel || event.precise);
	}
}

static void modifiers_choose_rings_and_precision(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		bool exclude_user, exclude_kernel;
		unsigned precise;
	} cases[] = {
		{"cycles:u", false, true, 0},	      {"cycles:k", true, false, 0},
		{"cpu-clock:uk", false, false, 0},    {"cycles:pp", false, false, 2},
		{"instructions:upp", false, true, 2}, {"r1a8:k", true, false, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(event_deinit) struct event event = parse(cases[i].name);

		assert_int_equal(event.exclude_user, cases[i].exclude_user);
		assert_int_equal(event.exclude_kernel, cases[i].exclude_kernel);
		assert_int_equal(event.precise, cases[i].precise);
	}
}

static void refuse(const char *spec, const char *text, const char *hint)
{
	struct event event;
	CLEANUP(error_cleanup) struct error *err = event_parse(spec, &event);

	assert_non_null(err);
	assert_non_null(strstr(error_text(err), text));
	if (hint)
		assert_non_null(strstr(error_hint_text(err), hint));
}

static void an_unknown_name_gets_the_nearest_known_one(void **state)
{
	(void)state;
	refuse("cycels", "unknown event 'cycels'", "did you mean cycles?");
	refuse("cpuclock", "unknown event 'cpuclock'", "did you mean cpu-clock?");
	refuse("page-fault:u", "unknown event 'page-fault:u'", "did you mean page-faults?");
	refuse("nonsense", "unknown event 'nonsense'", "events are");
	refuse("", "unknown event ''", NULL);
	refuse("cycles:x/../y", "unknown event", NULL);
	refuse("../../etc:passwd", "unknown event", NULL);
	refuse("cycles:pppp", "more than three times", NULL);
}

static void write_file(const char *path, const char *text)
{
	CLEANUP(close_file) FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
}

static void a_tracepoints_number_is_read_from_tracefs(void **state)
{
	(void)state;
	char root[] = "/tmp/prof-test-tracefs-XXXXXX";
	CLEANUP(free_ptr) char *path = NULL;
	const char *roots[] = {"/nonexistent", root, NULL};
	struct error *err = NULL;
	uint64_t id = 0;

	assert_non_null(mkdtemp(root));
	path = xasprintf("%s/events/sched/sched_switch/id", root);
	for (char *slash = strchr(path + strlen(root), '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
	write_file(path, "316\n");
	assert_null(tracepoint_id("sched:sched_switch", roots, &id));
	assert_int_equal(id, 316);

	err = tracepoint_id("sched:sched_swich", roots, &id);
	assert_string_equal(error_text(err), "this kernel has no tracepoint sched:sched_swich");
	error_free(err);
	write_file(path, "garbage\n");
	err = tracepoint_id("sched:sched_switch", roots, &id);
	assert_non_null(strstr(error_text(err), "holds no number"));
	error_free(err);

	roots[1] = NULL;
	err = tracepoint_id("sched:sched_switch", roots, &id);
	assert_int_equal(error_number(err), ENOENT);
	assert_non_null(strstr(error_hint_text(err), "mount -t tracefs"));
	error_free(err);

	while (strcmp(path, root) != 0) {
		remove(path);
		*strrchr(path, '/') = '\0';
	}
	remove(root);
}

static void a_colon_is_a_modifier_only_behind_an_event(void **state)
{
	(void)state;
	assert_true(tracepoint_is_name("sched:sched_switch"));
	assert_true(tracepoint_is_name("nosuchsubsystem:up"));
	assert_false(tracepoint_is_name("sched"));
	assert_false(tracepoint_is_name("a:b:c"));
	assert_false(tracepoint_is_name("a/b:c"));
	/* Wherever it is looked up and however that ends, it is a tracepoint by that name. */
	refuse("nosuchsubsystem:up", "tracepoint nosuchsubsystem:up", NULL);
	refuse("nosuchsubsystem:nosuch:k", "tracepoint nosuchsubsystem:nosuch", NULL);
}

static void the_default_is_cycles_where_they_count(void **state)
{
	(void)state;
	static const struct {
		int64_t counted;
		const char *name, *reason;
	} cases[] = {
		{1500000, "cycles", NULL},	  {0, "cpu-clock", "counts nothing"},
		{-ENOENT, "cpu-clock", "none"},	  {-EOPNOTSUPP, "cpu-clock", "none"},
		{-EBUSY, "cpu-clock", "another"}, {-EACCES, "cpu-clock", "refuses"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(event_deinit) struct event event;
		const char *reason = "untouched";

		event_choose_default(cases[i].counted, &event, &reason);
		assert_string_equal(event.name, cases[i].name);
		if (cases[i].reason)
			assert_non_null(strstr(reason, cases[i].reason));
		else
			assert_null(reason);
	}
}

static void the_default_of_this_machine_comes_with_its_reason(void **state)
{
	(void)state;
	CLEANUP(event_deinit) struct event event;
	const char *reason = NULL;

	event_default(&event, &reason);
	assert_string_equal(event.name, reason ? "cpu-clock" : "cycles");
	assert_int_equal(event.counts_ns, reason != NULL);
}

static void lists_of_cpus_are_read(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "x", "1-", "3-1", "1,,2", "1 2", "-1", "65536", "1,"};
	unsigned *cpus = NULL;
	size_t count = 0;

	assert_true(cpus_parse("8,0-2,1\n", &cpus, &count));
	assert_int_equal(count, 4);
	assert_int_equal(cpus[2], 2);
	assert_int_equal(cpus[3], 8);
	free(cpus);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(cpus_parse(bad[i], &cpus, &count));
}

static void a_refusal_names_what_stood_in_the_way(void **state)
{
	(void)state;
	struct event cycles = {.name = (char[]){"cycles"}};
	struct event precise = {.name = (char[]){"cycles:p"}, .precise = 1};
	const struct {
		struct refusal refusal;
		struct circumstances around;
		const char *text, *hint;
	} cases[] = {
		{{EACCES, &cycles, 5, 0}, {.paranoid = 3}, "paranoid is 3", "paranoid=1"},
		{{EACCES, &cycles, -1, 0}, {.paranoid = 2}, "other users' processes", "paranoid=0"},
		{{EACCES, &cycles, 5, 0},
		 {.paranoid = 1, .foreign_user = true},
		 "another user",
		 "sudo"},
		{{EPERM, &cycles, 5, 0},
		 {.paranoid = 2, .privileged = true, .seccomp = true},
		 "seccomp",
		 "--cap-add PERFMON"},
		{{EPERM, &cycles, 5, 0}, {.paranoid = 1, .seccomp = true}, "seccomp", "--cap-add"},
		{{EPERM, NULL, 0, 0}, {.paranoid = 2, .seccomp = true}, "seccomp", "--cap-add"},
		{{EACCES, NULL, 0, 0},
		 {.paranoid = 3, .seccomp = true},
		 "paranoid is 3",
		 "paranoid=1"},
		{{ENOSYS, NULL, 0, 0}, {.seccomp = true}, "seccomp", "--cap-add"},
		{{ENOSYS, NULL, 0, 0}, {0}, "without perf events", NULL},
		{{EPERM, &cycles, 5, 0}, {.privileged = true}, "cycles", "security module"},
		{{EMFILE, &cycles, 5, 0}, {0}, "Too many open files", "as root"},
		{{ENOENT, &cycles, 5, 0}, {0}, "no counter for cycles", "cpu-clock"},
		{{EOPNOTSUPP, &precise, 5, 0}, {0}, "precisely", "modifier p"},
		{{EBUSY, &cycles, 5, 0}, {0}, "cycles", "another profiler"},
		{{ESRCH, &cycles, 5, 0}, {0}, "process 5: No such process", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(error_cleanup)
		struct error *err = refusal_explain_in(&cases[i].refusal, &cases[i].around);

		assert_int_equal(error_number(err), cases[i].refusal.number);
		assert_non_null(strstr(error_text(err), cases[i].text));
		if (cases[i].hint)
			assert_non_null(strstr(error_hint_text(err), cases[i].hint));
		else
			assert_null(error_hint_text(err));
	}
}

static void capabilities_and_seccomp_are_read_from_the_status(void **state)
{
	(void)state;
	struct circumstances around = {0};

	assert_true(
		circumstances_from_status("Name:\tx\nCapEff:\t0000004000000000\nNoNewPrivs:\t0\n"
					  "Seccomp:\t0\nSeccomp_filters:\t0\n",
					  &around));
	assert_true(around.privileged);
	assert_false(around.seccomp);
	assert_true(circumstances_from_status("Name:\tx\nCapEff:\t00000000a80425fb\nSeccomp:\t2\n",
					      &around));
	assert_false(around.privileged);
	assert_true(around.seccomp);
	assert_false(circumstances_from_status("Name:\tx\n", &around));
}

static void a_user_namespace_is_known_by_its_map(void **state)
{
	(void)state;
	assert_false(maps_users("         0          0 4294967295\n"));
	assert_true(maps_users("         0       1000          1\n"));
	assert_true(maps_users("         0          0      65536\n"));
	assert_false(maps_users(""));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_aliases_are_the_same_event),
		cmocka_unit_test(modifiers_choose_rings_and_precision),
		cmocka_unit_test(an_unknown_name_gets_the_nearest_known_one),
		cmocka_unit_test(a_tracepoints_number_is_read_from_tracefs),
		cmocka_unit_test(a_colon_is_a_modifier_only_behind_an_event),
		cmocka_unit_test(the_default_is_cycles_where_they_count),
		cmocka_unit_test(the_default_of_this_machine_comes_with_its_reason),
		cmocka_unit_test(lists_of_cpus_are_read),
		cmocka_unit_test(a_refusal_names_what_stood_in_the_way),
		cmocka_unit_test(capabilities_and_seccomp_are_read_from_the_status),
		cmocka_unit_test(a_user_namespace_is_known_by_its_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
