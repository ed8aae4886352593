/*
 * Finds the file to read for the symbols of a module: its ELF file, the
 * kernel's debug information, or the map of JIT code.
 *
 * The names of kernel functions are not read from a file. The running kernel is
 * trusted and is queried in this process.
 */
#ifndef PROF_SYMBOL_SYMBOL_REQUEST_FILES_H
#define PROF_SYMBOL_SYMBOL_REQUEST_FILES_H

#include "proc/address_spaces.h"
#include "symbol/fetched_files.h"
#include "symbol/symbol_request.h"

/*
 * Files of kernels stay open until symbol_request_files_deinit(). All pointers
 * are borrowed.
 */
struct symbol_request_files {
	struct address_spaces *spaces;
	const char *proc;      /* like in struct symbolize_options */
	bool has_kernel_lines; /* also look up lines of the kernel */
	const struct fetched_files *fetched;
	struct opened_kernel **kernels; /* private, like the following members */
	size_t kernel_count, kernel_room;
};

void symbol_request_files_deinit(struct symbol_request_files *files);

/*
 * Finds the file that a worker must read for a symbol request, and fills the
 * request. If there is no file, sets its problem to the reason. The symbol
 * request must not be moved afterwards.
 */
void symbol_request_files_prepare(struct symbol_request_files *files,
				  struct symbol_request *request);

/* Returns the ELF file that is open for a module, or NULL if there is none. */
struct elf_file *symbol_request_files_elf(const struct symbol_request_files *files,
					  uint32_t module);

#endif
