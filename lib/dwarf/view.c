#include "dwarf/view.h"

#include <dwarf.h>

static struct bytes dwarf_view_section_at(const struct dwarf_view *view, enum dwarf_section section,
					  uint64_t offset)
{
	return dwarf_section_at(&view->file->sections, section, offset);
}

/*
 * Returns entry `index` of a table of fixed-size entries at `base` of a
 * section. An overflow is treated like an entry outside of the section.
 */
static struct bytes table_at(const struct dwarf_view *view, enum dwarf_section section,
			     uint64_t base, uint64_t index, unsigned part_bytes)
{
	struct bytes at = dwarf_view_section_at(view, section, base);

	if (index > bytes_left(&at) / part_bytes)
		bytes_fail(&at);
	else
		bytes_skip(&at, index * part_bytes);
	return at;
}

struct dwarf_attrs dwarf_attrs_of(const struct dwarf_view *view, const struct dwarf_die *die)
{
	const struct dwarf_abbrev *abbrev = die->abbrev;
	const struct dwarf_attr *first = NULL;

	if (abbrev->attr_count)
		first = &view->abbrevs->attrs[abbrev->first_attr];
	return (struct dwarf_attrs){
		.at = die->attributes,
		.next = first,
		.end = first ? first + abbrev->attr_count : first,
		.encoding = view->unit->encoding,
	};
}

bool dwarf_attrs_next(struct dwarf_attrs *attrs, struct dwarf_value *ret)
{
	const struct dwarf_attr *attr = attrs->next;

	if (attr == attrs->end)
		return false;
	attrs->next++;
	ret->name = attr->name;
	dwarf_value_read(&attrs->at, attr->form, attr->implicit, attrs->encoding, ret);
	return bytes_ok(&attrs->at);
}

void dwarf_pcs_take(struct dwarf_pcs *pcs, const struct dwarf_value *value)
{
	switch (value->name) {
	case DW_AT_low_pc:
		pcs->low = *value;
		break;
	case DW_AT_high_pc:
		pcs->high = *value;
		break;
	case DW_AT_ranges:
		pcs->ranges = *value;
		break;
	default:
		break;
	}
}

bool dwarf_view_die(const struct dwarf_view *view, uint64_t offset, struct dwarf_die *ret)
{
	const struct dwarf_unit *unit = view->unit;
	struct bytes at;

	if (offset < unit->first_die || offset >= unit->end)
		return false;
	at = dwarf_view_section_at(view, DWARF_INFO, offset);
	at.end = at.at + (unit->end - offset);
	ret->offset = offset;
	ret->depth = 0;
	ret->abbrev = dwarf_abbrevs_get(view->abbrevs, bytes_uleb(&at));
	ret->attributes = at;
	return ret->abbrev;
}

static void take_root_value(struct dwarf_root *root, const struct dwarf_value *value)
{
	switch (value->name) {
	case DW_AT_name:
		root->name = *value;
		break;
	case DW_AT_comp_dir:
		root->directory = *value;
		break;
	case DW_AT_producer:
		root->producer = *value;
		break;
	case DW_AT_stmt_list:
		root->lines = *value;
		break;
	case DW_AT_str_offsets_base:
		root->strings_base = value->number;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		root->addresses_base = value->number;
		break;
	case DW_AT_rnglists_base:
		root->ranges_base = value->number;
		break;
	case DW_AT_language:
		root->language = value->number;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		root->is_skeleton = true;
		root->dwo_name = *value;
		break;
	case DW_AT_GNU_dwo_id:
		root->dwo_id = value->number;
		break;
	case DW_AT_GNU_ranges_base:
		root->gnu_ranges_base = value->number;
		break;
	default:
		dwarf_pcs_take(&root->pcs, value);
	}
}

static void read_root(struct dwarf_view *view)
{
	struct dwarf_value value = {0};
	struct dwarf_attrs attrs;
	struct dwarf_die die;

	if (!dwarf_view_die(view, view->unit->first_die, &die)) {
		struct bytes code = dwarf_view_section_at(view, DWARF_INFO, view->unit->first_die);

		view->root.is_unread = view->unit->first_die < view->unit->end && bytes_u8(&code);
		return;
	}
	view->root.dwo_id = view->unit->dwo_id;
	view->root.tag = die.abbrev->tag;
	view->root.has_children = die.abbrev->has_children;
	attrs = dwarf_attrs_of(view, &die);
	while (dwarf_attrs_next(&attrs, &value))
		take_root_value(&view->root, &value);
	view->root.is_unread = !bytes_ok(&attrs.at);
}

