#include "unwind/cfi_entry.h"

#include <dwarf.h>

enum { FORMAT_MASK = 0x0f, APPLICATION_MASK = 0x70 };

/* Compilers write up to five letters and a NUL. */
enum { AUGMENTATION_BYTES_MAX = 16 };

/* The common part of CIE and FDE. */
struct cfi_entry {
	struct bytes body; /* after the id */
	uint64_t id, id_offset;
	bool is_wide; /* 64-bit DWARF */
};

static uint64_t cfi_entry_offset_of(const struct cfi_section *section, const struct bytes *at)
{
	return (uint64_t)(at->at - section->data.at);
}

static struct bytes entry_contents(const struct cfi_section *section, uint64_t offset,
				   bool *is_wide)
{
	struct bytes at = bytes_at(section->data, offset);
	uint64_t length = bytes_u32(&at);

	*is_wide = length == UINT32_MAX;
	if (*is_wide)
		length = bytes_u64(&at);
	return bytes_sub(&at, length);
}

static bool entry_read(const struct cfi_section *section, uint64_t offset, struct cfi_entry *ret)
{
	ret->body = entry_contents(section, offset, &ret->is_wide);
	ret->id_offset = cfi_entry_offset_of(section, &ret->body);
	ret->id = ret->is_wide && !section->is_eh_frame ? bytes_u64(&ret->body)
							: bytes_u32(&ret->body);
	return bytes_ok(&ret->body);
}

static bool entry_is_cie(const struct cfi_section *section, const struct cfi_entry *entry)
{
	if (section->is_eh_frame)
		return entry->id == 0;
	return entry->id == (entry->is_wide ? UINT64_MAX : UINT32_MAX);
}

bool cfi_entry_next(const struct cfi_section *section, uint64_t *offset)
{
	bool is_wide;
	struct bytes contents = entry_contents(section, *offset, &is_wide);

	*offset = (uint64_t)(contents.end - section->data.at);
	return bytes_ok(&contents) && contents.end < section->data.end;
}

uint64_t cfi_pointer_value(const struct cfi_section *section, struct bytes *from, uint8_t encoding)
{
	switch (encoding & FORMAT_MASK) {
	case DW_EH_PE_absptr:
		return bytes_uint(from, section->word_bytes);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return bytes_u64(from);
	case DW_EH_PE_uleb128:
		return bytes_uleb(from);
	case DW_EH_PE_sleb128:
		return (uint64_t)bytes_sleb(from);
	case DW_EH_PE_udata2:
		return bytes_u16(from);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)bytes_u16(from);
	case DW_EH_PE_udata4:
		return bytes_u32(from);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)bytes_u32(from);
	default:
		bytes_fail(from);
		return 0;
	}
}

uint64_t cfi_pointer(const struct cfi_section *section, struct bytes *from, uint8_t encoding)
{
	uint64_t base = 0;

	if ((encoding & ~FORMAT_MASK) == DW_EH_PE_pcrel)
		base = section->vaddr + cfi_entry_offset_of(section, from);
	else if ((encoding & ~FORMAT_MASK) != DW_EH_PE_absptr)
		bytes_fail(from);
	return base + cfi_pointer_value(section, from, encoding);
}

/*
 * Parses the augmentation letters after 'z', each with its data. Stops at an
 * unknown letter.
 */
static void augmentation_read(const struct cfi_section *section, struct bytes letters,
			      struct bytes data, struct cfi_cie *cie)
{
	while (bytes_left(&letters)) {
		switch (bytes_u8(&letters)) {
		case 'R':
			cie->pc_encoding = bytes_u8(&data);
			break;
		case 'L':
			bytes_u8(&data);
			break;
		case 'P':
			cfi_pointer_value(section, &data, bytes_u8(&data));
			break;
		case 'S':
			cie->signal_frame = true;
			break;
		case 'B': /* aarch64: signed with the B key */
		case 'G': /* aarch64: tagged stack */
			break;
		default:
			return;
		}
	}
}

/* Fails if there are too many letters. */
static struct bytes augmentation_letters(struct bytes *from)
{
	size_t left = bytes_left(from);
	const unsigned char *nul = memchr(
		from->at, '\0', left < AUGMENTATION_BYTES_MAX ? left : AUGMENTATION_BYTES_MAX);
	struct bytes letters = {.at = from->at, .end = nul};

	if (!nul) {
		bytes_fail(from);
		return *from;
	}
	from->at = nul + 1;
	return letters;
}

static bool cie_read(const struct cfi_section *section, uint64_t offset, struct cfi_cie *cie)
{
	struct cfi_entry entry;

	if (!entry_read(section, offset, &entry) || !entry_is_cie(section, &entry))
		return false;
	struct bytes *from = &entry.body;
	uint8_t version = bytes_u8(from);
	struct bytes augmentation = augmentation_letters(from);
	bool is_empty = !bytes_left(&augmentation), is_augmented = bytes_u8(&augmentation) == 'z';

	if (!bytes_ok(from) || (!is_empty && !is_augmented) ||
	    (version != 1 && version != 3 && version != 4))
		return false;
	if (version == 4 && (bytes_u8(from) != section->word_bytes || bytes_u8(from) != 0))
		return false; /* unsupported address size or segments */
	*cie = (struct cfi_cie){.pc_encoding = DW_EH_PE_absptr};
	cie->code_align = bytes_uleb(from);
	cie->data_align = bytes_sleb(from);
	cie->ra = version == 1 ? bytes_u8(from) : bytes_uleb(from);
	cie->augmented = is_augmented;
	if (cie->augmented)
		augmentation_read(section, augmentation, bytes_sub(from, bytes_uleb(from)), cie);
	cie->program = *from;
	return bytes_ok(from);
}

static uint64_t cie_offset(const struct cfi_section *section, const struct cfi_entry *fde)
{
	return section->is_eh_frame ? fde->id_offset - fde->id : fde->id;
}

bool cfi_fde_read(const struct cfi_section *section, uint64_t offset, struct cfi_fde *ret)
{
	struct cfi_entry entry;

	if (!entry_read(section, offset, &entry) || entry_is_cie(section, &entry) ||
	    !cie_read(section, cie_offset(section, &entry), &ret->cie))
		return false;
	struct bytes *from = &entry.body;

	ret->start = cfi_pointer(section, from, ret->cie.pc_encoding);
	ret->end = ret->start + cfi_pointer_value(section, from, ret->cie.pc_encoding);
	if (ret->cie.augmented)
		bytes_skip(from, bytes_uleb(from));
	ret->program = *from;
	return bytes_ok(from) && ret->start < ret->end;
}
