#include "base/alloc.h"
#include "fake_pmus.h"
#include "perf/attr.h"
#include "perf/kernel_types.h"
#include "perf/probe_event.h"
#include "perf/refusal.h"
#include "unit_test.h"

#include <errno.h>

static const char *const probe_pmus[] = {
	"kprobe/type=7",
	"kprobe/format/retprobe=config:0",
	"uprobe/type=8",
	"uprobe/format/retprobe=config:0",
	"uprobe/format/ref_ctr_offset=config:32-63",
	NULL,
};

static const struct probe_event_place places[] = {
	{.name = "/proc/self/fd/5", .offset = 0x1000},
	{.name = "/proc/self/fd/5", .offset = 0x2000, .semaphore = 0x30},
};

TEST_IN_FOLDER(a_probe_has_a_variant_of_each_place_on_each_cpu)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(probe_pmus);
	CLEANUP(event_deinit) struct event event = {0};
	const struct probe_event from = {
		.name = "uprobe:app:f", .terms = "period=3", .places = places, .place_count = 2};
	struct perf_event_attr attr;

	assert_null(probe_event_make(&from, &pmus, &event));
	assert_int_equal(event_variant_count(&event), 2);
	assert_int_equal(event.period, 3);
	for (unsigned cpu = 0; cpu < 4; cpu++) {
		assert_true(event_variant_is_of(&event, 0, cpu));
		assert_true(event_variant_is_of(&event, 1, cpu));
	}
	attr_samples(&attr, &event, &(struct attr_features){0});
	attr_choose_variant(&attr, &event, 1);
	assert_int_equal(attr.type, 8);
	assert_int_equal(attr.config, UINT64_C(0x30) << 32);
	assert_string_equal((const char *)(uintptr_t)attr.config1, "/proc/self/fd/5");
	assert_int_equal(attr.config2, 0x2000);
}

TEST_IN_FOLDER(measured_calls_have_entries_and_returns)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(probe_pmus);
	CLEANUP(event_deinit) struct event event = {0};
	const struct probe_event from = {
		.name = "latency:f", .measures_calls = true, .places = places, .place_count = 1};
	struct perf_event_attr attr;

	assert_null(probe_event_make(&from, &pmus, &event));
	assert_int_equal(event_variant_count(&event), 2);
	assert_int_equal(event.kind, VALUE_WALL_TIME);
	event.fields =
		(struct sample_fields){.stack_bytes = 8192, .regs_mask = 1, .user_chain = true};
	attr_samples(&attr, &event, &(struct attr_features){0});
	attr_choose_variant(&attr, &event, 0);
	assert_int_equal(attr.config & 1, 0);
	assert_int_equal(attr.sample_stack_user, 8192);
	attr_choose_variant(&attr, &event, 1);
	assert_int_equal(attr.config & 1, 1);
	assert_int_equal(attr.sample_stack_user, 0);
	assert_true(attr.sample_type & PERF_SAMPLE_REGS_USER);
	assert_false(attr.sample_type & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CALLCHAIN));
}

TEST_IN_FOLDER(returns_whose_calls_are_followed_have_small_samples_of_all_entries)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(probe_pmus);
	CLEANUP(event_deinit) struct event event = {0};
	const struct probe_event from = {.name = "uretprobe:f",
					 .terms = "period=10",
					 .is_return = true,
					 .follows_calls = true,
					 .places = places,
					 .place_count = 1};
	struct perf_event_attr attr;

	assert_null(probe_event_make(&from, &pmus, &event));
	assert_int_equal(event_variant_count(&event), 2);
	assert_int_equal(event.kind, VALUE_COUNT);
	event.fields = (struct sample_fields){.stack_bytes = 8192, .regs_mask = 1};
	attr_samples(&attr, &event, &(struct attr_features){0});
	attr_choose_variant(&attr, &event, 0);
	assert_int_equal(attr.config & 1, 0);
	assert_int_equal(attr.sample_stack_user, 8);
	assert_int_equal(attr.sample_period, 1);
	attr_samples(&attr, &event, &(struct attr_features){0});
	attr_choose_variant(&attr, &event, 1);
	assert_int_equal(attr.config & 1, 1);
	assert_int_equal(attr.sample_stack_user, 8192);
	assert_int_equal(attr.sample_period, 10);
}

TEST_IN_FOLDER(returns_alone_have_stacks)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(probe_pmus);
	CLEANUP(event_deinit) struct event event = {0};
	const struct probe_event from = {
		.name = "uretprobe:f", .is_return = true, .places = places, .place_count = 1};
	struct perf_event_attr attr;

	assert_null(probe_event_make(&from, &pmus, &event));
	assert_int_equal(event_variant_count(&event), 1);
	event.period = 1;
	event.fields = (struct sample_fields){.stack_bytes = 8192, .regs_mask = 1};
	attr_samples(&attr, &event, &(struct attr_features){0});
	attr_choose_variant(&attr, &event, 0);
	assert_int_equal(attr.config & 1, 1);
	assert_int_equal(attr.sample_stack_user, 8192);
}

