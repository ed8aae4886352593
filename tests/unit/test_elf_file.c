#include "elf/elf_file.h"

#include "base/alloc.h"
#include "built_elf.h"
#include "lacking.h"
#include "unit_test.h"

#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

static struct elf_file *elf_file_of(const struct built_elf *file)
{
	struct elf_file *image = NULL;

	assert_null(elf_file_from_memory(file->data, file->len, "test", &image));
	return image;
}

/* Returns an unnamed file. */
static int file_of(const void *data, size_t len)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	return fd;
}

static struct elf_file *open_file(const struct built_elf *file, int *writable)
{
	int fd = file_of(file->data, file->len);
	struct elf_file *image = NULL;

	*writable = dup(fd);
	assert_null(elf_file_open(fd, "test", &image));
	return image;
}

#define assert_text(data, expected)                                                                \
	do {                                                                                       \
		struct bytes data_ = (data);                                                       \
		assert_int_equal(bytes_left(&data_), strlen(expected));                            \
		assert_memory_equal(data_.at, expected, strlen(expected));                         \
	} while (0)

TEST(an_unsupported_elf_file_is_refused)
{
	struct built_elf file;
	struct elf_file *image = NULL;
	static const size_t fields[] = {EI_MAG0, EI_MAG3, EI_CLASS, EI_DATA};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		built_elf_init(&file);
		file.header.e_ident[fields[i]] ^= 7;
		built_elf_finish(&file);
		CLEANUP(error_cleanup)
		struct error *err = elf_file_from_memory(file.data, file.len, "test", &image);

		assert_non_null(err);
		assert_non_null(strstr(error_text(err), "ELF file"));
	}
	built_elf_init(&file);
	file.header.e_machine = EM_AARCH64;
	built_elf_finish(&file);
	elf_file_free(elf_file_of(&file));
	for (size_t len = 0; len < sizeof(Elf64_Ehdr); len++) {
		CLEANUP(error_cleanup)
		struct error *err = elf_file_from_memory(file.data, len, "test", &image);

		assert_non_null(err);
	}
}

TEST(a_file_of_32_bits_reads_as_one_of_64)
{
	struct {
		Elf32_Ehdr header;
		Elf32_Phdr segment;
		Elf32_Shdr sections[2];
		char names[16];
	} file = {
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB},
			   .e_type = ET_EXEC,
			   .e_machine = EM_386,
			   .e_entry = 0x8040,
			   .e_phoff = sizeof(Elf32_Ehdr),
			   .e_phentsize = sizeof(Elf32_Phdr),
			   .e_phnum = 1,
			   .e_shoff = sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
			   .e_shentsize = sizeof(Elf32_Shdr),
			   .e_shnum = 2,
			   .e_shstrndx = 1},
		.segment = {.p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_vaddr = 0x8000,
			    .p_filesz = sizeof(file)},
		.sections = {{0}, {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_size = 16}},
		.names = "\0.names",
	};
	CLEANUP(elf_file_cleanup) struct elf_file *image = NULL;
	uint64_t vaddr;
	unsigned count;

	file.sections[1].sh_offset = (uint32_t)((char *)file.names - (char *)&file);
	assert_null(elf_file_from_memory(&file, sizeof(file), "test", &image));
	assert_true(elf_file_is_32(image));
	assert_int_equal(elf_file_entry(image), 0x8040);
	assert_true(elf_file_segments(image, &count)->executable);
	assert_int_equal(count, 1);
	assert_true(elf_file_offset_to_vaddr(image, 0x20, &vaddr));
	assert_int_equal(vaddr, 0x8020);
	assert_memory_equal(elf_file_section(image, ".names").data.at, file.names,
			    sizeof(file.names));
}

static struct elf_file *elf_file_with_entry(uint16_t type, uint32_t segment)
{
	struct built_elf file;
	struct elf_file *image = NULL;

	built_elf_init(&file);
	file.header.e_type = type;
	file.header.e_entry = 0x80;
	built_elf_segment(&file, (Elf64_Phdr){.p_type = segment});
	built_elf_finish(&file);
	assert_null(elf_file_from_memory(file.data, file.len, "test", &image));
	return image;
}

