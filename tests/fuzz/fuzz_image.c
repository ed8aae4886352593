/* Fuzzes ELF files. Whatever the headers contain, every returned byte must be
 * inside the file. */
#include "elf/debugfile.h"
#include "replay.h"

#include <stdlib.h>

static const char *const sections[] = {
	".text",       ".symtab",    ".strtab",	      ".eh_frame",	".debug_info",
	".debug_line", ".debug_str", ".debug_abbrev", ".gnu_debuglink", ".gnu_debugaltlink",
};

/* Reads every byte, so that the address sanitizer detects invalid ones. */
static void touch(const void *data, size_t len)
{
	const volatile unsigned char *at = data;
	unsigned sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += at[i] * (unsigned)(i + 1);
	note_number("sections", sum);
}

static void walk_segments(const struct elf_file *image)
{
	unsigned count;
	const struct elf_file_segment *segment = elf_file_segments(image, &count);
	struct bytes contents = elf_file_contents(image);

	for (; count; count--, segment++) {
		uint64_t vaddr, offset;
		unsigned char first;

		if (!segment->file_bytes)
			continue;
		if (segment->offset >= bytes_left(&contents) ||
		    segment->file_bytes > bytes_left(&contents) - segment->offset)
			abort();
		if (!segment->writable && !elf_file_read(image, segment->vaddr, &first, 1))
			abort();
		if (segment->executable &&
		    (!elf_file_offset_to_vaddr(image, segment->offset, &vaddr) ||
		     !elf_file_vaddr_to_offset(image, segment->vaddr, &offset)))
			abort();
		note_number("segments", segment->vaddr + segment->file_bytes);
		if (segment->executable)
			note_number("segments", vaddr + 3 * offset);
	}
}

static void note_header(struct elf_file *image)
{
	const struct build_id *id = elf_file_build_id(image);
	CLEANUP(free_ptr) struct elf_code *code = NULL;
	struct bytes dynamic = elf_file_dynamic(image);
	size_t count = elf_file_code(image, &code);

	note_number("header", elf_file_machine(image) + ((uint64_t)elf_file_is_32(image) << 32));
	note_number("header", elf_file_entry(image));
	note_number("header", elf_file_unwind_table(image));
	note_number("header", bytes_left(&dynamic));
	note("header", id->bytes, id->len);
	for (size_t i = 0; i < count; i++) {
		struct bytes constants = elf_file_constants(image, code[i].start);
		struct bytes loaded = elf_file_loaded(image, code[i].end - 1);

		note_number("code", code[i].start);
		note_number("code", code[i].end);
		note_number("code", bytes_left(&constants) + elf_file_is_data(image, code[i].end));
		note_number("code", bytes_left(&loaded));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(elf_file_cleanup) struct elf_file *image = NULL;
	struct error *err;

	err = elf_file_from_memory(data, size, "fuzz", &image);
	if (err) {
		note_text("errors", error_text(err));
		error_free(err);
		return 0;
	}
	if (elf_file_build_id(image)->len > BUILD_ID_MAX || elf_file_changed(image))
		abort();
	note_header(image);
	walk_segments(image);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		struct elf_section section = elf_file_section(image, sections[i]);

		if (section.unreadable && (!section.present || bytes_left(&section.data)))
			abort();
		note_number("sections", section.present + 2 * section.unreadable);
		note_number("sections", section.vaddr);
		touch(section.data.at, bytes_left(&section.data));
	}
	elf_file_free(debugfile_inside(image));
	return 0;
}
