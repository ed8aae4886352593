/*
 * Converts an ELF object that a JIT compiler has registered with GDB's JIT
 * interface into an ELF file that prof can read like any other. Its sections
 * have the addresses and bytes that the program runs.
 *
 * The compiler registers the object as it was before loading, but with sh_addr
 * set to the address of each section in memory. The sections in memory have
 * their relocations applied, so an .eh_frame is only usable from there. Some
 * compilers do not even include the code in the object (SHT_NOBITS). An image
 * therefore has space for the bytes of each loaded section, which the caller
 * reads from the process. It also has a program header for each section with
 * code, because relocatable objects have none. A relocatable file whose
 * sections have addresses keeps them (elf/relocatable.h).
 *
 * The object is untrusted and may contain anything. Source: GDB manual, "JIT
 * Compilation Interface"; gABI.
 */
#ifndef PROF_PROC_JIT_IMAGE_H
#define PROF_PROC_JIT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* The maximum for an object, and for its sections in memory. */
	JIT_IMAGE_BYTES_MAX = 16 << 20,
	JIT_IMAGE_SECTIONS_MAX = 4096, /* further sections stay as in the object */
	/*
	 * Sections with code, limited by the number of segments in an ELF file.
	 */
	JIT_IMAGE_CODE_MAX = 128,
};

/* A section that is in memory. */
struct jit_image_part {
	uint64_t address;
	uint64_t offset; /* in the image */
	uint64_t len;	 /* never 0; address + len does not overflow */
	size_t section;	 /* its index */
	bool is_code;
};

struct jit_image {
	unsigned char *bytes;
	size_t len;
	struct jit_image_part *parts;
	size_t part_count, part_room;
};

/*
 * Copies the object. The caller must then fill the parts from the process's
 * memory. Returns false, with nothing to free, if it is not a 64-bit ELF file
 * of this machine's byte order, or has no code in memory.
 */
bool jit_image_read(const void *object, size_t len, struct jit_image *ret);
void jit_image_deinit(struct jit_image *image);

#endif