TEST(a_program_begins_where_something_can_load_it)
{
	CLEANUP(elf_file_cleanup) struct elf_file *fixed = elf_file_with_entry(ET_EXEC, PT_NULL);
	CLEANUP(elf_file_cleanup)
	struct elf_file *movable = elf_file_with_entry(ET_DYN, PT_DYNAMIC);
	CLEANUP(elf_file_cleanup) struct elf_file *function = elf_file_with_entry(ET_DYN, PT_NULL);

	assert_int_equal(elf_file_entry(fixed), 0x80);
	assert_int_equal(elf_file_entry(movable), 0x80);
	assert_int_equal(elf_file_entry(function), 0);
}

TEST(a_file_that_is_not_regular_is_refused_and_closed)
{
	const int fds[] = {open("/dev/null", O_RDONLY | O_CLOEXEC), open("/", O_RDONLY | O_CLOEXEC),
			   file_of("", 0)};
	struct elf_file *image = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		CLEANUP(error_cleanup) struct error *err = elf_file_open(fds[i], "test", &image);

		assert_non_null(err);
		assert_int_equal(fcntl(fds[i], F_GETFD), -1);
	}
}

TEST(a_build_id_is_found_in_segments_and_in_sections)
{
	static const unsigned char id[20] = {0xab, 0xcd, 1, 2, 3, [19] = 0xff};
	unsigned char note[80], abi[16 + 16] = {4, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 'G', 'N', 'U'};
	size_t note_len = built_elf_build_id(note, id, sizeof(id));

	for (int in_segment = 0; in_segment < 2; in_segment++) {
		struct built_elf file;

		built_elf_init(&file);
		/* The build-id follows another note. */
		uint64_t offset = built_elf_bytes(&file, abi, sizeof(abi));

		built_elf_bytes(&file, note, note_len);
		uint64_t size = sizeof(abi) + note_len;

		if (in_segment)
			built_elf_segment(&file, (Elf64_Phdr){.p_type = PT_NOTE,
							      .p_offset = offset,
							      .p_filesz = size,
							      .p_align = 4});
		else
			built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_NOTE}, ".note",
					  file.data + offset, size);
		built_elf_finish(&file);
		CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(&file);

		assert_int_equal(elf_file_build_id(image)->len, sizeof(id));
		assert_memory_equal(elf_file_build_id(image)->bytes, id, sizeof(id));
	}
}

TEST(a_note_segment_aligned_to_8_pads_to_8)
{
	/* .note.gnu.property, whose description is 12 bytes long, padded to 16. */
	static const unsigned char property[32] = {4, 0, 0, 0, 12,  0,	 0,  0,
						   5, 0, 0, 0, 'G', 'N', 'U'};
	unsigned char note[80];
	size_t note_len = built_elf_build_id(note, "\x12\x34", 2);
	struct built_elf file;

	built_elf_init(&file);
	uint64_t offset = built_elf_bytes(&file, property, sizeof(property));

	built_elf_bytes(&file, note, note_len);
	built_elf_segment(&file, (Elf64_Phdr){.p_type = PT_NOTE,
					      .p_offset = offset,
					      .p_filesz = sizeof(property) + note_len,
					      .p_align = 8});
	built_elf_finish(&file);
	CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(&file);

	assert_int_equal(elf_file_build_id(image)->len, 2);
	assert_memory_equal(elf_file_build_id(image)->bytes, "\x12\x34", 2);
}

TEST(a_build_id_that_is_too_long_or_empty_is_none)
{
	static const size_t lengths[] = {0, BUILD_ID_MAX + 1, 1000, UINT32_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		unsigned char note[80 + 80] = {0};
		Elf64_Nhdr header = {.n_namesz = 4,
				     .n_descsz = (Elf64_Word)lengths[i],
				     .n_type = NT_GNU_BUILD_ID};
		struct built_elf file;

		memcpy(note, &header, sizeof(header));
		memcpy(note + sizeof(header), "GNU", 4);
		built_elf_init(&file);
		built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_NOTE}, ".note", note,
				  sizeof(note));
		built_elf_finish(&file);
		CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(&file);

		assert_int_equal(elf_file_build_id(image)->len, 0);
	}
}

TEST(build_ids_are_equal_in_length_and_bytes)
{
	const struct build_id none = {0}, a = {.bytes = {1, 2}, .len = 2},
			      longer = {.bytes = {1, 2}, .len = 3};

	assert_true(build_id_equal(&a, &a));
	assert_false(build_id_equal(&a, &longer));
	assert_false(build_id_equal(&a, &none));
	assert_true(build_id_equal(&none, &none));
}

