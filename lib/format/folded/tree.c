#include "format/folded/tree.h"

#include "base/alloc.h"
#include "base/chunk_writer.h"
#include "base/counting_sort.h"
#include "base/digits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void folded_tree_init(struct folded_tree *tree, struct strtab *names)
{
	*tree = (struct folded_tree){.names = names};
	GROW(tree->nodes, tree->count, tree->room);
	tree->nodes[tree->count++] = (struct folded_node){.parent = FOLDED_TOP};
}

void folded_tree_deinit(struct folded_tree *tree)
{
	free(tree->nodes);
	idmap_deinit(&tree->children);
}

uint32_t folded_tree_child(struct folded_tree *tree, uint32_t parent, string_id name)
{
	uint32_t *node = idmap_put(&tree->children, parent, name);

	if (*node == IDMAP_NONE) {
		GROW(tree->nodes, tree->count, tree->room);
		tree->nodes[tree->count] = (struct folded_node){.parent = parent, .name = name};
		*node = tree->count++;
	}
	return *node;
}

void folded_tree_add(struct folded_tree *tree, uint32_t node, uint64_t count)
{
	tree->nodes[node].count += count;
}

void folded_tree_add_before(struct folded_tree *tree, uint32_t node, uint64_t count)
{
	tree->nodes[node].before += count;
}

/* Two counts, each preceded by a space. */
enum { TAIL = 2 * 21 + 1 };

/*
 * The stack of pending output. A node has up to two entries: its own line, and
 * the lines of all stacks below it. A sibling's line can sort between the two
 * ("a 1", "a b 1", "a;c 1").
 */
struct tree_pending {
	uint32_t node;
	bool is_line;
	size_t prefix_len; /* length of the callers' text */
};

struct tree_writer {
	const struct folded_tree *tree;
	struct chunk_writer *out;
	uint32_t *children; /* all nodes, sorted by parent */
	uint32_t *first;    /* node i's children are from first[i] to first[i + 1] */
	struct tree_pending *pending;
	size_t count, room;
	char *text; /* the stack up to the current node */
	size_t text_room;
};

/* The root has no parent and is sorted last. */
static uint32_t tree_parent_of(const void *context, uint32_t node)
{
	const struct folded_tree *tree = context;

	return node == FOLDED_TOP ? tree->count : tree->nodes[node].parent;
}

/* Formats the characters that follow the name of a pending node. */
static void format_tail(const struct folded_tree *tree, const struct tree_pending *pending,
			char tail[static TAIL])
{
	const struct folded_node *node = &tree->nodes[pending->node];

	if (!pending->is_line)
		snprintf(tail, TAIL, ";");
	else if (tree->is_difference)
		snprintf(tail, TAIL, " %" PRIu64 " %" PRIu64, node->before, node->count);
	else
		snprintf(tail, TAIL, " %" PRIu64, node->count);
}

static int byte_at(const char *name, size_t len, const char *tail, size_t at)
{
	return (unsigned char)(at < len ? name[at] : tail[at - len]);
}

/* Sorts siblings by their names and the characters that follow them, in descending order. */
static int compare_pending(const void *a, const void *b, void *context)
{
	const struct folded_tree *tree = context;
	const struct tree_pending *left = a, *right = b;
	string_id left_id = tree->nodes[left->node].name, right_id = tree->nodes[right->node].name;
	const char *left_name = strtab_get(tree->names, left_id);
	const char *right_name = strtab_get(tree->names, right_id);
	size_t left_len = strtab_len(tree->names, left_id);
	size_t right_len = strtab_len(tree->names, right_id);
	size_t at = left_len < right_len ? left_len : right_len;
	int order = memcmp(left_name, right_name, at);
	char left_tail[TAIL], right_tail[TAIL];

	if (order)
		return -order;
	format_tail(tree, left, left_tail);
	format_tail(tree, right, right_tail);
	for (;; at++) {
		int l = byte_at(left_name, left_len, left_tail, at);
		int r = byte_at(right_name, right_len, right_tail, at);

		if (l != r || !l)
			return r - l;
	}
}

static void tree_push(struct tree_writer *writer, struct tree_pending pending)
{
	GROW(writer->pending, writer->count, writer->room);
	writer->pending[writer->count++] = pending;
}

static void push_children(struct tree_writer *writer, uint32_t node, size_t prefix_len)
{
	size_t before = writer->count;

	for (uint32_t i = writer->first[node]; i < writer->first[node + 1]; i++) {
		uint32_t child = writer->children[i];

		if (writer->tree->nodes[child].count || writer->tree->nodes[child].before)
			tree_push(writer, (struct tree_pending){child, true, prefix_len});
		if (writer->first[child] < writer->first[child + 1])
			tree_push(writer, (struct tree_pending){child, false, prefix_len});
	}
	if (writer->count - before > 1)
		qsort_r(writer->pending + before, writer->count - before,
			sizeof(struct tree_pending), compare_pending,
			(void *)(uintptr_t)writer->tree);
}

/* Appends the node's name and a ';' to the callers' text. Returns the new length. */
static size_t append_name(struct tree_writer *writer, const struct tree_pending *pending)
{
	string_id name = writer->tree->nodes[pending->node].name;
	size_t name_len = strtab_len(writer->tree->names, name);
	size_t len = pending->prefix_len + name_len + 1;

	if (writer->text_room < len) {
		writer->text_room = len * 2;
		writer->text = xreallocarray(writer->text, writer->text_room, 1);
	}
	memcpy(writer->text + pending->prefix_len, strtab_get(writer->tree->names, name), name_len);
	writer->text[len - 1] = ';';
	return len;
}

/* The counts overwrite the trailing ';'. */
static void tree_write_line(struct tree_writer *writer, size_t len, const struct folded_node *node)
{
	char tail[TAIL + 1], *end = tail + sizeof(tail), *at = end;

	*--at = '\n';
	at = digits_before(at, node->count);
	*--at = ' ';
	if (writer->tree->is_difference) {
		at = digits_before(at, node->before);
		*--at = ' ';
	}
	chunk_writer_put(writer->out, writer->text, len - 1);
	chunk_writer_put(writer->out, at, (size_t)(end - at));
}

static void write_pending(struct tree_writer *writer)
{
	struct tree_pending pending = writer->pending[--writer->count];
	size_t len = append_name(writer, &pending);

	if (pending.is_line)
		tree_write_line(writer, len, &writer->tree->nodes[pending.node]);
	else
		push_children(writer, pending.node, len);
}

void folded_tree_write(const struct folded_tree *tree, FILE *out)
{
	struct tree_writer writer = {.tree = tree, .out = chunk_writer_new(out, NULL)};

	writer.children = counting_sort(tree->count, tree->count + 1, tree_parent_of, tree,
					&writer.first);
	push_children(&writer, FOLDED_TOP, 0);
	while (writer.count)
		write_pending(&writer);
	chunk_writer_finish(writer.out);
	free(writer.children);
	free(writer.first);
	free(writer.pending);
	free(writer.text);
}
