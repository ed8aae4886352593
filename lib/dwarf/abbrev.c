#include "dwarf/abbrev.h"

#include "base/alloc.h"

#include <dwarf.h>
#include <stdlib.h>

static void add_attr(struct dwarf_abbrevs *abbrevs, struct dwarf_abbrev *abbrev, uint64_t name,
		     uint64_t form, int64_t implicit)
{
	GROW(abbrevs->attrs, abbrevs->attr_count, abbrevs->attr_room);
	abbrevs->attrs[abbrevs->attr_count++] = (struct dwarf_attr){
		.name = name <= UINT16_MAX ? (uint16_t)name : 0,
		.form = form <= UINT16_MAX ? (uint16_t)form : 0,
		.implicit = implicit,
	};
	abbrev->attr_count++;
}

static void add_skip(struct dwarf_abbrevs *abbrevs, struct dwarf_skip skip)
{
	GROW(abbrevs->skips, abbrevs->skip_count, abbrevs->skip_room);
	abbrevs->skips[abbrevs->skip_count++] = skip;
}

/*
 * Plans how to skip an entry. Consecutive attributes of fixed size become one
 * step.
 */
static void plan_skips(struct dwarf_abbrevs *abbrevs, struct dwarf_abbrev *abbrev)
{
	uint16_t bytes = 0;

	abbrev->first_skip = (uint32_t)abbrevs->skip_count;
	for (uint32_t i = 0; i < abbrev->attr_count; i++) {
		uint16_t form = abbrevs->attrs[abbrev->first_attr + i].form;
		uint8_t layout = dwarf_form_layout(form, abbrevs->encoding);

		if (layout < DWARF_LAYOUT_LEB && bytes <= UINT16_MAX - layout) {
			bytes = (uint16_t)(bytes + layout);
			continue;
		}
		add_skip(abbrevs, (struct dwarf_skip){.bytes = bytes, .layout = layout});
		bytes = 0;
	}
	add_skip(abbrevs, (struct dwarf_skip){.bytes = bytes, .is_last = true});
	abbrev->is_fixed = abbrevs->skip_count == abbrev->first_skip + 1;
	abbrev->fixed_bytes = bytes;
}

/*
 * Plans how to read the addresses in the usual format of compilers: an address
 * of 8 bytes, then a length of 4 or 8, and no ranges.
 */
static void plan_pcs(const struct dwarf_abbrevs *abbrevs, struct dwarf_abbrev *abbrev)
{
	const struct dwarf_attr *attr = &abbrevs->attrs[abbrev->first_attr];
	const struct dwarf_attr *end = attr + abbrev->attr_count;
	unsigned bytes = 0;

	for (; attr < end && attr->name != DW_AT_low_pc; attr++) {
		uint8_t layout = dwarf_form_layout(attr->form, abbrevs->encoding);

		if (layout >= DWARF_LAYOUT_LEB || attr->name == DW_AT_ranges ||
		    attr->name == DW_AT_high_pc)
			return;
		bytes += layout;
	}
	if (end - attr < 2 || attr[0].form != DW_FORM_addr || attr[1].name != DW_AT_high_pc ||
	    abbrevs->encoding.address_bytes != 8 || bytes > UINT16_MAX)
		return;
	abbrev->pcs = (struct dwarf_pcs_plan){
		.at = (uint16_t)bytes,
		.length_bytes = attr[1].form == DW_FORM_data4	? 4
				: attr[1].form == DW_FORM_data8 ? 8
								: 0,
	};
}

static bool has_code(const struct dwarf_abbrevs *abbrevs, const struct dwarf_abbrev *abbrev)
{
	for (uint32_t i = 0; i < abbrev->attr_count; i++) {
		uint16_t name = abbrevs->attrs[abbrev->first_attr + i].name;

		if (name == DW_AT_low_pc || name == DW_AT_ranges)
			return true;
	}
	return false;
}

static uint8_t roles_of(const struct dwarf_abbrevs *abbrevs, const struct dwarf_abbrev *abbrev)
{
	switch (abbrev->tag) {
	case DW_TAG_subprogram:
		return has_code(abbrevs, abbrev) ? DWARF_FUNCTION | DWARF_SCOPE : DWARF_SCOPE;
	case DW_TAG_inlined_subroutine:
		return has_code(abbrevs, abbrev) ? DWARF_INLINED : 0;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
		return DWARF_SCOPE;
	default:
		return 0;
	}
}

