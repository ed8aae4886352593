/*
 * An ELF object that a JIT compiler has registered with GDB's interface, as a file that prof can
 * read like any other: its sections have the addresses and the bytes that the program runs.
 *
 * The compiler registers the object as it was before it was loaded, except that sh_addr of each
 * section is where the section is in memory. There its relocations have been applied: an .eh_frame
 * is only of use as it is in memory. Some compilers give the code no bytes in the object at all
 * (SHT_NOBITS). An image therefore has room for the bytes of each loaded section, which the caller
 * reads from the process, and a program header for each section with code, as relocatable objects
 * have none. A relocatable file whose sections have addresses keeps them (elf/relocatable.h).
 *
 * The object is the process's and may contain anything. Source: GDB manual, "JIT Compilation
 * Interface"; gABI.
 */
#ifndef PROF_PROC_JIT_IMAGE_H
#define PROF_PROC_JIT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JIT_IMAGE_BYTES_MAX = 16 << 20, /* of an object, and of what it has in memory */
	JIT_IMAGE_SECTIONS_MAX = 4096,	/* further ones are as in the object */
	JIT_IMAGE_CODE_MAX = 128, /* sections with code; as many as an ELF file may have segments */
};

/* A section that is in memory. */
struct jit_image_part {
	uint64_t address;
	uint64_t offset; /* in the image */
	uint64_t len;	 /* never 0; address + len does not overflow */
	size_t section;	 /* its number */
	bool is_code;
};

struct jit_image {
	unsigned char *bytes;
	size_t len;
	struct jit_image_part *parts;
	size_t part_count, part_room;
};

/*
 * Copies the object. The parts have yet to be filled with the process's memory. False, with nothing
 * to free, if it is not a 64-bit ELF file of this machine's byte order, or has no code in memory.
 */
bool jit_image_read(const void *object, size_t len, struct jit_image *ret);
void jit_image_deinit(struct jit_image *image);

#endif
