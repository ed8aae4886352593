#include "elf/elf_file.h"

#include "base/alloc.h"
#include "base/mapped_file.h"
#include "base/trusted_user.h"
#include "base/unpack.h"
#include "elf/classes.h"
#include "elf/sections.h"

#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct elf_file {
	struct elf_bytes bytes;
	uint64_t number;
	char *name;
	Elf64_Ehdr header;
	bool is_32; /* 32-bit file; its structures are converted to 64-bit ones */
	unsigned char beginning[sizeof(Elf32_Ehdr)]; /* copy of the start of the file */
	struct elf_file_segment *segments;
	unsigned segment_count, segment_room;
	size_t note_bytes_left; /* bytes that may still be searched for a build-id */
	bool is_dynamic;	/* has PT_DYNAMIC */
	uint64_t dynamic_offset, dynamic_bytes; /* its position in the file */
	uint64_t unwind_table_vaddr;		/* 0 if there is none */
	struct build_id build_id;
	uint64_t build_id_offset; /* position in the file */
	bool changed;

	struct elf_sections sections;
};

/*
 * Limits for the data read when a file is opened, which can be any mapped file.
 * The kernel rejects programs with larger program headers (load_elf_phdrs()).
 * Real programs have a dozen PT_LOAD segments and less than 64 KiB of notes.
 */
enum { TABLE_BYTES_MAX = 64 << 10, SEGMENTS_MAX = 128, NOTE_BYTES_MAX = 1 << 20 };

/*
 * Executables have about 40 sections. Object files can have more, but are not
 * mapped.
 */
enum { SECTIONS_MAX = 1 << 16 };

/* Larger than the symbols of the largest programs. */
enum { INSIDE_BYTES_MAX = 128 << 20 };

static bool elf_file_is_elf(const Elf64_Ehdr *header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
}

/* Returns true for prof's own byte order. */
static bool is_of_our_kind(const Elf64_Ehdr *header)
{
	const int data = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;

	return (header->e_ident[EI_CLASS] == ELFCLASS64 || elf_is_32(header)) &&
	       header->e_ident[EI_DATA] == data;
}

/*
 * The numbers of program headers and section headers, and the section with the
 * section names.
 */
struct counts {
	size_t segments, sections, names_index;
};

/*
 * Reads the counts. Values that do not fit into the ELF header's 16 bits are in
 * section header 0 (gABI, "ELF Header").
 */
static struct counts read_counts(const struct elf_file *elf, struct elf_copies *copies)
{
	const Elf64_Ehdr *header = &elf->header;
	size_t entry_bytes = elf_section_bytes(elf->is_32);
	Elf64_Shdr first = {0};
	struct counts counts;

	if (header->e_shoff && (header->e_phnum == PN_XNUM || header->e_shnum == 0 ||
				header->e_shstrndx == SHN_XINDEX)) {
		struct bytes at = elf_copies_take(copies, header->e_shoff, entry_bytes);

		elf_take_section(&at, elf->is_32, &first);
	}
	counts = (struct counts){
		.segments = header->e_phnum == PN_XNUM ? first.sh_info : header->e_phnum,
		.sections = header->e_shnum == 0 ? first.sh_size : header->e_shnum,
		.names_index = header->e_shstrndx == SHN_XINDEX ? first.sh_link
								: header->e_shstrndx,
	};
	if (header->e_phentsize != elf_segment_bytes(elf->is_32) || header->e_phoff == 0)
		counts.segments = 0;
	if (header->e_shentsize != entry_bytes || header->e_shoff == 0 ||
	    counts.sections > SECTIONS_MAX)
		counts.sections = 0;
	return counts;
}

static void find_build_id(struct elf_file *elf, struct elf_copies *copies, uint64_t offset,
			  uint64_t len, uint64_t align)
{
	struct bytes notes = {0};
	const unsigned char *start, *found;

	if (elf->build_id.len || len > elf->note_bytes_left)
		return;
	elf->note_bytes_left -= len;
	notes = elf_copies_take(copies, offset, len);
	start = notes.at;
	found = build_id_find(notes, align, &elf->build_id);
	if (found)
		elf->build_id_offset = offset + (uint64_t)(found - start);
}

