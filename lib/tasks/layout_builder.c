#include "tasks/layout_builder.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "dwarf/types.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* Structures in each other that are searched, for futures and for lists of tasks. */
enum { FUTURE_DEPTH_MAX = 12, LIST_DEPTH_MAX = 40 };
/* Of a whole program. */
enum { NODES_MAX = 1 << 20 };

/* A function whose first parameter says whose it is. */
struct owned_function {
	dwarf_type_id parameter;
	struct bytes linkage_name;
	bool is_poll;
};

struct task_function {
	uint64_t vaddr;
	dwarf_type_id future, scheduler;
};

struct vtable {
	uint64_t vaddr;
	dwarf_type_id type;
};

/* What a search of types looks for, and where it goes. */
struct search;

struct builder {
	struct dwarf_types *types;
	struct task_layout *layout;

	/* What the pass has found. */
	struct owned_function *functions;
	size_t function_count, function_room;
	struct task_function *tasks;
	size_t task_count, task_room;
	struct vtable *vtables;
	size_t vtable_count, vtable_room;
	dwarf_type_id *cells;
	size_t cell_count, cell_room;
	dwarf_type_id header, context;
	uint64_t context_offset;
	bool has_tokio;

	/* By the hash of a type's name: a future; the function of a coroutine or closure. */
	struct idmap futures, linkage_names;
	struct bytes *linkages;
	size_t linkage_count, linkage_room;
	struct idmap cell_ids; /* by hashes of future and scheduler */

	struct idmap leads[2], nodes[2]; /* by type; of either search */
	dwarf_type_id *queue;		 /* the type of each node, whose edges are still to come */
	const struct search **searches;
	size_t queue_room;
	struct idmap strings; /* by hash */
};

/* ---- Names ---- */

static uint64_t hash_of(const void *text, size_t len)
{
	const unsigned char *at = text;
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * 0x100000001b3;
	return hash;
}

