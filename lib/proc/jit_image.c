#include "proc/jit_image.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "elf/classes.h"

#include <stdlib.h>
#include <string.h>

enum { SEGMENT_ALIGN = 8 };

/* An image whose size is not known yet. */
struct plan {
	struct bytes object;
	Elf64_Ehdr header;
	size_t section_count;
	size_t code_count;
	uint64_t end;	       /* of the part of the image that is planned */
	uint64_t memory_bytes; /* sum over all parts */
};

static bool jit_image_read_header(struct plan *plan)
{
	const int data = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	struct bytes from = plan->object;
	Elf64_Ehdr *header = &plan->header;

	if (!elf_take_header(&from, header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != data ||
	    header->e_shentsize != sizeof(Elf64_Shdr))
		return false;
	plan->section_count = header->e_shnum < JIT_IMAGE_SECTIONS_MAX ? header->e_shnum
								       : JIT_IMAGE_SECTIONS_MAX;
	return true;
}

static bool jit_image_is_code(const Elf64_Shdr *section)
{
	return section->sh_flags & SHF_EXECINSTR;
}

/* Returns whether the section's bytes in the process are needed. */
static bool is_loaded(const Elf64_Shdr *section)
{
	return section->sh_flags & SHF_ALLOC && !(section->sh_flags & SHF_WRITE) &&
	       (section->sh_type != SHT_NOBITS || jit_image_is_code(section)) && section->sh_addr &&
	       section->sh_size && section->sh_size <= UINT64_MAX - section->sh_addr;
}

static bool has_room(const struct plan *plan, const Elf64_Shdr *section)
{
	const size_t len = bytes_left(&plan->object);

	if (section->sh_size > JIT_IMAGE_BYTES_MAX - plan->memory_bytes ||
	    (jit_image_is_code(section) && plan->code_count == JIT_IMAGE_CODE_MAX))
		return false;
	return section->sh_type == SHT_NOBITS ||
	       (section->sh_offset <= len && section->sh_size <= len - section->sh_offset);
}

static void jit_image_add_part(struct plan *plan, size_t index, const Elf64_Shdr *section,
			       struct jit_image *image)
{
	const bool is_new = section->sh_type == SHT_NOBITS;

	GROW(image->parts, image->part_count, image->part_room);
	image->parts[image->part_count++] = (struct jit_image_part){
		.address = section->sh_addr,
		.offset = is_new ? plan->end : section->sh_offset,
		.len = section->sh_size,
		.section = index,
		.is_code = jit_image_is_code(section),
	};
	plan->memory_bytes += section->sh_size;
	plan->code_count += jit_image_is_code(section);
	if (is_new)
		plan->end += section->sh_size;
}

static void plan_parts(struct plan *plan, struct jit_image *image)
{
	struct bytes from = bytes_at(plan->object, plan->header.e_shoff);
	Elf64_Shdr section;

	for (size_t i = 0; i < plan->section_count && elf_take_section(&from, false, &section); i++)
		if (is_loaded(&section) && has_room(plan, &section))
			jit_image_add_part(plan, i, &section, image);
}

/* Makes a section without bytes in the object refer to those of its part. */
static void place_section(const struct plan *plan, const struct jit_image_part *part,
			  unsigned char *image)
{
	unsigned char *at = image + plan->header.e_shoff + part->section * sizeof(Elf64_Shdr);
	Elf64_Shdr section;

	memcpy(&section, at, sizeof(section));
	section.sh_type = SHT_PROGBITS;
	section.sh_offset = part->offset;
	memcpy(at, &section, sizeof(section));
}

static void place_segment(const struct jit_image_part *part, unsigned char *at)
{
	const Elf64_Phdr segment = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = part->offset,
		.p_vaddr = part->address,
		.p_filesz = part->len,
		.p_memsz = part->len,
	};

	memcpy(at, &segment, sizeof(segment));
}

static void jit_image_build(struct plan *plan, uint64_t segments_at, struct jit_image *image)
{
	const size_t len = bytes_left(&plan->object);
	uint16_t count = 0;

	image->bytes = xcalloc(1, plan->end);
	image->len = plan->end;
	memcpy(image->bytes, plan->object.at, len);
	for (size_t i = 0; i < image->part_count; i++) {
		const struct jit_image_part *part = &image->parts[i];

		if (part->offset >= len)
			place_section(plan, part, image->bytes);
		if (part->is_code)
			place_segment(part,
				      image->bytes + segments_at + count++ * sizeof(Elf64_Phdr));
	}
	plan->header.e_phoff = segments_at;
	plan->header.e_phentsize = sizeof(Elf64_Phdr);
	plan->header.e_phnum = count;
	memcpy(image->bytes, &plan->header, sizeof(plan->header));
}

bool jit_image_read(const void *object, size_t len, struct jit_image *ret)
{
	struct plan plan = {.object = bytes_of(object, len)};
	uint64_t segments_at;

	*ret = (struct jit_image){0};
	if (len > JIT_IMAGE_BYTES_MAX || !jit_image_read_header(&plan))
		return false;
	segments_at = (len + SEGMENT_ALIGN - 1) / SEGMENT_ALIGN * SEGMENT_ALIGN;
	plan.end = segments_at + JIT_IMAGE_CODE_MAX * sizeof(Elf64_Phdr);
	plan_parts(&plan, ret);
	if (!plan.code_count) {
		jit_image_deinit(ret);
		return false;
	}
	jit_image_build(&plan, segments_at, ret);
	return true;
}

void jit_image_deinit(struct jit_image *image)
{
	free(image->bytes);
	free(image->parts);
	*image = (struct jit_image){0};
}
