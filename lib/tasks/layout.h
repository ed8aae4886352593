/*
 * Describes how the tasks of one program lie in its memory. A layout is a
 * graph: its nodes are types (futures, and the enums and structures around
 * them), and its edges lead from an object to what it waits for.
 *
 * A confined process builds the layout from the program's DWARF
 * (layout_builder.h) and sends it as bytes. task_layout_read() treats these
 * bytes as hostile, so every index in a layout that it returns is valid.
 * Addresses are vaddrs of the program's file. Offsets count from the start of
 * an object.
 */
#ifndef PROF_TASKS_LAYOUT_H
#define PROF_TASKS_LAYOUT_H

#include "base/bytes.h"
#include "base/cleanup.h"

#include <stdint.h>

enum layout_edge_kind {
	LAYOUT_INSIDE,	/* the object is embedded at the offset */
	LAYOUT_POINTER, /* the offset contains the object's address */
	/*
	 * Like LAYOUT_POINTER, with the address of a vtable at `other` that
	 * determines the type.
	 */
	LAYOUT_DYNAMIC,
	/*
	 * The offset contains the address of the first element, and `other`
	 * their number.
	 */
	LAYOUT_SLICE,
	LAYOUT_EDGE_KINDS,
};

struct layout_edge {
	uint64_t offset, other;
	uint32_t stride_bytes; /* for slices */
	uint32_t node;	       /* unused for LAYOUT_DYNAMIC */
	uint32_t kind;
	uint32_t unused; /* avoids padding in the written bytes */
};

struct layout_variant {
	uint64_t value;
	uint32_t is_default; /* applies to all values without a variant of their own */
	uint32_t is_over;    /* A coroutine that has returned or panicked, which awaits nothing. */
	uint32_t file, line; /* position of the await; 0 if unknown */
	uint32_t first_edge, edge_count;
	uint32_t unused[2];
};

enum layout_role {
	LAYOUT_PLAIN, /* an enum or a wrapper, which is not a frame */
	LAYOUT_FRAME,
	LAYOUT_LIST, /* The list of tasks. It starts with the address of its first task. */
	LAYOUT_ROLES,
};

struct layout_node {
	uint64_t size_bytes;
	uint64_t discriminant_offset;
	uint32_t discriminant_bytes; /* 0 if the first variant is the only one */
	uint32_t role;
	uint32_t name, file; /* string ids; 0 if none */
	/*
	 * The string ids of the function that runs the future: its linkage name
	 * and its demangled name. 0 if there is none.
	 */
	uint32_t linkage_name, function;
	uint32_t line;
	uint32_t first_variant, variant_count;
	uint32_t unused;
};

/* The node for a task, by the poll function in its vtable, or for a vtable. */
struct layout_root {
	uint64_t vaddr;
	uint32_t node;
	uint32_t unused;
};

/* Where a task stores its state and its links in the list. */
struct layout_header {
	uint64_t state, vtable; /* offsets in the header */
	uint64_t poll;		/* offset in the vtable */
	/*
	 * The offset in the vtable of the trailer's offset. Valid if
	 * has_trailer is set.
	 */
	uint64_t trailer;
	/*
	 * Offsets from the trailer if has_trailer is set, otherwise from the
	 * header.
	 */
	uint64_t previous, next;
	uint64_t has_trailer;
};

struct task_layout {
	struct layout_header header;
	/* The thread-local variable from which the lists are reached. */
	uint64_t context_offset, tls_bytes, tls_alignment;
	uint32_t context; /* a node index */

	struct layout_node *nodes;
	size_t node_count, node_room;
	struct layout_variant *variants;
	size_t variant_count, variant_room;
	struct layout_edge *edges;
	size_t edge_count, edge_room;
	struct layout_root *tasks; /* sorted by vaddr */
	size_t task_count, task_room;
	struct layout_root *vtables; /* sorted by vaddr */
	size_t vtable_count, vtable_room;
	uint32_t *strings; /* the start of each string in `text`; strings end with NUL */
	size_t string_count, string_room;
	char *text;
	size_t text_bytes, text_room;
};

/* The maximum size of a layout, and of variants per node. */
enum { TASK_LAYOUT_BYTES_MAX = 64 << 20, LAYOUT_VARIANTS_MAX = 1024 };

void task_layout_free(struct task_layout *layout);
DEFINE_CLEANUP(task_layout, task_layout_free)

/*
 * Serializes the layout after sorting its tasks and vtables. The caller frees
 * the bytes.
 */
char *task_layout_write(struct task_layout *layout, size_t *len);
/* Returns NULL if the bytes are not a valid layout. */
struct task_layout *task_layout_read(const void *bytes, size_t len);

/*
 * Look up a node by the address of the poll function or vtable. Return NULL if
 * unknown.
 */
const struct layout_node *task_layout_task(const struct task_layout *layout, uint64_t poll_vaddr);
const struct layout_node *task_layout_vtable(const struct task_layout *layout, uint64_t vaddr);
const char *task_layout_string(const struct task_layout *layout, uint32_t id);

#endif
