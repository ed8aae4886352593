#include "report/call_tree.h"

#include "sample_profile.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct call_tree *tree, uint32_t node)
{
	return tree->labels->items[tree->nodes[node].label].name;
}

static uint32_t child(const struct call_tree *tree, uint32_t node, const char *name)
{
	uint32_t at = tree->nodes[node].first_child;

	while (at && strcmp(name_of(tree, at), name) != 0)
		at = tree->nodes[at].next_sibling;
	assert_true(at);
	return at;
}

static void add_samples(struct call_tree *tree, bool by_thread)
{
	const struct profile *profile = tree->labels->profile;

	for (uint64_t i = 0; i < profile_samples(profile).count; i++) {
		const struct profile_sample *sample = &profile_samples(profile).items[i];
		uint32_t group = by_thread ? call_tree_group(tree, sample->labels) : CALL_TREE_TOP;

		call_tree_add(tree, call_tree_node_of(tree, group, sample->stack), sample->samples,
			      sample->weight);
	}
	call_tree_sum_up(tree);
}

TEST(stacks_of_the_same_names_are_one_path)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	CLEANUP(display_labels_deinit) struct display_labels labels;
	CLEANUP(call_tree_deinit) struct call_tree tree;
	uint32_t main_node;

	/* Each call makes frames with other addresses. */
	profile_add(profile, thread, STACK(profile, "main", "hot"), event, 30);
	profile_add(profile, thread, STACK(profile, "main", "hot"), event, 20);
	profile_add(profile, thread, STACK(profile, "main"), event, 5);
	display_labels_init(&labels, profile);
	assert_int_equal(labels.count, 2);
	call_tree_init(&tree, &labels);
	add_samples(&tree, false);
	assert_int_equal(tree.count, 3);
	assert_int_equal(tree.nodes[CALL_TREE_TOP].total.weight, 55);
	main_node = child(&tree, CALL_TREE_TOP, "main");
	assert_int_equal(tree.nodes[main_node].self.weight, 5);
	assert_int_equal(tree.nodes[main_node].total.samples, 3);
	assert_int_equal(tree.nodes[child(&tree, main_node, "hot")].self.weight, 50);
}

TEST(an_inlined_call_is_a_node_of_its_own)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	frame_id inlined = add_frame(profile, (const char *const[]){"leaf", "main", NULL});
	CLEANUP(display_labels_deinit) struct display_labels labels;
	CLEANUP(call_tree_deinit) struct call_tree tree;
	uint32_t main_node;

	profile_add(profile, thread, STACK(profile, "main", "leaf"), event, 1);
	profile_add(profile, thread, profile_push(profile, STACK_EMPTY, inlined), event, 2);
	display_labels_init(&labels, profile);
	assert_int_equal(labels.count, 2);
	call_tree_init(&tree, &labels);
	add_samples(&tree, false);
	main_node = child(&tree, CALL_TREE_TOP, "main");
	assert_int_equal(tree.count, 4);
	assert_int_not_equal(
		tree.nodes[tree.nodes[main_node].first_child].is_inlined,
		tree.nodes[tree.nodes[tree.nodes[main_node].first_child].next_sibling].is_inlined);
}

TEST(groups_are_separate_below_the_root)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	stack_id stack = STACK(profile, "main", "work");
	CLEANUP(display_labels_deinit) struct display_labels labels;
	CLEANUP(call_tree_deinit) struct call_tree tree;

	profile_add(profile, profile_thread_labels(profile, 1, 1, "p", "p"), stack, event, 1);
	profile_add(profile, profile_thread_labels(profile, 1, 2, "p", "q"), stack, event, 2);
	profile_add(profile, profile_thread_labels(profile, 1, 2, "p", "q"), STACK_EMPTY, event, 4);
	display_labels_init(&labels, profile);
	call_tree_init(&tree, &labels);
	add_samples(&tree, true);
	assert_int_equal(tree.count, 8);
	assert_int_equal(tree.nodes[CALL_TREE_TOP].total.weight, 7);
	assert_int_equal(tree.nodes[call_tree_group(&tree, 0)].total.weight, 1);
	assert_int_equal(tree.nodes[call_tree_group(&tree, 1)].total.weight, 6);
	assert_int_equal(
		tree.nodes[child(&tree, call_tree_group(&tree, 1), "[unnamed]")].self.weight, 4);
	assert_int_equal(
		tree.nodes[call_tree_node_of(&tree, call_tree_group(&tree, 1), stack)].group, 1);
}

TEST(children_are_in_the_chosen_order)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	CLEANUP(display_labels_deinit) struct display_labels labels;
	CLEANUP(call_tree_deinit) struct call_tree tree;
	static const char *const expected[] = {"most", "a", "b", "least"};
	uint32_t at;

	profile_add(profile, thread, STACK(profile, "least"), event, 1);
	profile_add(profile, thread, STACK(profile, "b"), event, 3);
	profile_add(profile, thread, STACK(profile, "most"), event, 9);
	profile_add(profile, thread, STACK(profile, "a"), event, 3);
	display_labels_init(&labels, profile);
	call_tree_init(&tree, &labels);
	add_samples(&tree, false);
	call_tree_sort(&tree, call_tree_by_total);
	at = tree.nodes[CALL_TREE_TOP].first_child;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++, at = tree.nodes[at].next_sibling)
		assert_string_equal(name_of(&tree, at), expected[i]);
	assert_int_equal(at, 0);
}

/* Checks that the path from the node of a stack to the root has the labels of
 * the stack's frames. */
static void assert_path(const struct call_tree *tree, uint32_t node, stack_id stack)
{
	const struct profile *profile = tree->labels->profile;

	for (; stack; stack = profile_stacks(profile).items[stack].parent) {
		struct profile_frame frame =
			profile_get_frame(profile, profile_stacks(profile).items[stack].frame);

		if (!frame.line_count) {
			assert_true(tree->labels->items[tree->nodes[node].label].is_address);
			node = tree->nodes[node].parent;
		}
		for (unsigned i = 0; i < frame.line_count; i++) {
			function_id function = frame.lines[i].function;

			assert_string_equal(
				name_of(tree, node),
				profile_string(profile,
					       profile_get_function(profile, function)->name));
			assert_int_equal(tree->nodes[node].is_inlined, i + 1 < frame.line_count);
			node = tree->nodes[node].parent;
		}
	}
	assert_int_equal(node, CALL_TREE_TOP);
}

TEST(any_profile_becomes_its_tree)
{
	for (uint64_t seed = 1; seed < 30; seed++) {
		CLEANUP(profile_cleanup) struct profile *profile = random_profile(seed);
		CLEANUP(display_labels_deinit) struct display_labels labels;
		CLEANUP(call_tree_deinit) struct call_tree tree;
		struct sum all = {0};

		display_labels_init(&labels, profile);
		call_tree_init(&tree, &labels);
		add_samples(&tree, false);
		for (uint64_t i = 0; i < profile_samples(profile).count; i++) {
			const struct profile_sample *sample = &profile_samples(profile).items[i];

			assert_path(&tree, call_tree_node_of(&tree, CALL_TREE_TOP, sample->stack),
				    sample->stack);
			all.samples += sample->samples;
			all.weight += sample->weight;
		}
		assert_int_equal(tree.nodes[CALL_TREE_TOP].total.samples, all.samples);
		assert_int_equal(tree.nodes[CALL_TREE_TOP].total.weight, all.weight);
		for (uint32_t i = 1; i < tree.count; i++)
			assert_true(tree.nodes[i].parent < i);
	}
}
