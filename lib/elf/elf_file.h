/*
 * An open ELF file: its sections, its build-id, and the conversion between file
 * offsets and vaddrs.
 *
 * The file is mapped as a whole and its descriptor is closed. So an ELF file
 * costs address space, but neither descriptors nor memory, and stays valid when
 * its name or its process disappears. Opening reads the ELF header, the program
 * headers and the build-id, which are usually in the first page. Sections are
 * looked up on demand. Opening is therefore cheap enough for every mapping of
 * the machine.
 *
 * Every offset is checked: a malformed file causes an error or an empty
 * section, but never a read outside the file. Headers are read once, into
 * private memory. Sections are read in place unless they are compressed. Since
 * the owner of the file may write to it at any time, code must not rely on two
 * reads of a byte to be equal. A section cannot have more bytes than the file
 * has data, because the rest would be holes.
 *
 * Not thread-safe while sections are looked up. All threads may read a section
 * that elf_file_section() has returned. Source: elf(5); gABI (SHF_COMPRESSED);
 * .zdebug_* as written by older binutils.
 */
#ifndef PROF_ELF_ELF_FILE_H
#define PROF_ELF_ELF_FILE_H

#include "base/bytes.h"
#include "base/error.h"
#include "elf/build_id.h"
#include "elf/file_version.h"
#include "elf/section.h"
#include "elf/unpack_budget.h"

#include <elf.h>
#include <sys/types.h>

/* A PT_LOAD segment. */
struct elf_file_segment {
	uint64_t offset;       /* in the file */
	uint64_t vaddr;	       /* as linked */
	uint64_t file_bytes;   /* size in the file */
	uint64_t memory_bytes; /* size in memory; the rest is zero (.bss) */
	bool executable, writable;
};

struct elf_file;

/*
 * Opens a file. Takes ownership of fd, even on failure. `name` is for messages
 * and is copied. Fails if the file is not an ELF file or has another byte order
 * than this machine. Other architectures (aarch64 on x86_64) and word sizes are
 * accepted.
 */
MUST_CHECK struct error *elf_file_open(int fd, const char *name, struct elf_file **ret);
/* Like elf_file_open(), for bytes in memory (the vdso), which are copied. */
MUST_CHECK struct error *elf_file_from_memory(const void *data, size_t len, const char *name,
					      struct elf_file **ret);
/*
 * Like elf_file_from_memory(), for bytes from a process of this user. The
 * result is treated like a file of the user.
 */
MUST_CHECK struct error *elf_file_from_user(const void *data, size_t len, const char *name,
					    uid_t user, struct elf_file **ret);
/*
 * Opens the ELF file that a section contains, compressed with xz. Returns NULL
 * if there is none. `elf` must outlive the result.
 */
struct elf_file *elf_file_inside(struct elf_file *elf, const char *section);
/*
 * Returns the same file for another thread, with its own sections. Either may
 * be freed first. The bytes of uncompressed sections are valid as long as one
 * of them exists.
 */
struct elf_file *elf_file_share(const struct elf_file *elf);
void elf_file_free(struct elf_file *elf);
DEFINE_CLEANUP(elf_file, elf_file_free)

/*
 * Sets the budget for further decompression. It must outlive the ELF file,
 * which otherwise has its own budget. elf_file_share_budget() uses the budget
 * of another ELF file, which must outlive this one.
 */
void elf_file_set_budget(struct elf_file *elf, struct unpack_budget *budget);
void elf_file_share_budget(struct elf_file *elf, struct elf_file *with);

/*
 * Returns a number that is unique among all files that this process has opened,
 * even after the file is freed. Numbers start at 1.
 */
uint64_t elf_file_number(const struct elf_file *elf);
const char *elf_file_name(const struct elf_file *elf);
/* Returns the whole file. */
struct bytes elf_file_contents(const struct elf_file *elf);
/* Returns the GNU build-id, with len 0 if the file has none. */
const struct build_id *elf_file_build_id(const struct elf_file *elf);

/*
 * These return the file's owner when it was opened, whether a user other than
 * root and prof's own user may write to it, whether reads may hang, and its
 * size without holes (file_origin.h). A file from memory belongs to prof's
 * user, unless it came from a process of another user.
 */
uid_t elf_file_owner(const struct elf_file *elf);
bool elf_file_is_untrusted(const struct elf_file *elf);
bool elf_file_may_stall(const struct elf_file *elf);
uint64_t elf_file_data_bytes(const struct elf_file *elf);
/* Returns the version of the file when it was opened; zero for memory. */
struct file_version elf_file_version(const struct elf_file *elf);

/* Returns the PT_LOAD segments in the order of the program headers. */
const struct elf_file_segment *elf_file_segments(const struct elf_file *elf, unsigned *count);
/*
 * Converts between file offsets and vaddrs. All other code must use these
 * functions. They return false if no executable segment contains the address.
 * Segments are mapped in whole pages, so the rest of a segment's first and last
 * page belongs to it unless another executable segment covers it.
 */
bool elf_file_offset_to_vaddr(const struct elf_file *elf, uint64_t offset, uint64_t *vaddr);
bool elf_file_vaddr_to_offset(const struct elf_file *elf, uint64_t vaddr, uint64_t *offset);

