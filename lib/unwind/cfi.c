#include "unwind/cfi.h"

#include "base/alloc.h"
#include "base/search.h"
#include "unwind/cfi_entry.h"
#include "unwind/cfi_program.h"

#include <dwarf.h>
#include <stdlib.h>

/*
 * The binary search table of .eh_frame_hdr in the format that all linkers
 * write: two 32-bit numbers per entry, relative to the header.
 */
enum { HDR_VERSION = 1, HDR_ENCODING = DW_EH_PE_datarel | DW_EH_PE_sdata4, HDR_ENTRY_BYTES = 8 };

/*
 * Size of the data before the table: version, encodings, and two numbers of up
 * to 8 bytes.
 */
enum { HDR_HEAD_BYTES = 4 + 2 * 8 };

/*
 * Limits for the index, far above the largest known programs. They bound memory
 * and time for malicious files.
 */
enum { INDEX_ENTRIES_MAX = 8 << 20, INDEX_SECTION_BYTES_MAX = 1 << 30 };

/* Interval of the checks for cancellation. */
enum { ENTRIES_AT_ONCE = 4096 };

struct hdr {
	const unsigned char *table; /* NULL if there is none */
	uint64_t count;
	uint64_t vaddr;
};

struct index_entry {
	uint64_t start; /* vaddr */
	uint64_t fde;	/* offset in the section */
};

/* One section, with its header table or index to find an FDE. */
struct source {
	struct cfi_section section;
	struct hdr hdr;
	struct index_entry *index; /* by start; only if there is no .eh_frame_hdr */
	size_t index_count, index_room;
};

/*
 * The sections are .eh_frame and .debug_frame. COPIES is the number of copied
 * parts of an untrusted file.
 */
enum { SOURCES = 2, COPIES = 3 };

struct cfi {
	const struct arch *arch;
	struct go_code go;
	struct cfi_row defaults;
	struct source sources[SOURCES];
	unsigned source_count;
	void *copies[COPIES];
	unsigned copy_count;
	size_t copied_bytes;
	struct elf_code start_functions[2]; /* see cfi_start_function() */
};

/*
 * Returns bytes that may be read at any time: a private copy for an untrusted
 * file. Returns nothing if there are too many.
 */
static struct bytes cfi_hold(struct cfi *cfi, const struct elf_file *elf, struct bytes from)
{
	size_t len = bytes_left(&from);
	void *copy;

	if (!len || !elf_file_is_untrusted(elf))
		return from;
	copy = len <= CFI_COPY_BYTES_MAX - cfi->copied_bytes ? malloc(len) : NULL;
	if (!copy || !elf_file_copy(elf, from, copy)) {
		free(copy);
		return bytes_of(NULL, 0);
	}
	cfi->copies[cfi->copy_count++] = copy;
	cfi->copied_bytes += len;
	return bytes_of(copy, len);
}

/*
 * Reads the header. `vaddr` is that of .eh_frame_hdr, or 0 if there is none.
 * *eh_frame is the vaddr of .eh_frame according to the header.
 */
static struct hdr hdr_read(struct cfi *cfi, const struct elf_file *elf, uint64_t vaddr,
			   uint64_t *eh_frame)
{
	unsigned char head[HDR_HEAD_BYTES] = {0};
	struct bytes all = elf_file_constants(elf, vaddr);
	size_t head_bytes = bytes_left(&all) < sizeof(head) ? bytes_left(&all) : sizeof(head);
	struct bytes rest = all, beginning = bytes_sub(&rest, head_bytes);
	struct cfi_section section = {
		.data = bytes_of(head, elf_file_copy(elf, beginning, head) ? head_bytes : 0),
		.vaddr = vaddr,
		.word_bytes = elf_file_is_32(elf) ? 4 : 8,
	};
	struct bytes from = section.data;
	uint8_t version = bytes_u8(&from);
	uint8_t frame_encoding = bytes_u8(&from), count_encoding = bytes_u8(&from);
	uint8_t table_encoding = bytes_u8(&from);
	uint64_t count;

	*eh_frame = cfi_pointer(&section, &from, frame_encoding);
	count = cfi_pointer(&section, &from, count_encoding);
	bytes_skip(&all, (size_t)(from.at - head));
	if (!vaddr || !bytes_ok(&from) || version != HDR_VERSION ||
	    table_encoding != HDR_ENCODING || count == 0 ||
	    count > bytes_left(&all) / HDR_ENTRY_BYTES)
		return (struct hdr){0};
	all = cfi_hold(cfi, elf, bytes_sub(&all, count * HDR_ENTRY_BYTES));
	return (struct hdr){.table = all.at, .count = count, .vaddr = vaddr};
}

