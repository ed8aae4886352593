#include "dwarf/types.h"

#include "base/alloc.h"
#include "base/search.h"
#include "dwarf/ranges.h"
#include "dwarf/reader.h"
#include "dwarf/sections.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* Limits for nested scopes and for names. Anything beyond is truncated. */
enum { DEPTH_MAX = 64, NAME_BYTES_MAX = 64 << 10 };

#define NO_SCOPE UINT32_MAX

struct scope {
	uint64_t offset;
	const unsigned char *name;
	uint32_t name_len, parent;
};

struct dwarf_types {
	struct dwarf_file file;
	struct dwarf_reader reader;
	struct arena arena;
	struct scope *scopes; /* by offset */
	size_t scope_count, scope_room;
};

struct dwarf_types *dwarf_types_new(struct elf_file *elf)
{
	struct dwarf_sections sections = dwarf_sections_of(elf);
	struct dwarf_types *types;

	if (!bytes_left(&sections.of[DWARF_INFO]))
		return NULL;
	types = xcalloc(1, sizeof(*types));
	dwarf_file_init(&types->file, &sections);
	dwarf_reader_init(&types->reader, &types->file, NULL, &types->arena);
	return types;
}

void dwarf_types_free(struct dwarf_types *types)
{
	if (!types)
		return;
	dwarf_reader_deinit(&types->reader);
	dwarf_file_deinit(&types->file);
	arena_deinit(&types->arena);
	free(types->scopes);
	free(types);
}

/* ---- One type ---- */

/*
 * An entry with the attributes that types, members, variants and variables
 * have.
 */
struct types_entry {
	uint16_t tag;
	bool has_children;
	struct bytes name, linkage_name;
	struct dwarf_value location, low_pc, decl_file;
	uint64_t size_bytes, offset, decl_line, value;
	bool has_value;
	dwarf_type_id type, containing;
	uint64_t discriminant; /* offset of the member's entry */
};

static dwarf_type_id types_id_of(const struct dwarf_types *types, const struct dwarf_view *view,
				 const struct dwarf_value *value)
{
	struct dwarf_reference reference = dwarf_reference(view, value);

	return reference.file == &types->file ? reference.offset : 0;
}

static void types_take_value(const struct dwarf_types *types, const struct dwarf_view *view,
			     const struct dwarf_value *value, struct types_entry *to)
{
	switch (value->name) {
	case DW_AT_name:
		to->name = dwarf_string(view, value);
		break;
	case DW_AT_linkage_name:
		to->linkage_name = dwarf_string(view, value);
		break;
	case DW_AT_type:
		to->type = types_id_of(types, view, value);
		break;
	case DW_AT_containing_type:
		to->containing = types_id_of(types, view, value);
		break;
	case DW_AT_discr:
		to->discriminant = types_id_of(types, view, value);
		break;
	case DW_AT_byte_size:
		to->size_bytes = value->number;
		break;
	case DW_AT_data_member_location:
		to->offset = value->number;
		break;
	case DW_AT_discr_value:
		to->has_value = true;
		to->value = value->number;
		break;
	case DW_AT_decl_file:
		to->decl_file = *value;
		break;
	case DW_AT_decl_line:
		to->decl_line = value->number;
		break;
	case DW_AT_location:
		to->location = *value;
		break;
	case DW_AT_low_pc:
		to->low_pc = *value;
		break;
	default:
		break;
	}
}

/*
 * Reads the entry at the cursor and moves past it. Returns false at the end of
 * the children.
 */
static bool types_read_entry(const struct dwarf_types *types, const struct dwarf_view *view,
			     struct bytes *at, struct types_entry *ret)
{
	uint64_t code = bytes_uleb(at);
	const struct dwarf_abbrev *abbrev = code ? dwarf_abbrevs_get(view->abbrevs, code) : NULL;
	struct dwarf_value value = {0};
	struct dwarf_attrs attrs;
	struct dwarf_die die;

