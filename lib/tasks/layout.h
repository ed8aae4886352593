/*
 * How the tasks of one program lie in its memory: a graph whose nodes are types (futures, the enums
 * and structures around them) and whose edges lead from an object to what it waits for.
 *
 * A confined process builds it from the program's DWARF (layout_builder.h) and sends it as bytes;
 * task_layout_read() treats these as hostile, so that every index in a layout is valid.
 * Addresses are vaddrs of the program's file, offsets count from the start of an object.
 */
#ifndef PROF_TASKS_LAYOUT_H
#define PROF_TASKS_LAYOUT_H

#include "base/bytes.h"
#include "base/cleanup.h"

#include <stdint.h>

enum layout_edge_kind {
	LAYOUT_INSIDE,	/* the object is at the offset */
	LAYOUT_POINTER, /* its address is there */
	LAYOUT_DYNAMIC, /* so is it, and the address of its vtable at `other`, which says its type
			 */
	LAYOUT_SLICE,	/* the address of the first, and at `other` their number */
	LAYOUT_EDGE_KINDS,
};

struct layout_edge {
	uint64_t offset, other;
	uint32_t stride_bytes; /* of a slice */
	uint32_t node;	       /* LAYOUT_DYNAMIC: unused */
	uint32_t kind;
	uint32_t unused; /* no padding is written */
};

struct layout_variant {
	uint64_t value;
	uint32_t is_default; /* of all values that no other variant has */
	uint32_t is_over;    /* a coroutine that has returned or panicked: it awaits nothing */
	uint32_t file, line; /* of the await; 0: unknown */
	uint32_t first_edge, edge_count;
	uint32_t unused[2];
};

enum layout_role {
	LAYOUT_PLAIN, /* not a frame: an enum, or a wrapper */
	LAYOUT_FRAME,
	LAYOUT_LIST, /* the list of tasks: the address of its first is at its start */
	LAYOUT_ROLES,
};

struct layout_node {
	uint64_t size_bytes;
	uint64_t discriminant_offset;
	uint32_t discriminant_bytes; /* 0: the first variant is the only one */
	uint32_t role;
	uint32_t name, file; /* strings; 0: none */
	/* The function that runs the future, as its linkage name and demangled; 0: none. */
	uint32_t linkage_name, function;
	uint32_t line;
	uint32_t first_variant, variant_count;
	uint32_t unused;
};

/* A poll function in the vtable of a task, or a vtable: what it is of. */
struct layout_root {
	uint64_t vaddr;
	uint32_t node;
	uint32_t unused;
};

/* Where a task has what belongs to its list. */
struct layout_header {
	uint64_t state, vtable;	 /* in the header */
	uint64_t poll;		 /* in the vtable */
	uint64_t trailer;	 /* in the vtable: the offset of the trailer; if has_trailer */
	uint64_t previous, next; /* from the trailer on, else from the header */
	uint64_t has_trailer;
};

struct task_layout {
	struct layout_header header;
	/* The thread-local variable that leads to the lists. */
	uint64_t context_offset, tls_bytes, tls_alignment;
	uint32_t context; /* node */

	struct layout_node *nodes;
	size_t node_count, node_room;
	struct layout_variant *variants;
	size_t variant_count, variant_room;
	struct layout_edge *edges;
	size_t edge_count, edge_room;
	struct layout_root *tasks; /* ascending */
	size_t task_count, task_room;
	struct layout_root *vtables; /* ascending */
	size_t vtable_count, vtable_room;
	uint32_t *strings; /* where each begins in `text`; each ends with NUL */
	size_t string_count, string_room;
	char *text;
	size_t text_bytes, text_room;
};

/* The most bytes of a layout, and variants of a node. */
enum { TASK_LAYOUT_BYTES_MAX = 64 << 20, LAYOUT_VARIANTS_MAX = 1024 };

void task_layout_free(struct task_layout *layout);
DEFINE_CLEANUP(task_layout, task_layout_free)

/* The caller frees the bytes. Sorts tasks and vtables. */
char *task_layout_write(struct task_layout *layout, size_t *len);
/* NULL: the bytes are not a layout. */
struct task_layout *task_layout_read(const void *bytes, size_t len);

/* By their addresses; NULL: unknown. */
const struct layout_node *task_layout_task(const struct task_layout *layout, uint64_t poll_vaddr);
const struct layout_node *task_layout_vtable(const struct task_layout *layout, uint64_t vaddr);
const char *task_layout_string(const struct task_layout *layout, uint32_t id);

#endif
