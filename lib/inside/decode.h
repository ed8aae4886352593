/*
 * Decodes the records of samples, allocations, frees, process starts and
 * mappings that libprof-inside.so writes. The functions are pure and
 * bounds-checked: for any bytes they return a record or false.
 */
#ifndef PROF_INSIDE_DECODE_H
#define PROF_INSIDE_DECODE_H

#include "inside/agent_ring.h"
#include "perf/record.h"

/*
 * Decodes INSIDE_CPU, INSIDE_ALLOC and INSIDE_FREE. `pc_bit` is the bit of the
 * pc in the register mask. The bytes in *ret are borrowed from the record.
 */
bool inside_decode(const struct agent_ring_record *from, unsigned pc_bit, struct record *ret);

/*
 * The content of INSIDE_START: the parent of the process, whether it starts by
 * an exec, and its name.
 */
struct inside_beginning {
	pid_t parent;
	bool is_exec;
	char name[16];
};
bool inside_decode_start(const struct agent_ring_record *from, struct inside_beginning *ret);
/* Returns the text of INSIDE_MAPS, borrowed from the record. */
bool inside_decode_maps(const struct agent_ring_record *from, struct bytes *ret);

#endif
