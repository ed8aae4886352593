#include "tasks/layout_graph.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/text.h"
#include "symbol/coroutine_name.h"
#include "symbol/demangle.h"

#include <stdlib.h>
#include <string.h>

/* for a whole program */
enum { NODES_MAX = 1 << 20 };

/* The type and kind of search from which a node was made. */
struct layout_graph_origin {
	dwarf_type_id type;
	enum type_search_kind kind;
};

struct layout_graph {
	struct dwarf_types *types;
	const struct tokio_parts *parts;
	struct task_layout *layout;
	struct type_search *searches[SEARCH_KINDS];
	struct idmap nodes[SEARCH_KINDS];    /* by type and role */
	struct layout_graph_origin *origins; /* the origin of each node */
	size_t origin_room;
	struct idmap strings; /* by hash and length */
};

/* ---- Strings ---- */

static uint64_t layout_graph_hash_of(const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * 0x100000001b3;
	return hash;
}

static uint32_t layout_graph_add_string(struct layout_graph *graph, const char *text, size_t len)
{
	struct task_layout *layout = graph->layout;
	uint32_t *id = idmap_put(&graph->strings, layout_graph_hash_of(text, len), (uint32_t)len);

	if (*id != IDMAP_NONE)
		return *id;
	*id = (uint32_t)layout->string_count;
	GROW(layout->strings, layout->string_count, layout->string_room);
	layout->strings[layout->string_count++] = (uint32_t)layout->text_bytes;
	while (layout->text_room - layout->text_bytes <= len) {
		layout->text_room = 2 * (layout->text_room + len + 1);
		layout->text = xreallocarray(layout->text, layout->text_room, 1);
	}
	memcpy(layout->text + layout->text_bytes, text, len);
	layout->text_bytes += len;
	layout->text[layout->text_bytes++] = '\0';
	return *id;
}

static uint32_t layout_graph_add_text(struct layout_graph *graph, const char *text)
{
	return text ? layout_graph_add_string(graph, text, strlen(text)) : 0;
}

struct layout_graph *layout_graph_new(struct dwarf_types *types, const struct tokio_parts *parts,
				      struct task_layout *layout)
{
	struct layout_graph *graph = xcalloc(1, sizeof(*graph));

	graph->types = types;
	graph->parts = parts;
	graph->layout = layout;
	for (enum type_search_kind kind = 0; kind < SEARCH_KINDS; kind++)
		graph->searches[kind] = type_search_new(kind, types, parts);
	layout_graph_add_string(graph, "", 0); /* string 0 is the empty name */
	return graph;
}

void layout_graph_free(struct layout_graph *graph)
{
	if (!graph)
		return;
	for (unsigned i = 0; i < SEARCH_KINDS; i++) {
		type_search_free(graph->searches[i]);
		idmap_deinit(&graph->nodes[i]);
	}
	idmap_deinit(&graph->strings);
	free(graph->origins);
	free(graph);
}

bool layout_graph_leads(struct layout_graph *graph, enum type_search_kind kind, dwarf_type_id id)
{
	return type_search_leads(graph->searches[kind], id);
}

/* ---- Nodes and edges ---- */

uint32_t layout_graph_node(struct layout_graph *graph, enum type_search_kind kind, dwarf_type_id id,
			   enum layout_role role)
{
	struct task_layout *layout = graph->layout;
	uint32_t *known = idmap_put(&graph->nodes[kind], id, role);

	if (*known != IDMAP_NONE)
		return *known;
	if (layout->node_count >= NODES_MAX)
		return *known = 0;
	*known = (uint32_t)layout->node_count;
	GROW(graph->origins, layout->node_count, graph->origin_room);
	graph->origins[layout->node_count] = (struct layout_graph_origin){id, kind};
	GROW(layout->nodes, layout->node_count, layout->node_room);
	layout->nodes[layout->node_count++] = (struct layout_node){.role = role};
	return *known;
}

static void add_edge(struct layout_graph *graph, struct layout_edge edge)
{
	struct task_layout *layout = graph->layout;

	GROW(layout->edges, layout->edge_count, layout->edge_room);
	layout->edges[layout->edge_count++] = edge;
}

