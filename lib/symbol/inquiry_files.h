/*
 * Which file is read for the names of a module: its ELF file, a kernel's debug information, or the
 * list of code that was compiled at run time.
 *
 * The names of the kernel's functions are not read from a file: it is trusted, and asked in this
 * process.
 */
#ifndef PROF_SYMBOL_INQUIRY_FILES_H
#define PROF_SYMBOL_INQUIRY_FILES_H

#include "proc/address_spaces.h"
#include "symbol/fetched_files.h"
#include "symbol/inquiry.h"

/* Files of kernels stay open until inquiry_files_deinit(). Borrows what it points to. */
struct inquiry_files {
	struct address_spaces *spaces;
	const char *proc;      /* as in struct symbolize_options */
	bool has_kernel_lines; /* lines of a kernel are looked up, too */
	const struct fetched_files *fetched;
	struct opened_kernel **kernels; /* private, as all below */
	size_t kernel_count, kernel_room;
};

void inquiry_files_deinit(struct inquiry_files *files);

/*
 * Finds the file that a worker is to read for an inquiry, and fills its request; or its problem,
 * which says why there is none. The inquiry must stay where it is.
 */
void inquiry_files_prepare(struct inquiry_files *files, struct inquiry *inquiry);

/* The ELF file that is open for a module. NULL: none. */
struct elf_file *inquiry_files_elf(const struct inquiry_files *files, uint32_t module);

#endif
