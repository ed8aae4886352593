#include "report/tree_lines.h"

#include "sample_profile.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

enum { ALL_LEVELS = 100 };

/*
 * main (100) calls only run, which calls parse (60) and write (40). parse calls
 * next, which calls last. write calls flush (30).
 */
static struct profile *writer(void)
{
	struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");

	profile_add(profile, thread, STACK(profile, "main", "run", "parse", "next", "last"), event,
		    60);
	profile_add(profile, thread, STACK(profile, "main", "run", "write"), event, 10);
	profile_add(profile, thread, STACK(profile, "main", "run", "write", "flush"), event, 30);
	return profile;
}

/* Returns the lines as text: guides, and names joined by ">". The caller frees
 * it. */
static char *text_of_lines(const struct tree_lines_options *options, uint32_t levels,
			   bool is_wrapped)
{
	CLEANUP(profile_cleanup) struct profile *profile = writer();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(pruned_tree_deinit) struct pruned_tree tree;
	CLEANUP(tree_lines_deinit) struct tree_lines lines;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	view_init(&view, profile, 0);
	pruned_tree_calls(&tree, &view, 0);
	tree_lines_init(&lines, &tree, options);
	for (uint32_t i = 0; i < lines.count; i++) {
		CLEANUP(free_ptr) char *guides = tree_line_guides(&lines, i, levels, is_wrapped);

		fputs(guides, out);
		for (uint32_t j = 0; j < lines.items[i].count; j++) {
			uint32_t label = tree.nodes[lines.items[i].first + j].label;

			fprintf(out, "%s%s", j ? ">" : "", view.labels.items[label].name);
		}
		fputc('\n', out);
	}
	fclose(out);
	return text;
}

TEST(an_only_callee_follows_its_caller_at_the_same_level)
{
	CLEANUP(free_ptr)
	char *text = text_of_lines(&(struct tree_lines_options){.continue_below = UINT64_MAX},
				   ALL_LEVELS, false);

	assert_string_equal(text, "main\n"
				  "run\n"
				  "├ parse\n"
				  "│ next\n"
				  "│ last\n"
				  "└ write\n"
				  "  flush\n");
}

TEST(chains_of_only_callees_share_a_line)
{
	CLEANUP(free_ptr)
	char *text = text_of_lines(
		&(struct tree_lines_options){.continue_below = UINT64_MAX, .joins_chains = true},
		ALL_LEVELS, false);

	assert_string_equal(text, "main>run\n"
				  "├ parse>next>last\n"
				  "└ write>flush\n");
}

TEST(a_callee_is_indented_where_its_caller_has_weight_elsewhere)
{
	CLEANUP(free_ptr)
	char *text = text_of_lines(
		&(struct tree_lines_options){.continue_below = 10, .joins_chains = true},
		ALL_LEVELS, false);

	assert_string_equal(text, "main>run\n"
				  "├ parse>next>last\n"
				  "└ write\n"
				  "  └ flush\n");
}

TEST(without_continuing_each_call_is_a_level)
{
	CLEANUP(free_ptr)
	char *text = text_of_lines(&(struct tree_lines_options){.joins_chains = true}, ALL_LEVELS,
				   false);

	assert_string_equal(text, "main\n"
				  "└ run\n"
				  "  ├ parse\n"
				  "  │ └ next\n"
				  "  │   └ last\n"
				  "  └ write\n"
				  "    └ flush\n");
}

TEST(the_outermost_guides_give_way_in_deep_trees)
{
	CLEANUP(free_ptr)
	char *text = text_of_lines(&(struct tree_lines_options){0}, 2, false);

	assert_string_equal(text, "main\n"
				  "└ run\n"
				  "  ├ parse\n"
				  "│ └ next\n"
				  "  └ last\n"
				  "  └ write\n"
				  "  └ flush\n");
}

TEST(wrapped_text_continues_below_the_guides)
{
	CLEANUP(free_ptr)
	char *text = text_of_lines(
		&(struct tree_lines_options){.continue_below = UINT64_MAX, .joins_chains = true},
		ALL_LEVELS, true);

	assert_string_equal(text, "main>run\n"
				  "│ parse>next>last\n"
				  "  write>flush\n");
}
