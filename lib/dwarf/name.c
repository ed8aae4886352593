#include "dwarf/name.h"

#include "base/alloc.h"
#include "base/text.h"
#include "dwarf/scan.h"

#include <dwarf.h>
#include <stdlib.h>

/*
 * Limits for malformed files. Compilers write short chains of concrete,
 * abstract and declaration entries; MAX_HOPS ends cycles. The last limit bounds
 * the memory for malformed names.
 */
enum { MAX_HOPS = 8, MAX_SCOPES = 64, MAX_NAME_BYTES = 1 << 16 };

struct dwarf_unqualified {
	uint32_t function;
	struct dwarf_reference entry; /* the entry with the name */
};

void dwarf_names_init(struct dwarf_names *names, struct dwarf_reader *reader)
{
	*names = (struct dwarf_names){.reader = reader};
}

void dwarf_names_deinit(struct dwarf_names *names)
{
	free(names->functions);
	free(names->unqualified);
	idmap_deinit(&names->ids);
}

/*
 * The attributes of an entry and of the entries that it refers to. The first
 * value of each attribute is used.
 */
struct dwarf_name_description {
	struct bytes name, linkage_name; /* `at` is NULL if there is none */
	struct dwarf_reference named_by; /* the entry with the name */
	uint64_t language;		 /* language of that entry */
	bool is_external;
	const char *decl_file;
	uint32_t decl_line;
	struct dwarf_reference next;
};

static void describe_name(struct dwarf_name_description *to, const struct dwarf_view *view,
			  const struct dwarf_value *value, struct dwarf_reference self)
{
	if (to->name.at)
		return;
	to->name = dwarf_string(view, value);
	to->named_by = self;
	to->language = view->root.language;
}

static void dwarf_name_describe(struct dwarf_reader *reader, struct dwarf_name_description *to,
				struct dwarf_opened *opened, const struct dwarf_value *value,
				struct dwarf_reference self)
{
	const struct dwarf_view *view = &opened->view;

	switch (value->name) {
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		if (!to->linkage_name.at)
			to->linkage_name = dwarf_string(view, value);
		break;
	case DW_AT_name:
		describe_name(to, view, value, self);
		break;
	case DW_AT_external:
		to->is_external = true;
		break;
	case DW_AT_decl_file:
		if (!to->decl_file)
			to->decl_file = dwarf_lines_path(dwarf_reader_lines(reader, opened),
							 value->number, reader->arena);
		break;
	case DW_AT_decl_line:
		if (!to->decl_line)
			to->decl_line = (uint32_t)value->number;
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		to->next = dwarf_reference(view, value);
		break;
	default:
		break;
	}
}

static struct dwarf_name_description dwarf_name_description_of(struct dwarf_reader *reader,
							       struct dwarf_reference entry)
{
	struct dwarf_name_description description = {.next = entry};

	for (unsigned hops = 0; description.next.file && hops < MAX_HOPS; hops++) {
		struct dwarf_reference self = description.next;
		struct dwarf_value value = {0};
		struct dwarf_opened *opened;
		struct dwarf_attrs attrs;
		struct dwarf_die die;

		description.next = (struct dwarf_reference){0};
		opened = dwarf_reader_die(reader, self, &die);
		if (!opened)
			break;
		attrs = dwarf_attrs_of(&opened->view, &die);
		while (dwarf_attrs_next(&attrs, &value))
			dwarf_name_describe(reader, &description, opened, &value, self);
	}
	return description;
}

bool dwarf_language_is_flat(uint64_t language)
{
	switch (language) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x002c: /* DW_LANG_C17, which is newer than DWARF 5 */
	case DW_LANG_Mips_Assembler:
		return true;
	default:
		return false;
	}
}

/*
 * Returns true if the name lacks its scopes. With extern "C", an external
 * function has no linkage name, and its plain name is complete.
 */
static bool lacks_scopes(const struct dwarf_names *names,
			 const struct dwarf_name_description *description,
			 const struct dwarf_function *function)
{
	if (!description->name.at)
		return false;
	if (!function->is_linkage_name)
		return !description->is_external && !dwarf_language_is_flat(description->language);
	return names->demangler &&
	       !names->demangler->can_demangle(names->demangler->user, function->name);
}