TEST(a_build_id_is_written_in_hex)
{
	const struct build_id none = {0}, id = {.bytes = {0x01, 0xab, 0xff}, .len = 3};
	char hex[BUILD_ID_HEX_BYTES];

	build_id_hex(&id, hex);
	assert_string_equal(hex, "01abff");
	build_id_hex(&none, hex);
	assert_string_equal(hex, "");
}

/*
 * A program as lld lays it out: two executable segments that share a page of
 * the file with their neighbours, at addresses that differ from their offsets.
 */
static void init_lld_layout(struct built_elf *file)
{
	const Elf64_Phdr segments[] = {
		{.p_type = PT_LOAD, .p_flags = PF_R, .p_offset = 0, .p_filesz = 0x1234},
		{.p_type = PT_LOAD,
		 .p_flags = PF_R | PF_X,
		 .p_offset = 0x1234,
		 .p_vaddr = 0x202234,
		 .p_filesz = 0x1000},
		{.p_type = PT_LOAD,
		 .p_flags = PF_R | PF_X,
		 .p_offset = 0x2234,
		 .p_vaddr = 0x204234,
		 .p_filesz = 0x800},
		{.p_type = PT_LOAD,
		 .p_flags = PF_R | PF_W,
		 .p_offset = 0x2a34,
		 .p_vaddr = 0x205a34,
		 .p_filesz = 0x100},
	};

	built_elf_init(file);
	for (size_t i = 0; i < ARRAY_SIZE(segments); i++)
		built_elf_segment(file, segments[i]);
	file->len = 0x2b34;
	built_elf_finish(file);
}

TEST(offsets_become_addresses_through_the_executable_segments)
{
	static const struct {
		uint64_t offset, vaddr;
	} cases[] = {
		{0x1234, 0x202234},
		{0x1500, 0x202500},
		{0x2233, 0x203233}, /* the last byte of the first segment */
		/* the first byte of the second segment, in the same page */
		{0x2234, 0x204234},
		/* mapped with the first segment, but not part of it */
		{0x2a33, 0x204a33},
		{0x1000, 0x202000},
		{0x2fff, 0x203fff}, /* the rest of the page */
	};
	struct built_elf file;

	init_lld_layout(&file);
	CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(&file);
	uint64_t vaddr = 0, offset = 0;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(elf_file_offset_to_vaddr(image, cases[i].offset, &vaddr));
		assert_int_equal(vaddr, cases[i].vaddr);
		assert_true(elf_file_vaddr_to_offset(image, cases[i].vaddr, &offset));
		assert_int_equal(offset, cases[i].offset);
	}
	assert_false(elf_file_offset_to_vaddr(image, 0xfff, &vaddr));
	assert_false(elf_file_offset_to_vaddr(image, 0x3000, &vaddr));
	assert_false(elf_file_offset_to_vaddr(image, UINT64_MAX, &vaddr));
	assert_false(elf_file_vaddr_to_offset(image, 0x201fff, &offset));
	assert_false(elf_file_vaddr_to_offset(image, 0x205a34, &offset));
	assert_false(elf_file_vaddr_to_offset(image, 0, &offset));
}

TEST(segments_are_cut_where_the_file_ends)
{
	struct built_elf file;
	unsigned count;

	built_elf_init(&file);
	built_elf_segment(&file, (Elf64_Phdr){.p_type = PT_LOAD,
					      .p_flags = PF_X,
					      .p_offset = 64,
					      .p_vaddr = UINT64_MAX - 100,
					      .p_filesz = UINT64_MAX});
	built_elf_segment(&file, (Elf64_Phdr){.p_type = PT_LOAD,
					      .p_flags = PF_X,
					      .p_offset = UINT64_MAX,
					      .p_vaddr = 0x1000,
					      .p_filesz = 0x1000});
	built_elf_finish(&file);
	CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(&file);
	const struct elf_file_segment *segments = elf_file_segments(image, &count);
	uint64_t offset;

	assert_int_equal(count, 2);
	assert_int_equal(segments[0].file_bytes, file.len - 64);
	assert_int_equal(segments[1].file_bytes, 0);
	assert_false(elf_file_vaddr_to_offset(image, 0x1000, &offset));
}

