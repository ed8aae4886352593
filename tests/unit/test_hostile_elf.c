/* ELF files with excessive sizes, or that change while they are read. */
#include "elf/elf_file.h"

#include "base/alloc.h"
#include "built_elf.h"
#include "elf/file_origin.h"
#include "lacking.h"
#include "unit_test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <zlib.h>

static const uint64_t gib = 1 << 30;

static int fd_of(const struct built_elf *file)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, file->data, file->len), file->len);
	return fd;
}

/* Takes fd. */
static struct elf_file *elf_of(int fd)
{
	struct elf_file *elf = NULL;

	assert_null(elf_file_open(fd, "test", &elf));
	return elf;
}

static void finished(struct built_elf *file)
{
	built_elf_init(file);
	built_elf_section(file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".text", "code", 4);
	built_elf_finish(file);
}

TEST(a_file_that_others_may_write_to_is_untrusted)
{
	static const struct {
		mode_t mode;
		bool is_untrusted;
	} cases[] = {{0755, false}, {0444, false}, {0775, true}, {0757, true}, {0020, true}};
	struct built_elf file;

	finished(&file);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int fd = fd_of(&file);

		assert_int_equal(fchmod(fd, cases[i].mode), 0);
		CLEANUP(elf_file_cleanup) struct elf_file *elf = elf_of(fd);

		assert_int_equal(elf_file_is_untrusted(elf), cases[i].is_untrusted);
		assert_int_equal(elf_file_owner(elf), geteuid());
	}
}

TEST(a_file_of_another_user_is_untrusted)
{
	enum { OTHER_USER = 54321 };
	struct built_elf file;
	int fd;

	finished(&file);
	fd = fd_of(&file);
	if (fchown(fd, OTHER_USER, OTHER_USER) < 0) {
		close(fd);
		RETURN_LACKING("root, to give a file away");
	}
	CLEANUP(elf_file_cleanup) struct elf_file *elf = elf_of(fd);

	assert_true(elf_file_is_untrusted(elf));
	assert_int_equal(elf_file_owner(elf), OTHER_USER);
}

TEST(files_of_an_unknown_file_system_are_untrusted)
{
	CLEANUP(close_fd) int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(file_origin_of(fd, &st).is_untrusted);
}

TEST(a_file_in_memory_is_our_own)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
	struct built_elf file;

	finished(&file);
	assert_null(elf_file_from_memory(file.data, file.len, "test", &elf));
	assert_false(elf_file_is_untrusted(elf));
	assert_int_equal(elf_file_owner(elf), geteuid());
	assert_int_equal(elf_file_data_bytes(elf), file.len);
}

TEST(holes_are_not_data)
{
	struct built_elf file;
	int fd;

	finished(&file);
	fd = fd_of(&file);
	assert_int_equal(ftruncate(fd, (off_t)(100 * gib)), 0);
	assert_int_equal(pwrite(fd, "end", 3, (off_t)(90 * gib)), 3);
	CLEANUP(elf_file_cleanup) struct elf_file *elf = elf_of(fd);

	assert_true(elf_file_data_bytes(elf) >= file.len);
	assert_true(elf_file_data_bytes(elf) < 1 << 20);
}

TEST(a_section_of_holes_is_unreadable)
{
	struct built_elf file;
	int fd;

	built_elf_init(&file);
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_SYMTAB}, ".symtab", NULL, 0)->sh_size =
		40 * gib;
	built_elf_segment(&file, (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = 40 * gib});
	built_elf_finish(&file);
	fd = fd_of(&file);
	assert_int_equal(ftruncate(fd, (off_t)(41 * gib)), 0);
	CLEANUP(elf_file_cleanup) struct elf_file *elf = elf_of(fd);
	struct elf_section symbols = elf_file_section(elf, ".symtab");
	struct bytes constants = elf_file_constants(elf, 0);

	assert_true(symbols.present);
	assert_true(symbols.unreadable);
	assert_int_equal(bytes_left(&symbols.data), 0);
	assert_true(bytes_left(&constants) < 1 << 20);
}

TEST(more_sections_than_any_program_has_are_none)
{
	struct built_elf file;
	Elf64_Ehdr *header;
	int fd;

	finished(&file);
	header = (Elf64_Ehdr *)(void *)file.data;
	((Elf64_Shdr *)(void *)(file.data + header->e_shoff))->sh_size = UINT64_C(3100) << 20;
	header->e_shnum = 0;
	fd = fd_of(&file);
	assert_int_equal(ftruncate(fd, (off_t)(200 * gib)), 0);
	CLEANUP(elf_file_cleanup) struct elf_file *elf = elf_of(fd);

	assert_false(elf_file_has_section(elf, ".text"));
}

