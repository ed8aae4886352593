/*
 * Opens ELF files that are compressed as a whole, like kernel modules: .ko.xz,
 * .ko.zst, .ko.gz. The first bytes determine the kind.
 */
#ifndef PROF_ELF_PACKED_FILE_H
#define PROF_ELF_PACKED_FILE_H

#include "elf/elf_file.h"

/* Upper bound, above the size of the largest modules with debug information. */
enum { PACKED_FILE_BYTES_MAX = 1 << 30 };

/*
 * Decompresses a file into memory, which for a moment holds it twice. Borrows
 * fd. Fails if the file cannot be decompressed, is too large, or is not an ELF
 * file.
 */
MUST_CHECK struct error *packed_file_open(int fd, const char *name, struct elf_file **ret);

#endif
