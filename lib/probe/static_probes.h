/*
 * Reads the static probes (USDT) of an ELF file from its notes.
 *
 * In a program that uses sys/sdt.h, each probe is a nop instruction. A note
 * contains its address, provider and name, and the address of its semaphore, a
 * counter that is not 0 while the probe is traced. Prelinking moves code but
 * does not update notes, so each note also has the address of .stapsdt.base at
 * the time when the note was written.
 *
 * Source: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
 */
#ifndef PROF_PROBE_STATIC_PROBES_H
#define PROF_PROBE_STATIC_PROBES_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

struct static_probe {
	uint64_t vaddr;
	uint64_t semaphore_vaddr; /* 0 if there is none */
	struct bytes provider, name;
};

/*
 * Takes the next probe from the bytes of .note.stapsdt and skips other notes.
 * `base` is the vaddr of .stapsdt.base, or 0 if the section does not exist.
 * Returns false at the end or if the notes are malformed.
 */
bool static_probe_next(struct bytes *notes, bool is_32, uint64_t base, struct static_probe *ret);

#endif
