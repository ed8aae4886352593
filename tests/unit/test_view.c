#include "report/view.h"

#include "sample_profile.h"
#include "unit_test.h"

TEST(samples_are_selected_by_function_module_and_thread)
{
	static const char *const worker[] = {"thread=worker 1"};
	static const struct {
		struct view_options options;
		uint64_t us, samples;
	} cases[] = {
		{{0}, 9500, 9},
		{{.focus = "serve"}, 4500, 4},
		{{.focus = "^main$"}, 5500, 5},
		{{.focus = "nothing"}, 0, 0},
		{{.ignore = "do_syscall"}, 6500, 7},
		{{.focus = "serve", .ignore = "tick"}, 3500, 3},
		{{.modules = "shop"}, 1500, 2},
		{{.modules = "[kernel]"}, 3000, 2},
		{{.modules = "[kernel.kallsyms]"}, 3000, 2},
		{{.modules = "/usr/lib/*"}, 3000, 3},
		{{.modules = ",libfoo*,"}, 3000, 3},
		{{.modules = "shop,[vdso]"}, 2500, 3},
		{{.modules = ","}, 0, 0},
		{{.modules = "shop", .focus = "serve"}, 500, 1},
		{{.process = "shop"}, 5500, 5},
		{{.process = "sho"}, 0, 0},
		{{.pid = 200}, 4000, 4},
		{{.tid = 101}, 2500, 2},
		{{.pid = 100}, 5500, 5},
		{{.pid = 100, .tid = 200}, 0, 0},
		{{.labels = worker, .label_count = 1}, 2500, 2},
		{{.labels = worker, .label_count = 1, .focus = "do_sys"}, 2000, 1},
	};
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct view view;
		struct sum total, sum = {0};

		assert_null(view_init_selected(&view, profile, &cases[i].options));
		total = view.stacks[STACK_EMPTY].total;
		for (uint64_t k = 0; k < profile_samples(profile).count; k++) {
			const struct profile_sample *sample = &profile_samples(profile).items[k];

			if (view_has(&view, sample)) {
				sum.samples += sample->samples;
				sum.weight += sample->weight;
			}
		}
		if (total.weight != cases[i].us * 1000 || total.samples != cases[i].samples)
			fail_msg("case %zu: %lu ns, %lu samples", i, (unsigned long)total.weight,
				 (unsigned long)total.samples);
		assert_int_equal(sum.weight, total.weight);
		assert_int_equal(sum.samples, total.samples);
		view_deinit(&view);
	}
}

TEST(what_cannot_be_selected_by_is_an_error)
{
	static const char *const unknown[] = {"colour=red"};
	static const struct view_options cases[] = {
		{.focus = "("}, {.ignore = "("}, {.labels = unknown, .label_count = 1}};
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct view view;
		struct error *err = view_init_selected(&view, profile, &cases[i]);

		assert_non_null(err);
		assert_non_null(
			strstr(error_text(err), i < 2 ? "expression: Unmatched" : "colour"));
		error_free(err);
	}
}

TEST(a_function_is_found_by_its_name_before_patterns)
{
	static const struct {
		const char *name;
		uint32_t count;
		const char *first;
	} cases[] = {
		{"main", 1, "main"},
		{"shop::serve<u32>", 1, "shop::serve<u32>"},
		{"serve", 1, "shop::serve<u32>"},
		{"next", 1, "core::iter::next"},
		{"clo", 2, "shop::{closure#0}"},
		{"nothing", 0, NULL},
	};
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(free_ptr) bool *chosen = NULL;
	uint32_t count;
	struct error *err;

	view_init(&view, profile, 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(free_ptr) bool *functions = NULL;
		uint32_t first = 0;

		assert_null(view_functions(&view, cases[i].name, &functions, &count));
		assert_int_equal(count, cases[i].count);
		while (first < view.labels.count && !functions[first])
			first++;
		assert_int_equal(first<view.labels.count, count> 0);
		if (count)
			assert_string_equal(view.labels.items[first].name, cases[i].first);
	}
	err = view_functions(&view, "(", &chosen, &count);
	assert_non_null(err);
	error_free(err);
}