TEST(constants_are_read_from_segments_that_are_not_writable)
{
	struct built_elf file;
	unsigned char into[0x2000];

	init_lld_layout(&file);
	CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(&file);

	assert_true(elf_file_read(image, 0, into, 4));
	assert_memory_equal(into, ELFMAG, 4);
	assert_true(elf_file_read(image, 0x202234, into, 0x1000));
	assert_memory_equal(into, file.data + 0x1234, 0x1000);
	assert_false(elf_file_read(image, 0x202234, into, 0x1001));
	assert_false(elf_file_read(image, 0x202233, into, 1));
	assert_false(elf_file_read(image, 0x205a34, into, 1)); /* writable */
	assert_false(elf_file_read(image, UINT64_MAX, into, 2));
	assert_false(elf_file_read(image, 0x1233, into, SIZE_MAX));
}

TEST(a_section_is_found_by_its_name)
{
	struct built_elf file;

	built_elf_init(&file);
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_addr = 0x1000}, ".text",
			  "code", 4);
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_NOBITS, .sh_addr = 0x2000}, ".bss",
			  NULL, 0)
		->sh_size = 1 << 30;
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".debug_info", "info", 4);
	built_elf_finish(&file);
	CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(&file);
	struct elf_section text = elf_file_section(image, ".text");
	struct elf_section bss = elf_file_section(image, ".bss");

	assert_true(text.present);
	assert_int_equal(text.vaddr, 0x1000);
	assert_text(text.data, "code");
	assert_true(bss.present);
	assert_false(bss.unreadable);
	assert_text(bss.data, "");
	assert_text(elf_file_section(image, ".debug_info").data, "info");
	assert_true(elf_file_has_section(image, ".debug_info"));
	assert_true(elf_file_has_section(image, ".bss"));
	assert_false(elf_file_has_section(image, ".debug_inf"));
	assert_false(elf_file_section(image, ".debug_inf").present);
	assert_false(elf_file_section(image, ".debug_info2").present);
	assert_false(elf_file_section(image, "").present);
}

TEST(a_section_outside_the_file_is_unreadable)
{
	struct built_elf file;

	built_elf_init(&file);
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".text", "code", 4)
		->sh_size = UINT64_MAX;
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".data", "data", 4)
		->sh_offset = UINT64_MAX - 2;
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".odd", "data", 4)
		->sh_name = UINT32_MAX;
	built_elf_finish(&file);
	CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(&file);
	static const char *const names[] = {".text", ".data"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct elf_section section = elf_file_section(image, names[i]);

		assert_true(section.present);
		assert_true(section.unreadable);
		assert_text(section.data, "");
	}
	assert_false(elf_file_section(image, ".odd").present);
}

TEST(an_invalid_section_table_is_truncated_or_empty)
{
	struct built_elf file;

	built_elf_init(&file);
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".text", "code", 4);
	built_elf_finish(&file);
	Elf64_Ehdr *header = (Elf64_Ehdr *)file.data;

	header->e_shnum = UINT16_MAX;
	CLEANUP(elf_file_cleanup) struct elf_file *cut = elf_file_of(&file);

	assert_text(elf_file_section(cut, ".text").data, "code");
	header->e_shoff = UINT64_MAX - 3;
	CLEANUP(elf_file_cleanup) struct elf_file *empty = elf_file_of(&file);

	assert_false(elf_file_section(empty, ".text").present);
	header->e_shentsize = 1;
	CLEANUP(elf_file_cleanup) struct elf_file *odd = elf_file_of(&file);

	assert_false(elf_file_section(odd, ".text").present);
}

TEST(more_sections_than_16_bits_can_count_are_counted_in_the_first)
{
	struct built_elf file;

	built_elf_init(&file);
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".text", "code", 4);
	built_elf_finish(&file);
	Elf64_Ehdr *header = (Elf64_Ehdr *)file.data;
	Elf64_Shdr *first = (Elf64_Shdr *)(file.data + header->e_shoff);

	first->sh_size = header->e_shnum;
	first->sh_link = header->e_shstrndx;
	header->e_shnum = 0;
	header->e_shstrndx = SHN_XINDEX;
	CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(&file);

	assert_text(elf_file_section(image, ".text").data, "code");
}

