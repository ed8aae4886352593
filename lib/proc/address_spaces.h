/*
 * Maintains the address spaces of all known processes over time, and resolves
 * (pid, pc, time) to (module, offset).
 *
 * A mapping is valid from the time of its record until an overlapping mapping,
 * an exec or an exit replaces it. So a sample that is processed after an exec
 * still resolves in the program in which it was taken. Changes may arrive
 * slightly out of order, because the rings of the CPUs are read one after the
 * other. Each takes effect at the time of its record. Only executable mappings
 * are kept. Memory that replaced a file's text is treated as that text
 * (proc/copied_text.h).
 *
 * Mappings refer to modules (proc/module.h). A module with samples lives as
 * long as the address spaces.
 *
 * Memory is bounded, whatever processes map. The mapping tables and processes
 * share one limit in bytes, and modules without samples have another. Beyond
 * the limit, processes of the user with the highest usage lose mappings
 * (proc/shedding.h) until each user has at most a fair share. A process keeps
 * at most its 65,536 most recently changed mappings.
 *
 * Time is bounded, too. The time for a change that arrives in order grows only
 * with the number of mappings that it replaces, and a fork does not copy
 * mappings. Late changes have a budget per process, which
 * address_spaces_forget() renews. Beyond it, the process loses mappings.
 * address_spaces_lossy_processes() returns the number of such processes.
 *
 * Not thread-safe, except where noted.
 */
#ifndef PROF_PROC_ADDRESS_SPACES_H
#define PROF_PROC_ADDRESS_SPACES_H

#include "proc/kernel_image.h"
#include "proc/module.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct location {
	module_id module;
	/*
	 * The offset in the module: a file offset for files and the vdso. For
	 * others see enum module_kind.
	 */
	uint64_t offset;
	/*
	 * The mapping. A caller may reuse it for the next pc at the same (pid,
	 * time). Empty if there is none.
	 */
	uint64_t start, end;
};

struct address_spaces;

/* `proc` is "/proc", or a directory with the same structure for tests. */
struct address_spaces *address_spaces_new(const char *proc);
/* For a recorded file, whose processes are not those in /proc. */
struct address_spaces *address_spaces_new_recorded(const struct recorded_files *files);
void address_spaces_free(struct address_spaces *spaces);
DEFINE_CLEANUP(address_spaces, address_spaces_free)

/* Adds a mapping. Ignores mappings that are not executable. */
void address_spaces_map(struct address_spaces *spaces, pid_t pid, uint64_t time_ns,
			const struct mapping *mapping);
/*
 * Adds a process that inherits the parent's mappings as of time_ns, including
 * mappings that are reported later. Not for new threads.
 */
void address_spaces_fork(struct address_spaces *spaces, pid_t parent, pid_t child,
			 uint64_t time_ns);
void address_spaces_exec(struct address_spaces *spaces, pid_t pid, uint64_t time_ns);
/*
 * Ends the process's mappings. Samples of the next tenth of a second are looked
 * up in those that it had before: the kernel also takes samples after the record
 * of the end, since Linux 6.16 with their user stacks.
 */
void address_spaces_exit(struct address_spaces *spaces, pid_t pid, uint64_t time_ns);
/*
 * Adds the executable mappings in /proc/PID/maps as of time_ns, in live mode
 * only. If the process was unknown, they are valid from the start, so that
 * samples from before the snapshot resolve, too. An ended process has none.
 * Mappings from later records take precedence.
 */
void address_spaces_snapshot(struct address_spaces *spaces, pid_t pid, uint64_t time_ns);
/*
 * Like address_spaces_snapshot(), and returns the text, which the caller frees.
 * *len is 0 if there is none.
 */
char *address_spaces_read_maps(struct address_spaces *spaces, pid_t pid, uint64_t time_ns,
			       size_t *len);
/* Like address_spaces_snapshot(), with the given text of /proc/PID/maps. */
void address_spaces_add_maps(struct address_spaces *spaces, pid_t pid, uint64_t time_ns,
			     struct bytes text);
/*
 * Removes the processes and mappings that ended before before_ns. Samples that
 * are older must not be looked up afterwards.
 */
void address_spaces_forget(struct address_spaces *spaces, uint64_t before_ns);

/*
 * Looks up a user pc. Returns false, with MODULE_UNKNOWN and offset = pc, if
 * the process had no executable mapping there at that time.
 */
bool address_spaces_locate(struct address_spaces *spaces, pid_t pid, uint64_t time_ns, uint64_t pc,
			   struct location *ret);
