#include "unwind/cfi.h"

#include "base/alloc.h"
#include "unwind/cfi_entry.h"
#include "unwind/cfi_program.h"

#include <dwarf.h>
#include <stdlib.h>

/* The binary search table of .eh_frame_hdr, as every linker writes it: two 32-bit numbers an entry,
 * relative to the header. */
enum { HDR_VERSION = 1, HDR_ENCODING = DW_EH_PE_datarel | DW_EH_PE_sdata4, HDR_ENTRY_BYTES = 8 };

struct hdr {
	const unsigned char *table; /* NULL: none */
	uint64_t count;
	uint64_t vaddr;
};

struct index_entry {
	uint64_t start; /* vaddr */
	uint64_t fde;	/* offset in the section */
};

/* One section and the way to find an FDE in it. */
struct source {
	struct cfi_section section;
	struct hdr hdr;
	bool is_indexed;
	struct index_entry *index; /* by start; only where there is no hdr */
	size_t index_count, index_room;
};

struct cfi {
	const struct arch *arch;
	bool is_go;
	struct cfi_row defaults;
	struct source sources[3]; /* .eh_frame, .debug_frame, .debug_frame of the debug file */
	unsigned source_count;
};

/* vaddr: of .eh_frame_hdr, 0: there is none. *eh_frame: the vaddr of .eh_frame, as it says. */
static struct hdr hdr_read(const struct image *image, uint64_t vaddr, uint64_t *eh_frame)
{
	struct cfi_section section = {
		.data = image_constants(image, vaddr),
		.vaddr = vaddr,
		.word_bytes = image_is_32(image) ? 4 : 8,
	};
	struct bytes from = section.data;
	uint8_t version = bytes_u8(&from);
	uint8_t frame_encoding = bytes_u8(&from), count_encoding = bytes_u8(&from);
	uint8_t table_encoding = bytes_u8(&from);
	uint64_t count;

	*eh_frame = cfi_pointer(&section, &from, frame_encoding);
	count = cfi_pointer(&section, &from, count_encoding);
	if (!vaddr || !bytes_ok(&from) || version != HDR_VERSION ||
	    table_encoding != HDR_ENCODING || count == 0 ||
	    count > bytes_left(&from) / HDR_ENTRY_BYTES)
		return (struct hdr){0};
	return (struct hdr){.table = from.at, .count = count, .vaddr = vaddr};
}

static uint64_t hdr_value(const struct hdr *hdr, uint64_t index, unsigned column)
{
	int32_t value;

	memcpy(&value, hdr->table + index * HDR_ENTRY_BYTES + column * sizeof(value),
	       sizeof(value));
	return hdr->vaddr + (uint64_t)(int64_t)value;
}

/* The FDE of the last entry that starts at or before vaddr, or of the first. */
static uint64_t hdr_search(const struct source *source, uint64_t vaddr)
{
	const struct hdr *hdr = &source->hdr;
	uint64_t low = 0;

	for (uint64_t count = hdr->count; count > 1;) {
		uint64_t half = count / 2;

		if (hdr_value(hdr, low + half, 0) <= vaddr)
			low += half;
		count -= half;
	}
	return hdr_value(hdr, low, 1) - source->section.vaddr;
}

static int index_compare(const void *a, const void *b)
{
	const struct index_entry *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->fde < right->fde ? -1 : left->fde > right->fde;
}

static void index_build(struct source *source)
{
	uint64_t offset = 0;
	struct cfi_fde fde;

	source->is_indexed = true;
	do {
		if (!cfi_fde_read(&source->section, offset, &fde))
			continue;
		GROW(source->index, source->index_count, source->index_room);
		source->index[source->index_count++] = (struct index_entry){.start = fde.start,
									    .fde = offset};
	} while (cfi_entry_next(&source->section, &offset));
	if (source->index_count)
		qsort(source->index, source->index_count, sizeof(*source->index), index_compare);
}

