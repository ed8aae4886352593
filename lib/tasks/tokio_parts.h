/*
 * Finds the parts of tokio in one pass over a program's debug information: the
 * types of its tasks, their poll functions, the vtables of futures, and the
 * types that are futures.
 *
 * A type is a future if the program has a poll() for it. Types with the same
 * name are treated as one type, because each unit may contain its own copy.
 */
#ifndef PROF_TASKS_TOKIO_PARTS_H
#define PROF_TASKS_TOKIO_PARTS_H

#include "base/cleanup.h"
#include "base/idmap.h"
#include "dwarf/types.h"

/* The function that polls the tasks with this future and scheduler. */
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
	dwarf_type_id header;	 /* the type of a task's header; 0 if not found */
	dwarf_type_id context;	 /* the type of the thread-local CONTEXT; 0 if not found */
	uint64_t context_offset; /* in the TLS segment */
	struct tokio_poll *polls;
	size_t poll_count, poll_room;
	struct tokio_vtable *vtables;
	size_t vtable_count, vtable_room;
	dwarf_type_id *cells; /* the types of tasks */
	size_t cell_count, cell_room;

	/* Private: */
	struct tokio_function *functions;
	size_t function_count, function_room;
	struct idmap futures; /* keyed by the hash of the name, like linkage_ids */
	struct idmap linkage_ids;
	struct bytes *linkage_names;
	size_t linkage_count, linkage_room;
	struct idmap cell_ids; /* keyed by the hashes of future and scheduler */
};

/*
 * Runs its own pass over `types`, which it borrows. Sets only has_tokio if the
 * program does not use tokio.
 */
struct tokio_parts tokio_parts_find(struct dwarf_types *types);
void tokio_parts_deinit(struct tokio_parts *parts);

bool tokio_parts_have_future(const struct tokio_parts *parts, const char *name);
/*
 * Returns the linkage name of the function of a coroutine or closure, given the
 * name of its type. `at` is NULL if it is unknown.
 */
struct bytes tokio_parts_linkage_name(const struct tokio_parts *parts, const char *name);
/*
 * Returns the type of the tasks that the function polls, or 0 if it is unknown.
 */
dwarf_type_id tokio_parts_cell(const struct tokio_parts *parts, const struct tokio_poll *poll);

/*
 * Returns whether a type is that of an async function, block or closure, given
 * its name without scopes.
 */
bool tokio_is_coroutine(struct bytes name);

#endif