static void layout_graph_collect(struct layout_graph *graph, enum type_search_kind kind,
				 dwarf_type_id id, uint64_t offset, unsigned depth);

static void collect_pointer(struct layout_graph *graph, enum type_search_kind kind,
			    dwarf_type_id target, uint64_t offset)
{
	add_edge(graph, (struct layout_edge){
				.kind = LAYOUT_POINTER,
				.offset = offset,
				.node = layout_graph_node(graph, kind, target, LAYOUT_PLAIN),
			});
}

static void collect_slice(struct layout_graph *graph, enum type_search_kind kind,
			  const struct dwarf_type *type, uint64_t offset)
{
	dwarf_type_id element = type_search_element(graph->searches[kind], type);
	struct dwarf_type first;

	if (!dwarf_types_read(graph->types, element, &first) || first.size_bytes > UINT32_MAX)
		return;
	add_edge(graph, (struct layout_edge){
				.kind = LAYOUT_SLICE,
				.offset = offset + dwarf_type_member(type, "data_ptr")->offset,
				.other = offset + dwarf_type_member(type, "length")->offset,
				.stride_bytes = (uint32_t)first.size_bytes,
				.node = layout_graph_node(graph, kind, element, LAYOUT_PLAIN),
			});
}

static void collect_dynamic(struct layout_graph *graph, const struct dwarf_type *type,
			    uint64_t offset)
{
	add_edge(graph, (struct layout_edge){
				.kind = LAYOUT_DYNAMIC,
				.offset = offset + dwarf_type_member(type, "pointer")->offset,
				.other = offset + dwarf_type_member(type, "vtable")->offset,
			});
}

static void collect_members(struct layout_graph *graph, enum type_search_kind kind,
			    const struct dwarf_type *type, uint64_t offset, unsigned depth)
{
	for (size_t i = 0; i < type->member_count; i++)
		layout_graph_collect(graph, kind, type->members[i].type,
				     offset + type->members[i].offset, depth + 1);
}

static void collect_inside(struct layout_graph *graph, enum type_search_kind kind, dwarf_type_id id,
			   uint64_t offset, enum layout_role role)
{
	add_edge(graph, (struct layout_edge){
				.kind = LAYOUT_INSIDE,
				.offset = offset,
				.node = layout_graph_node(graph, kind, id, role),
			});
}

/*
 * Adds the edges from an object at this offset to the targets that it leads to.
 */
static void layout_graph_collect(struct layout_graph *graph, enum type_search_kind kind,
				 dwarf_type_id id, uint64_t offset, unsigned depth)
{
	struct dwarf_type type;

	switch (type_search_step(graph->searches[kind], id, depth, &type)) {
	case STEP_NONE:
		break;
	case STEP_POINTER:
		collect_pointer(graph, kind, type.target, offset);
		break;
	case STEP_SLICE:
		collect_slice(graph, kind, &type, offset);
		break;
	case STEP_DYNAMIC:
		collect_dynamic(graph, &type, offset);
		break;
	case STEP_TARGET:
		collect_inside(graph, kind, id, offset,
			       kind == SEARCH_LISTS ? LAYOUT_LIST : LAYOUT_FRAME);
		break;
	case STEP_VARIANTS:
		collect_inside(graph, kind, id, offset, LAYOUT_PLAIN);
		break;
	case STEP_MEMBERS:
		collect_members(graph, kind, &type, offset, depth);
		break;
	}
}

static struct layout_variant *begin_variant(struct layout_graph *graph, struct layout_node *node)
{
	struct task_layout *layout = graph->layout;

	GROW(layout->variants, layout->variant_count, layout->variant_room);
	node->variant_count++;
	layout->variants[layout->variant_count] =
		(struct layout_variant){.first_edge = (uint32_t)layout->edge_count};
	return &layout->variants[layout->variant_count++];
}

static void end_variant(struct layout_graph *graph, uint32_t index)
{
	struct task_layout *layout = graph->layout;

	layout->variants[index].edge_count = (uint32_t)layout->edge_count -
					     layout->variants[index].first_edge;
}

