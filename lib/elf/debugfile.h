/*
 * Where the symbols of a stripped file are: the build-id folder
 * (/usr/lib/debug/.build-id/ab/cdef….debug), then .gnu_debuglink beside the file, in .debug/ and
 * under /usr/lib/debug, checked by CRC-32 or build-id. And the supplementary file that dwz made
 * (.gnu_debugaltlink), checked by build-id. Source: GDB manual, "Separate Debug Files"; dwz(1).
 */
#ifndef PROF_ELF_DEBUGFILE_H
#define PROF_ELF_DEBUGFILE_H

#include "elf/image.h"

/* NULL when there is none. path: where the image was found, for the debug link. debug_dir: usually
 * "/usr/lib/debug". */
struct image *debugfile_find(struct image *image, const char *path, const char *debug_dir);
/* The supplementary file of an image that holds .debug_info; NULL when it names none or none is
 * found. */
struct image *debugfile_find_alt(struct image *debug, const char *debug_dir);

/* The symbols of functions that some distributions leave in a stripped file, as an ELF file in xz
 * (.gnu_debugdata): those that .dynsym has not. NULL: it has none. Source: GDB manual,
 * "MiniDebugInfo". */
struct image *debugfile_inside(struct image *image);

#endif
