/*
 * Mappings that no record has told of: libprof-inside.so tells of those at a program's start, not
 * of libraries that are loaded later nor of JIT code. Where a pc of a stack is in no known mapping,
 * the mappings of its process are read again.
 *
 * Reading takes 5 % of the time at most. Where it did not help, the pc is most likely none: then it
 * is read again after 10 ms at the earliest.
 */
#ifndef PROF_RECORD_FRESH_MAPS_H
#define PROF_RECORD_FRESH_MAPS_H

#include "base/idmap.h"
#include "inside/source.h"
#include "proc/address_spaces.h"

struct fresh_maps {
	struct address_spaces *spaces;	    /* borrowed */
	const struct inside_source *inside; /* borrowed; says which processes may be read */
	struct idmap due_ms; /* pid → when its mappings may be read again, since start_ns */
	uint64_t start_ns;
};

void fresh_maps_deinit(struct fresh_maps *fresh);
/*
 * Reads the mappings that the process has now, as of time_ns. True: the pc is in one of them. A
 * process that does not share the library's file has none (inside/members.h).
 */
bool fresh_maps_find(struct fresh_maps *fresh, pid_t pid, uint64_t time_ns, uint64_t pc);

#endif