static uint64_t hash_of_name(const char *name)
{
	return hash_of(name, strlen(name));
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool name_begins(struct bytes name, const char *with)
{
	size_t len = strlen(with);

	return name.at && bytes_left(&name) >= len && !memcmp(name.at, with, len);
}

static bool name_holds(struct bytes name, const char *what)
{
	return name.at && memmem(name.at, bytes_left(&name), what, strlen(what));
}

static uint32_t add_string(struct builder *builder, const char *text, size_t len)
{
	struct task_layout *layout = builder->layout;
	uint32_t *id = idmap_put(&builder->strings, hash_of(text, len), (uint32_t)len);

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

static uint32_t add_text(struct builder *builder, const char *text)
{
	return text ? add_string(builder, text, strlen(text)) : 0;
}

static bool is_coroutine(struct bytes name)
{
	return name_begins(name, "{async_fn_env#") || name_begins(name, "{async_block_env#") ||
	       name_begins(name, "{async_closure_env#") || name_begins(name, "{coroutine_env#");
}

static bool is_future_name(struct builder *builder, const char *name)
{
	return name && idmap_get(&builder->futures, hash_of_name(name), 0) != IDMAP_NONE;
}

/* ---- The pass ---- */

static void take_struct(struct builder *builder, const struct dwarf_found *found)
{
	if (!dwarf_types_is_in(builder->types, found->scope, "task", "core"))
		return;
	if (name_begins(found->name, "Cell<")) {
		GROW(builder->cells, builder->cell_count, builder->cell_room);
		builder->cells[builder->cell_count++] = found->offset;
	} else if (bytes_are(found->name, "Header")) {
		builder->header = found->offset;
	}
}

static void take_function(struct builder *builder, const struct dwarf_found *found)
{
	bool is_poll = bytes_are(found->name, "poll") || name_begins(found->name, "poll<");

	/* Functions are there where types are not, even if they have no scopes. */
	builder->has_tokio = builder->has_tokio ||
			     name_holds(found->linkage_name, "5tokio7runtime") ||
			     name_holds(found->name, "tokio::runtime::");
	if (is_poll && dwarf_types_is_in(builder->types, found->scope, "task", "raw")) {
		if (!found->has_address || !found->arguments[0] || !found->arguments[1])
			return;
		GROW(builder->tasks, builder->task_count, builder->task_room);
		builder->tasks[builder->task_count++] = (struct task_function){
			found->address, found->arguments[0], found->arguments[1]};
	} else if (found->parameter && (is_poll || name_begins(found->name, "{async_"))) {
		GROW(builder->functions, builder->function_count, builder->function_room);
		builder->functions[builder->function_count++] =
			(struct owned_function){found->parameter, found->linkage_name, is_poll};
	}
}

static void take_variable(struct builder *builder, const struct dwarf_found *found)
{
	if (found->is_thread_local) {
		if (name_holds(found->linkage_name, "7runtime7context7CONTEXT")) {
			builder->context = found->type;
			builder->context_offset = found->address;
		}
	} else if (name_holds(found->name, "Future") && name_holds(found->name, "::{vtable}")) {
		GROW(builder->vtables, builder->vtable_count, builder->vtable_room);
		builder->vtables[builder->vtable_count++] = (struct vtable){found->address,
									    found->type};
	}
}

static void take_found(void *user, const struct dwarf_found *found)
{
	struct builder *builder = user;

	switch (found->kind) {
	case DWARF_FOUND_STRUCT:
		take_struct(builder, found);
		break;
	case DWARF_FOUND_FUNCTION:
		take_function(builder, found);
		break;
	case DWARF_FOUND_VARIABLE:
		take_variable(builder, found);
		break;
	}
}

/* The name within "Pin<&mut NAME>"; `at` is NULL: it is another type. */
static struct bytes pinned_name(struct bytes name)
{
	static const char before[] = "Pin<&mut ";

	if (!name_begins(name, before) || name.end[-1] != '>')
		return (struct bytes){0};
	return bytes_of(name.at + strlen(before), bytes_left(&name) - strlen(before) - 1);
}

static void add_linkage(struct builder *builder, uint64_t hash, struct bytes linkage_name)
{
	uint32_t *id = idmap_put(&builder->linkage_names, hash, 0);

	if (*id != IDMAP_NONE)
		return;
	*id = (uint32_t)builder->linkage_count;
	GROW(builder->linkages, builder->linkage_count, builder->linkage_room);
	builder->linkages[builder->linkage_count++] = linkage_name;
}

/* Whose it is: a future that is polled, a coroutine that is resumed. */
static void assign_function(struct builder *builder, const struct owned_function *function)
{
	struct dwarf_type type;
	struct bytes pinned;

	if (!dwarf_types_read(builder->types, function->parameter, &type))
		return;
	pinned = pinned_name(type.name);
	if (pinned.at) {
		uint64_t hash = hash_of(pinned.at, bytes_left(&pinned));

		if (function->is_poll)
			*idmap_put(&builder->futures, hash, 0) = 0;
		else if (function->linkage_name.at)
			add_linkage(builder, hash, function->linkage_name);
	}
}

static void assign_cell(struct builder *builder, size_t index)
{
	const char *future, *scheduler;
	struct dwarf_type cell;
	uint32_t *id;

	if (!dwarf_types_read(builder->types, builder->cells[index], &cell) ||
	    cell.parameter_count < 2)
		return;
	future = dwarf_types_name(builder->types, cell.parameters[0].type);
	scheduler = dwarf_types_name(builder->types, cell.parameters[1].type);
	if (!future || !scheduler)
		return;
	id = idmap_put(&builder->cell_ids, hash_of_name(future), (uint32_t)hash_of_name(scheduler));
	*id = (uint32_t)index;
	*idmap_put(&builder->futures, hash_of_name(future), 0) = 0;
}

/* ---- Searches ---- */

enum which { FUTURES, LISTS };

struct search {
	enum which which;
	unsigned depth_max;
	/* Whether the type is what is looked for. */
	bool (*is_target)(struct builder *builder, const struct dwarf_type *type, const char *name);
	/* Whether to go on into a structure, and to where a pointer leads. */
	bool (*enters)(const struct dwarf_type *type, const char *name);
	bool (*follows)(const struct dwarf_type *pointer, const char *target);
};

/* They are not frames of their own: what they point to or hold is. */
static bool is_transparent(const char *name)
{
	return begins(name, "core::pin::Pin<") || strstr(name, "maybe_done::MaybeDone<") ||
	       begins(name, "alloc::boxed::Box<") ||
	       begins(name, "core::panic::unwind_safe::AssertUnwindSafe<");
}

static bool is_future(struct builder *builder, const struct dwarf_type *type, const char *name)
{
	return is_coroutine(type->name) || (is_future_name(builder, name) && !is_transparent(name));
}

/* Collections and locks hold futures that nobody awaits there. */
static bool may_hold_futures(const struct dwarf_type *type, const char *name)
{
	static const char *const open[] = {
		"core::pin::",	"core::mem::",	  "core::option::", "core::cell::",
		"core::task::", "core::future::", "core::result::", "core::panic::"};

	(void)type;
	for (size_t i = 0; i < ARRAY_SIZE(open); i++)
		if (begins(name, open[i]))
			return true;
	return !begins(name, "core::") && !begins(name, "alloc::") && !begins(name, "std::") &&
	       !begins(name, "hashbrown::");
}

static bool is_mutable_reference(const struct dwarf_type *pointer, const char *target)
{
	(void)target;
	return name_begins(pointer->name, "&mut ") ||
	       name_begins(pointer->name, "alloc::boxed::Box<");
}

static bool is_task_list(struct builder *builder, const struct dwarf_type *type, const char *name)
{
	(void)builder;
	(void)type;
	return begins(name, "tokio::util::linked_list::LinkedList<tokio::runtime::task::Task<");
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
		if (begins(name, open[i]))
			return true;
	return false;
}

static bool is_scheduler_pointer(const struct dwarf_type *pointer, const char *target)
{
	(void)pointer;
	return begins(target, "alloc::sync::ArcInner<tokio::runtime::") ||
	       begins(target, "tokio::runtime::");
}

static const struct search futures_search = {FUTURES, FUTURE_DEPTH_MAX, is_future, may_hold_futures,
					     is_mutable_reference};
static const struct search lists_search = {LISTS, LIST_DEPTH_MAX, is_task_list, may_hold_lists,
					   is_scheduler_pointer};

static const struct dwarf_member *find_member(const struct dwarf_type *type, const char *name)
{
	for (size_t i = 0; i < type->member_count; i++)
		if (bytes_are(type->members[i].name, name))
			return &type->members[i];
	return NULL;
}

/* Box<dyn Future>. */
static bool is_dynamic(const struct search *search, const struct dwarf_type *type)
{
	return search->which == FUTURES && find_member(type, "pointer") &&
	       find_member(type, "vtable") && name_holds(type->name, "dyn ") &&
	       name_holds(type->name, "Future");
}

/* Box<[T]>: the type of its elements; 0: it is not one. */
static dwarf_type_id element_of(struct builder *builder, const struct dwarf_type *type)
{
	const struct dwarf_member *pointer = find_member(type, "data_ptr");
	struct dwarf_type first;

	if (!pointer || !find_member(type, "length") ||
	    !name_begins(type->name, "alloc::boxed::Box<[") ||
	    !dwarf_types_read(builder->types, pointer->type, &first))
		return 0;
	return first.target;
}

static bool leads(struct builder *builder, const struct search *search, dwarf_type_id id,
		  unsigned depth);

static bool members_lead(struct builder *builder, const struct search *search,
			 const struct dwarf_type *type, unsigned depth)
{
	for (size_t i = 0; i < type->member_count; i++)
		if (leads(builder, search, type->members[i].type, depth + 1))
			return true;
	for (size_t i = 0; i < type->variant_count; i++)
		if (leads(builder, search, type->variants[i].content.type, depth + 1))
			return true;
	return false;
}

static bool find_out(struct builder *builder, const struct search *search, dwarf_type_id id,
		     unsigned depth)
{
	struct dwarf_type type;
	const char *name;
	dwarf_type_id element;

	if (!id || depth > search->depth_max || !dwarf_types_read(builder->types, id, &type))
		return false;
	if (type.kind == DWARF_TYPE_POINTER) {
		name = dwarf_types_name(builder->types, type.target);
		return name && search->follows(&type, name) &&
		       leads(builder, search, type.target, depth + 1);
	}
	if (type.kind != DWARF_TYPE_STRUCT)
		return false;
	element = element_of(builder, &type);
	if (element)
		return leads(builder, search, element, depth + 1);
	name = dwarf_types_name(builder->types, id);
	if (is_dynamic(search, &type))
		return true;
	if (!name || name_begins(type.name, "PhantomData<"))
		return false;
	return search->is_target(builder, &type, name) ||
	       (search->enters(&type, name) && members_lead(builder, search, &type, depth));
}

/* Whether an object of the type leads to a target. */
static bool leads(struct builder *builder, const struct search *search, dwarf_type_id id,
		  unsigned depth)
{
	struct idmap *known = &builder->leads[search->which];
	uint32_t *answer = idmap_put(known, id, 0);
	bool ret;

	if (*answer != IDMAP_NONE)
		return *answer;
	*answer = false; /* while it is being found out: types may be in circles */
	ret = find_out(builder, search, id, depth);
	/* Where the depth has cut the search the answer may be another from elsewhere. */
	if (ret || depth < search->depth_max / 2)
		*idmap_put(known, id, 0) = ret;
	else
		idmap_remove(known, id, 0);
	return ret;
}

/* ---- Nodes and edges ---- */

/* The node of a type; its edges come later. */
static uint32_t node_of(struct builder *builder, const struct search *search, dwarf_type_id id,
			enum layout_role role)
{
	struct task_layout *layout = builder->layout;
	uint32_t *known = idmap_put(&builder->nodes[search->which], id, role);

	if (*known != IDMAP_NONE)
		return *known;
	if (layout->node_count >= NODES_MAX)
		return 0;
	*known = (uint32_t)layout->node_count;
	if (layout->node_count == builder->queue_room) {
		builder->queue_room = builder->queue_room ? 2 * builder->queue_room : 64;
		builder->queue = xreallocarray(builder->queue, builder->queue_room,
					       sizeof(*builder->queue));
		builder->searches = xreallocarray(builder->searches, builder->queue_room,
						  sizeof(*builder->searches));
	}
	builder->queue[layout->node_count] = id;
	builder->searches[layout->node_count] = search;
	GROW(layout->nodes, layout->node_count, layout->node_room);
	layout->nodes[layout->node_count++] = (struct layout_node){.role = role};
	return *known;
}

static void add_edge(struct builder *builder, struct layout_edge edge)
{
	struct task_layout *layout = builder->layout;

	GROW(layout->edges, layout->edge_count, layout->edge_room);
	layout->edges[layout->edge_count++] = edge;
}

static void collect(struct builder *builder, const struct search *search, dwarf_type_id id,
		    uint64_t offset, unsigned depth);

static void collect_pointer(struct builder *builder, const struct search *search,
			    dwarf_type_id target, uint64_t offset)
{
	add_edge(builder, (struct layout_edge){
				  .kind = LAYOUT_POINTER,
				  .offset = offset,
				  .node = node_of(builder, search, target, LAYOUT_PLAIN),
			  });
}

static void collect_slice(struct builder *builder, const struct search *search,
			  const struct dwarf_type *type, dwarf_type_id element, uint64_t offset)
{
	struct dwarf_type first;

	if (!dwarf_types_read(builder->types, element, &first) || first.size_bytes > UINT32_MAX)
		return;
	add_edge(builder, (struct layout_edge){
				  .kind = LAYOUT_SLICE,
				  .offset = offset + find_member(type, "data_ptr")->offset,
				  .other = offset + find_member(type, "length")->offset,
				  .stride_bytes = (uint32_t)first.size_bytes,
				  .node = node_of(builder, search, element, LAYOUT_PLAIN),
			  });
}

static void collect_members(struct builder *builder, const struct search *search,
			    const struct dwarf_type *type, uint64_t offset, unsigned depth)
{
	for (size_t i = 0; i < type->member_count; i++)
		collect(builder, search, type->members[i].type, offset + type->members[i].offset,
			depth + 1);
}

static void collect_inside(struct builder *builder, const struct search *search, dwarf_type_id id,
			   uint64_t offset, enum layout_role role)
{
	add_edge(builder, (struct layout_edge){
				  .kind = LAYOUT_INSIDE,
				  .offset = offset,
				  .node = node_of(builder, search, id, role),
			  });
}

/* Adds the edges from an object at the offset to the targets that it leads to. */
static void collect(struct builder *builder, const struct search *search, dwarf_type_id id,
		    uint64_t offset, unsigned depth)
{
	struct dwarf_type type;
	dwarf_type_id element;

	if (depth > search->depth_max || !leads(builder, search, id, depth) ||
	    !dwarf_types_read(builder->types, id, &type))
		return;
	element = element_of(builder, &type);
	if (type.kind == DWARF_TYPE_POINTER)
		collect_pointer(builder, search, type.target, offset);
	else if (element)
		collect_slice(builder, search, &type, element, offset);
	else if (is_dynamic(search, &type))
		add_edge(builder, (struct layout_edge){
					  .kind = LAYOUT_DYNAMIC,
					  .offset = offset + find_member(&type, "pointer")->offset,
					  .other = offset + find_member(&type, "vtable")->offset,
				  });
	else if (search->is_target(builder, &type, dwarf_types_name(builder->types, id)))
		collect_inside(builder, search, id, offset,
			       search->which == LISTS ? LAYOUT_LIST : LAYOUT_FRAME);
	else if (type.variant_count)
		collect_inside(builder, search, id, offset, LAYOUT_PLAIN);
	else
		collect_members(builder, search, &type, offset, depth);
}

static struct layout_variant *begin_variant(struct builder *builder, struct layout_node *node)
{
	struct task_layout *layout = builder->layout;

	GROW(layout->variants, layout->variant_count, layout->variant_room);
	node->variant_count++;
	layout->variants[layout->variant_count] =
		(struct layout_variant){.first_edge = (uint32_t)layout->edge_count};
	return &layout->variants[layout->variant_count++];
}

static void end_variant(struct builder *builder, uint32_t index)
{
	struct task_layout *layout = builder->layout;

	layout->variants[index].edge_count = (uint32_t)layout->edge_count -
					     layout->variants[index].first_edge;
}

/* ---- Kinds of types ---- */

/* What a state of a coroutine awaits; if that is no known future it is a leaf all the same. */
static void collect_awaited(struct builder *builder, const struct dwarf_variant *state)
{
	size_t before = builder->layout->edge_count;
	const struct dwarf_member *awaited;
	struct dwarf_type content;
	uint64_t offset;

	if (!dwarf_types_read(builder->types, state->content.type, &content))
		return;
	awaited = find_member(&content, "__awaitee");
	if (!awaited)
		return;
	offset = state->content.offset + awaited->offset;
	collect(builder, &futures_search, awaited->type, offset, 0);
	if (builder->layout->edge_count == before)
		collect_inside(builder, &futures_search, awaited->type, offset, LAYOUT_FRAME);
}

/* Wrappers of which one member alone says what is awaited. */
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
		if (begins(name, wrappers[i].name))
			return &wrappers[i];
	return NULL;
}

static void collect_wrapped(struct builder *builder, const struct dwarf_type *type,
			    const struct wrapper *wrapper)
{
	const struct dwarf_member *member = find_member(type, wrapper->member);

	if (!member)
		return;
	if (wrapper->is_frame)
		collect(builder, &futures_search, member->type, member->offset, 0);
	else
		collect_inside(builder, &futures_search, member->type, member->offset,
			       LAYOUT_FRAME);
}

/* "tokio::time::sleep::Sleep"; of what has no function of its own: without type parameters. */
static uint32_t readable_name(struct builder *builder, const char *name)
{
	size_t len = strlen(name), cut = 0;
	unsigned depth = 0;
	CLEANUP(free_ptr) char *text = xmalloc(len + 1);

	for (size_t i = 0; i < len; i++) {
		if (begins(name + i, "_env#") && !depth)
			i += strlen("_env");
		depth += name[i] == '<';
		if (!depth)
			text[cut++] = name[i];
		depth -= name[i] == '>' && depth && (!i || name[i - 1] != '-');
	}
	return cut ? add_string(builder, text, cut) : add_string(builder, name, len);
}

static void name_frame(struct builder *builder, uint32_t index, const struct dwarf_type *type,
		       const char *name)
{
	struct layout_node *node = &builder->layout->nodes[index];
	uint32_t linkage = idmap_get(&builder->linkage_names, hash_of_name(name), 0);

	node->name = readable_name(builder, name);
	if (linkage != IDMAP_NONE) {
		const struct bytes *text = &builder->linkages[linkage];

		node->linkage_name = add_string(builder, (const char *)text->at, bytes_left(text));
	}
	if (type->variant_count && is_coroutine(type->name)) {
		node->file = add_text(builder, type->variants[0].content.decl_file);
		node->line = type->variants[0].content.decl_line;
	}
}

static void build_variants(struct builder *builder, const struct search *search, uint32_t index,
			   const struct dwarf_type *type)
{
	bool awaits = search->which == FUTURES && is_coroutine(type->name);

	for (size_t i = 0; i < type->variant_count; i++) {
		const struct dwarf_variant *from = &type->variants[i];
		struct layout_variant *to = begin_variant(builder, &builder->layout->nodes[index]);
		uint32_t number = (uint32_t)builder->layout->variant_count - 1;

		to->value = from->value;
		to->is_default = from->is_default;
		if (awaits) {
			to->is_over = !from->is_default && (from->value == 1 || from->value == 2);
			to->line = from->content.decl_line;
			to->file = add_text(builder, from->content.decl_file);
			collect_awaited(builder, from);
		} else {
			collect(builder, search, from->content.type, from->content.offset, 0);
		}
		end_variant(builder, number);
	}
}

/* A type without variants. */
static void build_single(struct builder *builder, const struct search *search, uint32_t index,
			 dwarf_type_id id, const struct dwarf_type *type, const char *name)
{
	const struct wrapper *wrapper = search->which == FUTURES ? wrapper_of(name) : NULL;
	enum layout_role role = builder->layout->nodes[index].role;
	uint32_t number = (uint32_t)builder->layout->variant_count;

	begin_variant(builder, &builder->layout->nodes[index]);
	if (wrapper) {
		if (!wrapper->is_frame)
			builder->layout->nodes[index].role = LAYOUT_PLAIN;
		collect_wrapped(builder, type, wrapper);
	} else if (role == LAYOUT_FRAME) {
		collect_members(builder, search, type, 0, 0);
	} else if (role == LAYOUT_PLAIN) {
		collect(builder, search, id, 0, 0);
	}
	end_variant(builder, number);
}

static void build_node(struct builder *builder, uint32_t index)
{
	const struct search *search = builder->searches[index];
	dwarf_type_id id = builder->queue[index];
	struct layout_node *node = &builder->layout->nodes[index];
	struct dwarf_type type;
	const char *name = dwarf_types_name(builder->types, id);

	node->first_variant = (uint32_t)builder->layout->variant_count;
	if (!dwarf_types_read(builder->types, id, &type))
		return;
	if (!name)
		name = "";
	node->size_bytes = type.size_bytes;
	/* What is reached by a pointer and is a frame itself. */
	if (node->role == LAYOUT_PLAIN && *name && search->which == FUTURES &&
	    is_future(builder, &type, name))
		node->role = LAYOUT_FRAME;
	if (node->role == LAYOUT_FRAME)
		name_frame(builder, index, &type, name);
	node = &builder->layout->nodes[index];
	if (type.variant_count && node->role != LAYOUT_LIST) {
		node->discriminant_offset = type.discriminant_offset;
		node->discriminant_bytes = type.discriminant_bytes;
		build_variants(builder, search, index, &type);
	} else {
		build_single(builder, search, index, id, &type, name);
	}
}

/* ---- Roots ---- */

static void add_root(struct layout_root **roots, size_t *count, size_t *room, uint64_t vaddr,
		     uint32_t node)
{
	GROW(*roots, *count, *room);
	(*roots)[(*count)++] = (struct layout_root){.vaddr = vaddr, .node = node};
}

static void add_task(struct builder *builder, const struct task_function *task)
{
	struct task_layout *layout = builder->layout;
	const char *future = dwarf_types_name(builder->types, task->future);
	const char *scheduler = dwarf_types_name(builder->types, task->scheduler);
	uint32_t cell;

	if (!future || !scheduler)
		return;
	cell = idmap_get(&builder->cell_ids, hash_of_name(future),
			 (uint32_t)hash_of_name(scheduler));
	if (cell == IDMAP_NONE)
		return;
	add_root(&layout->tasks, &layout->task_count, &layout->task_room, task->vaddr,
		 node_of(builder, &futures_search, builder->cells[cell], LAYOUT_PLAIN));
}

static void add_vtable(struct builder *builder, const struct vtable *vtable)
{
	struct task_layout *layout = builder->layout;
	struct dwarf_type type;

	if (!dwarf_types_read(builder->types, vtable->type, &type) || !type.containing)
		return;
	add_root(&layout->vtables, &layout->vtable_count, &layout->vtable_room, vtable->vaddr,
		 node_of(builder, &futures_search, type.containing, LAYOUT_FRAME));
}

/* Adds up the offsets of members in each other; *type becomes that of the last. */
static bool descend(struct builder *builder, dwarf_type_id *id, const char *name, uint64_t *offset)
{
	const struct dwarf_member *member;
	struct dwarf_type type;

	if (!dwarf_types_read(builder->types, *id, &type))
		return false;
	member = find_member(&type, name);
	if (!member)
		return false;
	*offset += member->offset;
	*id = member->type;
	return true;
}

static bool follow(struct builder *builder, dwarf_type_id *id)
{
	struct dwarf_type type;

	if (!dwarf_types_read(builder->types, *id, &type) || !type.target)
		return false;
	*id = type.target;
	return true;
}

/* The pointers of a list, whose fields are private in older versions. */
static bool read_links(struct builder *builder, dwarf_type_id id, uint64_t offset,
		       struct layout_header *ret)
{
	dwarf_type_id next;

	if (!descend(builder, &id, "inner", &offset) || !descend(builder, &id, "value", &offset))
		return false;
	next = id;
	ret->previous = ret->next = offset;
	if (!descend(builder, &id, "prev", &ret->previous)) {
		ret->next += 8;
		return true;
	}
	return descend(builder, &next, "next", &ret->next);
}

static bool read_header(struct builder *builder)
{
	struct layout_header *header = &builder->layout->header;
	dwarf_type_id vtable = builder->header, state = builder->header, owned = builder->header;
	dwarf_type_id poll, trailer = 0;
	uint64_t offset = 0;

	if (!descend(builder, &state, "state", &header->state) ||
	    !descend(builder, &vtable, "vtable", &header->vtable) || !follow(builder, &vtable))
		return false;
	poll = trailer = vtable;
	if (!descend(builder, &poll, "poll", &header->poll))
		return false;
	if (descend(builder, &owned, "owned", &offset))
		return read_links(builder, owned, offset, header);
	if (!descend(builder, &trailer, "trailer_offset", &header->trailer))
		return false;
	header->has_trailer = true;
	for (size_t i = 0; i < builder->cell_count; i++) {
		trailer = builder->cells[i];
		offset = 0;
		if (!descend(builder, &trailer, "trailer", &offset))
			continue;
		offset = 0;
		return descend(builder, &trailer, "owned", &offset) &&
		       read_links(builder, trailer, offset, header);
	}
	return false;
}

/* PT_TLS. */
static void read_tls(struct builder *builder, struct elf_file *elf)
{
	struct bytes file = elf_file_contents(elf), at = file;
	struct task_layout *layout = builder->layout;
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	const void *from = bytes_take(&at, sizeof(header));

	if (!from || elf_file_is_32(elf))
		return;
	memcpy(&header, from, sizeof(header));
	at = bytes_at(file, header.e_phoff);
	for (unsigned i = 0; i < header.e_phnum; i++) {
		from = bytes_take(&at, sizeof(segment));
		if (!from)
			return;
		memcpy(&segment, from, sizeof(segment));
		if (segment.p_type == PT_TLS) {
			layout->tls_bytes = segment.p_memsz;
			layout->tls_alignment = segment.p_align ? segment.p_align : 1;
		}
	}
}

static struct error *check_found(const struct builder *builder)
{
	if (!builder->header || !builder->task_count || !builder->cell_count)
		return error_hint(error_new("its debug information lacks types"),
				  "build it with debug = 2 (CARGO_PROFILE_RELEASE_DEBUG=2)");
	if (!builder->context)
		return error_new(
			"this version of tokio is unknown: it has no thread-local CONTEXT");
	return NULL;
}

static struct error *build(struct builder *builder, struct elf_file *elf)
{
	struct task_layout *layout = builder->layout;

	add_string(builder, "", 0);
	for (size_t i = 0; i < builder->function_count; i++)
		assign_function(builder, &builder->functions[i]);
	for (size_t i = 0; i < builder->cell_count; i++)
		assign_cell(builder, i);
	read_tls(builder, elf);
	layout->context_offset = builder->context_offset;
	if (!read_header(builder) || !layout->tls_bytes ||
	    !leads(builder, &lists_search, builder->context, 0))
		return error_new("this version of tokio is unknown: its lists of tasks are not "
				 "where they are expected");
	layout->context = node_of(builder, &lists_search, builder->context, LAYOUT_PLAIN);
	for (size_t i = 0; i < builder->task_count; i++)
		add_task(builder, &builder->tasks[i]);
	for (size_t i = 0; i < builder->vtable_count; i++)
		add_vtable(builder, &builder->vtables[i]);
	for (uint32_t i = 0; i < layout->node_count; i++)
		build_node(builder, i);
	return layout->task_count ? NULL : error_new("the types of its tasks are unknown");
}

static void builder_deinit(struct builder *builder)
{
	dwarf_types_free(builder->types);
	task_layout_free(builder->layout);
	free(builder->functions);
	free(builder->tasks);
	free(builder->vtables);
	free(builder->cells);
	free(builder->linkages);
	free(builder->queue);
	free(builder->searches);
	idmap_deinit(&builder->futures);
	idmap_deinit(&builder->linkage_names);
	idmap_deinit(&builder->cell_ids);
	idmap_deinit(&builder->strings);
	for (unsigned i = 0; i < ARRAY_SIZE(builder->nodes); i++) {
		idmap_deinit(&builder->leads[i]);
		idmap_deinit(&builder->nodes[i]);
	}
}

struct error *layout_build(struct elf_file *elf, struct task_layout **ret)
{
	CLEANUP(builder_deinit) struct builder builder = {.types = dwarf_types_new(elf)};
	struct error *err;

	*ret = NULL;
	if (!builder.types)
		return error_new("it has no debug information");
	builder.layout = xcalloc(1, sizeof(*builder.layout));
	dwarf_types_scan(builder.types, take_found, &builder);
	if (!builder.has_tokio)
		return NULL;
	err = check_found(&builder);
	if (!err)
		err = build(&builder, elf);
	if (!err)
		*ret = STEAL(builder.layout);
	return err;
}
