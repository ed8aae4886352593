/* Layouts of tasks arrive as sent, and invalid ones are refused. */
#include "tasks/layout.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

static struct layout_node nodes[] = {
	{.role = LAYOUT_LIST, .variant_count = 1},
	{.role = LAYOUT_FRAME,
	 .name = 1,
	 .discriminant_bytes = 1,
	 .first_variant = 1,
	 .variant_count = 2},
};
static struct layout_variant variants[] = {
	{.is_default = true}, {.value = 3, .first_edge = 0, .edge_count = 1}, {.is_default = true}};
static struct layout_edge edges[] = {{.kind = LAYOUT_INSIDE, .offset = 8, .node = 1}};
static struct layout_root tasks[] = {{.vaddr = 0x2000, .node = 1}, {.vaddr = 0x1000, .node = 0}};
static uint32_t strings[] = {0, 1};
static char text[] = "\0naps";

static struct task_layout sample(void)
{
	return (struct task_layout){
		.context_offset = 8,
		.tls_bytes = 64,
		.tls_alignment = 8,
		.nodes = nodes,
		.node_count = ARRAY_SIZE(nodes),
		.variants = variants,
		.variant_count = ARRAY_SIZE(variants),
		.edges = edges,
		.edge_count = ARRAY_SIZE(edges),
		.tasks = tasks,
		.task_count = ARRAY_SIZE(tasks),
		.strings = strings,
		.string_count = ARRAY_SIZE(strings),
		.text = text,
		.text_bytes = sizeof(text),
	};
}

static struct task_layout *sent(struct task_layout layout)
{
	size_t len;
	CLEANUP(free_ptr) char *bytes = task_layout_write(&layout, &len);

	return task_layout_read(bytes, len);
}

TEST(a_layout_arrives_as_it_was_sent)
{
	CLEANUP(task_layout_cleanup) struct task_layout *layout = sent(sample());

	assert_non_null(layout);
	assert_int_equal(layout->node_count, 2);
	assert_ptr_equal(task_layout_task(layout, 0x2000), &layout->nodes[1]);
	assert_ptr_equal(task_layout_task(layout, 0x1000), &layout->nodes[0]);
	assert_null(task_layout_task(layout, 0x1001));
	assert_null(task_layout_vtable(layout, 0x1000));
	assert_string_equal(task_layout_string(layout, layout->nodes[1].name), "naps");
}

TEST(an_index_beyond_its_table_is_refused)
{
	struct layout_node wrong_nodes[2];
	struct layout_edge wrong_edge = edges[0];
	struct layout_root wrong_task = {.node = 2};
	struct task_layout layout = sample();

	layout.nodes = wrong_nodes;
	memcpy(wrong_nodes, nodes, sizeof(nodes));
	wrong_nodes[1].variant_count = 3;
	assert_null(sent(layout));
	memcpy(wrong_nodes, nodes, sizeof(nodes));
	wrong_nodes[0].name = 2;
	assert_null(sent(layout));
	memcpy(wrong_nodes, nodes, sizeof(nodes));
	wrong_nodes[0].discriminant_bytes = 9;
	assert_null(sent(layout));
	memcpy(wrong_nodes, nodes, sizeof(nodes));
	wrong_nodes[0].variant_count = LAYOUT_VARIANTS_MAX + 1;
	assert_null(sent(layout));
	layout = sample();
	layout.edges = &wrong_edge;
	wrong_edge.node = 2;
	assert_null(sent(layout));
	layout = sample();
	layout.tasks = &wrong_task;
	layout.task_count = 1;
	assert_null(sent(layout));
	layout = sample();
	layout.context = 2;
	assert_null(sent(layout));
	layout = sample();
	layout.text_bytes--; /* the last string has no end */
	assert_null(sent(layout));
	layout = sample();
	layout.tls_alignment = 3;
	assert_null(sent(layout));
}

TEST(a_layout_that_was_cut_is_refused)
{
	struct task_layout layout = sample();
	size_t len;
	CLEANUP(free_ptr) char *bytes = task_layout_write(&layout, &len);

	for (size_t i = 0; i < len; i++)
		assert_null(task_layout_read(bytes, i));
}
