#include "dwarf/form.h"

#include "base/alloc.h"

#include <dwarf.h>

/* Layouts of values whose size depends on the unit. */
enum { ADDRESS = 64, OFFSET, REF_ADDR };

static const uint8_t layouts[] = {
	[0] = DWARF_LAYOUT_UNKNOWN,
	[DW_FORM_addr] = ADDRESS,
	[2] = DWARF_LAYOUT_UNKNOWN,
	[DW_FORM_block2] = DWARF_LAYOUT_BLOCK2,
	[DW_FORM_block4] = DWARF_LAYOUT_BLOCK4,
	[DW_FORM_data2] = 2,
	[DW_FORM_data4] = 4,
	[DW_FORM_data8] = 8,
	[DW_FORM_string] = DWARF_LAYOUT_STRING,
	[DW_FORM_block] = DWARF_LAYOUT_BLOCK,
	[DW_FORM_block1] = DWARF_LAYOUT_BLOCK1,
	[DW_FORM_data1] = 1,
	[DW_FORM_flag] = 1,
	[DW_FORM_sdata] = DWARF_LAYOUT_LEB,
	[DW_FORM_strp] = OFFSET,
	[DW_FORM_udata] = DWARF_LAYOUT_LEB,
	[DW_FORM_ref_addr] = REF_ADDR,
	[DW_FORM_ref1] = 1,
	[DW_FORM_ref2] = 2,
	[DW_FORM_ref4] = 4,
	[DW_FORM_ref8] = 8,
	[DW_FORM_ref_udata] = DWARF_LAYOUT_LEB,
	[DW_FORM_indirect] = DWARF_LAYOUT_INDIRECT,
	[DW_FORM_sec_offset] = OFFSET,
	[DW_FORM_exprloc] = DWARF_LAYOUT_BLOCK,
	[DW_FORM_flag_present] = 0,
	[DW_FORM_strx] = DWARF_LAYOUT_LEB,
	[DW_FORM_addrx] = DWARF_LAYOUT_LEB,
	[DW_FORM_ref_sup4] = 4,
	[DW_FORM_strp_sup] = OFFSET,
	[DW_FORM_data16] = 16,
	[DW_FORM_line_strp] = OFFSET,
	[DW_FORM_ref_sig8] = 8,
	[DW_FORM_implicit_const] = 0,
	[DW_FORM_loclistx] = DWARF_LAYOUT_LEB,
	[DW_FORM_rnglistx] = DWARF_LAYOUT_LEB,
	[DW_FORM_ref_sup8] = 8,
	[DW_FORM_strx1] = 1,
	[DW_FORM_strx2] = 2,
	[DW_FORM_strx3] = 3,
	[DW_FORM_strx4] = 4,
	[DW_FORM_addrx1] = 1,
	[DW_FORM_addrx2] = 2,
	[DW_FORM_addrx3] = 3,
	[DW_FORM_addrx4] = 4,
};

static uint8_t form_layout_of(uint64_t form)
{
	if (form < ARRAY_SIZE(layouts))
		return layouts[form];
	switch (form) {
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return DWARF_LAYOUT_LEB;
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return OFFSET;
	default:
		return DWARF_LAYOUT_UNKNOWN;
	}
}

uint8_t dwarf_form_layout(uint64_t form, struct dwarf_encoding encoding)
{
	uint8_t layout = form_layout_of(form);

	switch (layout) {
	case ADDRESS:
		return encoding.address_bytes;
	case OFFSET:
		return encoding.offset_bytes;
	case REF_ADDR: /* an address in DWARF 2 */
		return encoding.version == 2 ? encoding.address_bytes : encoding.offset_bytes;
	default:
		return layout;
	}
}

/*
 * Reads the form of an indirect value, which precedes it. It must be neither
 * indirect again nor an implicit constant.
 */
static uint16_t indirect_form(struct bytes *at)
{
	uint64_t form = bytes_uleb(at);

	if (form == DW_FORM_indirect || form == DW_FORM_implicit_const || form > UINT16_MAX) {
		bytes_fail(at);
		return 0;
	}
	return (uint16_t)form;
}

static uint64_t block_length(struct bytes *at, uint8_t layout)
{
	switch (layout) {
	case DWARF_LAYOUT_BLOCK1:
		return bytes_u8(at);
	case DWARF_LAYOUT_BLOCK2:
		return bytes_u16(at);
	case DWARF_LAYOUT_BLOCK4:
		return bytes_u32(at);
	default:
		return bytes_uleb(at);
	}
}

void dwarf_value_skip(struct bytes *at, uint8_t layout, struct dwarf_encoding encoding)
{
	if (layout == DWARF_LAYOUT_INDIRECT)
		layout = dwarf_form_layout(indirect_form(at), encoding);
	switch (layout) {
	case DWARF_LAYOUT_LEB:
		bytes_uleb(at);
		break;
	case DWARF_LAYOUT_STRING:
		bytes_cstr(at);
		break;
	case DWARF_LAYOUT_BLOCK1:
	case DWARF_LAYOUT_BLOCK2:
	case DWARF_LAYOUT_BLOCK4:
	case DWARF_LAYOUT_BLOCK:
		bytes_skip(at, block_length(at, layout));
		break;
	case DWARF_LAYOUT_INDIRECT:
	case DWARF_LAYOUT_UNKNOWN:
		bytes_fail(at);
		break;
	default:
		bytes_skip(at, layout);
	}
}

static uint64_t read_fixed(struct bytes *at, uint16_t form, unsigned size_bytes, int64_t implicit)
{
	if (form == DW_FORM_implicit_const)
		return (uint64_t)implicit;
	if (form == DW_FORM_flag_present)
		return 1;
	if (size_bytes > 8) { /* an MD5 sum, which is not used */
		bytes_skip(at, size_bytes);
		return 0;
	}
	return bytes_uint(at, size_bytes);
}

void dwarf_value_read(struct bytes *at, uint16_t form, int64_t implicit,
		      struct dwarf_encoding encoding, struct dwarf_value *ret)
{
	struct bytes text;
	uint8_t layout;

	if (form == DW_FORM_indirect)
		form = indirect_form(at);
	layout = dwarf_form_layout(form, encoding);
	ret->form = form;
	ret->string = NULL;
	ret->number = 0;
	switch (layout) {
	case DWARF_LAYOUT_LEB:
		ret->number = form == DW_FORM_sdata ? (uint64_t)bytes_sleb(at) : bytes_uleb(at);
		break;
	case DWARF_LAYOUT_STRING:
		text = bytes_text(at);
		ret->string = text.at;
		ret->number = bytes_left(&text);
		break;
	case DWARF_LAYOUT_BLOCK1:
	case DWARF_LAYOUT_BLOCK2:
	case DWARF_LAYOUT_BLOCK4:
	case DWARF_LAYOUT_BLOCK:
		ret->number = block_length(at, layout);
		ret->string = bytes_take(at, ret->number);
		break;
	case DWARF_LAYOUT_INDIRECT:
	case DWARF_LAYOUT_UNKNOWN:
		bytes_fail(at);
		break;
	default:
		ret->number = read_fixed(at, form, layout, implicit);
	}
}