TEST(program_headers_beyond_those_of_any_program_are_ignored)
{
	enum { MANY = 100000 };
	const Elf64_Phdr load = {.p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = 1};
	struct built_elf file;
	Elf64_Shdr *sections;
	unsigned count;
	int fd;

	finished(&file);
	memcpy(&file.header, file.data, sizeof(file.header));
	sections = (Elf64_Shdr *)(void *)(file.data + file.header.e_shoff);
	sections->sh_info = MANY;
	file.header.e_phnum = PN_XNUM;
	file.header.e_phoff = sizeof(file.data);
	memcpy(file.data, &file.header, sizeof(file.header));
	fd = fd_of(&file);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(pwrite(fd, &load, sizeof(load),
					(off_t)(sizeof(file.data) + i * sizeof(load))),
				 sizeof(load));
	CLEANUP(elf_file_cleanup) struct elf_file *elf = elf_of(fd);

	assert_non_null(elf_file_segments(elf, &count));
	assert_in_range(count, 1, 1000);
}

/* Adds a section that decompresses to this many zeros; 32 MiB need 32 kB. */
static void add_zeros(struct built_elf *file, const char *name, size_t size_bytes,
		      size_t claimed_bytes)
{
	Elf64_Chdr header = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = claimed_bytes};
	uLongf len = compressBound(size_bytes);
	CLEANUP(free_ptr) unsigned char *zeros = calloc(1, size_bytes);
	CLEANUP(free_ptr) unsigned char *packed = malloc(sizeof(header) + len);

	memcpy(packed, &header, sizeof(header));
	assert_int_equal(compress(packed + sizeof(header), &len, zeros, size_bytes), Z_OK);
	built_elf_section(file, (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_flags = SHF_COMPRESSED},
			  name, packed, sizeof(header) + len);
}

static struct elf_file *untrusted_with_zeros(size_t size_bytes, size_t claimed_bytes)
{
	struct built_elf file;
	int fd;

	built_elf_init(&file);
	add_zeros(&file, ".debug_info", size_bytes, claimed_bytes);
	built_elf_finish(&file);
	fd = fd_of(&file);
	assert_int_equal(fchmod(fd, 0777), 0);
	return elf_of(fd);
}

static bool unpacks(struct elf_file *elf)
{
	return !elf_file_section(elf, ".debug_info").unreadable;
}

TEST(files_share_what_memory_they_may_unpack_into)
{
	enum { PART = 16 << 20, ROOM = 40 << 20 };
	struct unpack_budget budget;
	struct elf_file *files[3];

	unpack_budget_init(&budget);
	assert_true(unpack_budget_take(&budget, true, UNPACK_UNTRUSTED_BYTES_MAX - ROOM));
	for (size_t i = 0; i < 3; i++) {
		files[i] = untrusted_with_zeros(PART, PART);
		elf_file_set_budget(files[i], &budget);
	}
	assert_true(unpacks(files[0]));
	assert_true(unpacks(files[0])); /* only once */
	elf_file_share_budget(files[1], files[0]);
	assert_true(unpacks(files[1]));
	assert_false(unpacks(files[2]));
	/* A file that is closed releases its part of the limit. */
	elf_file_free(files[1]);
	assert_true(unpacks(files[2]));
	elf_file_free(files[2]);
	elf_file_free(files[0]);
	/* A section that cannot be decompressed neither takes nor releases a
	 * part of the limit. */
	files[0] = untrusted_with_zeros(PART, PART + 1);
	elf_file_set_budget(files[0], &budget);
	assert_false(unpacks(files[0]));
	assert_true(unpack_budget_take(&budget, true, ROOM));
	elf_file_free(files[0]);
	assert_false(unpack_budget_take(&budget, true, 1));
}

TEST(our_own_files_have_a_budget_of_their_own)
{
	struct unpack_budget budget;

	unpack_budget_init(&budget);
	assert_true(unpack_budget_take(&budget, true, UNPACK_UNTRUSTED_BYTES_MAX));
	assert_false(unpack_budget_take(&budget, true, 1));
	assert_true(unpack_budget_take(&budget, false, UNPACK_UNTRUSTED_BYTES_MAX / 2));
	assert_false(unpack_budget_take(&budget, false, UINT64_MAX));
}

TEST(a_copied_section_stays_as_it_was)
{
	if (!has_process_vm_readv())
		RETURN_LACKING("process_vm_readv(2)");
	CLEANUP(free_ptr) void *memory = NULL, *none = NULL;
	struct elf_section section;
	struct built_elf file;
	int fd, kept;

	finished(&file);
	fd = fd_of(&file);
	kept = dup(fd);
	CLEANUP(elf_file_cleanup) struct elf_file *elf = elf_of(fd);

	assert_true(elf_file_copy_section(elf, ".text", 4, &section, &memory));
	assert_int_equal(pwrite(kept, "EDOC", 4, (off_t)file.sections[1].sh_offset), 4);
	assert_int_equal(bytes_left(&section.data), 4);
	assert_memory_equal(section.data.at, "code", 4);
	assert_false(elf_file_copy_section(elf, ".text", 3, &section, &none));
	assert_false(elf_file_copy_section(elf, ".data", 4, &section, &none));
	assert_int_equal(ftruncate(kept, 0), 0);
	assert_false(elf_file_copy_section(elf, ".text", 4, &section, &none));
	assert_null(none);
	close(kept);
}