/* ---- Kinds of types ---- */

/*
 * Adds what a state of a coroutine awaits. If that is not a known future, it
 * becomes a leaf.
 */
static void collect_awaited(struct layout_graph *graph, const struct dwarf_variant *state)
{
	size_t before = graph->layout->edge_count;
	const struct dwarf_member *awaited;
	struct dwarf_type content;
	uint64_t offset;

	if (!dwarf_types_read(graph->types, state->content.type, &content))
		return;
	awaited = dwarf_type_member(&content, "__awaitee");
	if (!awaited)
		return;
	offset = state->content.offset + awaited->offset;
	layout_graph_collect(graph, SEARCH_FUTURES, awaited->type, offset, 0);
	if (graph->layout->edge_count == before)
		collect_inside(graph, SEARCH_FUTURES, awaited->type, offset, LAYOUT_FRAME);
}

/* Wrappers with a single member that determines what is awaited. */
static const struct wrapper {
	const char *name, *member;
	bool is_frame;
} wrappers[] = {
	{"core::future::poll_fn::PollFn<", "f", false},
	{"tokio::future::poll_fn::PollFn<", "f", false},
	{"futures_util::future::poll_fn::PollFn<", "f", false},
	{"tokio::time::timeout::Timeout<", "value", true},
};

static const struct wrapper *wrapper_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrappers); i++)
		if (text_begins(name, wrappers[i].name))
			return &wrappers[i];
	return NULL;
}

static void collect_wrapped(struct layout_graph *graph, const struct dwarf_type *type,
			    const struct wrapper *wrapper)
{
	const struct dwarf_member *member = dwarf_type_member(type, wrapper->member);

	if (!member)
		return;
	if (wrapper->is_frame)
		layout_graph_collect(graph, SEARCH_FUTURES, member->type, member->offset, 0);
	else
		collect_inside(graph, SEARCH_FUTURES, member->type, member->offset, LAYOUT_FRAME);
}

/*
 * Returns a readable name such as "tokio::time::sleep::Sleep". Types without a
 * function of their own lose their type parameters.
 */
static uint32_t layout_graph_readable_name(struct layout_graph *graph, const char *name)
{
	size_t len = strlen(name), cut = 0;
	unsigned depth = 0;
	CLEANUP(free_ptr) char *text = xmalloc(len + 1);

	for (size_t i = 0; i < len; i++) {
		if (text_begins(name + i, "_env#") && !depth)
			i += strlen("_env");
		depth += name[i] == '<';
		if (!depth)
			text[cut++] = name[i];
		depth -= name[i] == '>' && depth && (!i || name[i - 1] != '-');
	}
	return cut ? layout_graph_add_string(graph, text, cut)
		   : layout_graph_add_string(graph, name, len);
}

/* Returns "{async_fn#0}" for "shop::cart::{async_fn#0}". */
static const char *layout_graph_last_part(const char *name)
{
	const char *found = name;

	for (const char *at = name; (at = strstr(at, "::{"));)
		found = at += strlen("::");
	return found;
}

/*
 * Returns the function name that the symbolizer uses, or 0 if the linkage name
 * cannot be demangled.
 */
static uint32_t layout_graph_function_name(struct layout_graph *graph, const char *linkage_name,
					   uint32_t name)
{
	CLEANUP(free_ptr) char *plain = demangle(linkage_name);
	CLEANUP(free_ptr)
	char *better = plain ? coroutine_name(plain, layout_graph_last_part(task_layout_string(
							     graph->layout, name)))
			     : NULL;
	const char *text = better ? better : plain;

	return text ? layout_graph_add_string(graph, text, strlen(text)) : 0;
}

static void name_function(struct layout_graph *graph, uint32_t index, struct bytes linkage)
{
	CLEANUP(free_ptr) char *text = xstrndup((const char *)linkage.at, bytes_left(&linkage));
	struct layout_node *node = &graph->layout->nodes[index];

	node->linkage_name = layout_graph_add_string(graph, text, strlen(text));
	node->function = layout_graph_function_name(graph, text, node->name);
}

