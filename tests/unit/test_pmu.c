#include "perf/pmu.h"

#include "base/alloc.h"

#include "fake_pmus.h"
#include "unit_test.h"

#include <string.h>
#include <unistd.h>

static void assert_name_is(char *name, const char *expected)
{
	assert_string_equal(name, expected);
	free(name);
}

TEST_IN_FOLDER(pmus_are_core_package_or_other)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(intel_pmus);

	assert_int_equal(pmus.count, 3);
	assert_int_equal(pmus.ignored, 0);
	assert_int_equal(pmus_find(&pmus, "cpu")->kind, PMU_CORE);
	assert_int_equal(pmus_find(&pmus, "cpu")->type, 4);
	assert_null(pmus_find(&pmus, "cpu")->cpus);
	assert_int_equal(pmus_find(&pmus, "power")->kind, PMU_PACKAGE);
	assert_int_equal(pmus_find(&pmus, "power")->cpu_count, 1);
	assert_null(pmus_find(&pmus, "cpu_core"));
	assert_false(pmus_are_hybrid(&pmus));
	assert_name_is(pmus_names(&pmus), "cpu, power, uncore_imc_0");
}

TEST_IN_FOLDER(a_machine_whose_core_pmus_share_the_cpus_is_hybrid)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(alder_lake_pmus);
	const struct pmu *atom = pmus_find(&pmus, "cpu_atom");

	assert_true(pmus_are_hybrid(&pmus));
	assert_int_equal(atom->kind, PMU_CORE);
	assert_int_equal(atom->cpu_count, 1);
	assert_int_equal(atom->cpus[0], 1);
}

TEST_IN_FOLDER(one_core_pmu_of_some_cpus_is_not_hybrid)
{
	static const char *const files[] = {"armv8_pmuv3_0/type=8", "armv8_pmuv3_0/cpus=0-3", NULL};
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(files);

	assert_int_equal(pmus_find(&pmus, "armv8_pmuv3_0")->cpu_count, 4);
	assert_false(pmus_are_hybrid(&pmus));
}

TEST_IN_FOLDER(without_sysfs_there_are_no_pmus)
{
	CLEANUP(pmus_deinit) struct pmus pmus = {0};

	pmus_read("/nonexistent", &pmus);
	assert_int_equal(pmus.count, 0);
	assert_int_equal(pmus.ignored, 0);
	assert_name_is(pmus_names(&pmus), "none");
}

TEST_IN_FOLDER(damaged_pmus_are_left_out_and_counted)
{
	static const char *const files[] = {
		"good/type=7",
		"no_number/type=x",
		"negative/type=-1",
		"too_large/type=4294967296",
		"empty_type/type=",
		"many_cpus/type=8",
		"many_cpus/cpus=0-1000000",
		"no_cpus/type=8",
		"no_cpus/cpus=",
		"reversed/type=8",
		"reversed/cpumask=3-1",
		"vanished/uevent=",
		"odd name/type=8",
		NULL,
	};
	char huge[PMU_TEXT_MAX + 1];
	CLEANUP(free_ptr) char *loop = path_of("loop");
	CLEANUP(pmus_deinit) struct pmus pmus = {0};

	memset(huge, '1', sizeof(huge));
	write_pmus(files);
	free(path_of("directory/type/x")); /* creates the directory "type" */
	write_file("huge/type", huge, sizeof(huge));
	write_file("nul/type", "1\0002", 3);
	write_file("unterminated/type", "6", 1);
	assert_int_equal(symlink("loop", loop), 0);
	pmus_read(folder, &pmus);
	assert_name_is(pmus_names(&pmus), "good, unterminated");
	assert_int_equal(pmus.ignored, 13);
	assert_non_null(pmus.ignored_name);
}

TEST_IN_FOLDER(a_message_names_sixteen_pmus_at_most)
{
	CLEANUP(pmus_deinit) struct pmus pmus = {0};
	CLEANUP(free_ptr) char *names = NULL;

	for (unsigned i = 0; i < 100; i++) {
		CLEANUP(free_ptr) char *name = xasprintf("uncore_%02u/type", i);

		write_file(name, "30\n", 3);
	}
	pmus_read(folder, &pmus);
	assert_int_equal(pmus.count, 100);
	names = pmus_names(&pmus);
	assert_non_null(strstr(names, "uncore_15, …"));
}

TEST_IN_FOLDER(formats_are_bits_of_a_field)
{
	static const struct {
		const char *text;
		unsigned field;
		uint64_t bits;
	} cases[] = {
		{"config:0-7", 0, 0xff},
		{"config:0-7,32-35", 0, 0xf000000ff},
		{"config1:0-63", 1, UINT64_MAX},
		{"config2:5", 2, 0x20},
		{"config3:63", 3, UINT64_C(1) << 63},
	};
	static const char *const bad[] = {
		"",	      "config",	    "config:",	    "config:64", "config:0-64",
		"config:7-0", "config4:0",  "config:0,",    "config:-1", "config:0-7 ",
		"kind:0",     "config:0--", "config:0-7,x", "config::1", "config:99999999999999999",
	};
	struct pmu_format format;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(pmu_format_parse(cases[i].text, &format));
		assert_int_equal(format.field, cases[i].field);
		assert_true(format.bits == cases[i].bits);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(pmu_format_parse(bad[i], &format));
}

TEST_IN_FOLDER(events_and_terms_are_found_by_name)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(intel_pmus);
	const struct pmu *cpu = pmus_find(&pmus, "cpu");
	CLEANUP(free_ptr) char *text = NULL;
	char *other = NULL;
	struct pmu_format format;

	assert_null(pmu_find_format(cpu, "cmask", &format));
	assert_true(format.bits == 0xff000000);
	assert_null(pmu_find_format(cpu, "nonsense", &format));
	assert_true(format.bits == 0);
	assert_null(pmu_find_event(cpu, "mem-loads", &text));
	assert_string_equal(text, "event=0xcd,umask=0x1,ldlat=3");
	/* Files that belong to an event, and a path outside of events/. */
	assert_null(pmu_find_event(cpu, "mem-loads.scale", &other));
	assert_null(other);
	assert_null(pmu_find_event(cpu, "../type", &other));
	assert_null(other);
	assert_name_is(pmu_event_names(cpu), "cpu-cycles, mem-loads");
	assert_name_is(pmu_term_names(cpu), "cmask, edge, event, inv, ldlat, offcore_rsp, umask");
}

TEST_IN_FOLDER(a_damaged_format_is_an_error_that_names_its_file)
{
	static const char *const files[] = {"cpu/type=4", "cpu/format/event=config:0-64", NULL};
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(files);
	struct pmu_format format;
	CLEANUP(error_cleanup)
	struct error *err = pmu_find_format(pmus_find(&pmus, "cpu"), "event", &format);

	assert_non_null(strstr(error_text(err), "cpu/format/event does not list bits"));
}
