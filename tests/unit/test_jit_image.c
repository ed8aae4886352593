#include "proc/jit_image.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "elf/elf_file.h"
#include "symbol/symtab.h"

#include "registered_object.h"
#include "unit_test.h"

static const uint64_t address = UINT64_C(0x7f0000001234);

static struct elf_file *open_image(const struct jit_image *image)
{
	struct elf_file *elf = NULL;

	assert_null(elf_file_from_user(image->bytes, image->len, "[jit]", 0, &elf));
	return elf;
}

TEST(an_image_has_the_addresses_and_the_symbols_of_what_was_loaded)
{
	struct registered_object object = registered_object(address);
	CLEANUP(jit_image_deinit) struct jit_image image;

	assert_true(jit_image_read(&object, sizeof(object), &image));
	assert_int_equal(image.part_count, 1);
	assert_true(image.parts[0].is_code);
	assert_int_equal(image.parts[0].address, address);
	assert_int_equal(image.parts[0].len, OBJECT_TEXT_BYTES);

	CLEANUP(elf_file_cleanup) struct elf_file *elf = open_image(&image);
	CLEANUP(symtab_cleanup) struct symtab *symtab = symtab_new(elf, NULL);
	struct arena arena = {0};
	struct symbol symbol;
	uint64_t vaddr;

	assert_true(elf_file_offset_to_vaddr(elf, image.parts[0].offset + 3, &vaddr));
	assert_int_equal(vaddr, address + 3);
	assert_true(symtab_find(symtab, vaddr, &arena, &symbol));
	assert_string_equal(symbol.name, "compiled");
	assert_int_equal(symbol.vaddr, address);
	arena_deinit(&arena);
}

TEST(a_section_without_bytes_in_the_object_gets_those_in_memory)
{
	struct registered_object object = registered_object(address);
	CLEANUP(jit_image_deinit) struct jit_image image;
	unsigned char byte = 0x90;

	object.sections[OBJECT_TEXT].sh_type = SHT_NOBITS;
	object.sections[OBJECT_TEXT].sh_offset = 0;
	assert_true(jit_image_read(&object, sizeof(object), &image));
	assert_int_equal(image.part_count, 1);
	assert_true(image.parts[0].offset >= sizeof(object));
	memset(image.bytes + image.parts[0].offset, byte, image.parts[0].len);

	CLEANUP(elf_file_cleanup) struct elf_file *elf = open_image(&image);
	struct elf_section text = elf_file_section(elf, ".text");

	assert_int_equal(text.vaddr, address);
	assert_int_equal(bytes_left(&text.data), OBJECT_TEXT_BYTES);
	assert_int_equal(*text.data.at, byte);
}

static bool is_read(const struct registered_object *object, size_t len)
{
	CLEANUP(jit_image_deinit) struct jit_image image;

	return jit_image_read(object, len, &image);
}

TEST(what_is_no_object_with_loaded_code_is_refused)
{
	const struct registered_object good = registered_object(address);
	struct registered_object bad = good;

	assert_true(is_read(&good, sizeof(good)));
	assert_false(is_read(&good, 0));
	assert_false(is_read(&good, sizeof(Elf64_Ehdr) - 1));
	assert_false(is_read(&good, offsetof(struct registered_object, sections[OBJECT_TEXT])));
	bad.header.e_ident[EI_CLASS] = ELFCLASS32;
	assert_false(is_read(&bad, sizeof(bad)));
	bad = good;
	bad.header.e_ident[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
	assert_false(is_read(&bad, sizeof(bad)));
	bad = good;
	bad.header.e_ident[EI_MAG0] = 0;
	assert_false(is_read(&bad, sizeof(bad)));
	bad = good;
	bad.header.e_shentsize--;
	assert_false(is_read(&bad, sizeof(bad)));
	bad = good;
	bad.header.e_shoff = UINT64_MAX - 8;
	assert_false(is_read(&bad, sizeof(bad)));
	assert_false(is_read(&(struct registered_object){0}, sizeof(bad)));
}

TEST(sections_that_lie_are_left_as_they_are)
{
	const struct registered_object good = registered_object(address);
	struct registered_object bad = good;
	Elf64_Shdr *text = &bad.sections[OBJECT_TEXT];

	text->sh_addr = 0;
	assert_false(is_read(&bad, sizeof(bad)));
	text->sh_addr = UINT64_MAX - OBJECT_TEXT_BYTES + 1;
	assert_false(is_read(&bad, sizeof(bad)));
	text->sh_addr--;
	assert_true(is_read(&bad, sizeof(bad)));
	bad = good;
	text->sh_size = 0;
	assert_false(is_read(&bad, sizeof(bad)));
	bad = good;
	text->sh_offset = sizeof(bad) - OBJECT_TEXT_BYTES;
	assert_true(is_read(&bad, sizeof(bad)));
	text->sh_offset++;
	assert_false(is_read(&bad, sizeof(bad)));
	text->sh_offset = UINT64_MAX;
	assert_false(is_read(&bad, sizeof(bad)));
	bad = good;
	text->sh_flags = SHF_EXECINSTR;
	assert_false(is_read(&bad, sizeof(bad)));
	text->sh_flags = SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE;
	assert_false(is_read(&bad, sizeof(bad)));
	text->sh_flags = SHF_ALLOC;
	assert_false(is_read(&bad, sizeof(bad)));
	bad = good;
	text->sh_type = SHT_NOBITS;
	text->sh_size = JIT_IMAGE_BYTES_MAX;
	assert_true(is_read(&bad, sizeof(bad)));
	text->sh_size++;
	assert_false(is_read(&bad, sizeof(bad)));
}

TEST(an_object_with_too_much_code_has_the_first)
{
	enum { MANY = JIT_IMAGE_CODE_MAX + 1, FIRST_SECTIONS = OBJECT_SECTIONS };
	struct {
		struct registered_object object;
		Elf64_Shdr sections[MANY];
	} *many = xcalloc(1, sizeof(*many));
	CLEANUP(jit_image_deinit) struct jit_image image;
	unsigned count;

	many->object = registered_object(address);
	for (unsigned i = 0; i < MANY; i++) {
		many->sections[i] = many->object.sections[OBJECT_TEXT];
		many->sections[i].sh_addr += (uint64_t)i << 12;
	}
	many->object.header.e_shoff = offsetof(__typeof__(*many), sections);
	many->object.header.e_shnum = MANY;
	assert_true(jit_image_read(many, sizeof(*many), &image));
	free(many);
	assert_int_equal(image.part_count, JIT_IMAGE_CODE_MAX);

	CLEANUP(elf_file_cleanup) struct elf_file *elf = open_image(&image);
	const struct elf_file_segment *segments = elf_file_segments(elf, &count);

	assert_int_equal(count, JIT_IMAGE_CODE_MAX);
	assert_int_equal(segments[count - 1].vaddr, address + ((count - 1) << 12));
	assert_true(segments[count - 1].executable);
}