static void name_frame(struct layout_graph *graph, uint32_t index, const struct dwarf_type *type,
		       const char *name)
{
	struct layout_node *node = &graph->layout->nodes[index];
	struct bytes linkage = tokio_parts_linkage_name(graph->parts, name);

	node->name = layout_graph_readable_name(graph, name);
	if (linkage.at)
		name_function(graph, index, linkage);
	if (type->variant_count && tokio_is_coroutine(type->name)) {
		node->file = layout_graph_add_text(graph, type->variants[0].content.decl_file);
		node->line = type->variants[0].content.decl_line;
	}
}

static void build_variants(struct layout_graph *graph, enum type_search_kind kind, uint32_t index,
			   const struct dwarf_type *type)
{
	bool awaits = kind == SEARCH_FUTURES && tokio_is_coroutine(type->name);

	for (size_t i = 0; i < type->variant_count; i++) {
		const struct dwarf_variant *from = &type->variants[i];
		struct layout_variant *to = begin_variant(graph, &graph->layout->nodes[index]);
		uint32_t number = (uint32_t)graph->layout->variant_count - 1;

		to->value = from->value;
		to->is_default = from->is_default;
		if (awaits) {
			to->is_over = !from->is_default && (from->value == 1 || from->value == 2);
			to->line = from->content.decl_line;
			to->file = layout_graph_add_text(graph, from->content.decl_file);
			collect_awaited(graph, from);
		} else {
			layout_graph_collect(graph, kind, from->content.type, from->content.offset,
					     0);
		}
		end_variant(graph, number);
	}
}

/* Builds the node of a type without variants. */
static void build_single(struct layout_graph *graph, enum type_search_kind kind, uint32_t index,
			 dwarf_type_id id, const struct dwarf_type *type, const char *name)
{
	const struct wrapper *wrapper = kind == SEARCH_FUTURES ? wrapper_of(name) : NULL;
	enum layout_role role = graph->layout->nodes[index].role;
	uint32_t number = (uint32_t)graph->layout->variant_count;

	begin_variant(graph, &graph->layout->nodes[index]);
	if (wrapper) {
		if (!wrapper->is_frame)
			graph->layout->nodes[index].role = LAYOUT_PLAIN;
		collect_wrapped(graph, type, wrapper);
	} else if (role == LAYOUT_FRAME) {
		collect_members(graph, kind, type, 0, 0);
	} else if (role == LAYOUT_PLAIN) {
		layout_graph_collect(graph, kind, id, 0, 0);
	}
	end_variant(graph, number);
}

static void build_node(struct layout_graph *graph, uint32_t index)
{
	enum type_search_kind kind = graph->origins[index].kind;
	dwarf_type_id id = graph->origins[index].type;
	struct layout_node *node = &graph->layout->nodes[index];
	struct dwarf_type type;
	const char *name = dwarf_types_name(graph->types, id);

	node->first_variant = (uint32_t)graph->layout->variant_count;
	if (!dwarf_types_read(graph->types, id, &type))
		return;
	if (!name)
		name = "";
	node->size_bytes = type.size_bytes;
	/* A type that is reached by a pointer can be a frame itself. */
	if (node->role == LAYOUT_PLAIN && *name && kind == SEARCH_FUTURES &&
	    type_search_is_target(graph->searches[kind], &type, name))
		node->role = LAYOUT_FRAME;
	if (node->role == LAYOUT_FRAME)
		name_frame(graph, index, &type, name);
	node = &graph->layout->nodes[index];
	if (type.variant_count && node->role != LAYOUT_LIST) {
		node->discriminant_offset = type.discriminant_offset;
		node->discriminant_bytes = type.discriminant_bytes;
		build_variants(graph, kind, index, &type);
	} else {
		build_single(graph, kind, index, id, &type, name);
	}
}

void layout_graph_build(struct layout_graph *graph)
{
	for (uint32_t i = 0; i < graph->layout->node_count; i++)
		build_node(graph, i);
}
