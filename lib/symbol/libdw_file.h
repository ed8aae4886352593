/*
 * An ELF file in memory as libdw sees it: headers that we write, and the debug sections of a file
 * where they are. libelf parses nothing of the file itself, and libdw opens no other.
 */
#ifndef PROF_SYMBOL_LIBDW_FILE_H
#define PROF_SYMBOL_LIBDW_FILE_H

#include "elf/elf_file.h"

#include <elfutils/libdw.h>

enum { LIBDW_SECTIONS = 10 };

/* What libdw needs of a file to find functions, names and lines; absent sections are empty. */
struct libdw_sections {
	struct bytes of[LIBDW_SECTIONS];
	uint64_t range_bytes; /* the size of those with lists of ranges */
};

struct libdw_sections libdw_sections_of(struct elf_file *elf);

struct libdw_file;

/*
 * The sections must outlive it. NULL if there is no DWARF. Not by two threads at the same time: the
 * first call of libelf sets a variable.
 */
struct libdw_file *libdw_file_open(const struct libdw_sections *sections);
/* Accepts NULL. */
void libdw_file_close(struct libdw_file *file);

/* NULL of NULL. */
Dwarf *libdw_file_dwarf(const struct libdw_file *file);

#endif
