/*
 * Reads the DWARF of one module with elfutils. The results are the same as
 * those of dwarf/dwarf.h, but slower. It is used for units that prof's own
 * reader does not support, and to compare the two.
 *
 * libdw gets a separate ELF file in memory: headers that prof writes, and the
 * debug sections that elf/elf_file.h has found and decompressed. So libelf
 * parses nothing of the original file, and libdw opens no file; prof passes it
 * the supplementary file. Files may change while libdw reads them, and libdw
 * may crash or loop on malformed ones, so only a confined process may call this
 * (sandbox/confined.h).
 *
 * libdw is not thread-safe. Each concurrent thread has its own Dwarf, which is
 * kept for the next call.
 */
#ifndef PROF_SYMBOL_LIBDW_H
#define PROF_SYMBOL_LIBDW_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "dwarf/inline_chain.h"
#include "elf/elf_file.h"

#include <stddef.h>
#include <stdint.h>

struct libdw;

#define LIBDW_NO_UNIT UINT32_MAX

/*
 * Locates the sections without calling libdw. `alt` is dwz's supplementary
 * file, or NULL. Both files must outlive the result. Never returns NULL.
 */
struct libdw *libdw_new(struct elf_file *debug, struct elf_file *alt);
void libdw_free(struct libdw *libdw);
DEFINE_CLEANUP(libdw, libdw_free)

/*
 * Returns the unit that covers vaddr, or LIBDW_NO_UNIT. The first call reads
 * the ranges of all units.
 */
uint32_t libdw_unit_of(struct libdw *libdw, uint64_t vaddr);
/* Returns the size of a unit, an estimate of the work that it takes. */
uint64_t libdw_unit_bytes(const struct libdw *libdw, uint32_t unit);

/*
 * Stores one chain per address in `ret`, allocated in the arena. `vaddrs` must
 * be ascending and all covered by the unit.
 */
void libdw_resolve(struct libdw *libdw, uint32_t unit, const uint64_t *vaddrs, size_t count,
		   struct arena *arena, struct inline_chain *ret);

#endif