	*ret = (struct types_entry){0};
	if (!abbrev) {
		if (code)
			bytes_fail(at);
		return false;
	}
	die = (struct dwarf_die){.abbrev = abbrev, .attributes = *at};
	ret->tag = abbrev->tag;
	ret->has_children = abbrev->has_children;
	attrs = dwarf_attrs_of(view, &die);
	while (dwarf_attrs_next(&attrs, &value))
		types_take_value(types, view, &value, ret);
	*at = attrs.at;
	return bytes_ok(at);
}

/* The state of reading one type. */
struct types_reading {
	struct dwarf_types *types;
	struct dwarf_opened *opened;
	const unsigned char *info;
	struct bytes at;
	struct dwarf_type *type;
	size_t member_room, variant_room, parameter_room;
	uint64_t discriminant;	    /* offset of the member's entry, or 0 */
	struct types_entry variant; /* the variant whose children are being read */
};

/* Returns the size of a number, or 0 if the type is not a number. */
static unsigned types_number_bytes(struct dwarf_types *types, dwarf_type_id id)
{
	struct dwarf_opened *opened;
	struct types_entry entry;
	struct dwarf_die die;
	struct bytes at;

	opened = dwarf_reader_die(&types->reader, (struct dwarf_reference){&types->file, id}, &die);
	if (!opened)
		return 0;
	at = bytes_at(types->file.sections.of[DWARF_INFO], id);
	if (!types_read_entry(types, &opened->view, &at, &entry) || entry.size_bytes > 8)
		return 0;
	return (unsigned)entry.size_bytes;
}

static struct dwarf_member types_member_of(struct types_reading *reading,
					   const struct types_entry *entry, bool wants_place)
{
	struct dwarf_member member = {
		.name = entry->name, .type = entry->type, .offset = entry->offset};

	if (wants_place && entry->decl_file.form) {
		member.decl_file = dwarf_lines_path(
			dwarf_reader_lines(&reading->types->reader, reading->opened),
			entry->decl_file.number, &reading->types->arena);
		member.decl_line = (uint32_t)entry->decl_line;
	}
	return member;
}

static void add_member(struct dwarf_member **members, size_t *count, size_t *room,
		       struct dwarf_member member)
{
	if (*count == DWARF_TYPE_MEMBERS_MAX)
		return;
	GROW(*members, *count, *room);
	(*members)[(*count)++] = member;
}

static void types_add_variant(struct types_reading *reading, const struct types_entry *entry)
{
	struct dwarf_type *type = reading->type;

	if (type->variant_count == DWARF_TYPE_MEMBERS_MAX)
		return;
	GROW(type->variants, type->variant_count, reading->variant_room);
	type->variants[type->variant_count++] = (struct dwarf_variant){
		.is_default = !reading->variant.has_value,
		.value = reading->variant.value,
		.content = types_member_of(reading, entry, true),
	};
}

/* Handles a child of the type itself. */
static void take_child(struct types_reading *reading, const struct types_entry *entry)
{
	struct dwarf_type *type = reading->type;

	if (entry->tag == DW_TAG_template_type_parameter)
		add_member(&type->parameters, &type->parameter_count, &reading->parameter_room,
			   types_member_of(reading, entry, false));
	else if (entry->tag == DW_TAG_member)
		add_member(&type->members, &type->member_count, &reading->member_room,
			   types_member_of(reading, entry, false));
	else if (entry->tag == DW_TAG_variant_part)
		reading->discriminant = entry->discriminant;
}

/* Handles a child of the variant part: the discriminant or a variant. */
static void take_of_part(struct types_reading *reading, const struct types_entry *entry,
			 uint64_t offset)
{
	struct dwarf_type *type = reading->type;

	if (entry->tag == DW_TAG_variant) {
		reading->variant = *entry;
	} else if (entry->tag == DW_TAG_member && offset == reading->discriminant) {
		type->discriminant_offset = entry->offset;
		type->discriminant_bytes = types_number_bytes(reading->types, entry->type);
	}
}

/*
 * Reads the children, including the variant part and its variants. Other deeper
 * entries are skipped.
 */
