/*
 * What a pass over a program's debug information finds of tokio: the types of its tasks, their poll
 * functions, the vtables of futures, and which types are futures.
 *
 * A type is a future if the program has a poll() for it. Types of one name are one, as each unit
 * may have its own copy.
 */
#ifndef PROF_TASKS_TOKIO_PARTS_H
#define PROF_TASKS_TOKIO_PARTS_H

#include "base/cleanup.h"
#include "base/idmap.h"
#include "dwarf/types.h"

/* The function that polls the tasks of a future and a scheduler. */
struct tokio_poll {
	uint64_t vaddr;
	dwarf_type_id future, scheduler;
};

struct tokio_vtable {
	uint64_t vaddr;
	dwarf_type_id type;
};

struct tokio_function;

struct tokio_parts {
	struct dwarf_types *types; /* borrowed */
	bool has_tokio;
	dwarf_type_id header;	 /* of a task; 0: not found */
	dwarf_type_id context;	 /* the type of the thread-local CONTEXT; 0: not found */
	uint64_t context_offset; /* in the TLS segment */
	struct tokio_poll *polls;
	size_t poll_count, poll_room;
	struct tokio_vtable *vtables;
	size_t vtable_count, vtable_room;
	dwarf_type_id *cells; /* the types of tasks */
	size_t cell_count, cell_room;

	/* Private. */
	struct tokio_function *functions;
	size_t function_count, function_room;
	struct idmap futures; /* by the hash of the name; so are linkage names */
	struct idmap linkage_ids;
	struct bytes *linkage_names;
	size_t linkage_count, linkage_room;
	struct idmap cell_ids; /* by the hashes of future and scheduler */
};

/* types is borrowed, and its pass is made here. Of a program without tokio only has_tokio is set.
 */
struct tokio_parts tokio_parts_find(struct dwarf_types *types);
void tokio_parts_deinit(struct tokio_parts *parts);

bool tokio_parts_have_future(const struct tokio_parts *parts, const char *name);
/* Of the function of a coroutine or closure, by the name of its type; `at` is NULL: unknown. */
struct bytes tokio_parts_linkage_name(const struct tokio_parts *parts, const char *name);
/* The type of the tasks that the function polls; 0: unknown. */
dwarf_type_id tokio_parts_cell(const struct tokio_parts *parts, const struct tokio_poll *poll);

/* Whether the type of that name, without its scopes, is of an async function, block or closure. */
bool tokio_is_coroutine(struct bytes name);

#endif