/*
 * Finds a section by name; ".debug_info" also finds ".zdebug_info". It is
 * decompressed once and kept as long as the ELF file.
 */
struct elf_section elf_file_section(struct elf_file *elf, const char *name);
/*
 * Decompresses sections with these names at the same time, for later calls of
 * elf_file_section(). Names may be NULL.
 */
void elf_file_unpack(struct elf_file *elf, const char *const *names, size_t count, elf_run *run,
		     void *user);
/*
 * Returns the vaddr of a symbol of .symtab or .dynsym.
 *
 * Symbols of a relocatable file (ET_REL, a kernel module) have no vaddrs before
 * the file is loaded. prof assigns consecutive vaddrs to its sections unless
 * they have some (relocatable.h), and relocates its DWARF to them.
 * elf_file_section() and elf_file_code() return these vaddrs.
 */
uint64_t elf_file_symbol_vaddr(struct elf_file *elf, const Elf64_Sym *symbol);
/*
 * Finds the next section with that name after section number *index, and sets
 * *index to its number. Returns false if there is none. Start with 0. Object
 * files have one section for each COMDAT group.
 */
bool elf_file_next_section(struct elf_file *elf, const char *name, size_t *index,
			   struct elf_section *ret);
/* Returns true if the section exists. Does not decompress anything. */
bool elf_file_has_section(struct elf_file *elf, const char *name);

/*
 * Returns the number of sections with code and stores their address ranges in
 * *ret, which the caller frees. If there are none, uses the executable
 * segments.
 */
size_t elf_file_code(struct elf_file *elf, struct elf_code **ret);

/*
 * Returns true if the address is in a writable segment, so that it may be that
 * of a variable.
 */
bool elf_file_is_data(const struct elf_file *elf, uint64_t vaddr);
/*
 * Returns true if the section with this number contains variables that a
 * program can change.
 */
bool elf_file_section_is_data(struct elf_file *elf, size_t section);

/*
 * Drops the pages of a section that has been read (MADV_DONTNEED). Later reads,
 * including those of concurrent threads, fetch the same bytes from the file
 * again. Does nothing for decompressed sections and for memory that is not
 * backed by a file.
 */
void elf_file_release(const struct elf_file *elf, struct bytes part);
/* Like elf_file_release(), for the whole file. */
void elf_file_release_all(const struct elf_file *elf);
/*
 * Returns the bytes from a vaddr to the end of its read-only segment in the
 * file. Returns nothing for other addresses.
 */
struct bytes elf_file_constants(const struct elf_file *elf, uint64_t vaddr);
/*
 * Like elf_file_constants(), for any segment. The values that a program has
 * written to its own copy are not in the file.
 */
struct bytes elf_file_loaded(const struct elf_file *elf, uint64_t vaddr);
/* Returns the bytes of PT_DYNAMIC, or nothing if there is none. */
struct bytes elf_file_dynamic(const struct elf_file *elf);
/*
 * Copies a part of the file (from a section or from elf_file_constants()) into
 * private memory, which no other process can change. Each byte is read once.
 * Returns false if the file no longer contains the part.
 */
bool elf_file_copy(const struct elf_file *elf, struct bytes from, void *into);
/*
 * Like elf_file_copy(), for a whole decompressed section. *ret is the result of
 * elf_file_section(), but its data is in *memory, which the caller frees.
 * Returns false, with *memory NULL, if the section is empty, has more than
 * max_bytes, or cannot be read.
 */
bool elf_file_copy_section(struct elf_file *elf, const char *name, size_t max_bytes,
			   struct elf_section *ret, void **memory);
/*
 * Copies len bytes from a vaddr. Returns false if the segment has fewer bytes.
 * Never blocks on a file that may hang: in that case returns false if the bytes
 * are not in memory, as they are for running code.
 */
bool elf_file_read(const struct elf_file *elf, uint64_t vaddr, void *into, size_t len);

/*
 * Returns the vaddr of .eh_frame_hdr from the program headers
 * (PT_GNU_EH_FRAME), or 0 if there is none. The program itself uses this
 * address, so it is right even if the section headers are wrong. Source: LSB,
 * "Exception Frames".
 */
uint64_t elf_file_unwind_table(const struct elf_file *elf);
/* Returns the architecture: EM_X86_64, EM_AARCH64, … (elf.h). */
uint16_t elf_file_machine(const struct elf_file *elf);
/* Returns true for ELFCLASS32. */
bool elf_file_is_32(const struct elf_file *elf);
/*
 * Returns the vaddr of the program's entry, or 0 if it has none. The files that
 * perf inject writes for JIT code have an entry, too, although nothing loads
 * them.
 */
uint64_t elf_file_entry(const struct elf_file *elf);

/*
 * Returns true if the file was truncated or overwritten after it was opened.
 * Once true, the result stays true.
 *
 * Reading a page that no longer exists raises SIGBUS. prof's signal handler
 * replaces the page by zeros, so call this function before you rely on data
 * that was read. It costs a system call. It needs neither a descriptor nor the
 * file's name, which may refer to another file by now: it reads pages through
 * the kernel, which returns EFAULT instead of raising SIGBUS, and compares the
 * ELF header and build-id with those at opening.
 */
bool elf_file_changed(struct elf_file *elf);

#endif