TEST_IN_FOLDER(a_probe_of_the_kernel_names_a_function)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(probe_pmus);
	CLEANUP(event_deinit) struct event event = {0};
	const struct probe_event_place place = {.name = "vfs_read", .offset = 4};
	const struct probe_event from = {.name = "kretprobe:vfs_read+0x4",
					 .is_of_kernel = true,
					 .is_return = true,
					 .places = &place,
					 .place_count = 1};
	struct perf_event_attr attr;

	assert_null(probe_event_make(&from, &pmus, &event));
	event.period = 1;
	attr_samples(&attr, &event, &(struct attr_features){0});
	attr_choose_variant(&attr, &event, 0);
	assert_int_equal(attr.type, 7);
	assert_int_equal(attr.config, 1);
	assert_string_equal((const char *)(uintptr_t)attr.config1, "vfs_read");
	assert_int_equal(attr.config2, 4);
}

TEST_IN_FOLDER(kernels_without_kprobes_are_named)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(software_pmus);
	struct event event;
	const struct probe_event from = {.name = "kprobe:vfs_read",
					 .is_of_kernel = true,
					 .places = places,
					 .place_count = 1};
	CLEANUP(error_cleanup) struct error *err = probe_event_make(&from, &pmus, &event);

	assert_string_equal(error_text(err), "this kernel has no kprobes (CONFIG_KPROBES)");
}

TEST_IN_FOLDER(terms_of_other_events_are_none_of_probes)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(probe_pmus);
	struct event event;
	struct probe_event from = {
		.name = "uprobe:f", .terms = "umask=1", .places = places, .place_count = 1};
	CLEANUP(error_cleanup) struct error *err = probe_event_make(&from, &pmus, &event);
	CLEANUP(error_cleanup) struct error *of_calls = NULL;

	assert_string_equal(error_text(err), "uprobe:f has no term 'umask'");
	from = (struct probe_event){.name = "latency:f",
				    .terms = "period=10",
				    .measures_calls = true,
				    .places = places,
				    .place_count = 1};
	of_calls = probe_event_make(&from, &pmus, &event);
	assert_string_equal(error_text(of_calls), "latency:f measures each call");
}

TEST(who_lacks_the_right_to_probe_is_told_so)
{
	const struct event event = {.name = (char[]){"uprobe:f"}, .is_probe = true};
	const struct refusal refusal = {.number = EACCES, .event = &event, .tid = -1};
	const struct circumstances ordinary = {.paranoid = 1};
	CLEANUP(error_cleanup) struct error *err = refusal_explain_in(&refusal, &ordinary);

	assert_non_null(strstr(error_text(err), "probes need root or CAP_PERFMON"));
}

/* BTF of two structures: { int pid; int tgid; } at 0 and 4. */
TEST(a_member_of_the_kernel_is_found_by_its_names)
{
	static const char strings[] = "\0int\0task_struct\0pid\0tgid\0other";
	const struct {
		uint16_t magic;
		uint8_t version, flags;
		uint32_t header, types_at, types, strings_at, strings;
		uint32_t items[4 + 3 + 6 + 3 + 6];
		char texts[sizeof(strings)];
	} btf = {
		.magic = 0xeb9f,
		.version = 1,
		.header = 24,
		.types = sizeof(btf.items),
		.strings_at = sizeof(btf.items),
		.strings = sizeof(strings),
		.items = {1,  1U << 24,	    4, 32,		     /* int */
			  26, 4U << 24 | 2, 8, 17, 1, 0,  21, 1, 32, /* other */
			  5,  4U << 24 | 2, 8, 17, 1, 64, 21, 1, 96},
		.texts = "\0int\0task_struct\0pid\0tgid\0other",
	};
	struct bytes bytes = bytes_of(&btf, sizeof(btf));
	uint32_t offset = 0;

	assert_true(kernel_types_member(bytes, "task_struct", "tgid", &offset));
	assert_int_equal(offset, 12);
	assert_true(kernel_types_member(bytes, "other", "tgid", &offset));
	assert_int_equal(offset, 4);
	assert_false(kernel_types_member(bytes, "task_struct", "comm", &offset));
	assert_false(kernel_types_member(bytes, "file", "tgid", &offset));
	for (size_t len = 0; len < sizeof(btf); len++)
		assert_false(kernel_types_member(bytes_of(&btf, len), "none", "tgid", &offset));
}
