#include "tasks/type_search.h"

#include "base/alloc.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- The rules of each kind of search ---- */

struct rules {
	unsigned depth_max; /* maximum depth of nested structures */
	/* Whether the type is a target. */
	bool (*is_target)(const struct tokio_parts *parts, const struct dwarf_type *type,
			  const char *name);
	/* Whether to search inside a structure, and behind a pointer. */
	bool (*enters)(const struct dwarf_type *type, const char *name);
	bool (*follows)(const struct dwarf_type *pointer, const char *target);
};

/* These types are not frames, but what they contain or point to is. */
static bool is_transparent(const char *name)
{
	return text_begins(name, "core::pin::Pin<") || strstr(name, "maybe_done::MaybeDone<") ||
	       text_begins(name, "alloc::boxed::Box<") ||
	       text_begins(name, "core::panic::unwind_safe::AssertUnwindSafe<");
}

static bool is_future(const struct tokio_parts *parts, const struct dwarf_type *type,
		      const char *name)
{
	return tokio_is_coroutine(type->name) ||
	       (tokio_parts_have_future(parts, name) && !is_transparent(name));
}

/* Futures in collections and locks are stored there, not awaited. */
static bool may_hold_futures(const struct dwarf_type *type, const char *name)
{
	static const char *const open[] = {
		"core::pin::",	"core::mem::",	  "core::option::", "core::cell::",
		"core::task::", "core::future::", "core::result::", "core::panic::"};

	(void)type;
	for (size_t i = 0; i < ARRAY_SIZE(open); i++)
		if (text_begins(name, open[i]))
			return true;
	return !text_begins(name, "core::") && !text_begins(name, "alloc::") &&
	       !text_begins(name, "std::") && !text_begins(name, "hashbrown::");
}

static bool is_mutable_reference(const struct dwarf_type *pointer, const char *target)
{
	(void)target;
	return bytes_begin(pointer->name, "&mut ") ||
	       bytes_begin(pointer->name, "alloc::boxed::Box<");
}

static bool is_task_list(const struct tokio_parts *parts, const struct dwarf_type *type,
			 const char *name)
{
	(void)parts;
	(void)type;
	return text_begins(name,
			   "tokio::util::linked_list::LinkedList<tokio::runtime::task::Task<");
}

static bool may_hold_lists(const struct dwarf_type *type, const char *name)
{
	static const char *const open[] = {
		"std::sys::",  "std::thread::",		"core::cell::",	    "core::option::",
		"core::mem::", "core::ptr::non_null::", "alloc::sync::Arc", "tokio::",
		"lock_api::",  "parking_lot::",		"std::sync::",	    "core::ops::",
	};

	(void)type;
	for (size_t i = 0; i < ARRAY_SIZE(open); i++)
		if (text_begins(name, open[i]))
			return true;
	return false;
}

static bool is_scheduler_pointer(const struct dwarf_type *pointer, const char *target)
{
	(void)pointer;
	return text_begins(target, "alloc::sync::ArcInner<tokio::runtime::") ||
	       text_begins(target, "tokio::runtime::");
}

static const struct rules rules[SEARCH_KINDS] = {
	[SEARCH_FUTURES] = {12, is_future, may_hold_futures, is_mutable_reference},
	[SEARCH_LISTS] = {40, is_task_list, may_hold_lists, is_scheduler_pointer},
};

struct type_search {
	enum type_search_kind kind;
	const struct rules *rules;
	struct dwarf_types *types;
	const struct tokio_parts *parts;
	struct idmap leads; /* known answers, by type */
};

struct type_search *type_search_new(enum type_search_kind kind, struct dwarf_types *types,
				    const struct tokio_parts *parts)
{
	struct type_search *search = xcalloc(1, sizeof(*search));

	search->kind = kind;
	search->rules = &rules[kind];
	search->types = types;
	search->parts = parts;
	return search;
}

void type_search_free(struct type_search *search)
{
	if (!search)
		return;
	idmap_deinit(&search->leads);
	free(search);
}

