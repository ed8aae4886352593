#include "tasks/layout.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Precedes the arrays in the serialized layout. */
struct preamble {
	struct layout_header header;
	uint64_t context_offset, tls_bytes, tls_alignment, context;
	uint64_t nodes, variants, edges, tasks, vtables, strings, text;
};

void task_layout_free(struct task_layout *layout)
{
	if (!layout)
		return;
	free(layout->nodes);
	free(layout->variants);
	free(layout->edges);
	free(layout->tasks);
	free(layout->vtables);
	free(layout->strings);
	free(layout->text);
	free(layout);
}

/* ---- Writing ---- */

static int compare_roots(const void *left, const void *right)
{
	const struct layout_root *a = left, *b = right;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

static void layout_sort(struct layout_root *roots, size_t count)
{
	if (count)
		qsort(roots, count, sizeof(*roots), compare_roots);
}

static char *layout_put(char *to, const void *items, size_t bytes)
{
	return bytes_append(to, bytes_of(items, bytes));
}

char *task_layout_write(struct task_layout *layout, size_t *len)
{
	const struct preamble preamble = {
		.header = layout->header,
		.context_offset = layout->context_offset,
		.tls_bytes = layout->tls_bytes,
		.tls_alignment = layout->tls_alignment,
		.context = layout->context,
		.nodes = layout->node_count * sizeof(*layout->nodes),
		.variants = layout->variant_count * sizeof(*layout->variants),
		.edges = layout->edge_count * sizeof(*layout->edges),
		.tasks = layout->task_count * sizeof(*layout->tasks),
		.vtables = layout->vtable_count * sizeof(*layout->vtables),
		.strings = layout->string_count * sizeof(*layout->strings),
		.text = layout->text_bytes,
	};
	char *bytes, *at;

	layout_sort(layout->tasks, layout->task_count);
	layout_sort(layout->vtables, layout->vtable_count);
	*len = sizeof(preamble) + preamble.nodes + preamble.variants + preamble.edges +
	       preamble.tasks + preamble.vtables + preamble.strings + preamble.text;
	at = bytes = xmalloc(*len);
	at = layout_put(at, &preamble, sizeof(preamble));
	at = layout_put(at, layout->nodes, preamble.nodes);
	at = layout_put(at, layout->variants, preamble.variants);
	at = layout_put(at, layout->edges, preamble.edges);
	at = layout_put(at, layout->tasks, preamble.tasks);
	at = layout_put(at, layout->vtables, preamble.vtables);
	at = layout_put(at, layout->strings, preamble.strings);
	layout_put(at, layout->text, preamble.text);
	return bytes;
}

/* ---- Reading ---- */

/*
 * Returns a copy of the next array, and its number of items in *count. Returns
 * NULL if it is empty or truncated.
 */
static void *layout_take(struct bytes *from, uint64_t bytes, size_t item_bytes, size_t *count)
{
	const void *at = bytes % item_bytes ? NULL : bytes_take(from, bytes);
	void *copy;

	*count = 0;
	if (!at || !bytes) {
		if (!at)
			bytes_fail(from);
		return NULL;
	}
	copy = xreallocarray(NULL, bytes / item_bytes, item_bytes);
	memcpy(copy, at, bytes);
	*count = bytes / item_bytes;
	return copy;
}

static bool is_within(uint32_t first, uint32_t count, size_t all)
{
	return first <= all && count <= all - first;
}

static bool are_nodes_valid(const struct task_layout *layout)
{
	for (size_t i = 0; i < layout->node_count; i++) {
		const struct layout_node *node = &layout->nodes[i];

		if (node->role >= LAYOUT_ROLES || node->discriminant_bytes > 8 ||
		    node->name >= layout->string_count ||
		    node->linkage_name >= layout->string_count ||
		    node->function >= layout->string_count || node->file >= layout->string_count ||
		    node->variant_count > LAYOUT_VARIANTS_MAX ||
		    !is_within(node->first_variant, node->variant_count, layout->variant_count))
			return false;
	}
	return true;
}

static bool are_variants_valid(const struct task_layout *layout)
{
	for (size_t i = 0; i < layout->variant_count; i++) {
		const struct layout_variant *variant = &layout->variants[i];

		if (variant->file >= layout->string_count ||
		    !is_within(variant->first_edge, variant->edge_count, layout->edge_count))
			return false;
	}
	return true;
}

static bool are_edges_valid(const struct task_layout *layout)
{
	for (size_t i = 0; i < layout->edge_count; i++) {
		const struct layout_edge *edge = &layout->edges[i];

		if (edge->kind >= LAYOUT_EDGE_KINDS || edge->node >= layout->node_count)
			return false;
	}
	return true;
}

static bool are_roots_valid(const struct task_layout *layout, const struct layout_root *roots,
			    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (roots[i].node >= layout->node_count ||
		    (i && roots[i].vaddr < roots[i - 1].vaddr))
			return false;
	return true;
}

static bool are_strings_valid(const struct task_layout *layout)
{
	for (size_t i = 0; i < layout->string_count; i++)
		if (layout->strings[i] >= layout->text_bytes)
			return false;
	return layout->string_count && layout->text[layout->text_bytes - 1] == '\0';
}

static bool is_valid(const struct task_layout *layout)
{
	uint64_t alignment = layout->tls_alignment;

	return layout->context < layout->node_count && layout->context_offset < layout->tls_bytes &&
	       layout->tls_bytes < UINT32_MAX && alignment && !(alignment & (alignment - 1)) &&
	       alignment <= UINT16_MAX && are_nodes_valid(layout) && are_variants_valid(layout) &&
	       are_edges_valid(layout) &&
	       are_roots_valid(layout, layout->tasks, layout->task_count) &&
	       are_roots_valid(layout, layout->vtables, layout->vtable_count) &&
	       are_strings_valid(layout);
}

static void take_arrays(struct task_layout *to, const struct preamble *preamble, struct bytes *from)
{
	to->nodes = layout_take(from, preamble->nodes, sizeof(*to->nodes), &to->node_count);
	to->variants = layout_take(from, preamble->variants, sizeof(*to->variants),
				   &to->variant_count);
	to->edges = layout_take(from, preamble->edges, sizeof(*to->edges), &to->edge_count);
	to->tasks = layout_take(from, preamble->tasks, sizeof(*to->tasks), &to->task_count);
	to->vtables = layout_take(from, preamble->vtables, sizeof(*to->vtables), &to->vtable_count);
	to->strings = layout_take(from, preamble->strings, sizeof(*to->strings), &to->string_count);
	to->text = layout_take(from, preamble->text, 1, &to->text_bytes);
}

struct task_layout *task_layout_read(const void *bytes, size_t len)
{
	struct bytes from = bytes_of(bytes, len);
	const void *start = bytes_take(&from, sizeof(struct preamble));
	CLEANUP(task_layout_cleanup) struct task_layout *layout = NULL;
	struct preamble preamble;

	if (!start)
		return NULL;
	memcpy(&preamble, start, sizeof(preamble));
	layout = xcalloc(1, sizeof(*layout));
	layout->header = preamble.header;
	layout->context_offset = preamble.context_offset;
	layout->tls_bytes = preamble.tls_bytes;
	layout->tls_alignment = preamble.tls_alignment;
	layout->context = preamble.context <= UINT32_MAX ? (uint32_t)preamble.context : UINT32_MAX;
	take_arrays(layout, &preamble, &from);
	if (!bytes_ok(&from) || bytes_left(&from) || !is_valid(layout))
		return NULL;
	return STEAL(layout);
}

/* ---- Lookups ---- */

static const struct layout_node *layout_find(const struct task_layout *layout,
					     const struct layout_root *roots, size_t count,
					     uint64_t vaddr)
{
	const struct layout_root key = {.vaddr = vaddr}, *found = NULL;

	if (count)
		found = bsearch(&key, roots, count, sizeof(key), compare_roots);
	return found ? &layout->nodes[found->node] : NULL;
}

const struct layout_node *task_layout_task(const struct task_layout *layout, uint64_t poll_vaddr)
{
	return layout_find(layout, layout->tasks, layout->task_count, poll_vaddr);
}

const struct layout_node *task_layout_vtable(const struct task_layout *layout, uint64_t vaddr)
{
	return layout_find(layout, layout->vtables, layout->vtable_count, vaddr);
}

const char *task_layout_string(const struct task_layout *layout, uint32_t id)
{
	return layout->text + layout->strings[id];
}
