#include "elf/elf_file.h"

#include "base/alloc.h"
#include "base/mapped_file.h"
#include "elf/classes.h"
#include "elf/file_origin.h"
#include "elf/packed_section.h"
#include "elf/relocatable.h"

#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

enum relocation { NOT_RELOCATED, RELOCATED, NOT_RELOCATABLE };

struct elf_file {
	unsigned char *data;
	size_t size_bytes;
	bool is_mapped;	    /* else data is on the heap */
	atomic_uint *users; /* of data */
	struct file_origin origin;
	char *name;
	Elf64_Ehdr header;
	bool is_32; /* 32-bit; what is read is converted to 64-bit structs */
	unsigned char beginning[sizeof(Elf32_Ehdr)]; /* a copy of the start of the file */
	struct elf_file_segment *segments;
	unsigned segment_count, segment_room;
	size_t note_bytes_left;	     /* that may be searched for a build-id */
	bool is_dynamic;	     /* has PT_DYNAMIC */
	uint64_t unwind_table_vaddr; /* 0: none */
	struct build_id build_id;
	uint64_t build_id_offset; /* in the file */
	bool changed;

	Elf64_Shdr *sections;
	struct bytes *unpacked;		   /* by section; empty: not used yet, or as in the file */
	enum relocation *relocated;	   /* by section */
	size_t section_count, names_index; /* the section with the names of all */
	void *names;
	struct bytes section_names;
	bool sections_loaded;

	struct unpack_budget *budget;	 /* NULL: its own, made when it is needed */
	struct unpack_budget own_budget; /* … */
	uint64_t unpacked_bytes;	 /* taken from it */
};

/*
 * Limits of what is read at opening, for each file that anybody maps. The kernel runs no program
 * with larger program headers (load_elf_phdrs()); real ones have a dozen PT_LOAD. Notes of a file
 * take less than 64 KiB.
 */
enum { TABLE_BYTES_MAX = 64 << 10, SEGMENTS_MAX = 128, NOTE_BYTES_MAX = 1 << 20 };

/* Executables have about 40. Object files can have more, but are not mapped. */
enum { SECTIONS_MAX = 1 << 16, NAME_BYTES_MAX = 1 << 20 };

/* The symbols of the largest programs take about 10 MB. */
enum { INSIDE_BYTES_MAX = 128 << 20 };

/* Failed, too, if it has more bytes than the file: it is a hole, or the file lies. */
static struct bytes part(const struct elf_file *elf, uint64_t offset, uint64_t len)
{
	struct bytes at = bytes_at(elf_file_contents(elf), offset);

	if (len > elf->origin.data_bytes)
		bytes_fail(&at);
	return bytes_sub(&at, len);
}

static bool is_elf(const Elf64_Ehdr *header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
}

/* In prof's own byte order. */
static bool is_of_our_kind(const Elf64_Ehdr *header)
{
	const int data = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;

	return (header->e_ident[EI_CLASS] == ELFCLASS64 || elf_is_32(header)) &&
	       header->e_ident[EI_DATA] == data;
}

enum { FIRST_BYTES = 4096 };

/* Private copies of parts of the file: what is checked is what is used. */
struct copies {
	const struct elf_file *elf;
	unsigned char first[FIRST_BYTES]; /* the start of the file, which has most of it */
	size_t first_bytes;
	void *other; /* the last part elsewhere */
};

static void copies_init(struct copies *copies, const struct elf_file *elf)
{
	*copies = (struct copies){.elf = elf};
	copies->first_bytes = elf->size_bytes < FIRST_BYTES ? elf->size_bytes : FIRST_BYTES;
	if (copies->first_bytes &&
	    !elf_file_copy(elf, bytes_of(elf->data, copies->first_bytes), copies->first))
		copies->first_bytes = 0;
}

static void copies_deinit(struct copies *copies)
{
	free(copies->other);
}

/* Valid until the next one. Empty and failed if it cannot be read. */
static struct bytes copy_of(struct copies *copies, uint64_t offset, uint64_t len)
{
	struct bytes first = bytes_of(copies->first, copies->first_bytes);
	struct bytes from = part(copies->elf, offset, len);

