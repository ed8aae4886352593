#include "perf/branch.h"
#include "perf/cpus.h"
#include "perf/default_event.h"
#include "perf/event_terms.h"
#include "perf/refusal.h"
#include "perf/tracepoint.h"

#include "base/alloc.h"

#include "fake_pmus.h"
#include "unit_test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/stat.h>

static const struct pmus no_pmus;

static struct event parse(const char *spec)
{
	struct event event = {0};
	struct error *err = event_parse(spec, &no_pmus, &event);

	if (err)
		print_error("%s: %s\n", spec, error_text(err));
	assert_null(err);
	assert_string_equal(event.name, spec);
	assert_int_equal(event.period, 0);
	assert_int_equal(event.frequency_hz, 0);
	return event;
}

TEST(names_and_aliases_are_the_same_event)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
		enum value_kind kind;
	} cases[] = {
		{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, VALUE_COUNT},
		{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, VALUE_COUNT},
		{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, VALUE_COUNT},
		{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, VALUE_COUNT},
		{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, VALUE_CPU_TIME},
		{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, VALUE_CPU_TIME},
		{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, VALUE_COUNT},
		{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, VALUE_COUNT},
		{"r1a8", PERF_TYPE_RAW, 0x1a8, VALUE_COUNT},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(event_deinit) struct event event = parse(cases[i].name);

		assert_int_equal(event.type, cases[i].type);
		assert_int_equal(event.config, cases[i].config);
		assert_int_equal(event.kind, cases[i].kind);
		assert_false(event.exclude_user || event.exclude_kernel || event.precise);
	}
}

TEST(tracepoints_probes_and_faults_count_occurrences_and_clocks_and_counters_do_not)
{
	assert_true(event_counts_occurrences(PERF_TYPE_TRACEPOINT, 300, 1));
	assert_true(event_counts_occurrences(PERF_TYPE_TRACEPOINT, 300, 100));
	assert_true(event_counts_occurrences(PERF_TYPE_BREAKPOINT, 0, 0));
	assert_true(event_counts_occurrences(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0));
	assert_true(event_counts_occurrences(PERF_TYPE_MAX, 0, 1));
	assert_false(event_counts_occurrences(PERF_TYPE_MAX, 0, 0));
	assert_false(event_counts_occurrences(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1));
	assert_false(event_counts_occurrences(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0));
	assert_false(event_counts_occurrences(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0));
	assert_false(event_counts_occurrences(PERF_TYPE_RAW, 0x1a8, 1000));
}

