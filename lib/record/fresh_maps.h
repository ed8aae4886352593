/*
 * Mappings that no record has told of: libprof-inside.so tells of those at a program's start, not
 * of libraries that are loaded later nor of JIT code. Where a sample's pc is in no known mapping,
 * the mappings of its process are read again, ten times per second at most.
 */
#ifndef PROF_RECORD_FRESH_MAPS_H
#define PROF_RECORD_FRESH_MAPS_H

#include "base/idmap.h"
#include "perf/record.h"
#include "proc/address_spaces.h"

struct fresh_maps {
	struct idmap read_ms; /* pid → when its mappings were last read, since start_ns */
	uint64_t start_ns;
};

void fresh_maps_deinit(struct fresh_maps *fresh);
/* To be called before the record is given to a session with these address spaces. */
void fresh_maps_feed(struct fresh_maps *fresh, struct address_spaces *spaces,
		     const struct record *record);

#endif