static uint64_t hdr_value(const struct hdr *hdr, uint64_t index, unsigned column)
{
	int32_t value;

	memcpy(&value, hdr->table + index * HDR_ENTRY_BYTES + column * sizeof(value),
	       sizeof(value));
	return hdr->vaddr + (uint64_t)(int64_t)value;
}

/*
 * Returns the FDE of the last entry that starts at or before vaddr, or of the
 * first entry if there is none.
 */
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

/* Returns false if there is no room. Earlier entries are kept. */
static bool index_add(struct source *source, uint64_t start, uint64_t fde)
{
	if (source->index_count == source->index_room) {
		size_t room = source->index_room ? 2 * source->index_room : 1024;
		void *more = room <= INDEX_ENTRIES_MAX
				     ? realloc(source->index, room * sizeof(*source->index))
				     : NULL;

		if (!more)
			return false;
		source->index = more;
		source->index_room = room;
	}
	source->index[source->index_count++] = (struct index_entry){.start = start, .fde = fde};
	return true;
}

/* The entries are usually sorted already. */
static void index_sort(struct source *source)
{
	for (size_t i = 1; i < source->index_count; i++) {
		if (source->index[i - 1].start <= source->index[i].start)
			continue;
		qsort(source->index, source->index_count, sizeof(*source->index), index_compare);
		return;
	}
}

static bool needs_index(const struct source *source)
{
	return !source->hdr.table && !source->index;
}

static void index_build(struct source *source, const atomic_bool *cancel)
{
	unsigned until_look = ENTRIES_AT_ONCE;
	uint64_t offset = 0;
	struct cfi_fde fde;

	do {
		if (cfi_fde_read(&source->section, offset, &fde) &&
		    !index_add(source, fde.start, offset))
			break;
		if (--until_look)
			continue;
		until_look = ENTRIES_AT_ONCE;
		if (cancel && atomic_load(cancel))
			break;
	} while (cfi_entry_next(&source->section, &offset) && offset < INDEX_SECTION_BYTES_MAX);
	index_sort(source);
}

static bool index_search(const struct source *source, uint64_t vaddr, uint64_t *fde)
{
	size_t after = SEARCH_AFTER(source->index, source->index_count, start, vaddr);

	if (!after)
		return false;
	*fde = source->index[after - 1].fde;
	return true;
}

static bool source_find(const struct source *source, uint64_t vaddr, struct cfi_fde *ret)
{
	uint64_t offset;

	if (source->hdr.table)
		offset = hdr_search(source, vaddr);
	else if (!index_search(source, vaddr, &offset))
		return false;
	return cfi_fde_read(&source->section, offset, ret) && vaddr >= ret->start &&
	       vaddr < ret->end;
}

static void add_eh_frame(struct cfi *cfi, struct elf_file *elf)
{
	struct elf_section found = elf_file_section(elf, ".eh_frame");
	struct source *source = &cfi->sources[cfi->source_count];
	uint64_t vaddr;

	source->hdr = hdr_read(cfi, elf, elf_file_unwind_table(elf), &vaddr);
	/*
	 * The table leads to the entries even if section headers are missing or
	 * wrong.
	 */
	if (bytes_left(&found.data) == 0 && source->hdr.table) {
		found.data = elf_file_constants(elf, vaddr);
		found.vaddr = vaddr;
	}
	source->section = (struct cfi_section){.data = cfi_hold(cfi, elf, found.data),
					       .vaddr = found.vaddr,
					       .is_eh_frame = true,
					       .word_bytes = cfi->arch->word_bytes};
	cfi->source_count += bytes_left(&source->section.data) > 0;
}

static void add_debug_frame(struct cfi *cfi, struct elf_file *elf)
{
	struct elf_section found = elf_file_section(elf, ".debug_frame");
	struct source *source = &cfi->sources[cfi->source_count];

	*source = (struct source){.section = {.data = cfi_hold(cfi, elf, found.data),
					      .vaddr = found.vaddr,
					      .word_bytes = cfi->arch->word_bytes}};
	cfi->source_count += bytes_left(&source->section.data) > 0;
}

static void add_start_functions(struct cfi *cfi, struct elf_file *elf)
{
	static const char *const names[] = {".init", ".fini"};

	for (size_t i = 0; cfi->arch == &arch_x86_64 && i < ARRAY_SIZE(names); i++) {
		struct elf_section section = elf_file_section(elf, names[i]);

		cfi->start_functions[i] =
			(struct elf_code){section.vaddr, section.vaddr + bytes_left(&section.data)};
	}
}

