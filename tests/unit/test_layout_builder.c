/* The layout of a small program with nested coroutines, a leaf and a dynamic
 * future. */
#include "tasks/layout_builder.h"

#include "unit_test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static struct task_layout *layout_of(const char *path)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
	struct task_layout *layout = NULL;
	struct error *err = elf_file_open(open(path, O_RDONLY | O_CLOEXEC), path, &elf);

	if (!err)
		err = layout_build(elf, &layout);
	assert_null(err);
	return layout;
}

static const struct layout_node *node_called(const struct task_layout *layout, const char *name)
{
	for (size_t i = 0; i < layout->node_count; i++)
		if (!strcmp(task_layout_string(layout, layout->nodes[i].name), name))
			return &layout->nodes[i];
	fail_msg("there is no %s", name);
	return NULL;
}

/* Returns what the node awaits in a state. */
static struct layout_edge awaited(const struct task_layout *layout, const struct layout_node *node,
				  unsigned state)
{
	const struct layout_variant *variant = &layout->variants[node->first_variant + state];

	assert_int_equal(variant->value, state);
	assert_int_equal(variant->edge_count, 1);
	return layout->edges[variant->first_edge];
}

TEST(coroutines_lead_to_what_they_await)
{
	CLEANUP(task_layout_cleanup) struct task_layout *layout = layout_of(SEED);
	const struct layout_node *outer = node_called(layout, "tokio::outer::{async_fn#0}");
	const struct layout_node *inner = node_called(layout, "tokio::inner::{async_fn#0}");
	const struct layout_node *dynamic = node_called(layout, "tokio::dynamic::{async_fn#0}");
	const struct layout_node *leaf = node_called(layout, "tokio::Leaf");

	assert_ptr_equal(&layout->nodes[awaited(layout, outer, 3).node], inner);
	assert_ptr_equal(&layout->nodes[awaited(layout, outer, 4).node], dynamic);
	assert_ptr_equal(&layout->nodes[awaited(layout, inner, 3).node], leaf);
	assert_int_equal(awaited(layout, dynamic, 3).kind, LAYOUT_DYNAMIC);
	assert_int_equal(leaf->discriminant_bytes, 0);
	assert_true(layout->variants[outer->first_variant + 1].is_over);
}

TEST(places_are_those_of_the_source)
{
	CLEANUP(task_layout_cleanup) struct task_layout *layout = layout_of(SEED);
	const struct layout_node *outer = node_called(layout, "tokio::outer::{async_fn#0}");
	const struct layout_variant *variants = &layout->variants[outer->first_variant];

	assert_non_null(strstr(task_layout_string(layout, outer->file), "layout_seed.rs"));
	assert_int_equal(variants[3].line, outer->line + 2);
	assert_non_null(strstr(task_layout_string(layout, outer->linkage_name), "5outer"));
}

TEST(a_task_and_a_vtable_are_known_by_their_addresses)
{
	CLEANUP(task_layout_cleanup) struct task_layout *layout = layout_of(SEED);

	assert_int_equal(layout->task_count, 1);
	assert_int_equal(layout->vtable_count, 1);
	assert_string_equal(task_layout_string(layout, layout->nodes[layout->vtables[0].node].name),
			    "tokio::Leaf");
	assert_int_equal(layout->header.has_trailer, true);
	assert_int_equal(layout->header.next, layout->header.previous + sizeof(void *));
}