	if (offset < copies->first_bytes && len <= copies->first_bytes - offset) {
		bytes_skip(&first, offset);
		return bytes_sub(&first, len);
	}
	free(copies->other);
	copies->other = bytes_ok(&from) ? malloc(len ? len : 1) : NULL;
	if (!copies->other || !elf_file_copy(copies->elf, from, copies->other))
		return (struct bytes){.overrun = true};
	return bytes_of(copies->other, len);
}

/*
 * The numbers of program headers and section headers, and the section with the section names.
 * Values that do not fit into the ELF header's 16 bits are in section header 0 (gABI, "ELF
 * Header").
 */
static void read_counts(struct elf_file *elf, struct copies *copies, size_t *segments)
{
	const Elf64_Ehdr *header = &elf->header;
	size_t entry_bytes = elf_section_bytes(elf->is_32);
	struct bytes at = {0};
	Elf64_Shdr first = {0};

	if (header->e_shoff && (header->e_phnum == PN_XNUM || header->e_shnum == 0 ||
				header->e_shstrndx == SHN_XINDEX)) {
		at = copy_of(copies, header->e_shoff, entry_bytes);
		elf_take_section(&at, elf->is_32, &first);
	}
	*segments = header->e_phnum == PN_XNUM ? first.sh_info : header->e_phnum;
	elf->section_count = header->e_shnum == 0 ? first.sh_size : header->e_shnum;
	elf->names_index = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
	if (header->e_phentsize != elf_segment_bytes(elf->is_32) || header->e_phoff == 0)
		*segments = 0;
	if (header->e_shentsize != entry_bytes || header->e_shoff == 0 ||
	    elf->section_count > SECTIONS_MAX)
		elf->section_count = 0;
}

/* The headers of a table that lie in the file, and not more than fit into so many bytes. */
static size_t count_within(const struct elf_file *elf, uint64_t offset, size_t count,
			   size_t entry_bytes, size_t max_bytes)
{
	uint64_t left = offset < elf->size_bytes ? elf->size_bytes - offset : 0;
	uint64_t most = (left < max_bytes ? left : max_bytes) / entry_bytes;

	return count < most ? count : (size_t)most;
}

static void find_build_id(struct elf_file *elf, struct copies *copies, uint64_t offset,
			  uint64_t len, uint64_t align)
{
	struct bytes notes = {0};
	const unsigned char *start, *found;

	if (elf->build_id.len || len > elf->note_bytes_left)
		return;
	elf->note_bytes_left -= len;
	notes = copy_of(copies, offset, len);
	start = notes.at;
	found = build_id_find(notes, align, &elf->build_id);
	if (found)
		elf->build_id_offset = offset + (uint64_t)(found - start);
}

