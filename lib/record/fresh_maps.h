/*
 * Finds mappings for which no record was written. If a pc of a stack is in no
 * known mapping, the mappings of its process are read from /proc/PID/maps.
 *
 * The kernel writes no record for mremap(2). A record of mmap(2) has the pid of
 * the caller, although other processes may share the address space (CLONE_VM
 * without CLONE_THREAD). The preloaded agent reports mappings at program start
 * and those of JIT code, but not libraries that are loaded later.
 *
 * A process can have any number of samples outside its mappings, so the cost of
 * reading is bounded. It takes at most 5 % of the time per process. If reading
 * did not help, the pc is most likely invalid, and the next read is at least 10
 * ms later. With perf events this pause doubles each time up to 320 ms, reads
 * of all processes take at most 50 ms per second, and at most 1 MB of text is
 * read per process.
 */
#ifndef PROF_RECORD_FRESH_MAPS_H
#define PROF_RECORD_FRESH_MAPS_H

#include "base/idmap.h"
#include "base/time_share.h"
#include "inside/source.h"
#include "proc/address_spaces.h"

struct fresh_maps {
	struct address_spaces *spaces;	    /* borrowed */
	const struct inside_source *inside; /* borrowed; selects the processes that may be read;
					       NULL for all processes that the kernel names */
	struct idmap due_ms;	/* pid → earliest time of the next read, since start_ns */
	struct idmap pauses_ms; /* pid → pause after the last read that did not help */
	struct time_share share;
	uint64_t start_ns;
};

void fresh_maps_deinit(struct fresh_maps *fresh);
/*
 * Reads the mappings that the process has at time_ns. Returns true if one of
 * them contains the pc. A process that does not share the agent's buffer has no
 * mappings here (inside/members.h).
 */
bool fresh_maps_find(struct fresh_maps *fresh, pid_t pid, uint64_t time_ns, uint64_t pc);

#endif