struct dwarf_view dwarf_view_of(const struct dwarf_file *file, const struct dwarf_file *alt,
				const struct dwarf_unit *unit, const struct dwarf_abbrevs *abbrevs)
{
	struct dwarf_view view = {.file = file, .alt = alt, .unit = unit, .abbrevs = abbrevs};

	read_root(&view);
	return view;
}

/*
 * Sets the bases of a split unit. The tables in its own sections start after a
 * header, but GNU's tables before DWARF 5 have no header.
 */
static void set_default_bases(struct dwarf_view *view)
{
	const struct dwarf_encoding encoding = view->unit->encoding;
	bool has_headers = encoding.version >= 5, is_64 = encoding.offset_bytes == 8;

	view->root.strings_base = has_headers ? (is_64 ? 16 : 8) : 0;
	view->root.ranges_base = has_headers ? (is_64 ? 20 : 12) : 0;
}

struct dwarf_view dwarf_view_of_split(const struct dwarf_file *file, const struct dwarf_unit *unit,
				      const struct dwarf_abbrevs *abbrevs,
				      const struct dwarf_view *skeleton)
{
	struct dwarf_view view = dwarf_view_of(file, NULL, unit, abbrevs);
	struct dwarf_pcs *pcs = &view.root.pcs;

	set_default_bases(&view);
	view.root.addresses_base = skeleton->root.addresses_base;
	view.root.pairs_base = skeleton->root.gnu_ranges_base;
	view.root.lines = (struct dwarf_value){0};
	*pcs = (struct dwarf_pcs){0};
	if (dwarf_address(skeleton, &skeleton->root.pcs.low, &pcs->low.number))
		pcs->low.form = DW_FORM_addr;
	return view;
}

static struct bytes dwarf_view_text_at(const struct dwarf_file *file, enum dwarf_section section,
				       uint64_t offset)
{
	struct bytes at;

	if (!file)
		return (struct bytes){0};
	at = dwarf_section_at(&file->sections, section, offset);
	return bytes_text(&at);
}

static struct bytes indexed_string(const struct dwarf_view *view, uint64_t index)
{
	unsigned offset_bytes = view->unit->encoding.offset_bytes;
	struct bytes at = table_at(view, DWARF_STR_OFFSETS, view->root.strings_base, index,
				   offset_bytes);
	uint64_t offset = bytes_uint(&at, offset_bytes);

	return bytes_ok(&at) ? dwarf_view_text_at(view->file, DWARF_STR, offset)
			     : (struct bytes){0};
}

struct bytes dwarf_string(const struct dwarf_view *view, const struct dwarf_value *value)
{
	switch (value->form) {
	case DW_FORM_string:
		return bytes_of(value->string, value->number);
	case DW_FORM_strp:
		return dwarf_view_text_at(view->file, DWARF_STR, value->number);
	case DW_FORM_line_strp:
		return dwarf_view_text_at(view->file, DWARF_LINE_STR, value->number);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return dwarf_view_text_at(view->alt, DWARF_STR, value->number);
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		return indexed_string(view, value->number);
	default:
		return (struct bytes){0};
	}
}

bool dwarf_address(const struct dwarf_view *view, const struct dwarf_value *value, uint64_t *ret)
{
	unsigned address_bytes = view->unit->encoding.address_bytes;
	struct bytes at;

	switch (value->form) {
	case DW_FORM_addr:
		*ret = value->number;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		at = table_at(view, DWARF_ADDR, view->root.addresses_base, value->number,
			      address_bytes);
		*ret = bytes_uint(&at, address_bytes);
		return bytes_ok(&at);
	default:
		return false;
	}
}

struct dwarf_reference dwarf_reference(const struct dwarf_view *view,
				       const struct dwarf_value *value)
{
	switch (value->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		return (struct dwarf_reference){view->file, view->unit->offset + value->number};
	case DW_FORM_ref_addr:
		return (struct dwarf_reference){view->file, value->number};
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_GNU_ref_alt:
		return (struct dwarf_reference){view->alt, value->number};
	default: /* a type signature, which never names a function */
		return (struct dwarf_reference){0};
	}
}