bool type_search_is_target(const struct type_search *search, const struct dwarf_type *type,
			   const char *name)
{
	return search->rules->is_target(search->parts, type, name);
}

/* ---- The search ---- */

/* Recognizes Box<dyn Future>. */
static bool is_dynamic(const struct type_search *search, const struct dwarf_type *type)
{
	return search->kind == SEARCH_FUTURES && dwarf_type_member(type, "pointer") &&
	       dwarf_type_member(type, "vtable") && bytes_hold(type->name, "dyn ") &&
	       bytes_hold(type->name, "Future");
}

dwarf_type_id type_search_element(struct type_search *search, const struct dwarf_type *type)
{
	const struct dwarf_member *pointer = dwarf_type_member(type, "data_ptr");
	struct dwarf_type first;

	if (!pointer || !dwarf_type_member(type, "length") ||
	    !bytes_begin(type->name, "alloc::boxed::Box<[") ||
	    !dwarf_types_read(search->types, pointer->type, &first))
		return 0;
	return first.target;
}

static bool leads(struct type_search *search, dwarf_type_id id, unsigned depth);

static bool members_lead(struct type_search *search, const struct dwarf_type *type, unsigned depth)
{
	for (size_t i = 0; i < type->member_count; i++)
		if (leads(search, type->members[i].type, depth + 1))
			return true;
	for (size_t i = 0; i < type->variant_count; i++)
		if (leads(search, type->variants[i].content.type, depth + 1))
			return true;
	return false;
}

static bool find_out(struct type_search *search, dwarf_type_id id, unsigned depth)
{
	struct dwarf_type type;
	const char *name;
	dwarf_type_id element;

	if (!id || depth > search->rules->depth_max || !dwarf_types_read(search->types, id, &type))
		return false;
	if (type.kind == DWARF_TYPE_POINTER) {
		name = dwarf_types_name(search->types, type.target);
		return name && search->rules->follows(&type, name) &&
		       leads(search, type.target, depth + 1);
	}
	if (type.kind != DWARF_TYPE_STRUCT)
		return false;
	element = type_search_element(search, &type);
	if (element)
		return leads(search, element, depth + 1);
	name = dwarf_types_name(search->types, id);
	if (is_dynamic(search, &type))
		return true;
	if (!name || bytes_begin(type.name, "PhantomData<"))
		return false;
	return type_search_is_target(search, &type, name) ||
	       (search->rules->enters(&type, name) && members_lead(search, &type, depth));
}

/* Returns whether an object of the type leads to a target. */
static bool leads(struct type_search *search, dwarf_type_id id, unsigned depth)
{
	struct idmap *known = &search->leads;
	uint32_t *answer = idmap_put(known, id, 0);
	bool ret;

	if (*answer != IDMAP_NONE)
		return *answer;
	*answer = false; /* provisional answer, which ends cycles of types */
	ret = find_out(search, id, depth);
	/*
	 * If the depth limit stopped the search, the answer may be different
	 * from another start.
	 */
	if (ret || depth < search->rules->depth_max / 2)
		*idmap_put(known, id, 0) = ret;
	else
		idmap_remove(known, id, 0);
	return ret;
}

bool type_search_leads(struct type_search *search, dwarf_type_id id)
{
	return leads(search, id, 0);
}

enum type_step type_search_step(struct type_search *search, dwarf_type_id id, unsigned depth,
				struct dwarf_type *type)
{
	if (depth > search->rules->depth_max || !leads(search, id, depth) ||
	    !dwarf_types_read(search->types, id, type))
		return STEP_NONE;
	if (type->kind == DWARF_TYPE_POINTER)
		return STEP_POINTER;
	if (type_search_element(search, type))
		return STEP_SLICE;
	if (is_dynamic(search, type))
		return STEP_DYNAMIC;
	if (type_search_is_target(search, type, dwarf_types_name(search->types, id)))
		return STEP_TARGET;
	return type->variant_count ? STEP_VARIANTS : STEP_MEMBERS;
}
