/*
 * Maps pcs of a kernel or kernel module to vaddrs in its ELF file. A kernel is
 * moved as a whole (KASLR), by the distance of one symbol. Each section of a
 * module has its own load address.
 */
#ifndef PROF_SYMBOL_LOAD_ADDRESS_H
#define PROF_SYMBOL_LOAD_ADDRESS_H

#include "proc/kernel_image.h"

#include <stdbool.h>
#include <stdint.h>

struct load_range {
	uint64_t start, end; /* pcs */
	uint64_t vaddr;	     /* vaddr of `start` */
};

struct load_address {
	struct load_range *ranges;
	size_t count;
};

/*
 * Fills a zero-initialized struct. It stays empty if the file has none of the
 * image's symbols or sections.
 */
void load_address_find(struct load_address *load, struct elf_file *elf,
		       const struct kernel_image *image);
void load_address_deinit(struct load_address *load);
bool load_address_vaddr(const struct load_address *load, uint64_t pc, uint64_t *ret);

#endif
