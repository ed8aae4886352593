/*
 * Decodes what a record of the library says of a sample, an allocation or a free block. Pure and
 * bounded: any bytes give a record or false.
 */
#ifndef PROF_INSIDE_DECODE_H
#define PROF_INSIDE_DECODE_H

#include "inside/lane.h"
#include "perf/record.h"

/* Of INSIDE_CPU, INSIDE_ALLOC and INSIDE_FREE. pc_bit: of the pc among the registers. The bytes in
 * *ret are borrowed from the lane's record. */
bool inside_decode(const struct lane_record *from, unsigned pc_bit, struct record *ret);

/* The process that a process of INSIDE_START was forked by, and its name. */
struct inside_beginning {
	pid_t parent;
	bool is_exec;
	char name[16];
};
bool inside_decode_start(const struct lane_record *from, struct inside_beginning *ret);
/* The text of INSIDE_MAPS, borrowed. */
bool inside_decode_maps(const struct lane_record *from, struct bytes *ret);

#endif