static void add_segment(struct elf_file *elf, const Elf64_Phdr *header)
{
	const uint64_t size_bytes = elf->bytes.size_bytes;
	uint64_t left = header->p_offset < size_bytes ? size_bytes - header->p_offset : 0;

	if (elf->segment_count == SEGMENTS_MAX)
		return;
	GROW(elf->segments, elf->segment_count, elf->segment_room);
	elf->segments[elf->segment_count++] = (struct elf_file_segment){
		.offset = header->p_offset,
		.vaddr = header->p_vaddr,
		.file_bytes = header->p_filesz < left ? header->p_filesz : left,
		.memory_bytes = header->p_memsz,
		.executable = header->p_flags & PF_X,
		.writable = header->p_flags & PF_W,
	};
}

static void set_dynamic(struct elf_file *elf, const Elf64_Phdr *header)
{
	elf->is_dynamic = true;
	elf->dynamic_offset = header->p_offset;
	elf->dynamic_bytes = header->p_filesz;
}

static void read_segments(struct elf_file *elf, struct elf_copies *copies, size_t count)
{
	size_t whole = count;
	struct bytes table = elf_copies_take_table(copies, elf->header.e_phoff, &whole,
						   elf_segment_bytes(elf->is_32), TABLE_BYTES_MAX);
	CLEANUP(free_ptr) Elf64_Phdr *headers = calloc(whole, sizeof(*headers));

	/* Reads all headers first, because notes are copied over the table. */
	for (count = 0; headers && count < whole; count++)
		if (!elf_take_segment(&table, elf->is_32, &headers[count]))
			break;
	for (size_t i = 0; i < count; i++) {
		const Elf64_Phdr *header = &headers[i];

		if (header->p_type == PT_LOAD)
			add_segment(elf, header);
		else if (header->p_type == PT_DYNAMIC)
			set_dynamic(elf, header);
		else if (header->p_type == PT_GNU_EH_FRAME)
			elf->unwind_table_vaddr = header->p_vaddr;
		else if (header->p_type == PT_NOTE)
			find_build_id(elf, copies, header->p_offset, header->p_filesz,
				      header->p_align);
	}
}

/*
 * Handles files without usable program headers (kernel modules). The section
 * headers are not kept, because the sections of most files are never needed.
 */
static void find_build_id_in_sections(struct elf_file *elf, struct elf_copies *copies)
{
	CLEANUP(free_ptr) Elf64_Shdr *sections = NULL;
	size_t count = elf_sections_read_headers(&elf->sections, copies, TABLE_BYTES_MAX,
						 &sections);

	for (size_t i = 0; i < count; i++)
		if (sections[i].sh_type == SHT_NOTE)
			find_build_id(elf, copies, sections[i].sh_offset, sections[i].sh_size,
				      sections[i].sh_addralign);
}

/* Takes ownership of the bytes. */
static struct error *open_bytes(struct elf_bytes bytes, const char *name, struct elf_file **ret)
{
	static atomic_uint_fast64_t numbers;
	CLEANUP(elf_file_cleanup) struct elf_file *elf = xcalloc(1, sizeof(*elf));
	CLEANUP(elf_copies_deinit) struct elf_copies copies;
	struct counts counts;
	struct bytes from;

	elf->bytes = bytes;
	elf->number = atomic_fetch_add(&numbers, 1) + 1;
	elf->name = xstrdup(name);
	elf->note_bytes_left = NOTE_BYTES_MAX;
	elf_copies_init(&copies, &elf->bytes);
	from = bytes_of(copies.first, copies.first_bytes);
	if (!elf_take_header(&from, &elf->header) || !elf_file_is_elf(&elf->header))
		return error_new("%s is not an ELF file", name);
	if (!is_of_our_kind(&elf->header))
		return error_new("%s is an ELF file of another byte order", name);
	elf->is_32 = elf_is_32(&elf->header);
	memcpy(elf->beginning, copies.first, sizeof(elf->beginning));
	counts = read_counts(elf, &copies);
	elf_sections_init(&elf->sections, &elf->bytes, &elf->header, counts.sections,
			  counts.names_index);
	read_segments(elf, &copies, counts.segments);
	if (elf->build_id.len == 0)
		find_build_id_in_sections(elf, &copies);
	*ret = STEAL(elf);
	return NULL;
}

