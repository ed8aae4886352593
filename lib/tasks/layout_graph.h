/*
 * The nodes and edges of a layout (layout.h): turns types into nodes, and what their objects lead
 * to into edges.
 *
 * A coroutine has a variant for each of its states, with an edge to what this state awaits. Other
 * futures have edges to those members that are futures. A type is one node, however it is reached.
 */
#ifndef PROF_TASKS_LAYOUT_GRAPH_H
#define PROF_TASKS_LAYOUT_GRAPH_H

#include "tasks/layout.h"
#include "tasks/type_search.h"

struct layout_graph;

/* All borrowed. The layout is empty. */
struct layout_graph *layout_graph_new(struct dwarf_types *types, const struct tokio_parts *parts,
				      struct task_layout *layout);
void layout_graph_free(struct layout_graph *graph);
DEFINE_CLEANUP(layout_graph, layout_graph_free)

/* The node of a type, whose objects lead to targets of that kind. */
uint32_t layout_graph_node(struct layout_graph *graph, enum type_search_kind kind, dwarf_type_id id,
			   enum layout_role role);
/* Whether objects of the type lead to targets of that kind. */
bool layout_graph_leads(struct layout_graph *graph, enum type_search_kind kind, dwarf_type_id id);
/* Builds the edges of all nodes, and the nodes to which these lead. */
void layout_graph_build(struct layout_graph *graph);

#endif