struct cfi *cfi_new(struct elf_file *elf, const struct arch *arch)
{
	struct cfi *cfi = xcalloc(1, sizeof(*cfi));

	cfi->arch = arch;
	go_code_read(&cfi->go, elf);
	cfi_row_default(arch, &cfi->defaults);
	add_eh_frame(cfi, elf);
	add_debug_frame(cfi, elf);
	add_start_functions(cfi, elf);
	return cfi;
}

void cfi_free(struct cfi *cfi)
{
	if (!cfi)
		return;
	for (unsigned i = 0; i < cfi->source_count; i++)
		free(cfi->sources[i].index);
	for (unsigned i = 0; i < cfi->copy_count; i++)
		free(cfi->copies[i]);
	free(cfi);
}

size_t cfi_bytes_to_index(const struct cfi *cfi)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < cfi->source_count; i++)
		if (needs_index(&cfi->sources[i]))
			bytes += bytes_left(&cfi->sources[i].section.data);
	return bytes;
}

void cfi_index(struct cfi *cfi, const atomic_bool *cancel)
{
	for (unsigned i = 0; i < cfi->source_count; i++)
		if (needs_index(&cfi->sources[i]))
			index_build(&cfi->sources[i], cancel);
}

size_t cfi_memory_bytes(const struct cfi *cfi)
{
	size_t bytes = sizeof(*cfi) + cfi->copied_bytes;

	for (unsigned i = 0; i < cfi->source_count; i++)
		bytes += cfi->sources[i].index_room * sizeof(*cfi->sources[i].index);
	return bytes;
}

static bool is_in_eh_frame(const struct cfi *cfi, uint64_t vaddr)
{
	struct cfi_fde fde;

	return cfi->source_count && cfi->sources[0].section.is_eh_frame &&
	       source_find(&cfi->sources[0], vaddr, &fde);
}

const struct elf_code *cfi_start_function(const struct cfi *cfi, uint64_t vaddr)
{
	return elf_code_at(cfi->start_functions, ARRAY_SIZE(cfi->start_functions), vaddr);
}

enum go_function cfi_go(const struct cfi *cfi, uint64_t vaddr)
{
	if (!cfi->go.is_of_go || cfi->go.end)
		return go_code_at(&cfi->go, vaddr);
	return is_in_eh_frame(cfi, vaddr) ? GO_NONE : GO_ORDINARY;
}

/* The first word that a Go function pushes is the caller's frame pointer. */
static void add_frame_pointer(const struct arch *arch, struct cfi_row *row)
{
	struct cfi_value *fp = &row->regs[arch->fp];

	if (!arch->ra_in_register && fp->how == CFI_SAME && row->cfa.how == CFI_REGISTER &&
	    row->cfa.reg == arch->sp && row->cfa.offset >= 16)
		*fp = (struct cfi_value){.how = CFI_AT_CFA, .offset = -16};
}

static bool find_in_go_table(const struct cfi *cfi, uint64_t vaddr, struct cfi_rule *ret)
{
	uint32_t depth;

	if (!go_code_depth(&cfi->go, vaddr, &depth))
		return false;
	*ret = (struct cfi_rule){.start = vaddr, .end = vaddr + 1, .row = cfi->defaults};
	ret->row.cfa = (struct cfi_value){
		.how = CFI_REGISTER,
		.reg = (uint8_t)cfi->arch->sp,
		.offset = (int64_t)depth + cfi->arch->word_bytes,
	};
	add_frame_pointer(cfi->arch, &ret->row);
	return true;
}

bool cfi_find(const struct cfi *cfi, uint64_t vaddr, unsigned *steps, struct cfi_rule *ret)
{
	struct cfi_fde fde;

	ret->is_inferred = ret->has_frame = false;
	for (unsigned i = 0; i < cfi->source_count; i++) {
		const struct source *source = &cfi->sources[i];

		if (!source_find(source, vaddr, &fde))
			continue;
		if (!cfi_program_run(&source->section, &fde, cfi->arch, &cfi->defaults, vaddr,
				     steps, ret))
			return false;
		if (!source->section.is_eh_frame && cfi_go(cfi, vaddr) != GO_NONE)
			add_frame_pointer(cfi->arch, &ret->row);
		return true;
	}
	return find_in_go_table(cfi, vaddr, ret);
}

bool cfi_function(const struct cfi *cfi, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	struct cfi_fde fde;

	for (unsigned i = 0; i < cfi->source_count; i++) {
		if (!source_find(&cfi->sources[i], vaddr, &fde))
			continue;
		*start = fde.start;
		*end = fde.end;
		return true;
	}
	return false;
}
