/*
 * Builds the ELF file in memory that libdw reads: headers that prof writes, and
 * pointers to the debug sections of the original file. So libelf parses nothing
 * of the original file, and libdw opens no other file.
 */
#ifndef PROF_SYMBOL_LIBDW_FILE_H
#define PROF_SYMBOL_LIBDW_FILE_H

#include "elf/elf_file.h"

#include <elfutils/libdw.h>

enum { LIBDW_SECTIONS = 10 };

/*
 * The sections that libdw needs to find functions, names and lines. Missing
 * sections are empty.
 */
struct libdw_sections {
	struct bytes of[LIBDW_SECTIONS];
	uint64_t range_bytes; /* total size of the sections with range lists */
};

struct libdw_sections libdw_sections_of(struct elf_file *elf);

struct libdw_file;

/*
 * Opens the file. The sections must outlive it. Returns NULL if there is no
 * DWARF. Must not run in two threads at the same time, because the first call
 * of libelf sets a global variable.
 */
struct libdw_file *libdw_file_open(const struct libdw_sections *sections);
/* Accepts NULL. */
void libdw_file_close(struct libdw_file *file);

/* Returns NULL if `file` is NULL. */
Dwarf *libdw_file_dwarf(const struct libdw_file *file);

#endif