/* Text that compresses well, in both compressed formats of ELF. */
static char plain[5000];

static size_t compress_as_chdr(unsigned char into[8000], uint32_t type, uint64_t claimed)
{
	Elf64_Chdr header = {.ch_type = type, .ch_size = claimed, .ch_addralign = 1};
	uLongf len = 8000 - sizeof(header);

	memset(plain, 'x', sizeof(plain) - 1);
	memcpy(into, &header, sizeof(header));
	assert_int_equal(compress(into + sizeof(header), &len, (void *)plain, sizeof(plain) - 1),
			 Z_OK);
	return sizeof(header) + len;
}

static size_t compress_as_zdebug(unsigned char into[8000])
{
	uint64_t size = htobe64(sizeof(plain) - 1);
	uLongf len = 8000 - 12;

	memset(plain, 'x', sizeof(plain) - 1);
	memcpy(into, "ZLIB", 4);
	memcpy(into + 4, &size, 8);
	assert_int_equal(compress(into + 12, &len, (void *)plain, sizeof(plain) - 1), Z_OK);
	return 12 + len;
}

TEST(compressed_sections_are_given_decompressed)
{
	unsigned char data[8000];
	struct built_elf file;
	int fd;

	built_elf_init(&file);
	size_t len = compress_as_chdr(data, ELFCOMPRESS_ZLIB, sizeof(plain) - 1);

	built_elf_section(&file,
			  (Elf64_Shdr){.sh_type = SHT_PROGBITS,
				       .sh_flags = SHF_COMPRESSED,
				       .sh_addralign = 8},
			  ".debug_info", data, len);
	len = compress_as_zdebug(data);
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_addralign = 1},
			  ".zdebug_line", data, len);
	built_elf_finish(&file);

	CLEANUP(elf_file_cleanup) struct elf_file *in_memory = elf_file_of(&file);
	CLEANUP(elf_file_cleanup) struct elf_file *in_file = open_file(&file, &fd);
	CLEANUP(close_fd) int kept = fd;
	struct elf_file *const images[] = {in_memory, in_file};

	for (size_t i = 0; i < ARRAY_SIZE(images); i++) {
		assert_text(elf_file_section(images[i], ".debug_info").data, plain);
		assert_text(elf_file_section(images[i], ".debug_line").data, plain);
		/* It is decompressed only once: the bytes are the same. */
		assert_ptr_equal(elf_file_section(images[i], ".debug_info").data.at,
				 elf_file_section(images[i], ".debug_info").data.at);
		assert_false(elf_file_changed(images[i]));
	}
	/* The file itself has not changed. */
	assert_int_equal(pread(kept, data, sizeof(data), 0) > 0, 1);
	assert_memory_equal(data, file.data, file.len < sizeof(data) ? file.len : sizeof(data));
}

TEST(zstd_is_read_where_prof_was_built_with_it)
{
	enum { TYPE_ZSTD = 2 };
	unsigned char data[8000];
	size_t len = compress_as_chdr(data, TYPE_ZSTD, sizeof(plain) - 1);
	struct built_elf file;

#ifdef HAVE_ZSTD
	len = sizeof(Elf64_Chdr) + ZSTD_compress(data + sizeof(Elf64_Chdr),
						 sizeof(data) - sizeof(Elf64_Chdr), plain,
						 sizeof(plain) - 1, 3);
#endif
	built_elf_init(&file);
	built_elf_section(&file,
			  (Elf64_Shdr){.sh_type = SHT_PROGBITS,
				       .sh_flags = SHF_COMPRESSED,
				       .sh_addralign = 8},
			  ".debug_info", data, len);
	built_elf_finish(&file);

	CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(&file);
	struct elf_section section = elf_file_section(image, ".debug_info");

#ifdef HAVE_ZSTD
	assert_text(section.data, plain);
#else
	assert_true(section.unreadable);
#endif
}

