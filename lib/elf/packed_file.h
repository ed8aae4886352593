/*
 * ELF files that are compressed as a whole, as kernel modules are: .ko.xz, .ko.zst, .ko.gz. The
 * kind is known by the first bytes.
 */
#ifndef PROF_ELF_PACKED_FILE_H
#define PROF_ELF_PACKED_FILE_H

#include "elf/elf_file.h"

/* The largest modules have 400 MB with all their debug information. */
enum { PACKED_FILE_BYTES_MAX = 1 << 30 };

/*
 * Borrows fd. Fails if it cannot be decompressed, has more bytes, or is not an ELF file. Its bytes
 * are in memory, at first twice.
 */
MUST_CHECK struct error *packed_file_open(int fd, const char *name, struct elf_file **ret);

#endif
