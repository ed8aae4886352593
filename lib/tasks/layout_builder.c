#include "tasks/layout_builder.h"

#include "base/alloc.h"
#include "tasks/layout_graph.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct layout_builder {
	struct dwarf_types *types;
	struct tokio_parts parts;
	struct task_layout *layout;
	struct layout_graph *graph;
};

/* ---- Roots ---- */

static void add_root(struct layout_root **roots, size_t *count, size_t *room, uint64_t vaddr,
		     uint32_t node)
{
	GROW(*roots, *count, *room);
	(*roots)[(*count)++] = (struct layout_root){.vaddr = vaddr, .node = node};
}

static void layout_builder_add_polls(struct layout_builder *builder)
{
	struct task_layout *layout = builder->layout;

	for (size_t i = 0; i < builder->parts.poll_count; i++) {
		const struct tokio_poll *poll = &builder->parts.polls[i];
		dwarf_type_id cell = tokio_parts_cell(&builder->parts, poll);

		if (cell)
			add_root(&layout->tasks, &layout->task_count, &layout->task_room,
				 poll->vaddr,
				 layout_graph_node(builder->graph, SEARCH_FUTURES, cell,
						   LAYOUT_PLAIN));
	}
}

static void add_vtables(struct layout_builder *builder)
{
	struct task_layout *layout = builder->layout;
	struct dwarf_type type;

	for (size_t i = 0; i < builder->parts.vtable_count; i++) {
		const struct tokio_vtable *vtable = &builder->parts.vtables[i];

		if (dwarf_types_read(builder->types, vtable->type, &type) && type.containing)
			add_root(&layout->vtables, &layout->vtable_count, &layout->vtable_room,
				 vtable->vaddr,
				 layout_graph_node(builder->graph, SEARCH_FUTURES, type.containing,
						   LAYOUT_FRAME));
	}
}

/* ---- Members of a task that link it into its list ---- */

/*
 * Adds the offset of the named member, and sets *type to its type. Repeated
 * calls sum the offsets of nested members.
 */
static bool layout_builder_descend(struct layout_builder *builder, dwarf_type_id *id,
				   const char *name, uint64_t *offset)
{
	const struct dwarf_member *member;
	struct dwarf_type type;

	if (!dwarf_types_read(builder->types, *id, &type))
		return false;
	member = dwarf_type_member(&type, name);
	if (!member)
		return false;
	*offset += member->offset;
	*id = member->type;
	return true;
}

static bool layout_builder_follow(struct layout_builder *builder, dwarf_type_id *id)
{
	struct dwarf_type type;

	if (!dwarf_types_read(builder->types, *id, &type) || !type.target)
		return false;
	*id = type.target;
	return true;
}

/*
 * Reads the offsets of a list's pointers, whose fields are private in older
 * versions.
 */
static bool read_links(struct layout_builder *builder, dwarf_type_id id, uint64_t offset,
		       struct layout_header *ret)
{
	dwarf_type_id next;

	if (!layout_builder_descend(builder, &id, "inner", &offset) ||
	    !layout_builder_descend(builder, &id, "value", &offset))
		return false;
	next = id;
	ret->previous = ret->next = offset;
	if (!layout_builder_descend(builder, &id, "prev", &ret->previous)) {
		ret->next += 8;
		return true;
	}
	return layout_builder_descend(builder, &next, "next", &ret->next);
}

static bool layout_builder_read_header(struct layout_builder *builder)
{
	struct layout_header *header = &builder->layout->header;
	dwarf_type_id vtable = builder->parts.header, state = builder->parts.header,
		      owned = builder->parts.header;
	dwarf_type_id poll, trailer = 0;
	uint64_t offset = 0;

	if (!layout_builder_descend(builder, &state, "state", &header->state) ||
	    !layout_builder_descend(builder, &vtable, "vtable", &header->vtable) ||
	    !layout_builder_follow(builder, &vtable))
		return false;
	poll = trailer = vtable;
	if (!layout_builder_descend(builder, &poll, "poll", &header->poll))
		return false;
	if (layout_builder_descend(builder, &owned, "owned", &offset))
		return read_links(builder, owned, offset, header);
	if (!layout_builder_descend(builder, &trailer, "trailer_offset", &header->trailer))
		return false;
	header->has_trailer = true;
	for (size_t i = 0; i < builder->parts.cell_count; i++) {
		trailer = builder->parts.cells[i];
		offset = 0;
		if (!layout_builder_descend(builder, &trailer, "trailer", &offset))
			continue;
		offset = 0;
		return layout_builder_descend(builder, &trailer, "owned", &offset) &&
		       read_links(builder, trailer, offset, header);
	}
	return false;
}

/* ---- The layout ---- */

/* Reads PT_TLS. */
static void read_tls(struct layout_builder *builder, struct elf_file *elf)
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

static struct error *check_found(const struct layout_builder *builder)
{
	if (!builder->parts.header || !builder->parts.poll_count || !builder->parts.cell_count)
		return error_hint(error_new("its debug information lacks types"),
				  "build it with debug = 2 (CARGO_PROFILE_RELEASE_DEBUG=2)");
	if (!builder->parts.context)
		return error_new(
			"this version of tokio is not supported: it has no thread-local CONTEXT");
	return NULL;
}

static struct error *layout_builder_build(struct layout_builder *builder, struct elf_file *elf)
{
	struct task_layout *layout = builder->layout;

	builder->graph = layout_graph_new(builder->types, &builder->parts, layout);
	read_tls(builder, elf);
	layout->context_offset = builder->parts.context_offset;
	if (!layout_builder_read_header(builder) || !layout->tls_bytes ||
	    !layout_graph_leads(builder->graph, SEARCH_LISTS, builder->parts.context))
		return error_new("this version of tokio is not supported: its task lists are "
				 "not at the expected place");
	layout->context = layout_graph_node(builder->graph, SEARCH_LISTS, builder->parts.context,
					    LAYOUT_PLAIN);
	layout_builder_add_polls(builder);
	add_vtables(builder);
	layout_graph_build(builder->graph);
	return layout->task_count ? NULL
				  : error_new("its debug information lacks the types of its tasks");
}

static void layout_builder_deinit(struct layout_builder *builder)
{
	layout_graph_free(builder->graph);
	tokio_parts_deinit(&builder->parts);
	dwarf_types_free(builder->types);
	task_layout_free(builder->layout);
}

struct error *layout_build(struct elf_file *elf, struct task_layout **ret)
{
	CLEANUP(layout_builder_deinit)
	struct layout_builder builder = {.types = dwarf_types_new(elf)};
	struct error *err;

	*ret = NULL;
	if (!builder.types)
		return error_new("it has no debug information");
	builder.layout = xcalloc(1, sizeof(*builder.layout));
	builder.parts = tokio_parts_find(builder.types);
	if (!builder.parts.has_tokio)
		return NULL;
	err = check_found(&builder);
	if (!err)
		err = layout_builder_build(&builder, elf);
	if (!err)
		*ret = STEAL(builder.layout);
	return err;
}