struct error *elf_file_open(int fd, const char *name, struct elf_file **ret)
{
	CLEANUP(close_fd) int file = fd;
	struct elf_bytes bytes;
	struct error *err = elf_bytes_map(file, name, &bytes);

	return err ? err : open_bytes(bytes, name, ret);
}

static struct error *open_memory(const void *data, size_t len, const char *name,
				 struct file_origin origin, struct elf_file **ret)
{
	unsigned char *copy = malloc(len ? len : 1);

	if (!copy)
		return error_errno(ENOMEM, "copy %s", name);
	if (len)
		memcpy(copy, data, len);
	return open_bytes(elf_bytes_of_heap(copy, len, origin), name, ret);
}

struct error *elf_file_from_memory(const void *data, size_t len, const char *name,
				   struct elf_file **ret)
{
	return open_memory(data, len, name, (struct file_origin){.owner = geteuid()}, ret);
}

struct error *elf_file_from_user(const void *data, size_t len, const char *name, uid_t user,
				 struct elf_file **ret)
{
	return open_memory(
		data, len, name,
		(struct file_origin){.owner = user, .is_untrusted = !is_trusted_user(user)}, ret);
}

void elf_file_set_budget(struct elf_file *elf, struct unpack_budget *budget)
{
	elf_sections_set_budget(&elf->sections, budget);
}

void elf_file_share_budget(struct elf_file *elf, struct elf_file *with)
{
	elf_sections_set_budget(&elf->sections, elf_sections_budget(&with->sections));
}

struct elf_file *elf_file_inside(struct elf_file *elf, const char *section)
{
	const bool is_untrusted = elf->bytes.origin.is_untrusted;
	struct bytes packed = elf_file_section(elf, section).data;
	struct unpack_budget *budget = elf_sections_budget(&elf->sections);
	CLEANUP(free_ptr) void *copy = NULL;
	struct elf_file *inside = NULL;
	const unsigned char *from;
	void *data;
	size_t len;

	if (!bytes_left(&packed) || !unpack_budget_take(budget, is_untrusted, INSIDE_BYTES_MAX))
		return NULL;
	from = elf_bytes_steady(&elf->bytes, packed, &copy);
	if (from && unpack_xz(bytes_of(from, bytes_left(&packed)), INSIDE_BYTES_MAX, &data, &len))
		error_free(open_bytes(elf_bytes_of_heap(data, len, elf->bytes.origin), elf->name,
				      &inside));
	if (inside)
		elf_sections_charge(&inside->sections, budget, len);
	unpack_budget_give(budget, is_untrusted, INSIDE_BYTES_MAX - (inside ? len : 0));
	return inside;
}

struct elf_file *elf_file_share(const struct elf_file *elf)
{
	struct elf_file *shared = xcalloc(1, sizeof(*shared));

	*shared = *elf;
	shared->bytes = elf_bytes_share(&elf->bytes);
	shared->name = xstrdup(elf->name);
	shared->segments = xcalloc(elf->segment_count, sizeof(*elf->segments));
	shared->segment_room = elf->segment_count;
	if (elf->segment_count)
		memcpy(shared->segments, elf->segments,
		       elf->segment_count * sizeof(*elf->segments));
	elf_sections_init(&shared->sections, &shared->bytes, &shared->header, elf->sections.count,
			  elf->sections.names_index);
	return shared;
}

void elf_file_free(struct elf_file *elf)
{
	if (!elf)
		return;
	elf_sections_deinit(&elf->sections);
	elf_bytes_deinit(&elf->bytes);
	free(elf->segments);
	free(elf->name);
	free(elf);
}

uid_t elf_file_owner(const struct elf_file *elf)
{
	return elf->bytes.origin.owner;
}

bool elf_file_is_untrusted(const struct elf_file *elf)
{
	return elf->bytes.origin.is_untrusted;
}

bool elf_file_may_stall(const struct elf_file *elf)
{
	return elf->bytes.origin.may_stall;
}

uint64_t elf_file_data_bytes(const struct elf_file *elf)
{
	return elf->bytes.origin.data_bytes;
}

struct file_version elf_file_version(const struct elf_file *elf)
{
	return elf->bytes.version;
}

