/*
 * An open ELF file: its sections, its build-id, and the conversion between file offsets and
 * vaddrs.
 *
 * The file is mapped whole and its descriptor is closed, so an ELF file costs address space, not
 * descriptors or memory, and outlives its name and its process. Opening reads the ELF header, the
 * program headers and the build-id, which share the first page; sections are looked up on demand.
 * Opening is therefore cheap enough for every mapping of the machine.
 *
 * Every offset in the file is checked: a malformed file gives an error or an empty section, never
 * a read outside the file. Headers are read once, into private memory. Sections are not, unless
 * they are compressed: the owner of the file may write to it while it is read, so no byte of one
 * may be read twice where the second must agree with the first. A section cannot have more bytes
 * than the file has data: the rest would be holes.
 *
 * Not thread-safe while sections are looked up; a section that elf_file_section() has returned may
 * be read by all threads. Source: elf(5); gABI (SHF_COMPRESSED); .zdebug_* as older binutils wrote
 * them.
 */
#ifndef PROF_ELF_ELF_FILE_H
#define PROF_ELF_ELF_FILE_H

#include "base/bytes.h"
#include "base/error.h"
#include "elf/build_id.h"
#include "elf/section.h"
#include "elf/unpack_budget.h"

#include <elf.h>
#include <sys/types.h>

/* A PT_LOAD segment. */
struct elf_file_segment {
	uint64_t offset;       /* in the file */
	uint64_t vaddr;	       /* as linked */
	uint64_t file_bytes;   /* present in the file */
	uint64_t memory_bytes; /* the rest is zero (.bss) */
	bool executable, writable;
};

struct elf_file;

/*
 * Takes fd, also on failure. `name` is for messages and is copied. Fails if the file is not an ELF
 * file of this machine's byte order; another architecture (aarch64 on x86_64) or word size is
 * accepted.
 */
MUST_CHECK struct error *elf_file_open(int fd, const char *name, struct elf_file **ret);
/* The same for bytes in memory (the vdso), which are copied. */
MUST_CHECK struct error *elf_file_from_memory(const void *data, size_t len, const char *name,
					      struct elf_file **ret);
/* The same for bytes of a process of this user, as if it had a file of them. */
MUST_CHECK struct error *elf_file_from_user(const void *data, size_t len, const char *name,
					    uid_t user, struct elf_file **ret);
/*
 * An ELF file that a section holds, compressed with xz; NULL if there is none. `elf` must outlive
 * it.
 */
struct elf_file *elf_file_inside(struct elf_file *elf, const char *section);
/*
 * The same file for another thread, with sections of its own. Either may be freed first; the bytes
 * of uncompressed sections live as long as one of them.
 */
struct elf_file *elf_file_share(const struct elf_file *elf);
void elf_file_free(struct elf_file *elf);
DEFINE_CLEANUP(elf_file, elf_file_free)

/*
 * The budget of what is decompressed from now on, which must outlive the ELF file; without one, it
 * has a budget of its own. Shared: that of another ELF file, which must outlive this one.
 */
void elf_file_set_budget(struct elf_file *elf, struct unpack_budget *budget);
void elf_file_share_budget(struct elf_file *elf, struct elf_file *with);

/* From 1; no other file that this process has opened has it, also after this one was freed. */
uint64_t elf_file_number(const struct elf_file *elf);
const char *elf_file_name(const struct elf_file *elf);
/* The whole file. */
struct bytes elf_file_contents(const struct elf_file *elf);
/* The GNU build-id note; len 0 if the file has none. */
const struct build_id *elf_file_build_id(const struct elf_file *elf);

/*
 * Whose the file was when it was opened, whether somebody other than root and prof's own user may
 * write to it, also now, and its bytes without holes: see file_origin.h. What was opened from
 * memory is prof's own, unless it is of another user's process.
 */
uid_t elf_file_owner(const struct elf_file *elf);
bool elf_file_is_foreign(const struct elf_file *elf);
bool elf_file_may_stall(const struct elf_file *elf);
uint64_t elf_file_data_bytes(const struct elf_file *elf);

/* PT_LOAD segments in the order of the program headers. */
const struct elf_file_segment *elf_file_segments(const struct elf_file *elf, unsigned *count);
/*
 * The only conversion between file offsets and vaddrs. False if no executable segment holds the
 * address. Segments are mapped in whole pages, so the rest of a segment's first and last page
 * counts as its own unless another executable segment claims it.
 */
bool elf_file_offset_to_vaddr(const struct elf_file *elf, uint64_t offset, uint64_t *vaddr);
bool elf_file_vaddr_to_offset(const struct elf_file *elf, uint64_t vaddr, uint64_t *offset);