static bool index_search(struct source *source, uint64_t vaddr, uint64_t *fde)
{
	size_t low = 0, high;

	if (!source->is_indexed)
		index_build(source);
	for (high = source->index_count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (source->index[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	*fde = source->index[low - 1].fde;
	return true;
}

static bool source_find(struct source *source, uint64_t vaddr, struct cfi_fde *ret)
{
	uint64_t offset;

	if (source->hdr.table)
		offset = hdr_search(source, vaddr);
	else if (!index_search(source, vaddr, &offset))
		return false;
	return cfi_fde_read(&source->section, offset, ret) && vaddr >= ret->start &&
	       vaddr < ret->end;
}

static void add_eh_frame(struct cfi *cfi, struct image *image)
{
	struct image_section found = image_section(image, ".eh_frame");
	struct source *source = &cfi->sources[cfi->source_count];
	uint64_t vaddr;

	source->hdr = hdr_read(image, image_unwind_table(image), &vaddr);
	/* Without (honest) section headers the table still leads to the entries. */
	if (bytes_left(&found.data) == 0 && source->hdr.table) {
		found.data = image_constants(image, vaddr);
		found.vaddr = vaddr;
	}
	source->section = (struct cfi_section){.data = found.data,
					       .vaddr = found.vaddr,
					       .is_eh_frame = true,
					       .word_bytes = cfi->arch->word_bytes};
	cfi->source_count += bytes_left(&found.data) > 0;
}

static void add_debug_frame(struct cfi *cfi, struct image *image)
{
	struct image_section found = image_section(image, ".debug_frame");
	struct source *source = &cfi->sources[cfi->source_count];

	*source = (struct source){.section = {.data = found.data,
					      .vaddr = found.vaddr,
					      .word_bytes = cfi->arch->word_bytes}};
	cfi->source_count += bytes_left(&found.data) > 0;
}

struct cfi *cfi_new(struct image *image, struct image *debug, const struct arch *arch)
{
	struct cfi *cfi = xcalloc(1, sizeof(*cfi));

	cfi->arch = arch;
	/* Other linkers than Go's own put its table among other data. */
	cfi->is_go = image_has_section(image, ".gopclntab") ||
		     image_has_section(image, ".go.buildinfo");
	cfi_row_default(arch, &cfi->defaults);
	add_eh_frame(cfi, image);
	add_debug_frame(cfi, image);
	if (debug)
		add_debug_frame(cfi, debug);
	return cfi;
}

void cfi_free(struct cfi *cfi)
{
	if (!cfi)
		return;
	for (unsigned i = 0; i < cfi->source_count; i++)
		free(cfi->sources[i].index);
	free(cfi);
}

bool cfi_is_go(const struct cfi *cfi)
{
	return cfi->is_go;
}

/* Once a Go function has pushed anything, the caller's frame pointer is what it pushed first. */
static void add_frame_pointer(const struct arch *arch, struct cfi_row *row)
{
	struct cfi_value *fp = &row->regs[arch->fp];

	if (!arch->ra_in_register && fp->how == CFI_SAME && row->cfa.how == CFI_REGISTER &&
	    row->cfa.reg == arch->sp && row->cfa.offset >= 16)
		*fp = (struct cfi_value){.how = CFI_AT_CFA, .offset = -16};
}

bool cfi_find(struct cfi *cfi, uint64_t vaddr, struct cfi_rule *ret)
{
	struct cfi_fde fde;

	for (unsigned i = 0; i < cfi->source_count; i++) {
		struct source *source = &cfi->sources[i];

		if (!source_find(source, vaddr, &fde))
			continue;
		if (!cfi_program_run(&source->section, &fde, cfi->arch, &cfi->defaults, vaddr, ret))
			return false;
		if (cfi->is_go && !source->section.is_eh_frame)
			add_frame_pointer(cfi->arch, &ret->row);
		return true;
	}
	return false;
}
