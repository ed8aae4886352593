/*
 * DWARF of one module as elfutils reads it: the same answers as dwarf/dwarf.h, slower, for what
 * our own reader does not understand, and for comparing the two.
 *
 * libdw gets an ELF file of its own in memory: headers that we write, and the debug sections as
 * elf/elf_file.h found and decompressed them. So libelf parses nothing of the file, and libdw opens
 * no file: it has the supplementary file from us. Files may change while it reads them, and libdw
 * may crash or loop on malformed ones: only a confined process may call this (sandbox/confined.h).
 *
 * libdw is not thread-safe. Threads that resolve at the same time have one Dwarf each, which is
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
 * Looks up the sections; libdw is not called yet. alt: dwz's supplementary file, or NULL. Both must
 * outlive it. Never NULL.
 */
struct libdw *libdw_new(struct elf_file *debug, struct elf_file *alt);
void libdw_free(struct libdw *libdw);
DEFINE_CLEANUP(libdw, libdw_free)

/* The unit that covers vaddr, or LIBDW_NO_UNIT. The first call reads the ranges of all units. */
uint32_t libdw_unit_of(struct libdw *libdw, uint64_t vaddr);
/* The size of a unit: a measure of the work it takes. */
uint64_t libdw_unit_bytes(const struct libdw *libdw, uint32_t unit);

/* vaddrs: ascending, all of that unit. ret: one chain per address, allocated in the arena. */
void libdw_resolve(struct libdw *libdw, uint32_t unit, const uint64_t *vaddrs, size_t count,
		   struct arena *arena, struct inline_chain *ret);

#endif