static void read_children(struct types_reading *reading)
{
	uint16_t parents[] = {0, 0, 0, 0}; /* tags of the parents by depth */
	unsigned depth = 1;

	while (depth && bytes_left(&reading->at)) {
		uint64_t offset = (uint64_t)(reading->at.at - reading->info);
		struct types_entry entry;

		if (!types_read_entry(reading->types, &reading->opened->view, &reading->at,
				      &entry)) {
			depth--;
			continue;
		}
		if (depth == 1)
			take_child(reading, &entry);
		else if (depth == 2 && parents[2] == DW_TAG_variant_part)
			take_of_part(reading, &entry, offset);
		else if (depth == 3 && parents[2] == DW_TAG_variant_part &&
			 parents[3] == DW_TAG_variant && entry.tag == DW_TAG_member)
			types_add_variant(reading, &entry);
		depth += entry.has_children;
		if (entry.has_children && depth < ARRAY_SIZE(parents))
			parents[depth] = entry.tag;
	}
}

static enum dwarf_type_kind types_kind_of(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return DWARF_TYPE_STRUCT;
	case DW_TAG_pointer_type:
		return DWARF_TYPE_POINTER;
	default:
		return DWARF_TYPE_OTHER;
	}
}

/* Moves an array to the arena. */
static void *types_keep(struct dwarf_types *types, void *array, size_t bytes)
{
	void *kept = NULL;

	if (bytes) {
		kept = arena_alloc(&types->arena, bytes);
		memcpy(kept, array, bytes);
	}
	free(array);
	return kept;
}

bool dwarf_types_read(struct dwarf_types *types, dwarf_type_id id, struct dwarf_type *ret)
{
	struct types_reading reading = {.types = types, .type = ret};
	struct types_entry entry;
	struct dwarf_die die;

	*ret = (struct dwarf_type){0};
	reading.opened = dwarf_reader_die(&types->reader,
					  (struct dwarf_reference){&types->file, id}, &die);
	if (!reading.opened)
		return false;
	reading.info = types->file.sections.of[DWARF_INFO].at;
	reading.at = bytes_at(types->file.sections.of[DWARF_INFO], id);
	reading.at.end = reading.info + reading.opened->view.unit->end;
	if (!types_read_entry(types, &reading.opened->view, &reading.at, &entry))
		return false;
	ret->kind = types_kind_of(entry.tag);
	ret->name = entry.name;
	ret->size_bytes = entry.size_bytes;
	ret->target = ret->kind == DWARF_TYPE_POINTER ? entry.type : 0;
	ret->containing = entry.containing;
	if (entry.has_children && ret->kind == DWARF_TYPE_STRUCT)
		read_children(&reading);
	ret->members = types_keep(types, ret->members, ret->member_count * sizeof(*ret->members));
	ret->variants = types_keep(types, ret->variants,
				   ret->variant_count * sizeof(*ret->variants));
	ret->parameters = types_keep(types, ret->parameters,
				     ret->parameter_count * sizeof(*ret->parameters));
	return true;
}

const struct dwarf_member *dwarf_type_member(const struct dwarf_type *type, const char *name)
{
	for (size_t i = 0; i < type->member_count; i++)
		if (bytes_are(type->members[i].name, name))
			return &type->members[i];
	return NULL;
}

/* ---- Names ---- */

static const struct scope *find_scope(const struct dwarf_types *types, uint64_t offset)
{
	size_t after = SEARCH_AFTER(types->scopes, types->scope_count, offset, offset);

	return after && types->scopes[after - 1].offset == offset ? &types->scopes[after - 1]
								  : NULL;
}

