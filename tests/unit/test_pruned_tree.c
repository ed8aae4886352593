#include "report/pruned_tree.h"

#include "report/rows.h"
#include "sample_profile.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

struct shown {
	const char *name;
	uint32_t depth;
	uint64_t self, total;
};

static void assert_nodes(const struct pruned_tree *tree, const struct view *view,
			 const struct shown *expected, size_t count)
{
	assert_int_equal(tree->count, count);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(view->labels.items[tree->nodes[i].label].name,
				    expected[i].name);
		assert_int_equal(tree->nodes[i].depth, expected[i].depth);
		assert_int_equal(tree->nodes[i].self.weight, expected[i].self);
		assert_int_equal(tree->nodes[i].total.weight, expected[i].total);
	}
}

/* main calls parse, which calls itself, and lex; and it waits. */
static struct profile *parser(void)
{
	struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");

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

TEST(a_function_that_calls_itself_is_one_node)
{
	static const struct shown expected[] = {
		{"main", 0, 0, 99}, {"wait", 1, 50, 50}, {"parse", 1, 5, 45},
		{"lex", 2, 40, 40}, {"lex", 1, 4, 4},
	};
	CLEANUP(profile_cleanup) struct profile *profile = parser();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(pruned_tree_deinit) struct pruned_tree tree;

	view_init(&view, profile, 0);
	pruned_tree_calls(&tree, &view, 0);
	assert_nodes(&tree, &view, expected, ARRAY_SIZE(expected));
	assert_true(tree.nodes[2].is_recursive);
	assert_false(tree.nodes[3].is_recursive);
	assert_int_equal(tree.nodes[0].children, 3);
}

TEST(light_callees_are_one_sum_at_their_caller)
{
	static const struct shown expected[] = {
		{"main", 0, 0, 99}, {"wait", 1, 50, 50}, {"parse", 1, 5, 45}};
	CLEANUP(profile_cleanup) struct profile *profile = parser();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(pruned_tree_deinit) struct pruned_tree tree;

	view_init(&view, profile, 0);
	pruned_tree_calls(&tree, &view, 45);
	assert_nodes(&tree, &view, expected, ARRAY_SIZE(expected));
	assert_int_equal(tree.nodes[0].closed.weight, 4);
	assert_int_equal(tree.nodes[2].closed.weight, 40);
}

TEST(the_hot_path_and_its_callees_stay_when_other_branches_are_pruned)
{
	static const struct shown expected[] = {
		{"main", 0, 0, 99}, {"wait", 1, 50, 50}, {"parse", 1, 5, 45}, {"lex", 1, 4, 4}};
	CLEANUP(profile_cleanup) struct profile *profile = parser();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(pruned_tree_deinit) struct pruned_tree tree;

	view_init(&view, profile, 0);
	pruned_tree_calls(&tree, &view, 0);
	assert_false(pruned_tree_open_hot_path(&tree, 40));
	assert_true(pruned_tree_open_hot_path(&tree, 41));
	assert_nodes(&tree, &view, expected, ARRAY_SIZE(expected));
	assert_int_equal(tree.nodes[0].children, 3);
	assert_int_equal(tree.nodes[2].children, 0);
	assert_int_equal(tree.nodes[2].closed.weight, 40);
	assert_int_equal(tree.nodes[3].parent, 0);
}

TEST(a_tree_without_nodes_has_no_hot_path)
{
	struct pruned_tree tree = {0};

	assert_false(pruned_tree_open_hot_path(&tree, 1));
	pruned_tree_deinit(&tree);
}

TEST(callers_lead_to_the_roots)
{
	static const struct shown expected[] = {
		{"lex", 0, 0, 44}, {"parse", 1, 0, 40}, {"main", 2, 40, 40}, {"main", 1, 4, 4}};
	CLEANUP(profile_cleanup) struct profile *profile = parser();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(pruned_tree_deinit) struct pruned_tree tree;
	CLEANUP(free_ptr) bool *chosen = NULL;

	view_init(&view, profile, 0);
	chosen = only(&view, "lex");
	pruned_tree_callers(&tree, &view, chosen, 0);
	assert_nodes(&tree, &view, expected, ARRAY_SIZE(expected));
}

TEST(callees_begin_at_the_outermost_call)
{
	static const struct shown expected[] = {{"parse", 0, 5, 45}, {"lex", 1, 40, 40}};
	CLEANUP(profile_cleanup) struct profile *profile = parser();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(pruned_tree_deinit) struct pruned_tree tree;
	CLEANUP(free_ptr) bool *chosen = NULL;

	view_init(&view, profile, 0);
	chosen = only(&view, "parse");
	pruned_tree_callees(&tree, &view, chosen, 0);
	assert_nodes(&tree, &view, expected, ARRAY_SIZE(expected));
}

TEST(a_selection_leaves_the_rest_out)
{
	static const struct shown expected[] = {
		{"main", 0, 0, 44}, {"parse", 1, 0, 40}, {"lex", 2, 40, 40}};
	CLEANUP(profile_cleanup) struct profile *profile = parser();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(pruned_tree_deinit) struct pruned_tree tree;

	assert_null(view_init_selected(
		&view, profile, &(struct view_options){.focus = "^lex$", .ignore = "nobody"}));
	pruned_tree_calls(&tree, &view, 5);
	assert_nodes(&tree, &view, expected, ARRAY_SIZE(expected));
	view_deinit(&view);
	assert_null(view_init_selected(&view, profile, &(struct view_options){.ignore = "main"}));
	assert_int_equal(view.stacks[STACK_EMPTY].total.weight, 0);
}

/* The total of a node is the sum of its children, its pruned children and its
 * self. The total of a function is that of the table. */
static void assert_sums(const struct pruned_tree *tree)
{
	CLEANUP(free_ptr) uint64_t *parts = xcalloc(tree->count, sizeof(*parts));

	for (size_t i = tree->count; i-- > 0;) {
		const struct pruned_node *node = &tree->nodes[i];

		assert_int_equal(node->total.weight,
				 node->self.weight + node->closed.weight + parts[i]);
		if (node->parent != PRUNED_TREE_NO_PARENT)
			parts[node->parent] += node->total.weight;
	}
}

TEST(sums_hold_in_any_profile)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		CLEANUP(profile_cleanup) struct profile *profile = random_profile(seed);
		CLEANUP(view_deinit) struct view view;
		CLEANUP(rows_deinit) struct rows rows;

