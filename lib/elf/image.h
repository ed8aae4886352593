/*
 * One ELF file, opened: its sections, its build-id, and the way from file offsets to addresses.
 *
 * The file is mapped whole and its descriptor closed, so an image costs address space, not
 * descriptors or memory, and outlives the file's name and its process. Opening reads the ELF and
 * program headers and the build-id, which share the first page; sections are looked up when they
 * are asked for: opening is cheap enough for every mapping of the machine. Every offset in the file
 * is checked; a lying file gives an error or an empty section, never a read outside it. Not
 * thread-safe while sections are being looked up: a section that image_section() has given once may
 * be read by all threads. Source: elf(5), gABI, also for SHF_COMPRESSED; "GNU build-id" note;
 * .zdebug_* as binutils wrote them before.
 */
#ifndef PROF_ELF_IMAGE_H
#define PROF_ELF_IMAGE_H

#include "base/bytes.h"
#include "base/error.h"

enum { BUILD_ID_MAX = 64, BUILD_ID_HEX_BYTES = 2 * BUILD_ID_MAX + 1 };

struct build_id {
	uint8_t bytes[BUILD_ID_MAX];
	unsigned len; /* 0: none */
};

/* A loadable, executable or not, part of the file. */
struct image_segment {
	uint64_t offset;     /* in the file */
	uint64_t vaddr;	     /* where the linker put it */
	uint64_t file_bytes; /* present in the file */
	bool executable, writable;
};

struct image_section {
	struct bytes
		data;	/* decompressed; empty when the section is absent, SHT_NOBITS or damaged */
	uint64_t vaddr; /* 0 when it is not loaded */
	bool present;
	/* Present, but damaged, or compressed in a way that this prof was built without (zstd). */
	bool unreadable;
};

struct image;

/* Takes fd in every case. `name` is for messages and is copied. Fails on what is no ELF file of
 * this machine's byte order; another machine (aarch64 on x86_64) or word size is fine. */
MUST_CHECK struct error *image_open(int fd, const char *name, struct image **ret);
/* The same for bytes in memory (the vdso), which are copied. */
MUST_CHECK struct error *image_from_memory(const void *data, size_t len, const char *name,
					   struct image **ret);
void image_free(struct image *image);
DEFINE_CLEANUP(image, image_free)

const char *image_name(const struct image *image);
/* The whole file, as it is on the disk. */
struct bytes image_contents(const struct image *image);
/* The GNU build-id note; len 0 when there is none. */
const struct build_id *image_build_id(const struct image *image);
/* No build-id is equal to none. */
bool build_id_equal(const struct build_id *a, const struct build_id *b);
/* As people and file names write it; empty when there is none. */
void build_id_hex(const struct build_id *id, char hex[BUILD_ID_HEX_BYTES]);

/* PT_LOAD segments in the order of the program headers. */
const struct image_segment *image_segments(const struct image *image, unsigned *count);
/*
 * The one place where a file offset becomes a vaddr (and back). False: no executable segment holds
 * it. Segments are mapped in whole pages, so the rest of a segment's first and last page counts as
 * its own where no other executable segment claims it.
 */
bool image_offset_to_vaddr(const struct image *image, uint64_t offset, uint64_t *vaddr);
bool image_vaddr_to_offset(const struct image *image, uint64_t vaddr, uint64_t *offset);

/* By name (".debug_info" also finds ".zdebug_info"); decompressed once, kept as long as the image.
 */
struct image_section image_section(struct image *image, const char *name);
/* The same question alone, which decompresses nothing. */
bool image_has_section(struct image *image, const char *name);

/* Where the sections lie that hold code; their number. *ret is to be freed. */
struct image_code {
	uint64_t start, end; /* vaddrs */
};

size_t image_code(struct image *image, struct image_code **ret);

/*
 * Gives the memory of what has been read of a section back to the kernel: what is read again comes
 * from the file again, unchanged, also for threads that are reading it right now. Nothing happens
 * to what is decompressed or was never in a file.
 */
void image_release(const struct image *image, struct bytes part);
/* From a vaddr of a read-only loaded segment to the end of it in the file; empty outside. */
struct bytes image_constants(const struct image *image, uint64_t vaddr);
/* The first bytes of them; false where there are fewer. */
bool image_read(const struct image *image, uint64_t vaddr, void *into, size_t len);

/*
 * The vaddr of .eh_frame_hdr by the program headers (PT_GNU_EH_FRAME), which the program itself
 * relies on, whatever became of the section headers; 0: there is none. LSB, "Exception Frames".
 */
uint64_t image_unwind_table(const struct image *image);
/* Of 32-bit words. */
bool image_is_32(const struct image *image);
/*
 * The vaddr where the program begins; 0: nowhere. perf inject writes a file of each function that
 * was made at run time, and calls its beginning that, too: nothing loads such a file.
 */
uint64_t image_entry(const struct image *image);

/*
 * True when the file was cut short or overwritten since it was opened; once true, always. Pages
 * that are gone are a SIGBUS to read, of which a program that is to survive makes zeros: ask before
 * relying on what is read; costs two system calls. Found without a descriptor and without the name
 * (which may lead elsewhere by now): the pages are read through the kernel, which says EFAULT where
 * we would get the signal, and the ELF header and build-id must still be those that were seen at
 * opening.
 */
bool image_changed(struct image *image);

#endif
