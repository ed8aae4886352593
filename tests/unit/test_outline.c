#include "report/outline.h"

#include "report/top.h"
#include "sample_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct shown {
	const char *name;
	uint32_t depth;
	uint64_t self, total;
};

static void assert_nodes(const struct outline *outline, const struct view *view,
			 const struct shown *expected, size_t count)
{
	assert_int_equal(outline->count, count);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(view->labels.items[outline->nodes[i].label].name,
				    expected[i].name);
		assert_int_equal(outline->nodes[i].depth, expected[i].depth);
		assert_int_equal(outline->nodes[i].self.weight, expected[i].self);
		assert_int_equal(outline->nodes[i].total.weight, expected[i].total);
	}
}

/* main calls parse, which calls itself, and lex; and it waits. */
static struct profile *parser(void)
{
	struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", true);
	thread_id thread = profile_thread(profile, 1, 1, "p", "p");

	profile_add(profile, thread, STACK(profile, "main", "parse", "lex"), event, 30);
	profile_add(profile, thread, STACK(profile, "main", "parse", "parse", "lex"), event, 10);
	profile_add(profile, thread, STACK(profile, "main", "parse", "parse"), event, 5);
	profile_add(profile, thread, STACK(profile, "main", "wait"), event, 50);
	profile_add(profile, thread, STACK(profile, "main", "lex"), event, 4);
	return profile;
}

static bool *only(const struct view *view, const char *name)
{
	bool *chosen = xcalloc(view->labels.count, sizeof(*chosen));

	for (uint32_t i = 0; i < view->labels.count; i++)
		chosen[i] = !strcmp(view->labels.items[i].name, name);
	return chosen;
}

static void a_function_that_calls_itself_is_one_node(void **state)
{
	(void)state;
	static const struct shown expected[] = {
		{"main", 0, 0, 99}, {"wait", 1, 50, 50}, {"parse", 1, 5, 45},
		{"lex", 2, 40, 40}, {"lex", 1, 4, 4},
	};
	CLEANUP(profile_cleanup) struct profile *profile = parser();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(outline_deinit) struct outline outline;

	view_init(&view, profile, 0);
	outline_calls(&outline, &view, 0);
	assert_nodes(&outline, &view, expected, ARRAY_SIZE(expected));
	assert_true(outline.nodes[2].is_recursive);
	assert_false(outline.nodes[3].is_recursive);
	assert_int_equal(outline.nodes[0].children, 3);
}

static void what_is_too_light_is_a_sum_at_its_caller(void **state)
{
	(void)state;
	static const struct shown expected[] = {
		{"main", 0, 0, 99}, {"wait", 1, 50, 50}, {"parse", 1, 5, 45}};
	CLEANUP(profile_cleanup) struct profile *profile = parser();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(outline_deinit) struct outline outline;

	view_init(&view, profile, 0);
	outline_calls(&outline, &view, 45);
	assert_nodes(&outline, &view, expected, ARRAY_SIZE(expected));
	assert_int_equal(outline.nodes[0].closed.weight, 4);
	assert_int_equal(outline.nodes[2].closed.weight, 40);
}

static void callers_lead_to_the_roots(void **state)
{
	(void)state;
	static const struct shown expected[] = {
		{"lex", 0, 0, 44}, {"parse", 1, 0, 40}, {"main", 2, 40, 40}, {"main", 1, 4, 4}};
	CLEANUP(profile_cleanup) struct profile *profile = parser();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(outline_deinit) struct outline outline;
	CLEANUP(free_ptr) bool *chosen = NULL;

	view_init(&view, profile, 0);
	chosen = only(&view, "lex");
	outline_callers(&outline, &view, chosen, 0);
	assert_nodes(&outline, &view, expected, ARRAY_SIZE(expected));
}

static void callees_begin_at_the_outermost_call(void **state)
{
	(void)state;
	static const struct shown expected[] = {{"parse", 0, 5, 45}, {"lex", 1, 40, 40}};
	CLEANUP(profile_cleanup) struct profile *profile = parser();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(outline_deinit) struct outline outline;
	CLEANUP(free_ptr) bool *chosen = NULL;

	view_init(&view, profile, 0);
	chosen = only(&view, "parse");
	outline_callees(&outline, &view, chosen, 0);
	assert_nodes(&outline, &view, expected, ARRAY_SIZE(expected));
}

static void a_selection_leaves_the_rest_out(void **state)
{
	(void)state;
	static const struct shown expected[] = {
		{"main", 0, 0, 44}, {"parse", 1, 0, 40}, {"lex", 2, 40, 40}};
	CLEANUP(profile_cleanup) struct profile *profile = parser();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(outline_deinit) struct outline outline;

	assert_null(view_init_selected(
		&view, profile, &(struct view_options){.focus = "^lex$", .ignore = "nobody"}));
	outline_calls(&outline, &view, 5);
	assert_nodes(&outline, &view, expected, ARRAY_SIZE(expected));
	view_deinit(&view);
	assert_null(view_init_selected(&view, profile, &(struct view_options){.ignore = "main"}));
	assert_int_equal(view.stacks[STACK_EMPTY].total.weight, 0);
}

/* A node's children, what is closed and its self make up its total; a function's is the table's. */
static void assert_sums(const struct outline *outline)
{
	CLEANUP(free_ptr) uint64_t *parts = xcalloc(outline->count, sizeof(*parts));

	for (size_t i = outline->count; i-- > 0;) {
		const struct outline_node *node = &outline->nodes[i];

		assert_int_equal(node->total.weight,
				 node->self.weight + node->closed.weight + parts[i]);
		if (node->parent != OUTLINE_NO_PARENT)
			parts[node->parent] += node->total.weight;
	}
}

static void sums_hold_in_any_profile(void **state)
{
	(void)state;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		CLEANUP(profile_cleanup) struct profile *profile = random_profile(seed);
		CLEANUP(view_deinit) struct view view;
		CLEANUP(top_deinit) struct top top;

		view_init(&view, profile, 0);
		top_init(&top, &view, TOP_FUNCTION);
		for (uint64_t min = 0; min < top.all.weight; min = min * 4 + top.all.weight / 50) {
			CLEANUP(outline_deinit) struct outline outline;
			uint64_t roots = 0;

			outline_calls(&outline, &view, min);
			assert_sums(&outline);
			for (size_t i = 0; i < outline.count; i++)
				if (!outline.nodes[i].depth)
					roots += outline.nodes[i].total.weight;
			assert_int_equal(roots + outline.closed.weight, top.all.weight);
		}
		for (size_t i = 0; i < top.count; i++) {
			CLEANUP(outline_deinit) struct outline callers = {0};
			CLEANUP(outline_deinit) struct outline callees = {0};
			CLEANUP(free_ptr) bool *chosen = only(&view, top.rows[i].name);

			outline_callers(&callers, &view, chosen, 0);
			outline_callees(&callees, &view, chosen, 0);
			assert_sums(&callers);
			assert_sums(&callees);
			assert_int_equal(callers.nodes[0].total.weight, top.rows[i].total.weight);
			assert_int_equal(callees.nodes[0].total.weight, top.rows[i].total.weight);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_that_calls_itself_is_one_node),
		cmocka_unit_test(what_is_too_light_is_a_sum_at_its_caller),
		cmocka_unit_test(callers_lead_to_the_roots),
		cmocka_unit_test(callees_begin_at_the_outermost_call),
		cmocka_unit_test(a_selection_leaves_the_rest_out),
		cmocka_unit_test(sums_hold_in_any_profile),
	};

	return cmocka_run_group_tests_name("outline", tests, NULL, NULL);
}
