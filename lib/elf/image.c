#include "elf/image.h"

#include "base/alloc.h"
#include "base/unpack.h"
#include "elf/classes.h"

#include <endian.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

struct image {
	unsigned char *data;
	size_t size_bytes;
	bool is_mapped; /* else data is on the heap */
	char *name;
	Elf64_Ehdr header;
	bool is_32; /* its word size; what is read here is widened */
	unsigned char beginning[sizeof(Elf32_Ehdr)]; /* as it was in the file */
	struct image_segment *segments;
	unsigned segment_count;
	bool is_dynamic;	     /* what a loader can load, or that itself */
	uint64_t unwind_table_vaddr; /* 0: none */
	struct build_id build_id;
	const unsigned char *build_id_at; /* where it was found in data */
	bool changed;

	Elf64_Shdr *sections; /* a copy: those in the file need not be aligned */
	void **unpacked;      /* of each section; NULL: not asked for, or not compressed */
	size_t section_count;
	struct bytes section_names;
	bool sections_loaded;
};

/* zlib's best; what claims more lies, and must not be given memory. */
enum { UNPACK_RATIO_MAX = 1032 };

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* newer than the C library here */
#endif

static struct bytes part(const struct image *image, uint64_t offset, uint64_t len)
{
	struct bytes at = bytes_at(image_contents(image), offset);

	return bytes_sub(&at, len);
}

static bool is_elf(const Elf64_Ehdr *header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
}

/* In the byte order that prof itself is compiled for. */
static bool is_of_our_kind(const Elf64_Ehdr *header)
{
	const int data = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;

	return (header->e_ident[EI_CLASS] == ELFCLASS64 || elf_is_32(header)) &&
	       header->e_ident[EI_DATA] == data;
}

static bool section_header(const struct image *image, size_t index, Elf64_Shdr *ret)
{
	struct bytes at = bytes_at(image_contents(image), image->header.e_shoff);

	bytes_skip(&at, index * elf_section_bytes(image->is_32));
	return elf_take_section(&at, image->is_32, ret);
}

/*
 * The number of program headers and of section headers, and which section holds the names: what
 * does not fit the ELF header's 16 bits is in section header 0 (gABI, "ELF Header").
 */
static void header_counts(const struct image *image, size_t *segments, size_t *sections,
			  size_t *names)
{
	const Elf64_Ehdr *header = &image->header;
	Elf64_Shdr first = {0};

	if (header->e_shoff)
		section_header(image, 0, &first);
	*segments = header->e_phnum == PN_XNUM ? first.sh_info : header->e_phnum;
	*sections = header->e_shnum == 0 ? first.sh_size : header->e_shnum;
	*names = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
	if (header->e_phentsize != elf_segment_bytes(image->is_32) || header->e_phoff == 0)
		*segments = 0;
	if (header->e_shentsize != elf_section_bytes(image->is_32) || header->e_shoff == 0)
		*sections = 0;
}

/* A note's name and description are padded to 4 bytes, or to 8 in a segment aligned to 8. */
static void skip_padding(struct bytes *notes, const unsigned char *start, uint64_t align)
{
	size_t unit = align == 8 ? 8 : 4;
	size_t over = (size_t)(notes->at - start) % unit;

	/* The last description need not be padded. */
	if (over && bytes_left(notes))
		bytes_skip(notes, unit - over);
}

static bool find_build_id(struct image *image, struct bytes notes, uint64_t align)
{
	const unsigned char *start = notes.at;

	while (bytes_left(&notes)) {
		uint32_t name_len = bytes_u32(&notes);
		uint32_t id_len = bytes_u32(&notes);
		uint32_t type = bytes_u32(&notes);
		const char *name = bytes_take(&notes, name_len);
		const unsigned char *id;

		skip_padding(&notes, start, align);
		id = bytes_take(&notes, id_len);
		skip_padding(&notes, start, align);
		if (!name || !id || type != NT_GNU_BUILD_ID || name_len != sizeof(ELF_NOTE_GNU) ||
		    memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) != 0 || id_len == 0 ||
		    id_len > BUILD_ID_MAX)
			continue;
		image->build_id_at = id;
		image->build_id.len = id_len;
		memcpy(image->build_id.bytes, id, id_len);
		return true;
	}
	return false;
}

