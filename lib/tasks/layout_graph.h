/*
 * Builds the nodes and edges of a layout (layout.h): a node for each type, and
 * edges to the objects that an object of the type leads to.
 *
 * A coroutine has a variant for each state, with an edge to what it awaits in
 * that state. Any other future has edges to those of its members that are
 * futures. Each type has only one node, however it is reached.
 */
#ifndef PROF_TASKS_LAYOUT_GRAPH_H
#define PROF_TASKS_LAYOUT_GRAPH_H

#include "tasks/layout.h"
#include "tasks/type_search.h"

struct layout_graph;

/* Borrows its arguments. The layout must be empty. */
struct layout_graph *layout_graph_new(struct dwarf_types *types, const struct tokio_parts *parts,
				      struct task_layout *layout);
void layout_graph_free(struct layout_graph *graph);
DEFINE_CLEANUP(layout_graph, layout_graph_free)

/* Returns the node of a type whose objects lead to targets of this kind. */
uint32_t layout_graph_node(struct layout_graph *graph, enum type_search_kind kind, dwarf_type_id id,
			   enum layout_role role);
/* Returns whether objects of the type lead to targets of this kind. */
bool layout_graph_leads(struct layout_graph *graph, enum type_search_kind kind, dwarf_type_id id);
/* Builds the edges of all nodes, and the nodes that these edges reach. */
void layout_graph_build(struct layout_graph *graph);

#endif