const char *dwarf_types_name(struct dwarf_types *types, dwarf_type_id id)
{
	const struct scope *chain[DEPTH_MAX], *scope = find_scope(types, id);
	size_t count = 0, len = 0;
	char *name, *at;

	if (!scope || !scope->name_len)
		return NULL;
	for (; count < DEPTH_MAX; scope = &types->scopes[scope->parent]) {
		chain[count++] = scope;
		len += scope->name_len + 2;
		if (scope->parent == NO_SCOPE)
			break;
	}
	if (len > NAME_BYTES_MAX)
		return NULL;
	at = name = arena_alloc(&types->arena, len + 1);
	while (count--) {
		at = bytes_append(at, bytes_of(chain[count]->name, chain[count]->name_len));
		if (count)
			at = bytes_append(at, bytes_of("::", 2));
	}
	*at = '\0';
	return name;
}

static bool scope_is(const struct scope *scope, const char *name)
{
	size_t len = strlen(name);

	return scope->name_len >= len && !memcmp(scope->name, name, len) &&
	       (scope->name_len == len || scope->name[len] == '<');
}

bool dwarf_types_is_in(const struct dwarf_types *types, uint32_t scope, const char *outer,
		       const char *inner)
{
	uint32_t parent;

	if (scope == NO_SCOPE || !scope_is(&types->scopes[scope], inner))
		return false;
	parent = types->scopes[scope].parent;
	return parent != NO_SCOPE && scope_is(&types->scopes[parent], outer);
}

/* ---- The pass ---- */

struct types_pass {
	struct dwarf_types *types;
	const struct dwarf_view *view;
	void (*found)(void *user, const struct dwarf_found *found);
	void *user;
	const unsigned char *info;
	uint32_t open[DEPTH_MAX]; /* innermost scope by depth */
	struct dwarf_found function;
	/* Depth of the current function's children; 0 if none is kept. */
	unsigned function_depth;
	unsigned argument_count;
	bool has_parameter;
};

static void end_function(struct types_pass *pass)
{
	if (pass->function_depth)
		pass->found(pass->user, &pass->function);
	pass->function_depth = 0;
}

static uint32_t add_scope(struct types_pass *pass, uint64_t offset, struct bytes name,
			  uint32_t parent)
{
	struct dwarf_types *types = pass->types;

	GROW(types->scopes, types->scope_count, types->scope_room);
	types->scopes[types->scope_count] = (struct scope){offset, name.at,
							   (uint32_t)bytes_left(&name), parent};
	return (uint32_t)types->scope_count++;
}

/* Parses DW_OP_addr ADDRESS and DW_OP_const8u OFFSET DW_OP_form_tls_address. */
static void take_location(const struct types_pass *pass, const struct types_entry *entry,
			  struct dwarf_found *to)
{
	struct bytes at;
	uint8_t op;

	if (entry->location.form != DW_FORM_exprloc || !entry->location.string)
		return;
	at = bytes_of(entry->location.string, entry->location.number);
	op = bytes_u8(&at);
	if (op == DW_OP_addr || op == DW_OP_const8u) {
		to->address = bytes_u64(&at);
	} else if (op == DW_OP_const4u) {
		to->address = bytes_u32(&at);
	} else if (op == DW_OP_addrx || op == DW_OP_constx) {
		struct dwarf_value value = {.form = DW_FORM_addrx, .number = bytes_uleb(&at)};

		if (!dwarf_address(pass->view, &value, &to->address))
			return;
	} else {
		return;
	}
	to->has_address = bytes_ok(&at);
	if (bytes_left(&at)) {
		op = bytes_u8(&at);
		to->is_thread_local = op == DW_OP_form_tls_address ||
				      op == DW_OP_GNU_push_tls_address;
		to->has_address &= to->is_thread_local;
	} else {
		to->has_address &= op != DW_OP_const8u && op != DW_OP_const4u;
	}
}

static void begin_function(struct types_pass *pass, const struct types_entry *entry,
			   struct dwarf_found found, unsigned depth)
{
	found.kind = DWARF_FOUND_FUNCTION;
	found.has_address = dwarf_address(pass->view, &entry->low_pc, &found.address) &&
			    !dwarf_is_tombstone(found.address);
	pass->function = found;
	pass->argument_count = 0;
	pass->has_parameter = false;
	pass->function_depth = depth + 1;
	if (!entry->has_children)
		end_function(pass);
}