/* A mapped file may be changed while it is read. */
TEST(a_decompressed_section_keeps_its_size_whatever_the_file_says_later)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
	struct elf_section first, again;
	struct bytes contents;
	unsigned char data[8000];
	struct built_elf file;
	Elf64_Chdr *header;
	void *at;

	built_elf_init(&file);
	built_elf_section(
		&file,
		(Elf64_Shdr){
			.sh_type = SHT_PROGBITS, .sh_flags = SHF_COMPRESSED, .sh_addralign = 8},
		".debug_info", data, compress_as_chdr(data, ELFCOMPRESS_ZLIB, sizeof(plain) - 1));
	built_elf_finish(&file);
	assert_null(elf_file_from_memory(file.data, file.len, "file", &elf));
	first = elf_file_section(elf, ".debug_info");
	assert_int_equal(bytes_left(&first.data), sizeof(plain) - 1);
	contents = elf_file_contents(elf);
	at = memmem(contents.at, bytes_left(&contents), data, sizeof(*header));
	assert_non_null(at);
	header = at;
	header->ch_size += 100;
	again = elf_file_section(elf, ".debug_info");
	assert_int_equal(bytes_left(&again.data), sizeof(plain) - 1);
}

TEST(a_section_that_cannot_be_decompressed_is_unreadable)
{
	static const struct {
		uint32_t type;
		uint64_t claimed;
	} cases[] = {
		{ELFCOMPRESS_ZLIB, 0},		{ELFCOMPRESS_ZLIB, sizeof(plain)},
		{ELFCOMPRESS_ZLIB, 10},		{ELFCOMPRESS_ZLIB, 1ULL << 40},
		{ELFCOMPRESS_ZLIB, UINT64_MAX}, {999, sizeof(plain) - 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned char data[8000];
		size_t len = compress_as_chdr(data, cases[i].type, cases[i].claimed);
		struct built_elf file;

		built_elf_init(&file);
		built_elf_section(&file,
				  (Elf64_Shdr){.sh_type = SHT_PROGBITS,
					       .sh_flags = SHF_COMPRESSED,
					       .sh_addralign = 8},
				  ".debug_info", data, len);
		built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_addralign = 1},
				  ".zdebug_line", "ZLIB\0\0\0\0\0\0\0\1nonsense", 20);
		built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_addralign = 1},
				  ".zdebug_str", "ZLIX", 4);
		built_elf_finish(&file);
		CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(&file);
		struct elf_section info = elf_file_section(image, ".debug_info");

		assert_true(info.present);
		assert_true(info.unreadable);
		assert_text(info.data, "");
		assert_true(elf_file_section(image, ".debug_line").unreadable);
		assert_true(elf_file_section(image, ".debug_str").unreadable);
	}
}

/* Stores the number of jobs and runs them backwards. */
static void run_backwards(void *user, size_t count, void (*work)(void *context, size_t i),
			  void *context)
{
	*(size_t *)user = count;
	while (count)
		work(context, --count);
}

TEST(sections_are_decompressed_together)
{
	static const char *const names[] = {".debug_info", NULL, ".debug_line", ".debug_str",
					    ".debug_abbrev"};
	unsigned char data[8000];
	struct built_elf file;
	size_t len = compress_as_zdebug(data), count = 0;

	built_elf_init(&file);
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".debug_info", "plain", 5);
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".zdebug_line", data, len);
	data[len / 2] ^= 1;
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".zdebug_str", data, len);
	built_elf_finish(&file);
	CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(&file);

	elf_file_unpack(image, names, ARRAY_SIZE(names), run_backwards, &count);
	assert_int_equal(count, 2);
	assert_text(elf_file_section(image, ".debug_info").data, "plain");
	assert_text(elf_file_section(image, ".debug_line").data, plain);
	assert_true(elf_file_section(image, ".debug_str").unreadable);
	/* nothing remains to be done */
	elf_file_unpack(image, names, 3, run_backwards, &(size_t){0});
	assert_text(elf_file_section(image, ".debug_line").data, plain);
}

/* Checks that the damage which `damage` does to a file of three pages, with its
 * build-id at `id`, is noticed permanently. */
static void assert_noticed(void (*damage)(int fd, off_t id), bool is_noticed)
{
	unsigned char note[80];
	struct built_elf file;
	int fd;

	built_elf_init(&file);
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_NOTE}, ".note", note,
			  built_elf_build_id(note, "0123456789", 10));
	file.len = 3 * 4096;
	built_elf_finish(&file);

	CLEANUP(elf_file_cleanup) struct elf_file *image = open_file(&file, &fd);
	CLEANUP(close_fd) int writable = fd;

	assert_false(elf_file_changed(image));
	damage(writable, (off_t)file.sections[1].sh_offset + 16);
	assert_int_equal(elf_file_changed(image), is_noticed);
	assert_int_equal(ftruncate(writable, 3 * 4096), 0);
	assert_int_equal(pwrite(writable, file.data, file.len, 0), file.len);
	assert_int_equal(elf_file_changed(image), is_noticed);
}