TEST(modifiers_choose_rings_and_precision)
{
	static const struct {
		const char *name;
		bool exclude_user, exclude_kernel;
		unsigned precise;
	} cases[] = {
		{"cycles:u", false, true, 0},	      {"cycles:k", true, false, 0},
		{"cpu-clock:uk", false, false, 0},    {"cycles:pp", false, false, 2},
		{"instructions:upp", false, true, 2}, {"r1a8:k", true, false, 0},
		{"cycles:P", false, false, 3},	      {"cycles:uh", false, true, 0},
		{"cycles:h", true, true, 0},	      {"cycles:HG", false, false, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(event_deinit) struct event event = parse(cases[i].name);

		assert_int_equal(event.exclude_user, cases[i].exclude_user);
		assert_int_equal(event.exclude_kernel, cases[i].exclude_kernel);
		assert_int_equal(event.precise, cases[i].precise);
		assert_int_equal(event.may_be_less_precise, strchr(cases[i].name, 'P') != NULL);
		assert_int_equal(event.exclude_guest,
				 !strchr(cases[i].name, 'G') && event.type != PERF_TYPE_SOFTWARE);
		assert_false(event.exclude_host);
	}
}

static void refuse(const char *spec, const char *text, const char *hint)
{
	struct event event;
	CLEANUP(error_cleanup) struct error *err = event_parse(spec, &no_pmus, &event);

	assert_non_null(err);
	assert_non_null(strstr(error_text(err), text));
	if (hint)
		assert_non_null(strstr(error_hint_text(err), hint));
}

TEST(an_unknown_name_gets_the_nearest_known_one)
{
	refuse("cycels", "unknown event 'cycels'", "did you mean cycles?");
	refuse("cpuclock", "unknown event 'cpuclock'", "did you mean cpu-clock?");
	refuse("page-fault:u", "unknown event 'page-fault:u'", "did you mean page-faults?");
	refuse("nonsense", "unknown event 'nonsense'", "events are");
	refuse("", "unknown event ''", NULL);
	refuse("cycles:x:y/../z", "unknown PMU 'cycles:x:y'", NULL);
	refuse("cpu/event=1/", "unknown PMU 'cpu'", "machine: none");
	refuse("../../etc:passwd", "unknown PMU '..'", "machine: none");
	refuse("../etc:passwd", "event '../etc:passwd' lacks the second slash", NULL);
	refuse("cycles:pppp", "more than three", NULL);
}

static void write_text(const char *path, const char *text)
{
	CLEANUP(close_file) FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
}

TEST(a_tracepoints_number_and_format_are_read_from_tracefs)
{
	char root[] = "/tmp/prof-test-tracefs-XXXXXX";
	CLEANUP(free_ptr) char *path = NULL;
	const char *roots[] = {"/nonexistent", root, NULL};
	struct tracepoint_format format = {0};
	struct tracepoint_names names = {0};
	struct error *err = NULL;
	uint64_t id = 0;

	assert_non_null(mkdtemp(root));
	path = xasprintf("%s/events/sched/sched_switch/format", root);
	memcpy(path + strlen(path) - strlen("format"), "id", sizeof("id"));
	for (char *slash = strchr(path + strlen(root), '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
	write_text(path, "316\n");
	assert_null(tracepoint_id("sched:sched_switch", roots, &id));
	assert_int_equal(id, 316);

	err = tracepoint_id("sched:sched_swich", roots, &id);
	assert_string_equal(error_text(err), "this kernel has no tracepoint sched:sched_swich");
	error_free(err);
	memcpy(path + strlen(path) - strlen("id"), "format", sizeof("format"));
	write_text(path, "name: sched_switch\nID: 316\n"
			 "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n");
	assert_null(tracepoint_read_format("sched:sched_switch", roots, &format));
	assert_int_equal(format.id, 316);
	assert_non_null(tracepoint_format_find(&format, "prev_pid"));
	tracepoint_format_deinit(&format);
	assert_null(tracepoint_list("s*:*_swit?h", roots, &names));
	assert_int_equal(names.count, 1);
	assert_string_equal(names.items[0], "sched:sched_switch");
	tracepoint_names_deinit(&names);
	write_text(path, "name: sched_switch\n");
	err = tracepoint_read_format("sched:sched_switch", roots, &format);
	assert_non_null(strstr(error_text(err), "has no id"));
	error_free(err);
	remove(path);
	memcpy(path + strlen(path) - strlen("format"), "id", sizeof("id"));
	write_text(path, "garbage\n");
	err = tracepoint_id("sched:sched_switch", roots, &id);
	assert_non_null(strstr(error_text(err), "is not a number"));
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

TEST(a_colon_is_a_modifier_only_after_an_event)
{
	assert_true(tracepoint_is_name("sched:sched_switch"));
	assert_true(tracepoint_is_name("nosuchsubsystem:up"));
	assert_false(tracepoint_is_name("sched:*"));
	assert_true(tracepoint_is_pattern("sched:*"));
	assert_true(tracepoint_is_pattern("s*:sched_swit?h"));
	assert_false(tracepoint_is_pattern("sched:sched_switch"));
	assert_false(tracepoint_is_pattern("../*:x"));
	assert_false(tracepoint_is_name("sched"));
	assert_false(tracepoint_is_name("a:b:c"));
	assert_false(tracepoint_is_name("a/b:c"));
	/* However the lookup ends, it is a tracepoint with that name. */
	refuse("nosuchsubsystem:up", "tracepoint nosuchsubsystem:up", NULL);
	refuse("nosuchsubsystem:nosuch:k", "tracepoint nosuchsubsystem:nosuch", NULL);
}

TEST(the_default_is_cycles_if_the_cpu_counts_them)
{
	static const struct {
		int64_t counted;
		const char *reason;
	} cases[] = {
		{0, "counts nothing"}, {-ENOENT, "none"},   {-EOPNOTSUPP, "none"},
		{-EBUSY, "another"},   {-EACCES, "denies"},
	};

	assert_null(event_why_not_cycles(1500000));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_non_null(strstr(event_why_not_cycles(cases[i].counted), cases[i].reason));
}

TEST(the_default_of_this_machine_comes_with_its_reason)
{
	CLEANUP(event_deinit) struct event event;
	const char *reason = NULL;

	event_default(&no_pmus, &event, &reason);
	assert_string_equal(event.name, reason ? "cpu-clock" : "cycles");
	assert_int_equal(event.kind, reason ? VALUE_CPU_TIME : VALUE_COUNT);
}

TEST(lists_of_cpus_are_read)
{
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

static void assert_configs(const struct event *event, const uint64_t *configs)
{
	assert_true(event->config == configs[0]);
	assert_true(event->config1 == configs[1]);
	assert_true(event->config2 == configs[2]);
	assert_true(event->config3 == configs[3]);
}

TEST(terms_become_bits_of_the_config)
{
	static const struct {
		const char *const *pmus;
		const char *spec;
		uint32_t type;
		uint64_t configs[4];
	} cases[] = {
		{intel_pmus, "cpu/event=0x3c,umask=0x1,cmask=1,inv/u", 4, {0x180013c}},
		{intel_pmus, "cpu/event=60/", 4, {0x3c}},
		{intel_pmus, "cpu/inv=0,edge=1/", 4, {0x40000}},
		{intel_pmus, "cpu/config=0xabc/", 4, {0xabc}},
		{intel_pmus, "cpu/umask=2,config=0xff00ff/", 4, {0xff02ff}},
		{intel_pmus, "cpu/config1=1,config2=2,config3=3/", 4, {0, 1, 2, 3}},
		{intel_pmus, "cpu/r1a8/", 4, {0x1a8}},
		{intel_pmus, "cpu/offcore_rsp=0xffffffffffffffff/", 4, {0, UINT64_MAX}},
		{intel_pmus, "cpu//", 4, {0}},
		{intel_pmus, "cpu/ event = 1 , umask=1/", 4, {0x101}},
		/* An event of sysfs. The user's terms replace its terms, in any
		 * order. */
		{intel_pmus, "cpu/mem-loads/", 4, {0x1cd, 3}},
		{intel_pmus, "cpu/mem-loads,ldlat=30/P", 4, {0x1cd, 30}},
		{intel_pmus, "cpu/ldlat=30,mem-loads/", 4, {0x1cd, 30}},
		{intel_pmus, "uncore_imc_0/data_reads/", 20, {0x50}},
		/* A field with separate bits. */
		{amd_pmus, "cpu/event=0x1ff/", 4, {0x1000000ff}},
		{amd_pmus, "cpu/event=0xfff,umask=7/", 4, {0xf000007ff}},
		{amd_pmus, "cpu/branch-misses/", 4, {0xc3}},
		{amd_pmus, "ibs_op/cnt_ctl/", 11, {0x80000}},
		/* Generic events of all machines. */
		{intel_pmus, "cpu/cycles/", PERF_TYPE_HARDWARE, {0}},
		{intel_pmus, "cpu/instructions,period=5/", PERF_TYPE_HARDWARE, {1}},
		{intel_pmus, "cpu/LLC-load-misses/", PERF_TYPE_HW_CACHE, {0x10002}},
		{alder_lake_pmus, "cpu_core/cycles/", PERF_TYPE_HARDWARE, {UINT64_C(4) << 32}},
		{alder_lake_pmus,
		 "cpu_atom/branches/",
		 PERF_TYPE_HARDWARE,
		 {UINT64_C(10) << 32 | 4}},
		{alder_lake_pmus, "cpu_atom/event=0x3c/", 10, {0x3c}},
		{apple_pmus, "apple_icestorm_pmu/cycles/", 9, {2}},
		{software_pmus, "software/config=1/", PERF_TYPE_SOFTWARE, {1}},
		{software_pmus, "msr/tsc/", 9, {0}},
		{software_pmus, "uprobe/ref_ctr_offset=0x12,retprobe/", 8, {0x1200000001}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct event event = {0};
		struct pmus pmus;

		make_folder(NULL);
		pmus = read_pmus(cases[i].pmus);
		assert_null(event_parse(cases[i].spec, &pmus, &event));
		assert_string_equal(event.name, cases[i].spec);
		assert_int_equal(event.type, cases[i].type);
		assert_configs(&event, cases[i].configs);
		assert_int_equal(event.variant_count, 1);
		event_deinit(&event);
		pmus_deinit(&pmus);
		remove_folder(NULL);
	}
}

TEST_IN_FOLDER(an_event_of_a_pmu_has_its_cpus_and_kind)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(alder_lake_pmus);
	CLEANUP(event_deinit) struct event event = {0};

	assert_null(event_parse("cpu_atom/cycles/u", &pmus, &event));
	assert_int_equal(event.pmu_kind, PMU_CORE);
	assert_string_equal(event.variants[0].pmu, "cpu_atom");
	assert_false(event_variant_is_of(&event, 0, 0));
	assert_true(event_variant_is_of(&event, 0, 1));
	assert_true(event.exclude_kernel && event.exclude_guest);
}

TEST_IN_FOLDER(events_may_have_their_own_rate_name_and_call_graph)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(intel_pmus);
	static const struct {
		const char *spec, *name;
		uint64_t period, frequency_hz;
		bool has_call_graph;
		enum call_graph call_graph;
		uint32_t stack_bytes;
	} cases[] = {
		{.spec = "cycles/period=100000/",
		 .name = "cycles/period=100000/",
		 .period = 100000},
		{.spec = "cycles/freq=50,name=mine/uk", .name = "mine", .frequency_hz = 50},
		{.spec = "cpu/event=1,period=7,name=a b/", .name = "a b", .period = 7},
		{.spec = "r1a8/period=5,freq=7,name=x/", .name = "x", .frequency_hz = 7},
		{.spec = "cpu-clock/call-graph=fp,name=x/",
		 .name = "x",
		 .has_call_graph = true,
		 .call_graph = CALL_GRAPH_FP},
		{.spec = "r1a8/call-graph=dwarf,stack-size=4095,name=x/",
		 .name = "x",
		 .has_call_graph = true,
		 .call_graph = CALL_GRAPH_DWARF,
		 .stack_bytes = 4096},
		{.spec = "cpu-clock//u", .name = "cpu-clock//u"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(event_deinit) struct event event = {0};
		CLEANUP(free_ptr) char *name = event_spec_name(cases[i].spec);

		assert_null(event_parse(cases[i].spec, &pmus, &event));
		assert_string_equal(event.name, cases[i].name);
		assert_string_equal(name, cases[i].name);
		assert_int_equal(event.period, cases[i].period);
		assert_int_equal(event.frequency_hz, cases[i].frequency_hz);
		assert_int_equal(event.has_call_graph, cases[i].has_call_graph);
		assert_int_equal(event.call_graph, cases[i].call_graph);
		assert_int_equal(event.stack_bytes, cases[i].stack_bytes);
	}
}

TEST_IN_FOLDER(wrong_terms_are_answered_with_what_there_is)
{
	static const char *const damaged[] = {
		"odd/type=40",
		"odd/format/x=config:64",
		"odd/events/loop=loop",
		"odd/events/nothing=,",
		"odd/events/two=event,event",
		"odd/events/core=event=1,core=?",
		"odd/format/event=config:0-7",
		"odd/format/core=config:8-15",
		NULL,
	};
	static const struct {
		const char *spec, *text, *hint;
	} cases[] = {
		{"nopmu/x=1/", "unknown PMU 'nopmu'", "PMUs of this machine: cpu, odd, power"},
		{"cycels/period=1/", "unknown PMU 'cycels'", "did you mean cycles?"},
		{"cpu/bogus/", "the PMU cpu has no event or term 'bogus'",
		 "events of cpu: cpu-cycles, mem-loads; terms: cmask,"},
		{"cpu/bogus=1/", "no event or term 'bogus'", "terms: cmask,"},
		{"cpu/mem-loads=1/", "no event or term 'mem-loads'", NULL},
		{"cpu/../../x/", "no event or term '..'", NULL},
		{"cpu/..=1/", "no event or term '..'", NULL},
		{"cpu/mem-loads.scale/", "no event or term", NULL},
		{"cpu/umask=0x100/", "umask=0x100 is too large: the most is 0xff", NULL},
		{"cpu/inv=2/", "the most is 0x1", NULL},
		{"cpu/event=-1/", "event=-1 is not a number", NULL},
		{"cpu/event=0x10000000000000000/", "is not a number of 64 bits", NULL},
		{"cpu/event=18446744073709551616/", "is not a number of 64 bits", NULL},
		{"cpu/event=/", "event needs a value", NULL},
		{"cpu/config/", "config needs a value", NULL},
		{"cpu/event=1", "lacks the second slash", NULL},
		{"cpu/event=1,/", "a term has no name", NULL},
		{"cpu/=1/", "a term has no name", NULL},
		{"cpu/event=1/x", "unknown modifier 'x'", "u, k, h, G, H, p, P"},
		{"cpu/event=1/:u", "unknown modifier ':u'", NULL},
		{"cpu/cycles,event=1/", "takes no terms of the PMU", NULL},
		{"power/cycles/", "no event or term 'cycles'", NULL},
		{"cycles/event=1/", "cycles has no term 'event'", "period, freq"},
		{"cycles/period=0/", "period must be at least 1", NULL},
		{"cycles/freq/", "freq needs a value", NULL},
		{"cycles/name/", "name needs a value", NULL},
		{"cycles/call-graph=guess/", "call-graph is", NULL},
		{"cycles/stack-size=1/", "stack-size is 512 to", NULL},
		{"odd/x=1/", "format/x does not list bits", NULL},
		{"odd/loop/", "no event or term 'loop'", NULL},
		{"odd/nothing/", "a term has no name", NULL},
		{"odd/core/", "core needs core=VALUE", NULL},
	};
	CLEANUP(pmus_deinit) struct pmus pmus = {0};
	CLEANUP(event_deinit) struct event event = {0};

	write_pmus(intel_pmus);
	pmus = read_pmus(damaged);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(error_cleanup)
		struct error *err = event_parse(cases[i].spec, &pmus, &event);

		assert_non_null(err);
		assert_non_null(strstr(error_text(err), cases[i].text));
		if (cases[i].hint)
			assert_non_null(strstr(error_hint_text(err), cases[i].hint));
	}
	assert_null(event_parse("odd/core,core=5/", &pmus, &event));
	assert_int_equal(event.config, 0x501);
}

TEST_IN_FOLDER(an_event_has_a_bounded_number_of_terms)
{
	char spec[2048] = "cpu/";

	for (unsigned i = 0; i < EVENT_TERMS_MAX + 1; i++)
		strcat(spec, "edge=1,");
	strcat(spec, "inv/");
	refuse(spec, "more than 64 terms", NULL);
}

TEST(caches_have_events)
{
	static const struct {
		const char *name;
		uint64_t config;
	} cases[] = {
		{"L1-dcache-loads", 0x0},
		{"L1-dcache-load-misses", 0x10000},
		{"L1-icache-load-misses", 0x10001},
		{"LLC-stores", 0x102},
		{"dTLB-store-misses", 0x10103},
		{"node-prefetch-misses", 0x10206},
		{"branch-loads", 0x5},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(event_deinit) struct event event = parse(cases[i].name);
		CLEANUP(free_ptr) char *name = event_name_of(event.type, event.config);

		assert_int_equal(event.type, PERF_TYPE_HW_CACHE);
		assert_int_equal(event.config, cases[i].config);
		assert_string_equal(name, cases[i].name);
	}
	refuse("L1-dcache-misses", "unknown event", NULL);
	refuse("LLC-", "unknown event", NULL);
}

TEST(lists_of_events_are_split_at_commas_outside_slashes)
{
	assert_int_equal(event_spec_len("cycles"), 6);
	assert_int_equal(event_spec_len("cycles:u,instructions"), 8);
	assert_int_equal(event_spec_len("cpu/event=1,umask=2/u,cycles"), 21);
	assert_int_equal(event_spec_len("cpu/event=1,umask=2"), 19);
	assert_int_equal(event_spec_len(",a"), 0);
	assert_int_equal(event_spec_len(""), 0);
}

TEST(the_name_of_an_event_does_not_show_its_pmu)
{
	CLEANUP(free_ptr) char *name = event_name_of(PERF_TYPE_HARDWARE, UINT64_C(10) << 32);

	assert_string_equal(name, "cycles");
}

TEST(lists_of_cpus_are_written)
{
	static const unsigned cpus[] = {0, 1, 2, 5, 7, 8};
	CLEANUP(free_ptr) char *text = cpus_text(cpus, 6);
	CLEANUP(free_ptr) char *one = cpus_text(cpus + 3, 1);

	assert_string_equal(text, "0-2,5,7-8");
	assert_string_equal(one, "5");
}

TEST(a_refusal_names_its_cause)
{
	struct event cycles = {.name = (char[]){"cycles"}};
	struct event precise = {.name = (char[]){"cycles:p"}, .precise = 1};
	struct event most_precise = {
		.name = (char[]){"cycles:P"}, .precise = 3, .may_be_less_precise = true};
	struct event_variant of_core = {.pmu = (char[]){"cpu"}};
	struct event_variant of_msr = {.pmu = (char[]){"msr"}};
	struct event core = {
		.name = (char[]){"cpu/event=1/"}, .variants = &of_core, .variant_count = 1};
	struct event other = {.name = (char[]){"msr/tsc/"},
			      .variants = &of_msr,
			      .variant_count = 1,
			      .pmu_kind = PMU_OTHER};
	struct event branches = {.name = (char[]){"cycles"},
				 .fields.branch_filter = branch_filter_any};
	struct event calls = {.name = (char[]){"cycles"},
			      .fields.branch_filter = branch_filter_call_stack};
	struct event filtered = {.name = (char[]){"cpu-clock"},
				 .type = PERF_TYPE_SOFTWARE,
				 .fields.branch_filter = PERF_SAMPLE_BRANCH_IND_CALL};
	const struct {
		struct refusal refusal;
		struct circumstances around;
		const char *text, *hint;
	} cases[] = {
		{{EACCES, &cycles, 5, 0}, {.paranoid = 3}, "paranoid is 3", "paranoid=1"},
		{{EACCES, &cycles, -1, 0}, {.paranoid = 2}, "other users' processes", "paranoid=0"},
		{{EACCES, &cycles, 5, 0},
		 {.paranoid = 1, .other_user = true},
		 "another user",
		 "sudo"},
		{{EACCES, &cycles, 5, 0},
		 {.paranoid = 2, .undumpable = true, .guarded = true},
		 "process 5: it is not dumpable",
		 "as root"},
		{{EACCES, NULL, 5, 0},
		 {.paranoid = 2, .guarded = true},
		 "capabilities that prof lacks",
		 "as root"},
		{{EACCES, &cycles, 5, 0},
		 {.paranoid = 2, .other_user = true, .guarded = true},
		 "another user",
		 "sudo"},
		{{EACCES, &cycles, 5, 0},
		 {.privileged = true, .guarded = true},
		 "cycles",
		 "security module"},
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
		{{EPERM, &cycles, 5, 0}, {.no_proc = true}, "cycles", "mount -t proc"},
		{{EMFILE, &cycles, 5, 0}, {0}, "Too many open files", "as root"},
		{{ENOENT, &cycles, 5, 0}, {0}, "no counter for cycles", "cpu-clock"},
		{{EOPNOTSUPP, &precise, 5, 0}, {0}, "precisely", "modifier p"},
		{{ENOENT, &most_precise, 5, 0}, {0}, "no counter for cycles:P", "cpu-clock"},
		{{EBUSY, &cycles, 5, 0}, {0}, "cycles", "another profiler"},
		{{EINVAL, &cycles, 5, 0}, {0}, "cannot sample cycles", NULL},
		{{EINVAL, &core, 5, 0}, {0}, "cpu/event=1/", "the PMU cpu does not take"},
		{{EINVAL, &other, 5, 0}, {0}, "msr/tsc/", "the PMU msr may only count"},
		{{EOPNOTSUPP, &other, 5, 0}, {0}, "msr/tsc/", "perf stat -e msr/tsc/"},
		{{EOPNOTSUPP, &branches, 5, 0}, {0}, "virtual machine has no branch", "without -b"},
		{{EINVAL, &calls, 5, 0}, {0}, "virtual machine has no branch", "dwarf"},
		{{ENODEV, &filtered, 5, 0}, {0}, "only hardware events", "try -b"},
		{{EACCES, &branches, 5, 0}, {.paranoid = 3}, "paranoid is 3", "paranoid=1"},
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

TEST(capabilities_and_seccomp_are_read_from_the_status)
{
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

TEST(a_user_namespace_is_known_by_its_map)
{
	assert_false(maps_users("         0          0 4294967295\n"));
	assert_true(maps_users("         0       1000          1\n"));
	assert_true(maps_users("         0          0      65536\n"));
	assert_false(maps_users(""));
}