static void take_of_function(struct types_pass *pass, const struct types_entry *entry)
{
	if (entry->tag == DW_TAG_formal_parameter && !pass->has_parameter) {
		pass->has_parameter = true;
		pass->function.parameter = entry->type;
	} else if (entry->tag == DW_TAG_template_type_parameter && pass->argument_count < 2) {
		pass->function.arguments[pass->argument_count++] = entry->type;
	}
}

static bool types_is_wanted(uint16_t tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type ||
	       tag == DW_TAG_subprogram || tag == DW_TAG_variable ||
	       tag == DW_TAG_formal_parameter || tag == DW_TAG_template_type_parameter;
}

static void types_take_entry(struct types_pass *pass, const struct types_entry *entry,
			     uint64_t offset, unsigned depth)
{
	uint32_t parent = depth ? pass->open[(depth < DEPTH_MAX ? depth : DEPTH_MAX) - 1]
				: NO_SCOPE;
	struct dwarf_found found = {.offset = offset,
				    .name = entry->name,
				    .linkage_name = entry->linkage_name,
				    .scope = parent,
				    .type = entry->type};
	uint32_t own = parent;

	if (depth < DEPTH_MAX)
		pass->open[depth] = parent;
	if (entry->tag == DW_TAG_formal_parameter || entry->tag == DW_TAG_template_type_parameter) {
		if (pass->function_depth == depth)
			take_of_function(pass, entry);
		return;
	}
	if (entry->tag != DW_TAG_variable)
		own = add_scope(pass, offset, entry->name, parent);
	if (depth < DEPTH_MAX)
		pass->open[depth] = own;
	if (!entry->name.at)
		return;
	if (entry->tag == DW_TAG_structure_type) {
		found.kind = DWARF_FOUND_STRUCT;
		pass->found(pass->user, &found);
	} else if (entry->tag == DW_TAG_subprogram) {
		end_function(pass);
		begin_function(pass, entry, found, depth);
	} else if (entry->tag == DW_TAG_variable) {
		found.kind = DWARF_FOUND_VARIABLE;
		take_location(pass, entry, &found);
		if (found.has_address)
			pass->found(pass->user, &found);
	}
}

static void scan_unit(struct types_pass *pass)
{
	struct bytes at = dwarf_unit_contents(&pass->types->file, pass->view->unit);
	const struct dwarf_abbrevs *abbrevs = pass->view->abbrevs;
	unsigned depth = 0;

	while (bytes_left(&at)) {
		uint64_t offset = (uint64_t)(at.at - pass->info);
		struct bytes start = at;
		uint64_t code = bytes_uleb(&at);
		const struct dwarf_abbrev *abbrev;
		struct types_entry entry;

		if (!code) {
			if (pass->function_depth && depth <= pass->function_depth)
				end_function(pass);
			depth -= depth > 0;
			continue;
		}
		abbrev = dwarf_abbrevs_get(abbrevs, code);
		if (!abbrev)
			break;
		if (types_is_wanted(abbrev->tag)) {
			at = start;
			if (!types_read_entry(pass->types, pass->view, &at, &entry))
				break;
			types_take_entry(pass, &entry, offset, depth);
		} else {
			dwarf_abbrev_skip(abbrevs, abbrev, &at);
			if (depth < DEPTH_MAX)
				pass->open[depth] = depth ? pass->open[depth - 1] : NO_SCOPE;
		}
		depth += abbrev->has_children;
	}
	end_function(pass);
}

void dwarf_types_scan(struct dwarf_types *types,
		      void (*found)(void *user, const struct dwarf_found *found), void *user)
{
	struct types_pass pass = {.types = types,
				  .found = found,
				  .user = user,
				  .info = types->file.sections.of[DWARF_INFO].at};

	for (size_t i = 0; i < types->file.unit_count; i++) {
		pass.view = &dwarf_reader_open(&types->reader, &types->file, &types->file.units[i])
				     ->view;
		if (pass.view->root.language == DW_LANG_Rust)
			scan_unit(&pass);
	}
}