uint64_t elf_file_number(const struct elf_file *elf)
{
	return elf->number;
}

const char *elf_file_name(const struct elf_file *elf)
{
	return elf->name;
}

struct bytes elf_file_contents(const struct elf_file *elf)
{
	return elf_bytes_all(&elf->bytes);
}

const struct build_id *elf_file_build_id(const struct elf_file *elf)
{
	return &elf->build_id;
}

const struct elf_file_segment *elf_file_segments(const struct elf_file *elf, unsigned *count)
{
	*count = elf->segment_count;
	return elf->segments;
}

/*
 * Finds a segment. `at` is an offset or a vaddr. A segment's own range takes
 * precedence over the rest of its pages, because linkers let two segments share
 * a page of the file.
 */
static const struct elf_file_segment *executable_segment(const struct elf_file *elf, uint64_t at,
							 bool is_vaddr)
{
	const uint64_t page = (uint64_t)getpagesize();
	const struct elf_file_segment *in_page = NULL;

	for (unsigned i = 0; i < elf->segment_count; i++) {
		const struct elf_file_segment *segment = &elf->segments[i];
		uint64_t base = is_vaddr ? segment->vaddr : segment->offset;
		uint64_t head = segment->offset % page;
		uint64_t span = (head + segment->file_bytes + page - 1) / page * page;

		if (!segment->executable || segment->file_bytes == 0)
			continue;
		if (at - base < segment->file_bytes)
			return segment;
		if (at - (base - head) < span && !in_page)
			in_page = segment;
	}
	return in_page;
}

bool elf_file_offset_to_vaddr(const struct elf_file *elf, uint64_t offset, uint64_t *vaddr)
{
	const struct elf_file_segment *segment = executable_segment(elf, offset, false);

	if (segment)
		*vaddr = offset - segment->offset + segment->vaddr;
	return segment;
}

bool elf_file_vaddr_to_offset(const struct elf_file *elf, uint64_t vaddr, uint64_t *offset)
{
	const struct elf_file_segment *segment = executable_segment(elf, vaddr, true);

	if (segment)
		*offset = vaddr - segment->vaddr + segment->offset;
	return segment;
}

bool elf_file_is_data(const struct elf_file *elf, uint64_t vaddr)
{
	for (unsigned i = 0; i < elf->segment_count; i++) {
		const struct elf_file_segment *segment = &elf->segments[i];

		if (segment->writable && vaddr - segment->vaddr < segment->memory_bytes)
			return true;
	}
	return false;
}

/* Returns the bytes from an offset, but not more than the file has data. */
static struct bytes file_bytes(const struct elf_file *elf, uint64_t offset, uint64_t len)
{
	const uint64_t most = elf->bytes.origin.data_bytes;

	return elf_bytes_part(&elf->bytes, offset, len < most ? len : most);
}

static struct bytes segment_bytes(const struct elf_file *elf, uint64_t vaddr, bool writable)
{
	for (unsigned i = 0; i < elf->segment_count; i++) {
		const struct elf_file_segment *segment = &elf->segments[i];
		uint64_t at = vaddr - segment->vaddr;

		if (at < segment->file_bytes && (writable || !segment->writable))
			return file_bytes(elf, segment->offset + at, segment->file_bytes - at);
	}
	return bytes_of(NULL, 0);
}

struct bytes elf_file_constants(const struct elf_file *elf, uint64_t vaddr)
{
	return segment_bytes(elf, vaddr, false);
}

struct bytes elf_file_loaded(const struct elf_file *elf, uint64_t vaddr)
{
	return segment_bytes(elf, vaddr, true);
}

struct bytes elf_file_dynamic(const struct elf_file *elf)
{
	return file_bytes(elf, elf->dynamic_offset, elf->dynamic_bytes);
}

bool elf_file_copy(const struct elf_file *elf, struct bytes from, void *into)
{
	return elf_bytes_copy(&elf->bytes, from, into);
}

bool elf_file_copy_section(struct elf_file *elf, const char *name, size_t max_bytes,
			   struct elf_section *ret, void **memory)
{
	size_t len;

