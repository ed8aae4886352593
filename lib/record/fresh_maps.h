/*
 * Mappings that no record has told of. Where a pc of a stack is in no known mapping, the mappings
 * of its process are read from /proc/PID/maps.
 *
 * The kernel writes no record for mremap(2), and that of mmap(2) has the pid of the process that
 * called it: others that share its address space (CLONE_VM without CLONE_THREAD) map the same.
 * libprof-inside.so tells of the mappings at a program's start, not of libraries that are loaded
 * later nor of JIT code.
 *
 * Any process can have samples outside its mappings, so what reading costs is bounded. Of a process
 * it takes 5 % of the time at most. Where it did not help, the pc is most likely none: then it is
 * read again after 10 ms at the earliest. With perf events that pause doubles each time up to
 * 320 ms, all processes together take 50 ms of each second, and of each no more than the first
 * 1 MB of text is read.
 */
#ifndef PROF_RECORD_FRESH_MAPS_H
#define PROF_RECORD_FRESH_MAPS_H

#include "base/idmap.h"
#include "base/time_share.h"
#include "inside/source.h"
#include "proc/address_spaces.h"

struct fresh_maps {
	struct address_spaces *spaces;	    /* borrowed */
	const struct inside_source *inside; /* borrowed; says which processes may be read; NULL:
					       all, as the kernel names them */
	struct idmap due_ms;	/* pid → when its mappings may be read again, since start_ns */
	struct idmap pauses_ms; /* pid → the pause after it was last read in vain */
	struct time_share share;
	uint64_t start_ns;
};

void fresh_maps_deinit(struct fresh_maps *fresh);
/*
 * Reads the mappings that the process has now, as of time_ns. True: the pc is in one of them. A
 * process that does not share the library's file has none (inside/members.h).
 */
bool fresh_maps_find(struct fresh_maps *fresh, pid_t pid, uint64_t time_ns, uint64_t pc);

#endif
