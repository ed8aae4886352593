/*
 * Static probes (USDT) of an ELF file, from its notes.
 *
 * Where a program was built with sys/sdt.h, each probe is a nop instruction that a note describes:
 * its address, provider and name, and a counter that is not 0 while somebody traces (the
 * semaphore). Prelinking moves code, but not notes: .stapsdt.base was at `base` when the note was
 * written.
 * Source: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
 */
#ifndef PROF_PROBE_STATIC_PROBES_H
#define PROF_PROBE_STATIC_PROBES_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

struct static_probe {
	uint64_t vaddr;
	uint64_t semaphore_vaddr; /* 0: none */
	struct bytes provider, name;
};

/*
 * Takes the next probe from the bytes of .note.stapsdt; other notes are skipped. False at the end,
 * and where the notes are damaged. base: the vaddr of .stapsdt.base, 0: there is none.
 */
bool static_probe_next(struct bytes *notes, bool is_32, uint64_t base, struct static_probe *ret);

#endif