	*memory = NULL;
	*ret = elf_file_section(elf, name);
	len = bytes_left(&ret->data);
	if (!len || len > max_bytes)
		return false;
	*memory = malloc(len);
	if (!*memory || !elf_file_copy(elf, ret->data, *memory)) {
		free(*memory);
		*memory = NULL;
		return false;
	}
	ret->data = bytes_of(*memory, len);
	return true;
}

bool elf_file_read(const struct elf_file *elf, uint64_t vaddr, void *into, size_t len)
{
	struct bytes from = elf_file_constants(elf, vaddr);
	const void *at = bytes_take(&from, len);

	if (!at || (elf->bytes.origin.may_stall && !mapped_file_has(at, len)))
		return false;
	memcpy(into, at, len);
	return true;
}

uint64_t elf_file_unwind_table(const struct elf_file *elf)
{
	return elf->unwind_table_vaddr;
}

uint16_t elf_file_machine(const struct elf_file *elf)
{
	return elf->header.e_machine;
}

bool elf_file_is_32(const struct elf_file *elf)
{
	return elf->is_32;
}

uint64_t elf_file_entry(const struct elf_file *elf)
{
	bool begins = elf->header.e_type == ET_EXEC || elf->is_dynamic;

	return begins ? elf->header.e_entry : 0;
}

struct elf_section elf_file_section(struct elf_file *elf, const char *name)
{
	return elf_sections_find(&elf->sections, name);
}

void elf_file_unpack(struct elf_file *elf, const char *const *names, size_t count, elf_run *run,
		     void *user)
{
	elf_sections_unpack(&elf->sections, names, count, run, user);
}

bool elf_file_next_section(struct elf_file *elf, const char *name, size_t *index,
			   struct elf_section *ret)
{
	return elf_sections_find_next(&elf->sections, name, index, ret);
}

bool elf_file_has_section(struct elf_file *elf, const char *name)
{
	return elf_sections_has(&elf->sections, name);
}

uint64_t elf_file_symbol_vaddr(struct elf_file *elf, const Elf64_Sym *symbol)
{
	return elf_sections_symbol_vaddr(&elf->sections, symbol);
}

static size_t executable_segments(const struct elf_file *elf, struct elf_code **ret)
{
	size_t count = 0;

	*ret = xcalloc(elf->segment_count, sizeof(**ret));
	for (unsigned i = 0; i < elf->segment_count; i++) {
		const struct elf_file_segment *segment = &elf->segments[i];

		if (segment->executable)
			(*ret)[count++] = (struct elf_code){
				.start = segment->vaddr,
				.end = segment->vaddr + segment->file_bytes,
			};
	}
	return count;
}

size_t elf_file_code(struct elf_file *elf, struct elf_code **ret)
{
	size_t count = elf_sections_code(&elf->sections, ret);

	if (count)
		return count;
	free(*ret);
	return executable_segments(elf, ret);
}

bool elf_file_section_is_data(struct elf_file *elf, size_t section)
{
	return elf_sections_is_data(&elf->sections, section);
}

void elf_file_release(const struct elf_file *elf, struct bytes part)
{
	elf_bytes_release(&elf->bytes, part);
}

void elf_file_release_all(const struct elf_file *elf)
{
	elf_bytes_release(&elf->bytes, elf_bytes_all(&elf->bytes));
}

/*
 * Returns true if the data read when the file was opened is unchanged. A
 * truncated file lacks its last byte.
 */
static bool still_reads(const struct elf_file *elf)
{
	unsigned char last, beginning[sizeof(elf->beginning)], build_id[BUILD_ID_MAX];
	const struct mapped_file_part parts[] = {
		{elf->bytes.data + elf->bytes.size_bytes - 1, 1, &last},
		{elf->bytes.data, sizeof(beginning), beginning},
		{elf->bytes.data + elf->build_id_offset, elf->build_id.len, build_id},
	};

	return mapped_file_read_parts(parts, ARRAY_SIZE(parts) - !elf->build_id.len) &&
	       memcmp(beginning, elf->beginning, sizeof(beginning)) == 0 &&
	       memcmp(build_id, elf->build_id.bytes, elf->build_id.len) == 0;
}

bool elf_file_changed(struct elf_file *elf)
{
	if (elf->bytes.is_mapped && !elf->changed)
		elf->changed = !still_reads(elf);
	return elf->changed;
}
