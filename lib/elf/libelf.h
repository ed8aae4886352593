/*
 * The one door to libelf outside lib/elf: for the call-frame reader (libdw wants an Elf handle) and
 * the symbol tables.
 */
#ifndef PROF_ELF_LIBELF_H
#define PROF_ELF_LIBELF_H

#include "elf/image.h"

#include <libelf.h>

/* Borrowed, lives as long as the image. libelf is not thread-safe: one thread an image. */
Elf *image_elf(struct image *image);

#endif
