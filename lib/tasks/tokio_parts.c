#include "tasks/tokio_parts.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* A function whose first parameter determines its type. */
struct tokio_function {
	dwarf_type_id parameter;
	struct bytes linkage_name;
	bool is_poll;
};

/* ---- Names ---- */

static uint64_t tokio_parts_hash_of(const void *text, size_t len)
{
	const unsigned char *at = text;
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * 0x100000001b3;
	return hash;
}

static uint64_t hash_of_name(const char *name)
{
	return tokio_parts_hash_of(name, strlen(name));
}

bool tokio_is_coroutine(struct bytes name)
{
	return bytes_begin(name, "{async_fn_env#") || bytes_begin(name, "{async_block_env#") ||
	       bytes_begin(name, "{async_closure_env#") || bytes_begin(name, "{coroutine_env#");
}

/* ---- The pass ---- */

static void take_struct(struct tokio_parts *parts, const struct dwarf_found *found)
{
	if (!dwarf_types_is_in(parts->types, found->scope, "task", "core"))
		return;
	if (bytes_begin(found->name, "Cell<")) {
		GROW(parts->cells, parts->cell_count, parts->cell_room);
		parts->cells[parts->cell_count++] = found->offset;
	} else if (bytes_are(found->name, "Header")) {
		parts->header = found->offset;
	}
}

static void tokio_parts_take_function(struct tokio_parts *parts, const struct dwarf_found *found)
{
	bool is_poll = bytes_are(found->name, "poll") || bytes_begin(found->name, "poll<");

	/*
	 * Functions exist even if types do not, and even if they lack scopes.
	 */
	parts->has_tokio = parts->has_tokio || bytes_hold(found->linkage_name, "5tokio7runtime") ||
			   bytes_hold(found->name, "tokio::runtime::");
	if (is_poll && dwarf_types_is_in(parts->types, found->scope, "task", "raw")) {
		if (!found->has_address || !found->arguments[0] || !found->arguments[1])
			return;
		GROW(parts->polls, parts->poll_count, parts->poll_room);
		parts->polls[parts->poll_count++] = (struct tokio_poll){
			found->address, found->arguments[0], found->arguments[1]};
	} else if (found->parameter && (is_poll || bytes_begin(found->name, "{async_"))) {
		GROW(parts->functions, parts->function_count, parts->function_room);
		parts->functions[parts->function_count++] =
			(struct tokio_function){found->parameter, found->linkage_name, is_poll};
	}
}

static void take_variable(struct tokio_parts *parts, const struct dwarf_found *found)
{
	if (found->is_thread_local) {
		if (bytes_hold(found->linkage_name, "7runtime7context7CONTEXT")) {
			parts->context = found->type;
			parts->context_offset = found->address;
		}
	} else if (bytes_hold(found->name, "Future") && bytes_hold(found->name, "::{vtable}")) {
		GROW(parts->vtables, parts->vtable_count, parts->vtable_room);
		parts->vtables[parts->vtable_count++] = (struct tokio_vtable){found->address,
									      found->type};
	}
}

static void take_found(void *user, const struct dwarf_found *found)
{
	struct tokio_parts *parts = user;

	switch (found->kind) {
	case DWARF_FOUND_STRUCT:
		take_struct(parts, found);
		break;
	case DWARF_FOUND_FUNCTION:
		tokio_parts_take_function(parts, found);
		break;
	case DWARF_FOUND_VARIABLE:
		take_variable(parts, found);
		break;
	}
}

/* ---- Assigning functions to types ---- */

/* Returns NAME from "Pin<&mut NAME>". `at` is NULL for other types. */
static struct bytes pinned_name(struct bytes name)
{
	static const char before[] = "Pin<&mut ";

	if (!bytes_begin(name, before) || name.end[-1] != '>')
		return (struct bytes){0};
	return bytes_of(name.at + strlen(before), bytes_left(&name) - strlen(before) - 1);
}

static void add_linkage(struct tokio_parts *parts, uint64_t hash, struct bytes linkage_name)
{
	uint32_t *id = idmap_put(&parts->linkage_ids, hash, 0);

	if (*id != IDMAP_NONE)
		return;
	*id = (uint32_t)parts->linkage_count;
	GROW(parts->linkage_names, parts->linkage_count, parts->linkage_room);
	parts->linkage_names[parts->linkage_count++] = linkage_name;
}

/*
 * Assigns a function to the future that it polls or the coroutine that it
 * resumes.
 */
static void assign_function(struct tokio_parts *parts, const struct tokio_function *function)
{
	struct dwarf_type type;
	struct bytes pinned;

	if (!dwarf_types_read(parts->types, function->parameter, &type))
		return;
	pinned = pinned_name(type.name);
	if (pinned.at) {
		uint64_t hash = tokio_parts_hash_of(pinned.at, bytes_left(&pinned));

		if (function->is_poll)
			*idmap_put(&parts->futures, hash, 0) = 0;
		else if (function->linkage_name.at)
			add_linkage(parts, hash, function->linkage_name);
	}
}

static void assign_cell(struct tokio_parts *parts, size_t index)
{
	const char *future, *scheduler;
	struct dwarf_type cell;
	uint32_t *id;

	if (!dwarf_types_read(parts->types, parts->cells[index], &cell) || cell.parameter_count < 2)
		return;
	future = dwarf_types_name(parts->types, cell.parameters[0].type);
	scheduler = dwarf_types_name(parts->types, cell.parameters[1].type);
	if (!future || !scheduler)
		return;
	id = idmap_put(&parts->cell_ids, hash_of_name(future), (uint32_t)hash_of_name(scheduler));
	*id = (uint32_t)index;
	*idmap_put(&parts->futures, hash_of_name(future), 0) = 0;
}

struct tokio_parts tokio_parts_find(struct dwarf_types *types)
{
	struct tokio_parts parts = {.types = types};

	dwarf_types_scan(types, take_found, &parts);
	for (size_t i = 0; parts.has_tokio && i < parts.function_count; i++)
		assign_function(&parts, &parts.functions[i]);
	for (size_t i = 0; parts.has_tokio && i < parts.cell_count; i++)
		assign_cell(&parts, i);
	return parts;
}

void tokio_parts_deinit(struct tokio_parts *parts)
{
	free(parts->functions);
	free(parts->polls);
	free(parts->vtables);
	free(parts->cells);
	free(parts->linkage_names);
	idmap_deinit(&parts->futures);
	idmap_deinit(&parts->linkage_ids);
	idmap_deinit(&parts->cell_ids);
}

/* ---- Lookups ---- */

bool tokio_parts_have_future(const struct tokio_parts *parts, const char *name)
{
	return idmap_get(&parts->futures, hash_of_name(name), 0) != IDMAP_NONE;
}

struct bytes tokio_parts_linkage_name(const struct tokio_parts *parts, const char *name)
{
	uint32_t id = idmap_get(&parts->linkage_ids, hash_of_name(name), 0);

	return id == IDMAP_NONE ? (struct bytes){0} : parts->linkage_names[id];
}

dwarf_type_id tokio_parts_cell(const struct tokio_parts *parts, const struct tokio_poll *poll)
{
	const char *future = dwarf_types_name(parts->types, poll->future);
	const char *scheduler = dwarf_types_name(parts->types, poll->scheduler);
	uint32_t cell;

	if (!future || !scheduler)
		return 0;
	cell = idmap_get(&parts->cell_ids, hash_of_name(future), (uint32_t)hash_of_name(scheduler));
	return cell == IDMAP_NONE ? 0 : parts->cells[cell];
}