/*
 * By name (".debug_info" also finds ".zdebug_info"). Decompressed once and kept as long as the ELF
 * file.
 */
struct elf_section elf_file_section(struct elf_file *elf, const char *name);
/* Decompresses sections of these names (NULL: none) at the same time, for elf_file_section(). */
void elf_file_unpack(struct elf_file *elf, const char *const *names, size_t count, elf_run *run,
		     void *user);
/*
 * The vaddr of a symbol of .symtab or .dynsym. A relocatable file (ET_REL, a kernel module) has
 * none before it is loaded: prof gives its sections vaddrs one after the other, unless they have
 * some (relocatable.h), which elf_file_section() and elf_file_code() know, and relocates its DWARF
 * to them.
 */
uint64_t elf_file_symbol_vaddr(struct elf_file *elf, const Elf64_Sym *symbol);
/*
 * The next section of that name after number *index, which becomes its number; false if there is
 * none. Begin with 0. Objects have one for each COMDAT group.
 */
bool elf_file_next_section(struct elf_file *elf, const char *name, size_t *index,
			   struct elf_section *ret);
/* Whether the section exists; decompresses nothing. */
bool elf_file_has_section(struct elf_file *elf, const char *name);

/*
 * The address ranges of the sections that hold code, or of the executable segments if no section
 * does; returns their number. The caller frees *ret.
 */
size_t elf_file_code(struct elf_file *elf, struct elf_code **ret);

/* Whether it is the address of a variable, or may be: a writable segment holds it. */
bool elf_file_is_data(const struct elf_file *elf, uint64_t vaddr);
/* Whether this section, by its number, holds variables that a program can change. */
bool elf_file_section_is_data(struct elf_file *elf, size_t section);

/*
 * Drops the pages of a section that has been read (MADV_DONTNEED). Later reads, also by threads
 * that read right now, fetch the same bytes from the file again. Does nothing for decompressed
 * sections and for memory that is not backed by a file.
 */
void elf_file_release(const struct elf_file *elf, struct bytes part);
/* The same for the whole file. */
void elf_file_release_all(const struct elf_file *elf);
/*
 * The bytes from a vaddr to the end of its read-only segment in the file; empty for other
 * addresses.
 */
struct bytes elf_file_constants(const struct elf_file *elf, uint64_t vaddr);
/* The same for any segment. What a program writes to its own copy is not in the file. */
struct bytes elf_file_loaded(const struct elf_file *elf, uint64_t vaddr);
/* The bytes of PT_DYNAMIC; empty if there is none. */
struct bytes elf_file_dynamic(const struct elf_file *elf);
/*
 * Copies a part of the file (of a section, of elf_file_constants()) into private memory, which
 * nobody else can change. Each byte is read once. False if the file no longer has it.
 */
bool elf_file_copy(const struct elf_file *elf, struct bytes from, void *into);
/*
 * The same for a whole section, decompressed: *ret is as of elf_file_section(), but with its data
 * in *memory, which the caller frees. False, with *memory NULL, if the section has no bytes or more
 * than max_bytes, or if they cannot be read.
 */
bool elf_file_copy_section(struct elf_file *elf, const char *name, size_t max_bytes,
			   struct elf_section *ret, void **memory);
/*
 * Copies the first len bytes from a vaddr; false if there are fewer. Never waits for a file that
 * may stall: false if they are not in memory, where code is that runs.
 */
bool elf_file_read(const struct elf_file *elf, uint64_t vaddr, void *into, size_t len);

/*
 * The vaddr of .eh_frame_hdr from the program headers (PT_GNU_EH_FRAME), which the program itself
 * relies on whatever the section headers say; 0 if there is none. Source: LSB, "Exception Frames".
 */
uint64_t elf_file_unwind_table(const struct elf_file *elf);
/* The architecture: EM_X86_64, EM_AARCH64, … (elf.h). */
uint16_t elf_file_machine(const struct elf_file *elf);
/* True for ELFCLASS32. */
bool elf_file_is_32(const struct elf_file *elf);
/*
 * The vaddr of the program's entry; 0 if it has none. The files that perf inject writes for
 * functions compiled at run time have an entry too, although nothing loads them.
 */
uint64_t elf_file_entry(const struct elf_file *elf);

/*
 * True if the file was truncated or overwritten since it was opened; once true, always true.
 * Reading a page that is gone raises SIGBUS, which prof's signal handler turns into zeros: ask
 * before relying on what was read. Costs a system call. Works without a descriptor and without
 * the file's name (which may name another file by now): pages are read through the kernel, which
 * returns EFAULT instead of raising SIGBUS, and the ELF header and build-id must still be those
 * seen at opening.
 */
bool elf_file_changed(struct elf_file *elf);

#endif