uint32_t dwarf_names_add(struct dwarf_names *names, struct dwarf_reference function)
{
	bool is_alt = function.file && function.file == names->reader->alt;
	uint32_t *id = idmap_put(&names->ids, function.offset, function.file ? is_alt : 2);
	struct dwarf_name_description description;
	uint32_t index;

	if (*id != IDMAP_NONE)
		return *id;
	index = *id = (uint32_t)names->count;
	description = dwarf_name_description_of(names->reader, function);
	GROW(names->functions, names->count, names->room);
	names->functions[names->count++] = (struct dwarf_function){
		.name = arena_text(names->reader->arena, description.linkage_name.at
								 ? description.linkage_name
								 : description.name),
		.is_linkage_name = description.linkage_name.at,
		.plain_name = description.linkage_name.at && description.name.at
				      ? arena_text(names->reader->arena, description.name)
				      : NULL,
		.decl_file = description.decl_file,
		.decl_line = description.decl_line,
	};
	if (lacks_scopes(names, &description, &names->functions[index])) {
		GROW(names->unqualified, names->unqualified_count, names->unqualified_room);
		names->unqualified[names->unqualified_count++] =
			(struct dwarf_unqualified){index, description.named_by};
	}
	return index;
}

/* The entries around the current one, outermost first. */
struct surroundings {
	struct dwarf_die *entries;
	size_t count, room;
};

static struct bytes dwarf_name_text_of(const char *str)
{
	return bytes_of(str, strlen(str));
}

/* Returns the name of a scope. `inner` is the name to qualify. */
static struct bytes dwarf_name_scope_name(struct dwarf_reader *reader,
					  const struct dwarf_view *view,
					  const struct dwarf_die *die, const char *inner)
{
	struct dwarf_reference entry = {view->file, die->offset};
	struct bytes name = dwarf_name_description_of(reader, entry).name;

	if (name.at)
		return name;
	if (die->abbrev->tag == DW_TAG_namespace)
		return dwarf_name_text_of("(anonymous namespace)");
	return dwarf_name_text_of(text_begins(inner, "operator()") ? "{lambda}" : "{unnamed}");
}

static const char *dwarf_name_qualified(struct dwarf_reader *reader, const struct dwarf_view *view,
					const struct surroundings *around, const char *name)
{
	size_t count = around->count < MAX_SCOPES ? around->count : MAX_SCOPES;
	const struct dwarf_die *entries = &around->entries[around->count - count];
	struct bytes scopes[MAX_SCOPES];
	size_t len = strlen(name) + 1;
	char *ret, *end;

	for (size_t i = 0; i < count; i++) {
		scopes[i] = dwarf_name_scope_name(reader, view, &entries[i], name);
		len += bytes_left(&scopes[i]) + strlen("::");
	}
	if (len > MAX_NAME_BYTES)
		return name;
	ret = end = arena_alloc(reader->arena, len);
	for (size_t i = 0; i < count; i++)
		end = bytes_append(bytes_append(end, scopes[i]), dwarf_name_text_of("::"));
	strcpy(end, name);
	return ret;
}

static const char **plain_name_of(struct dwarf_function *function)
{
	return function->is_linkage_name ? &function->plain_name : &function->name;
}

/* Qualifies names of one unit. Their offsets are in ascending order. */
static void qualify_unit(struct dwarf_names *names, const struct dwarf_view *view,
			 const struct dwarf_unqualified *wanted, size_t count)
{
	struct surroundings around = {0};
	struct dwarf_scan scan;
	struct dwarf_die die;

	dwarf_scan_init(&scan, view, DWARF_SCOPE);
	while (count && dwarf_scan_next(&scan, &die)) {
		while (around.count && around.entries[around.count - 1].depth >= scan.ended_depth)
			around.count--;
		for (; count && wanted->entry.offset <= die.offset; wanted++, count--) {
			const char **name = plain_name_of(&names->functions[wanted->function]);

			if (wanted->entry.offset == die.offset && around.count)
				*name = dwarf_name_qualified(names->reader, view, &around, *name);
		}
		GROW(around.entries, around.count, around.room);
		around.entries[around.count++] = die;
	}
	free(around.entries);
}

static int compare_entries(const void *left, const void *right)
{
	const struct dwarf_unqualified *a = left, *b = right;

	if (a->entry.file != b->entry.file)
		return (uintptr_t)a->entry.file < (uintptr_t)b->entry.file ? -1 : 1;
	return (a->entry.offset > b->entry.offset) - (a->entry.offset < b->entry.offset);
}

void dwarf_names_qualify(struct dwarf_names *names)
{
	struct dwarf_unqualified *wanted = names->unqualified;
	size_t count = names->unqualified_count;

	if (count)
		qsort(wanted, count, sizeof(*wanted), compare_entries);
	for (size_t end, i = 0; i < count; i = end) {
		const struct dwarf_file *file = wanted[i].entry.file;
		const struct dwarf_unit *unit = dwarf_file_unit_at(file, wanted[i].entry.offset);

		for (end = i + 1; end < count && wanted[end].entry.file == file &&
				  wanted[end].entry.offset < unit->end;)
			end++;
		qualify_unit(names, &dwarf_reader_open(names->reader, file, unit)->view, &wanted[i],
			     end - i);
	}
	names->unqualified_count = 0;
}
