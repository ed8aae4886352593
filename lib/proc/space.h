/*
 * Address spaces of all processes we know of, through time: from (pid, pc, time) to module and
 * offset.
 *
 * A mapping is valid from the record that made it until the one that replaced it (an overlapping
 * mapping, exec, exit), so a sample that is handled after an exec still resolves in the program it
 * was taken in. Changes may come slightly out of order (CPUs' rings are read one after the other);
 * they take effect at their own time. Only executable mappings are kept.
 *
 * Mappings refer to modules (proc/module.h), which live as long as `spaces`.
 */
#ifndef PROF_PROC_SPACE_H
#define PROF_PROC_SPACE_H

#include "proc/module.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct location {
	module_id module;
	uint64_t offset; /* in the module: a file offset for files and the vdso, see module_kind for
			    the others */
	/*
	 * The mapping, so that a caller may keep it for the next pc of the same (pid, time); empty
	 * when there is none.
	 */
	uint64_t start, end;
};

struct spaces;

/* proc: "/proc", or a folder made to look like it, for tests. */
struct spaces *spaces_new(const char *proc);
/* Of a recording: its processes are none of those in /proc. */
struct spaces *spaces_new_recorded(const struct recorded_files *files);
void spaces_free(struct spaces *spaces);
DEFINE_CLEANUP(spaces, spaces_free)

/* Of executable mappings only; others are none of our business, perf does not report them. */
void spaces_map(struct spaces *spaces, pid_t pid, uint64_t time_ns, const struct mapping *mapping);
/* The child gets the mappings that the parent had at that time, even those that are heard of later.
 * Not for new threads. */
void spaces_fork(struct spaces *spaces, pid_t parent, pid_t child, uint64_t time_ns);
void spaces_exec(struct spaces *spaces, pid_t pid, uint64_t time_ns);
void spaces_exit(struct spaces *spaces, pid_t pid, uint64_t time_ns);
/*
 * Live only. The executable mappings in /proc/PID/maps, as of time_ns; of a process that nothing
 * was known of, as of ever, so that its samples from before the snapshot resolve too. A process
 * that is gone has none; mappings made known by a later record win.
 */
void spaces_snapshot(struct spaces *spaces, pid_t pid, uint64_t time_ns);
/* Samples older than this will not come any more: forget what ended before. */
void spaces_forget(struct spaces *spaces, uint64_t before_ns);

/* User pcs. False (and MODULE_UNKNOWN, offset = pc) when pc lies in no executable mapping of pid at
 * that time. */
bool spaces_locate(struct spaces *spaces, pid_t pid, uint64_t time_ns, uint64_t pc,
		   struct location *ret);
/* The module of kernel addresses. */
module_id spaces_kernel(struct spaces *spaces);

uint32_t spaces_module_count(const struct spaces *spaces);
const struct module *spaces_module(const struct spaces *spaces, module_id id);

#endif