		view_init(&view, profile, 0);
		rows_init(&rows, &view, ROW_FUNCTION);
		for (uint64_t min = 0; min < rows.all.weight;
		     min = min * 4 + rows.all.weight / 50) {
			CLEANUP(pruned_tree_deinit) struct pruned_tree tree;
			uint64_t roots = 0;

			pruned_tree_calls(&tree, &view, min);
			assert_sums(&tree);
			for (size_t i = 0; i < tree.count; i++)
				if (!tree.nodes[i].depth)
					roots += tree.nodes[i].total.weight;
			assert_int_equal(roots + tree.closed.weight, rows.all.weight);
		}
		for (size_t i = 0; i < rows.count; i++) {
			CLEANUP(pruned_tree_deinit) struct pruned_tree callers = {0};
			CLEANUP(pruned_tree_deinit) struct pruned_tree callees = {0};
			CLEANUP(free_ptr) bool *chosen = only(&view, rows.items[i].name);

			pruned_tree_callers(&callers, &view, chosen, 0);
			pruned_tree_callees(&callees, &view, chosen, 0);
			assert_sums(&callers);
			assert_sums(&callees);
			assert_int_equal(callers.nodes[0].total.weight, rows.items[i].total.weight);
			assert_int_equal(callees.nodes[0].total.weight, rows.items[i].total.weight);
		}
	}
}