static void cut_to_a_page(int fd, off_t id)
{
	(void)id;
	assert_int_equal(ftruncate(fd, 4096), 0);
}

static void cut_to_nothing(int fd, off_t id)
{
	(void)id;
	assert_int_equal(ftruncate(fd, 0), 0);
}

static void make_zeros(int fd, off_t id)
{
	cut_to_nothing(fd, id);
	assert_int_equal(ftruncate(fd, 3 * 4096), 0);
}

/* Replaces the file by another one with the same header. The build-id shows the
 * difference. */
static void change_build_id(int fd, off_t id)
{
	assert_int_equal(pwrite(fd, "X", 1, id), 1);
}

static void leave_alone(int fd, off_t id)
{
	(void)fd;
	(void)id;
}

TEST(a_file_that_is_cut_short_or_overwritten_is_noticed)
{
	if (!has_process_vm_readv())
		RETURN_LACKING("process_vm_readv(2)");
	assert_noticed(cut_to_a_page, true);
	assert_noticed(cut_to_nothing, true);
	assert_noticed(make_zeros, true);
	assert_noticed(change_build_id, true);
	assert_noticed(leave_alone, false);
}

TEST(an_image_has_the_name_it_was_opened_by)
{
	struct built_elf file;

	built_elf_init(&file);
	built_elf_finish(&file);
	CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(&file);
	struct bytes contents = elf_file_contents(image);

	assert_string_equal(elf_file_name(image), "test");
	assert_int_equal(bytes_left(&contents), file.len);
	assert_memory_equal(contents.at, file.data, file.len);
}

TEST(a_file_that_is_opened_again_has_another_number)
{
	struct built_elf file;
	uint64_t former;

	built_elf_init(&file);
	built_elf_finish(&file);
	CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(&file);

	former = elf_file_number(image);
	assert_int_not_equal(former, 0);
	elf_file_free(image);
	image = elf_file_of(&file);
	assert_int_not_equal(elf_file_number(image), former);
}

TEST(released_pages_are_read_again)
{
	static unsigned char data[4 * 4096];
	struct built_elf file;
	int fd;

	memset(data, 'x', sizeof(data));
	built_elf_init(&file);
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".debug_info", data,
			  sizeof(data));
	built_elf_finish(&file);
	CLEANUP(elf_file_cleanup) struct elf_file *in_memory = elf_file_of(&file);
	CLEANUP(elf_file_cleanup) struct elf_file *mapped = open_file(&file, &fd);
	CLEANUP(close_fd) int writable = fd;
	struct elf_file *const images[] = {in_memory, mapped};

	(void)writable;
	for (size_t i = 0; i < ARRAY_SIZE(images); i++) {
		struct bytes info = elf_file_section(images[i], ".debug_info").data;

		assert_memory_equal(info.at, data, sizeof(data));
		elf_file_release(images[i], info);
		/* not a section of the image */
		elf_file_release(images[i], bytes_of(data, sizeof(data)));
		assert_memory_equal(info.at, data, sizeof(data));
	}
}

TEST(a_build_id_is_read_from_its_hex_digits)
{
	static const struct {
		const char *hex;
		bool passes;
	} cases[] = {{"", true},     {"00", true},  {"00fF10", true}, {"0", false},
		     {"00f", false}, {"0g", false}, {"g0", false},    {" 0", false}};
	char hex[BUILD_ID_HEX_BYTES], longest[2 * BUILD_ID_MAX + 3];
	struct build_id id;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(build_id_from_hex(cases[i].hex, &id), cases[i].passes);
		build_id_hex(&id, hex);
		assert_int_equal(strcasecmp(hex, cases[i].passes ? cases[i].hex : ""), 0);
	}
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_false(build_id_from_hex(longest, &id));
	longest[2 * BUILD_ID_MAX] = '\0';
	assert_true(build_id_from_hex(longest, &id));
	assert_int_equal(id.len, BUILD_ID_MAX);
}