/* Reads the attributes, up to the pair of zeros. */
static void read_attrs(struct dwarf_abbrevs *abbrevs, struct dwarf_abbrev *abbrev, struct bytes *at)
{
	for (;;) {
		uint64_t name = bytes_uleb(at);
		uint64_t form = bytes_uleb(at);
		int64_t implicit = form == DW_FORM_implicit_const ? bytes_sleb(at) : 0;

		if (!bytes_ok(at) || (name == 0 && form == 0))
			return;
		add_attr(abbrevs, abbrev, name, form, implicit);
	}
}

/* Returns false at the end of the table. */
static bool abbrev_read_entry(struct dwarf_abbrevs *abbrevs, struct bytes *at,
			      struct dwarf_abbrev *ret)
{
	uint64_t code = bytes_uleb(at);
	uint64_t tag = bytes_uleb(at);

	*ret = (struct dwarf_abbrev){
		.code = code,
		.tag = tag <= UINT16_MAX ? (uint16_t)tag : 0,
		.has_children = bytes_u8(at) == DW_CHILDREN_yes,
		.first_attr = (uint32_t)abbrevs->attr_count,
	};
	if (code == 0 || !bytes_ok(at))
		return false;
	read_attrs(abbrevs, ret, at);
	return bytes_ok(at);
}

static void abbrev_add_entry(struct dwarf_abbrevs *abbrevs, struct dwarf_abbrev *abbrev)
{
	plan_skips(abbrevs, abbrev);
	if (abbrev->attr_count)
		plan_pcs(abbrevs, abbrev);
	abbrev->roles = roles_of(abbrevs, abbrev);
	abbrevs->roles |= abbrev->roles;
	GROW(abbrevs->entries, abbrevs->count, abbrevs->room);
	abbrevs->entries[abbrevs->count++] = *abbrev;
	abbrevs->is_dense &= abbrev->code == abbrevs->count;
}

static void abbrev_reset(struct dwarf_abbrevs *abbrevs, struct dwarf_encoding encoding)
{
	abbrevs->encoding = encoding;
	abbrevs->count = abbrevs->attr_count = abbrevs->skip_count = 0;
	abbrevs->is_dense = true;
	abbrevs->roles = 0;
}

static int compare_codes(const void *left, const void *right)
{
	const struct dwarf_abbrev *a = left, *b = right;

	return (a->code > b->code) - (a->code < b->code);
}

size_t dwarf_abbrevs_load(struct dwarf_abbrevs *abbrevs, struct bytes table,
			  struct dwarf_encoding encoding)
{
	const unsigned char *start = table.at;
	struct dwarf_abbrev abbrev;

	abbrev_reset(abbrevs, encoding);
	while (abbrev_read_entry(abbrevs, &table, &abbrev))
		abbrev_add_entry(abbrevs, &abbrev);
	if (!abbrevs->is_dense)
		qsort(abbrevs->entries, abbrevs->count, sizeof(*abbrevs->entries), compare_codes);
	return (size_t)(table.at - start);
}

size_t dwarf_abbrevs_load_one(struct dwarf_abbrevs *abbrevs, struct bytes table,
			      struct dwarf_encoding encoding, uint64_t code)
{
	const unsigned char *start = table.at;
	struct dwarf_abbrev abbrev;

	abbrev_reset(abbrevs, encoding);
	while (abbrev_read_entry(abbrevs, &table, &abbrev)) {
		if (abbrev.code == code) {
			abbrev_add_entry(abbrevs, &abbrev);
			break;
		}
		abbrevs->attr_count = 0;
	}
	return (size_t)(table.at - start);
}

void dwarf_abbrevs_deinit(struct dwarf_abbrevs *abbrevs)
{
	free(abbrevs->entries);
	free(abbrevs->attrs);
	free(abbrevs->skips);
}

const struct dwarf_abbrev *dwarf_abbrevs_search(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	const struct dwarf_abbrev key = {.code = code};

	if (abbrevs->count == 0)
		return NULL;
	return bsearch(&key, abbrevs->entries, abbrevs->count, sizeof(key), compare_codes);
}
