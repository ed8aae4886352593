/*
 * The stacks of a folded file, as a trie of frame names. Equal stacks are one
 * node, so memory grows with the number of nodes, not with the length of the
 * text.
 */
#ifndef PROF_FORMAT_FOLDED_TREE_H
#define PROF_FORMAT_FOLDED_TREE_H

#include "base/idmap.h"
#include "base/strtab.h"

#include <stdbool.h>
#include <stdio.h>

/* The parent of every first frame. */
#define FOLDED_TOP 0u

struct folded_node {
	uint32_t parent;
	string_id name;
	uint64_t count;	 /* samples or weight of the stack that ends here */
	uint64_t before; /* the count in the profile that this one is compared with */
};

struct folded_tree {
	struct strtab *names;
	struct folded_node *nodes;
	uint32_t count, room;
	struct idmap children; /* by (parent, name) */
	bool is_difference;    /* lines have two counts, before and after */
};

/* names is borrowed. Names must not be empty or contain ';'. */
void folded_tree_init(struct folded_tree *tree, struct strtab *names);
void folded_tree_deinit(struct folded_tree *tree);

/* Returns the child of `parent` with this name; creates it if needed. */
uint32_t folded_tree_child(struct folded_tree *tree, uint32_t parent, string_id name);
void folded_tree_add(struct folded_tree *tree, uint32_t node, uint64_t count);
void folded_tree_add_before(struct folded_tree *tree, uint32_t node, uint64_t count);

/*
 * Writes one line for each stack that has a count, in bytewise order. Errors
 * stay in out.
 */
void folded_tree_write(const struct folded_tree *tree, FILE *out);

#endif