static void add_segment(struct image *image, const Elf64_Phdr *header)
{
	uint64_t left = header->p_offset < image->size_bytes ? image->size_bytes - header->p_offset
							     : 0;

	image->segments[image->segment_count++] = (struct image_segment){
		.offset = header->p_offset,
		.vaddr = header->p_vaddr,
		.file_bytes = header->p_filesz < left ? header->p_filesz : left,
		.executable = header->p_flags & PF_X,
		.writable = header->p_flags & PF_W,
	};
}

static void load_segments(struct image *image)
{
	struct bytes table = bytes_at(image_contents(image), image->header.e_phoff);
	size_t count, sections, names;

	header_counts(image, &count, &sections, &names);
	if (count > bytes_left(&table) / elf_segment_bytes(image->is_32))
		count = bytes_left(&table) / elf_segment_bytes(image->is_32);
	image->segments = xcalloc(count, sizeof(*image->segments));
	for (size_t i = 0; i < count; i++) {
		Elf64_Phdr header;

		elf_take_segment(&table, image->is_32, &header);
		if (header.p_type == PT_LOAD)
			add_segment(image, &header);
		else if (header.p_type == PT_DYNAMIC)
			image->is_dynamic = true;
		else if (header.p_type == PT_GNU_EH_FRAME)
			image->unwind_table_vaddr = header.p_vaddr;
		else if (header.p_type == PT_NOTE && image->build_id.len == 0)
			find_build_id(image, part(image, header.p_offset, header.p_filesz),
				      header.p_align);
	}
}

static void load_sections(struct image *image)
{
	struct bytes table = bytes_at(image_contents(image), image->header.e_shoff);
	size_t segments, count, names;

	if (image->sections_loaded)
		return;
	image->sections_loaded = true;
	header_counts(image, &segments, &count, &names);
	if (count > bytes_left(&table) / elf_section_bytes(image->is_32))
		count = bytes_left(&table) / elf_section_bytes(image->is_32);
	image->sections = xcalloc(count, sizeof(*image->sections));
	image->unpacked = xcalloc(count, sizeof(*image->unpacked));
	image->section_count = count;
	for (size_t i = 0; i < count; i++)
		elf_take_section(&table, image->is_32, &image->sections[i]);
	if (names < count)
		image->section_names = part(image, image->sections[names].sh_offset,
					    image->sections[names].sh_size);
}

/* For what has no program headers (kernel modules) or has lost what they point at. */
static void find_build_id_in_sections(struct image *image)
{
	load_sections(image);
	for (size_t i = 0; i < image->section_count && image->build_id.len == 0; i++) {
		const Elf64_Shdr *section = &image->sections[i];

		if (section->sh_type == SHT_NOTE)
			find_build_id(image, part(image, section->sh_offset, section->sh_size),
				      section->sh_addralign);
	}
}

/* Takes image, whose data is there and whose headers are not read yet. */
static struct error *load(struct image *image, const char *name, struct image **ret)
{
	CLEANUP(image_cleanup) struct image *loading = image;
	struct bytes from;

	image->name = xstrdup(name);
	from = image_contents(image);
	if (!elf_take_header(&from, &image->header) || !is_elf(&image->header))
		return error_new("%s is no ELF file", name);
	if (!is_of_our_kind(&image->header))
		return error_new("%s is an ELF file of another byte order", name);
	image->is_32 = elf_is_32(&image->header);
	memcpy(image->beginning, image->data, sizeof(image->beginning));
	load_segments(image);
	if (image->build_id.len == 0)
		find_build_id_in_sections(image);
	*ret = STEAL(loading);
	return NULL;
}

struct error *image_open(int fd, const char *name, struct image **ret)
{
	CLEANUP(close_fd) int file = fd;
	struct image *image;
	struct stat st;
	void *data;

	if (fstat(file, &st) < 0)
		return error_errno(errno, "stat %s", name);
	if (!S_ISREG(st.st_mode))
		return error_new("%s is no regular file", name);
	if (st.st_size == 0)
		return error_new("%s is empty", name);
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (data == MAP_FAILED)
		return error_errno(errno, "map %s", name);
	image = xcalloc(1, sizeof(*image));
	image->data = data;
	image->size_bytes = (size_t)st.st_size;
	image->is_mapped = true;
	return load(image, name, ret);
}

struct error *image_from_memory(const void *data, size_t len, const char *name, struct image **ret)
{
	struct image *image = xcalloc(1, sizeof(*image));

