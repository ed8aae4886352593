/*
 * Fuzzes the file of a kernel module, compressed or not. Like in a symbol
 * worker, it is decompressed and laid out, its DWARF is relocated, and loaded
 * code is looked up in it.
 */
#include "base/alloc.h"
#include "dwarf/dwarf.h"
#include "elf/packed_file.h"
#include "symbol/load_address.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct kernel_image as_module = {
	.is_module = true,
	.anchors = {{".text", 0xffffffffc0a1b000}, {".init.text", 0xffffffffc0b00000}},
	.anchor_count = 2,
};
static const struct kernel_image as_kernel = {
	.anchors = {{"_text", 0xffffffff9d000000}, {"_stext", 0xffffffff9d000000}},
	.anchor_count = 2,
};

static struct elf_file *open_input(const uint8_t *data, size_t size)
{
	CLEANUP(close_fd) int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct elf_file *elf = NULL;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		return NULL;
	error_free(packed_file_open(fd, "fuzz", &elf));
	if (!elf)
		error_free(elf_file_from_memory(data, size, "fuzz", &elf));
	return elf;
}

static void look_up(const struct dwarf *dwarf, uint64_t vaddr)
{
	uint32_t unit = dwarf ? dwarf_unit_of(dwarf, vaddr) : DWARF_NO_UNIT;
	struct arena arena = {0};
	struct inline_chain chain;

	if (unit != DWARF_NO_UNIT)
		dwarf_resolve(dwarf, unit, &vaddr, 1, NULL, &arena, &chain);
	arena_deinit(&arena);
}

static void resolve(struct elf_file *elf, const struct dwarf *dwarf,
		    const struct kernel_image *image)
{
	CLEANUP(load_address_deinit) struct load_address load = {0};
	uint64_t vaddr;

	load_address_find(&load, elf, image);
	for (size_t i = 0; i < image->anchor_count; i++)
		for (uint64_t at = 0; at < 64; at += 5) {
			if (!load_address_vaddr(&load, image->anchors[i].pc + at, &vaddr))
				continue;
			look_up(dwarf, vaddr);
		}
	for (size_t i = 0; i < load.count; i++)
		if (load.ranges[i].start >= load.ranges[i].end)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = open_input(data, size);
	CLEANUP(dwarf_cleanup) struct dwarf *dwarf = elf ? dwarf_new(elf, NULL) : NULL;

	if (!elf)
		return 0;
	resolve(elf, dwarf, &as_module);
	resolve(elf, dwarf, &as_kernel);
	return 0;
}