/* Returns a number that differs after each change of the process's mappings. */
uint64_t address_spaces_version(const struct address_spaces *spaces, pid_t pid);
/*
 * Looks up a variable in a file that the process maps now. The offset is the
 * variable's vaddr with LOCATION_DATA set, because not all data has an offset
 * in the file. `start` and `end` are empty.
 */
#define LOCATION_DATA (UINT64_C(1) << 63)
bool address_spaces_locate_data(struct address_spaces *spaces, pid_t pid, uint64_t address,
				struct location *ret);
/*
 * Finds a file that the process maps now, by its name without directories.
 * Returns the start of its lowest executable mapping, as
 * address_spaces_locate() would. Returns false if the file is not among the
 * process's lowest 1,024 mappings.
 */
bool address_spaces_find_file(struct address_spaces *spaces, pid_t pid, uint64_t time_ns,
			      const char *name, struct location *ret);
/*
 * Finds the final location of JIT code that was looked up before its process
 * wrote the code to its jitdump (jitdump.h). If the process wrote it later, the
 * final location is in the jitdump. Otherwise it is in the module of the
 * process's other JIT code. Returns false for all other locations.
 *
 * address_spaces_read_jitdumps() must be called once before. Other threads may
 * look up locations at the same time, but must not change anything.
 */
void address_spaces_read_jitdumps(struct address_spaces *spaces);
bool address_spaces_settle(struct address_spaces *spaces, module_id id, uint64_t offset,
			   struct location *ret);
/* Returns the module of the kernel itself. */
module_id address_spaces_kernel(struct address_spaces *spaces);
/* Returns the module of an interpreter's frames, such as "[python]". */
module_id address_spaces_script(struct address_spaces *spaces, const char *path);
/*
 * Returns the module of a kernel address: the kernel or a loadable module
 * (kernel_map.h).
 */
module_id address_spaces_kernel_at(struct address_spaces *spaces, uint64_t pc);
/* Calls kernel_map_add(). */
void address_spaces_map_kernel(struct address_spaces *spaces, const struct mapping *mapping);
/* These functions call kernel_map_add_symbol() and kernel_map_symbol(). */
void address_spaces_name_kernel_code(struct address_spaces *spaces, uint64_t start, uint64_t len,
				     const char *name);
const char *address_spaces_kernel_symbol(const struct address_spaces *spaces, uint64_t pc);
/* Opens the debug information of a MODULE_KERNEL with kernel_image_open(). */
MUST_CHECK struct error *address_spaces_open_kernel_image(const struct address_spaces *spaces,
							  module_id id, struct kernel_image *ret);

/* Calls modules_set_files_max(). */
void address_spaces_set_files_max(struct address_spaces *spaces, unsigned max);
/* Calls modules_set_opening_max(). */
void address_spaces_set_opening_max(struct address_spaces *spaces, uint64_t max_ns);
/* Calls modules_missed_files(). */
uint64_t address_spaces_missed_files(const struct address_spaces *spaces);
/*
 * Returns the number of processes that lost mappings to the limits on memory
 * and time.
 */
uint64_t address_spaces_lossy_processes(const struct address_spaces *spaces);
/* Returns the memory of processes and mappings, without modules. */
size_t address_spaces_bytes(const struct address_spaces *spaces);
/*
 * Sets the directory of separate debug files, which is "/usr/lib/debug" by
 * default. Copies the string.
 */
void address_spaces_set_debug_dir(struct address_spaces *spaces, const char *debug_dir);
/* Returns where to search for the debug files of a module. Borrows `spaces`. */
struct debug_files address_spaces_debug_files(const struct address_spaces *spaces, module_id id);
/*
 * Opens the symbol list of a MODULE_JIT (jit_map.h). Returns a descriptor, or
 * -1. `proc` is the /proc in which its process runs or has run.
 */
int address_spaces_open_jit_map(const struct address_spaces *spaces, module_id id,
				const char *proc);
/*
 * Returns how many bytes at the start of that list contain the symbols of this
 * module. The rest of the list is for later code, which belongs to other
 * modules (generations, perf_map.h). Returns UINT64_MAX for the whole list.
 */
uint64_t address_spaces_map_bytes(const struct address_spaces *spaces, module_id id);

uint32_t address_spaces_module_count(const struct address_spaces *spaces);
const struct module *address_spaces_module(const struct address_spaces *spaces, module_id id);

#endif