static void add_segment(struct elf_file *elf, const Elf64_Phdr *header)
{
	uint64_t left = header->p_offset < elf->size_bytes ? elf->size_bytes - header->p_offset : 0;

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

static void read_segments(struct elf_file *elf, struct copies *copies, size_t count)
{
	const size_t entry_bytes = elf_segment_bytes(elf->is_32);
	const uint64_t offset = elf->header.e_phoff;
	size_t whole = count_within(elf, offset, count, entry_bytes, TABLE_BYTES_MAX);
	CLEANUP(free_ptr) Elf64_Phdr *headers = calloc(whole, sizeof(*headers));
	struct bytes table = copy_of(copies, offset, whole * entry_bytes);

	/* All first: notes are copied to where the table was. */
	for (count = 0; headers && count < whole; count++)
		if (!elf_take_segment(&table, elf->is_32, &headers[count]))
			break;
	for (size_t i = 0; i < count; i++) {
		const Elf64_Phdr *header = &headers[i];

		if (header->p_type == PT_LOAD)
			add_segment(elf, header);
		else if (header->p_type == PT_DYNAMIC)
			elf->is_dynamic = true;
		else if (header->p_type == PT_GNU_EH_FRAME)
			elf->unwind_table_vaddr = header->p_vaddr;
		else if (header->p_type == PT_NOTE)
			find_build_id(elf, copies, header->p_offset, header->p_filesz,
				      header->p_align);
	}
}

/* Reads section headers into *ret, which the caller frees. Returns their number. */
static size_t read_sections(const struct elf_file *elf, struct copies *copies, size_t max_bytes,
			    Elf64_Shdr **ret)
{
	const size_t entry_bytes = elf_section_bytes(elf->is_32);
	const uint64_t offset = elf->header.e_shoff;
	size_t whole = count_within(elf, offset, elf->section_count, entry_bytes, max_bytes);
	struct bytes table = copy_of(copies, offset, whole * entry_bytes);
	size_t count;

	*ret = calloc(whole, sizeof(**ret));
	for (count = 0; *ret && count < whole; count++)
		if (!elf_take_section(&table, elf->is_32, &(*ret)[count]))
			break;
	return count;
}

/*
 * For files without program headers (kernel modules), or whose program headers lead nowhere. Not
 * kept: the sections of most files are never needed.
 */
static void find_build_id_in_sections(struct elf_file *elf, struct copies *copies)
{
	CLEANUP(free_ptr) Elf64_Shdr *sections = NULL;
	size_t count = read_sections(elf, copies, TABLE_BYTES_MAX, &sections);

	for (size_t i = 0; i < count; i++)
		if (sections[i].sh_type == SHT_NOTE)
			find_build_id(elf, copies, sections[i].sh_offset, sections[i].sh_size,
				      sections[i].sh_addralign);
}

static void load_section_names(struct elf_file *elf)
{
	const Elf64_Shdr *section = &elf->sections[elf->names_index];
	struct bytes names = part(elf, section->sh_offset, section->sh_size);
	size_t len = bytes_left(&names);

	elf->names = len && len <= NAME_BYTES_MAX ? malloc(len) : NULL;
	if (elf->names && elf_file_copy(elf, names, elf->names))
		elf->section_names = bytes_of(elf->names, len);
}

static void load_sections(struct elf_file *elf)
{
	CLEANUP(copies_deinit) struct copies copies = {.elf = elf};

	if (elf->sections_loaded)
		return;
	elf->sections_loaded = true;
	elf->section_count = read_sections(elf, &copies, SIZE_MAX, &elf->sections);
	elf->unpacked = calloc(elf->section_count, sizeof(*elf->unpacked));
	elf->relocated = calloc(elf->section_count, sizeof(*elf->relocated));
	if (!elf->unpacked || !elf->relocated)
		elf->section_count = 0;
	if (elf->header.e_type == ET_REL)
		relocatable_lay_out(elf->sections, elf->section_count);
	if (elf->names_index < elf->section_count)
		load_section_names(elf);
}

static struct unpack_budget *budget_of(struct elf_file *elf)
{
	if (!elf->budget) {
		unpack_budget_init(&elf->own_budget);
		elf->budget = &elf->own_budget;
	}
	return elf->budget;
}

void elf_file_set_budget(struct elf_file *elf, struct unpack_budget *budget)
{
	elf->budget = budget;
}

void elf_file_share_budget(struct elf_file *elf, struct elf_file *with)
{
	elf->budget = budget_of(with);
}

/*
 * The packed bytes; of a foreign file a private copy, in *copy: the libraries that decompress are
 * not made for input that changes while they read it. NULL if it cannot be had.
 */
static const unsigned char *steady(const struct elf_file *elf, struct bytes packed, void **copy)
{
	*copy = NULL;
	if (!elf->origin.is_foreign)
		return packed.at;
	*copy = malloc(bytes_left(&packed));
	return *copy && elf_file_copy(elf, packed, *copy) ? *copy : NULL;
}

/* Takes the ELF file, whose data is there and whose headers are not read yet. */
static struct error *load(struct elf_file *elf, const char *name, struct elf_file **ret)
{
	CLEANUP(elf_file_cleanup) struct elf_file *loading = elf;
	CLEANUP(copies_deinit) struct copies copies;
	size_t segments;
	struct bytes from;

	elf->name = xstrdup(name);
	elf->note_bytes_left = NOTE_BYTES_MAX;
	copies_init(&copies, elf);
	from = bytes_of(copies.first, copies.first_bytes);
	if (!elf_take_header(&from, &elf->header) || !is_elf(&elf->header))
		return error_new("%s is not an ELF file", name);
	if (!is_of_our_kind(&elf->header))
		return error_new("%s is an ELF file of another byte order", name);
	elf->is_32 = elf_is_32(&elf->header);
	memcpy(elf->beginning, copies.first, sizeof(elf->beginning));
	read_counts(elf, &copies, &segments);
	read_segments(elf, &copies, segments);
	if (elf->build_id.len == 0)
		find_build_id_in_sections(elf, &copies);
	*ret = STEAL(loading);
	return NULL;
}

static atomic_uint *new_users(void)
{
	atomic_uint *users = xmalloc(sizeof(*users));

	atomic_init(users, 1);
	return users;
}

struct error *elf_file_open(int fd, const char *name, struct elf_file **ret)
{
	CLEANUP(close_fd) int file = fd;
	struct elf_file *elf;
	struct stat st;
	void *data;

	if (fstat(file, &st) < 0)
		return error_errno(errno, "stat %s", name);
	if (!S_ISREG(st.st_mode))
		return error_new("%s is not a regular file", name);
	if (st.st_size == 0)
		return error_new("%s is empty", name);
	data = mapped_file_new(file, (size_t)st.st_size);
	if (!data)
		return error_errno(errno, "map %s", name);
	elf = xcalloc(1, sizeof(*elf));
	elf->data = data;
	elf->size_bytes = (size_t)st.st_size;
	elf->is_mapped = true;
	elf->users = new_users();
	elf->origin = file_origin_of(file, &st);
	return load(elf, name, ret);
}

/* Takes data, which is on the heap. */
static struct error *open_memory(void *data, size_t len, struct file_origin origin,
				 const char *name, struct elf_file **ret)
{
	struct elf_file *elf = xcalloc(1, sizeof(*elf));

	elf->data = data;
	elf->size_bytes = len;
	elf->users = new_users();
	elf->origin = origin;
	elf->origin.data_bytes = len;
	return load(elf, name, ret);
}

struct error *elf_file_from_memory(const void *data, size_t len, const char *name,
				   struct elf_file **ret)
{
	unsigned char *copy = malloc(len ? len : 1);

	if (!copy)
		return error_errno(ENOMEM, "copy %s", name);
	if (len)
		memcpy(copy, data, len);
	return open_memory(copy, len, (struct file_origin){.owner = geteuid()}, name, ret);
}

struct elf_file *elf_file_inside(struct elf_file *elf, const char *section)
{
	const bool is_foreign = elf->origin.is_foreign;
	struct bytes packed = elf_file_section(elf, section).data;
	CLEANUP(free_ptr) void *copy = NULL;
	struct elf_file *inside = NULL;
	const unsigned char *from;
	void *data;
	size_t len;

	if (!bytes_left(&packed) ||
	    !unpack_budget_take(budget_of(elf), is_foreign, INSIDE_BYTES_MAX))
		return NULL;
	from = steady(elf, packed, &copy);
	if (from && unpack_xz(bytes_of(from, bytes_left(&packed)), INSIDE_BYTES_MAX, &data, &len))
		error_free(open_memory(data, len, elf->origin, elf->name, &inside));
	if (inside) {
		inside->budget = elf->budget;
		inside->unpacked_bytes = len;
	}
	unpack_budget_give(elf->budget, is_foreign, INSIDE_BYTES_MAX - (inside ? len : 0));
	return inside;
}

struct elf_file *elf_file_share(const struct elf_file *elf)
{
	struct elf_file *shared = xcalloc(1, sizeof(*shared));

	*shared = *elf;
	atomic_fetch_add(elf->users, 1);
	shared->name = xstrdup(elf->name);
	shared->segments = xcalloc(elf->segment_count, sizeof(*elf->segments));
	shared->segment_room = elf->segment_count;
	if (elf->segment_count)
		memcpy(shared->segments, elf->segments,
		       elf->segment_count * sizeof(*elf->segments));
	shared->sections_loaded = false;
	shared->sections = NULL;
	shared->unpacked = NULL;
	shared->relocated = NULL;
	shared->names = NULL;
	shared->section_names = bytes_of(NULL, 0);
	shared->budget = NULL;
	shared->unpacked_bytes = 0;
	return shared;
}

static void free_data(struct elf_file *elf)
{
	if (atomic_fetch_sub(elf->users, 1) > 1)
		return;
	free(elf->users);
	if (elf->is_mapped)
		mapped_file_free(elf->data, elf->size_bytes);
	else
		free(elf->data);
}

void elf_file_free(struct elf_file *elf)
{
	if (!elf)
		return;
	if (elf->unpacked_bytes)
		unpack_budget_give(elf->budget, elf->origin.is_foreign, elf->unpacked_bytes);
	for (size_t i = 0; elf->sections_loaded && i < elf->section_count; i++)
		free((void *)(uintptr_t)elf->unpacked[i].at);
	free(elf->unpacked);
	free(elf->relocated);
	free_data(elf);
	free(elf->segments);
	free(elf->sections);
	free(elf->names);
	free(elf->name);
	free(elf);
}

uid_t elf_file_owner(const struct elf_file *elf)
{
	return elf->origin.owner;
}

bool elf_file_is_foreign(const struct elf_file *elf)
{
	return elf->origin.is_foreign;
}

bool elf_file_may_stall(const struct elf_file *elf)
{
	return elf->origin.may_stall;
}

uint64_t elf_file_data_bytes(const struct elf_file *elf)
{
	return elf->origin.data_bytes;
}

const char *elf_file_name(const struct elf_file *elf)
{
	return elf->name;
}

struct bytes elf_file_contents(const struct elf_file *elf)
{
	return bytes_of(elf->data, elf->size_bytes);
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
 * `at` is an offset or a vaddr. A segment's own range takes precedence over the rest of its pages,
 * since linkers let two segments share a page of the file.
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

struct bytes elf_file_constants(const struct elf_file *elf, uint64_t vaddr)
{
	for (unsigned i = 0; i < elf->segment_count; i++) {
		const struct elf_file_segment *segment = &elf->segments[i];
		uint64_t at = vaddr - segment->vaddr;

		uint64_t left = segment->file_bytes - at;

		if (segment->writable || at >= segment->file_bytes)
			continue;
		return part(elf, segment->offset + at,
			    left < elf->origin.data_bytes ? left : elf->origin.data_bytes);
	}
	return bytes_of(NULL, 0);
}

bool elf_file_copy(const struct elf_file *elf, struct bytes from, void *into)
{
	const size_t len = bytes_left(&from);

	if (elf->is_mapped && from.at >= elf->data && from.end <= elf->data + elf->size_bytes)
		return mapped_file_read(from.at, len, into);
	if (len)
		memcpy(into, from.at, len);
	return true;
}

bool elf_file_copy_section(struct elf_file *elf, const char *name, size_t max_bytes,
			   struct elf_file_section *ret, void **memory)
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

	if (!at || (elf->origin.may_stall && !mapped_file_has(at, len)))
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

static bool name_begins(const struct elf_file *elf, size_t section, const char *prefix)
{
	struct bytes at = bytes_at(elf->section_names, elf->sections[section].sh_name);
	size_t len = strlen(prefix);

	return bytes_left(&at) > len && !memcmp(at.at, prefix, len);
}

/* Not what the dynamic linker alone writes: tables of addresses (.data.rel.ro, .got). */
bool elf_file_section_is_data(struct elf_file *elf, size_t section)
{
	load_sections(elf);
	if (section >= elf->section_count || !(elf->sections[section].sh_flags & SHF_WRITE))
		return false;
	return name_begins(elf, section, ".bss") ||
	       (name_begins(elf, section, ".data") && !name_begins(elf, section, ".data.rel.ro"));
}

size_t elf_file_code(struct elf_file *elf, struct elf_file_code **ret)
{
	size_t count = 0;

	load_sections(elf);
	*ret = calloc(elf->section_count, sizeof(**ret));
	for (size_t i = 0; *ret && i < elf->section_count; i++) {
		const Elf64_Shdr *section = &elf->sections[i];

		if (section->sh_flags & SHF_ALLOC && section->sh_flags & SHF_EXECINSTR)
			(*ret)[count++] = (struct elf_file_code){
				.start = section->sh_addr,
				.end = section->sh_addr + section->sh_size,
			};
	}
	return count;
}

/* Of those after number `after`; 0 if there is none. */
static size_t section_named(const struct elf_file *elf, const char *prefix, const char *name,
			    size_t after)
{
	size_t prefix_len = strlen(prefix);

	for (size_t i = after + 1; i < elf->section_count; i++) {
		struct bytes at = bytes_at(elf->section_names, elf->sections[i].sh_name);
		struct bytes found = bytes_text(&at);
		const void *start = bytes_take(&found, prefix_len);

		if (start && memcmp(start, prefix, prefix_len) == 0 && bytes_are(found, name))
			return i;
	}
	return 0;
}

/* Within the budget; allocates. NULL if it cannot be decompressed. */
static void *unpack_section(struct elf_file *elf, const struct packed_section *section)
{
	const bool is_foreign = elf->origin.is_foreign;
	CLEANUP(free_ptr) void *copy = NULL;
	const unsigned char *packed;
	void *to;

	if (!unpack_budget_take(budget_of(elf), is_foreign, section->size_bytes))
		return NULL;
	packed = steady(elf, section->packed, &copy);
	to = packed ? malloc(section->size_bytes) : NULL;
	if (to && unpack(section->kind, bytes_of(packed, bytes_left(&section->packed)), to,
			 section->size_bytes)) {
		elf->unpacked_bytes += section->size_bytes;
		return to;
	}
	unpack_budget_give(budget_of(elf), is_foreign, section->size_bytes);
	free(to);
	return NULL;
}

/* Once: the size in the file can change later. */
static bool find_unpacked(struct elf_file *elf, size_t index, struct bytes raw, bool is_zdebug,
			  struct bytes *ret)
{
	const enum packed_section_form form = is_zdebug	   ? PACKED_SECTION_ZDEBUG
					      : elf->is_32 ? PACKED_SECTION_ELF32
							   : PACKED_SECTION_ELF64;
	struct bytes *unpacked = &elf->unpacked[index];
	struct packed_section section;

	if (!unpacked->at && packed_section_read(raw, form, &section))
		*unpacked = bytes_of(unpack_section(elf, &section), section.size_bytes);
	*ret = *unpacked;
	return unpacked->at;
}

/* The section with the relocations of another one; 0 if there is none. */
static size_t relocations_of(const struct elf_file *elf, size_t index)
{
	if (elf->header.e_type != ET_REL || elf->sections[index].sh_flags & SHF_ALLOC)
		return 0;
	for (size_t i = 1; i < elf->section_count; i++)
		if (elf->sections[i].sh_type == SHT_RELA && elf->sections[i].sh_info == index)
			return i;
	return 0;
}

static struct bytes section_bytes(const struct elf_file *elf, size_t index)
{
	const Elf64_Shdr *section = &elf->sections[index];

	if (section->sh_type == SHT_NOBITS || section->sh_flags & SHF_COMPRESSED)
		return (struct bytes){.overrun = true};
	return part(elf, section->sh_offset, section->sh_size);
}

/* A copy of a section within the budget; allocates. */
static void *copy_section(struct elf_file *elf, struct bytes raw)
{
	size_t len = bytes_left(&raw);
	void *to = NULL;

	if (!unpack_budget_take(budget_of(elf), elf->origin.is_foreign, len))
		return NULL;
	to = malloc(len ? len : 1);
	if (to && elf_file_copy(elf, raw, to)) {
		elf->unpacked_bytes += len;
		return to;
	}
	unpack_budget_give(budget_of(elf), elf->origin.is_foreign, len);
	free(to);
	return NULL;
}

/* Relocates a section, once. False if that cannot be done. */
static bool relocate(struct elf_file *elf, size_t index, size_t relocations, struct bytes raw,
		     struct bytes *ret)
{
	struct bytes *relocated = &elf->unpacked[index];
	size_t symbols = elf->sections[relocations].sh_link;
	struct relocations all = {
		.sections = elf->sections,
		.section_count = elf->section_count,
		.machine = elf->header.e_machine,
	};
	void *data;

	*ret = *relocated;
	if (elf->relocated[index] != NOT_RELOCATED)
		return elf->relocated[index] == RELOCATED;
	elf->relocated[index] = NOT_RELOCATABLE;
	if (elf->is_32 || symbols >= elf->section_count)
		return false;
	all.entries = section_bytes(elf, relocations);
	all.symbols = section_bytes(elf, symbols);
	/* What was decompressed is a copy already. */
	data = relocated->at ? (void *)(uintptr_t)relocated->at : copy_section(elf, raw);
	if (!data)
		return false;
	*relocated = bytes_of(data, bytes_left(&raw));
	if (!bytes_ok(&all.entries) || !bytes_ok(&all.symbols) ||
	    !relocatable_apply(&all, data, bytes_left(&raw))) {
		free(data);
		*relocated = (struct bytes){0};
	}
	*ret = *relocated;
	if (relocated->at)
		elf->relocated[index] = RELOCATED;
	return relocated->at;
}

static size_t find_section(struct elf_file *elf, const char *name, size_t after, bool *is_zdebug)
{
	size_t index;

	load_sections(elf);
	index = section_named(elf, "", name, after);
	*is_zdebug = !index && strncmp(name, ".debug_", 7) == 0;
	return *is_zdebug ? section_named(elf, ".z", name + 1, after) : index;
}

bool elf_file_has_section(struct elf_file *elf, const char *name)
{
	bool is_zdebug;

	return find_section(elf, name, 0, &is_zdebug);
}

static struct elf_file_section section_at(struct elf_file *elf, size_t index, bool is_zdebug)
{
	const Elf64_Shdr *section = &elf->sections[index];
	struct elf_file_section ret = {.present = true, .vaddr = section->sh_addr};
	struct bytes raw;
	size_t relocations;

	if (section->sh_type == SHT_NOBITS)
		return ret;
	raw = part(elf, section->sh_offset, section->sh_size);
	if (!bytes_ok(&raw))
		ret.unreadable = true;
	else if (is_zdebug || section->sh_flags & SHF_COMPRESSED)
		ret.unreadable = !find_unpacked(elf, index, raw, is_zdebug, &ret.data);
	else
		ret.data = raw;
	relocations = ret.unreadable ? 0 : relocations_of(elf, index);
	if (relocations && !relocate(elf, index, relocations, ret.data, &ret.data)) {
		ret.data = (struct bytes){0};
		ret.unreadable = true;
	}
	return ret;
}

uint64_t elf_file_symbol_vaddr(struct elf_file *elf, const Elf64_Sym *symbol)
{
	if (elf->header.e_type != ET_REL)
		return symbol->st_value;
	load_sections(elf);
	return relocatable_symbol(symbol, elf->sections, elf->section_count);
}

struct elf_file_section elf_file_section(struct elf_file *elf, const char *name)
{
	bool is_zdebug;
	size_t index = find_section(elf, name, 0, &is_zdebug);

	return index ? section_at(elf, index, is_zdebug) : (struct elf_file_section){0};
}

bool elf_file_next_section(struct elf_file *elf, const char *name, size_t *index,
			   struct elf_file_section *ret)
{
	bool is_zdebug;

	*index = find_section(elf, name, *index, &is_zdebug);
	if (*index)
		*ret = section_at(elf, *index, is_zdebug);
	return *index;
}

void elf_file_release(const struct elf_file *elf, struct bytes part)
{
	const uintptr_t page = (uintptr_t)getpagesize();
	uintptr_t start = ((uintptr_t)part.at + page - 1) / page * page;
	uintptr_t end = (uintptr_t)part.end / page * page;

	if (!elf->is_mapped || start >= end || part.at < elf->data ||
	    part.end > elf->data + elf->size_bytes)
		return;
	madvise((void *)start, end - start, MADV_DONTNEED);
}

/* False if the file no longer has these bytes at this offset, or if it is shorter by now. */
/* Of what was seen at opening. A file that was truncated lacks its last byte. */
static bool still_reads(const struct elf_file *elf)
{
	unsigned char last, beginning[sizeof(elf->beginning)], build_id[BUILD_ID_MAX];
	const struct mapped_file_part parts[] = {
		{elf->data + elf->size_bytes - 1, 1, &last},
		{elf->data, sizeof(beginning), beginning},
		{elf->data + elf->build_id_offset, elf->build_id.len, build_id},
	};

	return mapped_file_read_parts(parts, ARRAY_SIZE(parts) - !elf->build_id.len) &&
	       memcmp(beginning, elf->beginning, sizeof(beginning)) == 0 &&
	       memcmp(build_id, elf->build_id.bytes, elf->build_id.len) == 0;
}

bool elf_file_changed(struct elf_file *elf)
{
	if (elf->is_mapped && !elf->changed)
		elf->changed = !still_reads(elf);
	return elf->changed;
}