	image->data = xmalloc(len);
	if (len)
		memcpy(image->data, data, len);
	image->size_bytes = len;
	return load(image, name, ret);
}

void image_free(struct image *image)
{
	if (!image)
		return;
	for (size_t i = 0; i < image->section_count; i++)
		free(image->unpacked[i]);
	free(image->unpacked);
	if (image->is_mapped)
		munmap(image->data, image->size_bytes);
	else
		free(image->data);
	free(image->segments);
	free(image->sections);
	free(image->name);
	free(image);
}

const char *image_name(const struct image *image)
{
	return image->name;
}

struct bytes image_contents(const struct image *image)
{
	return bytes_of(image->data, image->size_bytes);
}

const struct build_id *image_build_id(const struct image *image)
{
	return &image->build_id;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

void build_id_hex(const struct build_id *id, char hex[BUILD_ID_HEX_BYTES])
{
	hex[0] = '\0';
	for (unsigned i = 0; i < id->len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
}

const struct image_segment *image_segments(const struct image *image, unsigned *count)
{
	*count = image->segment_count;
	return image->segments;
}

/*
 * `at` is an offset or a vaddr. What a segment says is its own comes before what its pages hold as
 * well: linkers let two segments share a page of the file.
 */
static const struct image_segment *executable_segment(const struct image *image, uint64_t at,
						      bool is_vaddr)
{
	const uint64_t page = (uint64_t)getpagesize();
	const struct image_segment *in_page = NULL;

	for (unsigned i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segments[i];
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

bool image_offset_to_vaddr(const struct image *image, uint64_t offset, uint64_t *vaddr)
{
	const struct image_segment *segment = executable_segment(image, offset, false);

	if (segment)
		*vaddr = offset - segment->offset + segment->vaddr;
	return segment;
}

bool image_vaddr_to_offset(const struct image *image, uint64_t vaddr, uint64_t *offset)
{
	const struct image_segment *segment = executable_segment(image, vaddr, true);

	if (segment)
		*offset = vaddr - segment->vaddr + segment->offset;
	return segment;
}

struct bytes image_constants(const struct image *image, uint64_t vaddr)
{
	for (unsigned i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segments[i];
		uint64_t at = vaddr - segment->vaddr;

		if (!segment->writable && at < segment->file_bytes)
			return part(image, segment->offset + at, segment->file_bytes - at);
	}
	return bytes_of(NULL, 0);
}

bool image_read(const struct image *image, uint64_t vaddr, void *into, size_t len)
{
	struct bytes from = image_constants(image, vaddr);
	const void *at = bytes_take(&from, len);

	if (at)
		memcpy(into, at, len);
	return at;
}

uint64_t image_unwind_table(const struct image *image)
{
	return image->unwind_table_vaddr;
}

bool image_is_32(const struct image *image)
{
	return image->is_32;
}

uint64_t image_entry(const struct image *image)
{
	bool begins = image->header.e_type == ET_EXEC || image->is_dynamic;

	return begins ? image->header.e_entry : 0;
}

size_t image_code(struct image *image, struct image_code **ret)
{
	size_t count = 0;

	load_sections(image);
	*ret = xcalloc(image->section_count, sizeof(**ret));
	for (size_t i = 0; i < image->section_count; i++) {
		const Elf64_Shdr *section = &image->sections[i];

		if (section->sh_flags & SHF_ALLOC && section->sh_flags & SHF_EXECINSTR)
			(*ret)[count++] = (struct image_code){
				.start = section->sh_addr,
				.end = section->sh_addr + section->sh_size,
			};
	}
	return count;
}

static size_t section_named(const struct image *image, const char *prefix, const char *name)
{
	size_t prefix_len = strlen(prefix);

	for (size_t i = 1; i < image->section_count; i++) {
		struct bytes at = bytes_at(image->section_names, image->sections[i].sh_name);
		const char *found = bytes_cstr(&at);

		if (found && strncmp(found, prefix, prefix_len) == 0 &&
		    strcmp(found + prefix_len, name) == 0)
			return i;
	}
	return 0;
}

/* A compressed section's own header, which is passed over: "ZLIB" and 8 big-endian bytes, or
 * Elf64_Chdr. False: it is none that we know. */
static bool read_packed_header(struct bytes *packed, bool is_32, bool is_zdebug,
			       enum unpack_kind *kind, uint64_t *size_bytes)
{
	uint32_t type;

	*kind = UNPACK_ZLIB;
	if (is_zdebug) {
		const char *magic = bytes_take(packed, 4);

		*size_bytes = be64toh(bytes_u64(packed));
		return magic && memcmp(magic, "ZLIB", 4) == 0;
	}
	type = bytes_u32(packed);
	if (!is_32)
		bytes_u32(packed);
	*size_bytes = bytes_uint(packed, is_32 ? 4 : 8);
	bytes_uint(packed, is_32 ? 4 : 8); /* alignment */
	if (type == ELFCOMPRESS_ZSTD)
		*kind = UNPACK_ZSTD;
	return bytes_ok(packed) && (type == ELFCOMPRESS_ZLIB || type == ELFCOMPRESS_ZSTD);
}

static bool unpack_section(struct image *image, size_t index, struct bytes packed, bool is_zdebug,
			   struct bytes *ret)
{
	enum unpack_kind kind;
	uint64_t size_bytes;
	void *to;

	if (!read_packed_header(&packed, image->is_32, is_zdebug, &kind, &size_bytes) ||
	    size_bytes == 0 || size_bytes / UNPACK_RATIO_MAX > bytes_left(&packed))
		return false;
	if (!image->unpacked[index]) {
		to = malloc(size_bytes);
		if (!to || !unpack(kind, packed, to, size_bytes)) {
			free(to);
			return false;
		}
		image->unpacked[index] = to;
	}
	*ret = bytes_of(image->unpacked[index], size_bytes);
	return true;
}

/* 0: there is none. */
static size_t find_section(struct image *image, const char *name, bool *is_zdebug)
{
	size_t index;

	load_sections(image);
	index = section_named(image, "", name);
	*is_zdebug = !index && strncmp(name, ".debug_", 7) == 0;
	return *is_zdebug ? section_named(image, ".z", name + 1) : index;
}

bool image_has_section(struct image *image, const char *name)
{
	bool is_zdebug;

	return find_section(image, name, &is_zdebug);
}

struct image_section image_section(struct image *image, const char *name)
{
	struct image_section ret = {0};
	const Elf64_Shdr *section;
	struct bytes raw;
	bool is_zdebug;
	size_t index = find_section(image, name, &is_zdebug);

	if (!index)
		return ret;
	section = &image->sections[index];
	ret.present = true;
	ret.vaddr = section->sh_addr;
	if (section->sh_type == SHT_NOBITS)
		return ret;
	raw = part(image, section->sh_offset, section->sh_size);
	if (!bytes_ok(&raw))
		ret.unreadable = true;
	else if (is_zdebug || section->sh_flags & SHF_COMPRESSED)
		ret.unreadable = !unpack_section(image, index, raw, is_zdebug, &ret.data);
	else
		ret.data = raw;
	return ret;
}

void image_release(const struct image *image, struct bytes part)
{
	const uintptr_t page = (uintptr_t)getpagesize();
	uintptr_t start = ((uintptr_t)part.at + page - 1) / page * page;
	uintptr_t end = (uintptr_t)part.end / page * page;

	if (!image->is_mapped || start >= end || part.at < image->data ||
	    part.end > image->data + image->size_bytes)
		return;
	madvise((void *)start, end - start, MADV_DONTNEED);
}

/* As memcmp() == 0, but false, not dead, where the file no longer backs the mapping. */
static bool still_reads(const unsigned char *at, const void *expected, size_t len)
{
	unsigned char now[sizeof(Elf32_Ehdr) > BUILD_ID_MAX ? sizeof(Elf32_Ehdr) : BUILD_ID_MAX];
	struct iovec local = {.iov_base = now, .iov_len = len};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)at, .iov_len = len};
	ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	if (got < 0 && errno != EFAULT)
		return true; /* not allowed to ask: a sandbox */
	return got == (ssize_t)len && (!expected || memcmp(now, expected, len) == 0);
}

bool image_changed(struct image *image)
{
	if (!image->is_mapped || image->changed)
		return image->changed;
	/* The last byte goes first when a file is cut. */
	image->changed =
		!still_reads(image->data + image->size_bytes - 1, NULL, 1) ||
		!still_reads(image->data, image->beginning, sizeof(image->beginning)) ||
		(image->build_id.len &&
		 !still_reads(image->build_id_at, image->build_id.bytes, image->build_id.len));
	return image->changed;
}
