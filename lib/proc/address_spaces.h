/*
 * The address spaces of all known processes through time: (pid, pc, time) → (module, offset).
 *
 * A mapping is valid from the record that made it until the one that replaced it (an overlapping
 * mapping, exec, exit), so a sample that is handled after an exec still resolves in the program in
 * which it was taken. Changes may arrive slightly out of order, since CPUs' rings are read one
 * after the other; they take effect at their own time. Only executable mappings are kept.
 *
 * Memory that took the place of a file's text is taken for that text (proc/copied_text.h).
 *
 * Mappings refer to modules (proc/module.h), which live as long as the address spaces if they have
 * samples.
 *
 * Memory is bounded whatever processes map. All tables of mappings and all processes share a limit
 * in bytes, modules without samples another one. Beyond it the processes of the user who needs most
 * lose mappings (proc/shedding.h), until each user has no more than a fair share. A process keeps
 * no more than 65,536 mappings, those of its last changes. Time is bounded, too: a change in order
 * takes time for what it replaces, a fork none for the mappings; changes that arrive late have a
 * budget for each process, which address_spaces_forget() renews. address_spaces_lossy_processes()
 * counts the processes that lost something.
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
	uint64_t offset; /* in the module: a file offset for files and the vdso; see module_kind for
			    the others */
	/*
	 * The mapping, which a caller may reuse for the next pc of the same (pid, time); empty if
	 * there is none.
	 */
	uint64_t start, end;
};

struct address_spaces;

/* proc: "/proc", or a directory that looks like it, for tests. */
struct address_spaces *address_spaces_new(const char *proc);
/* For a recording: its processes are not those in /proc. */
struct address_spaces *address_spaces_new_recorded(const struct recorded_files *files);
void address_spaces_free(struct address_spaces *spaces);
DEFINE_CLEANUP(address_spaces, address_spaces_free)

/* Takes executable mappings only. */
void address_spaces_map(struct address_spaces *spaces, pid_t pid, uint64_t time_ns,
			const struct mapping *mapping);
/*
 * The child inherits the parent's mappings as of time_ns, including those reported later. Not for
 * new threads.
 */
void address_spaces_fork(struct address_spaces *spaces, pid_t parent, pid_t child,
			 uint64_t time_ns);
void address_spaces_exec(struct address_spaces *spaces, pid_t pid, uint64_t time_ns);
void address_spaces_exit(struct address_spaces *spaces, pid_t pid, uint64_t time_ns);
/*
 * Live only: adds the executable mappings in /proc/PID/maps as of time_ns. For a process that was
 * unknown they are valid from the beginning, so that samples from before the snapshot resolve too.
 * A process that has ended has none. Mappings from later records win.
 */
void address_spaces_snapshot(struct address_spaces *spaces, pid_t pid, uint64_t time_ns);
/* The same, and returns the text, which the caller frees; len 0: there is none. */
char *address_spaces_read_maps(struct address_spaces *spaces, pid_t pid, uint64_t time_ns,
			       size_t *len);
/* The same with the text of /proc/PID/maps. */
void address_spaces_add_maps(struct address_spaces *spaces, pid_t pid, uint64_t time_ns,
			     struct bytes text);
/* Forgets what ended before before_ns; no older sample will be looked up. */
void address_spaces_forget(struct address_spaces *spaces, uint64_t before_ns);

/*
 * Looks up a user pc. False, with MODULE_UNKNOWN and offset = pc, if no executable mapping of pid
 * held it at that time.
 */
bool address_spaces_locate(struct address_spaces *spaces, pid_t pid, uint64_t time_ns, uint64_t pc,
			   struct location *ret);
/*
 * The same, but changes nothing that another lookup sees, so several threads may look up at once
 * while none does anything else: false, too, where the answer would open a file, be the first
 * sample of a mapping, or be in JIT code.
 */
bool address_spaces_locate_known(const struct address_spaces *spaces, pid_t pid, uint64_t time_ns,
				 uint64_t pc, struct location *ret);
/* Another number after each change of the process's mappings. */
uint64_t address_spaces_version(const struct address_spaces *spaces, pid_t pid);
/*
 * A variable of a file that the process maps now: its module, and as the offset its vaddr with
 * LOCATION_DATA, because not all data has a place in the file. Empty: start and end.
 */
#define LOCATION_DATA (UINT64_C(1) << 63)
bool address_spaces_locate_data(struct address_spaces *spaces, pid_t pid, uint64_t address,
				struct location *ret);
/*
 * A file that the process maps now: the start of its lowest executable mapping, as
 * address_spaces_locate() gives it. name: without directories. False if it maps none among its
 * lowest 1,024 mappings.
 */
bool address_spaces_find_file(struct address_spaces *spaces, pid_t pid, uint64_t time_ns,
			      const char *name, struct location *ret);
/*
 * Where a location is by now that was in a jitdump which its process had not written so far
 * (jitdump.h): there or, if it never wrote it, in its process's other JIT code. False for all other
 * locations. After address_spaces_read_jitdumps(); other threads may do no more than look things
 * up.
 */
void address_spaces_read_jitdumps(struct address_spaces *spaces);
bool address_spaces_settle(struct address_spaces *spaces, module_id id, uint64_t offset,
			   struct location *ret);
/* The module of the kernel itself. */
module_id address_spaces_kernel(struct address_spaces *spaces);
/* The module of a kernel address: the kernel, or one of its loadable modules (kernel_map.h). */
module_id address_spaces_kernel_at(struct address_spaces *spaces, uint64_t pc);
/* As kernel_map_find_known(). */
bool address_spaces_kernel_known(const struct address_spaces *spaces, uint64_t pc, module_id *ret);
/* As kernel_map_add(). */
void address_spaces_map_kernel(struct address_spaces *spaces, const struct mapping *mapping);
/* As kernel_map_add_symbol() and kernel_map_symbol(). */
void address_spaces_name_kernel_code(struct address_spaces *spaces, uint64_t start, uint64_t len,
				     const char *name);
const char *address_spaces_kernel_symbol(const struct address_spaces *spaces, uint64_t pc);
/* The debug information of a MODULE_KERNEL: as kernel_image_open(). */
MUST_CHECK struct error *address_spaces_open_kernel_image(const struct address_spaces *spaces,
							  module_id id, struct kernel_image *ret);

/* As modules_set_files_max(). */
void address_spaces_set_files_max(struct address_spaces *spaces, unsigned max);
/* As modules_set_opening_max(). */
void address_spaces_set_opening_max(struct address_spaces *spaces, uint64_t max_ns);
/* As modules_missed_files(). */
uint64_t address_spaces_missed_files(const struct address_spaces *spaces);
/* The number of processes that have lost mappings, to bound memory or time. */
uint64_t address_spaces_lossy_processes(const struct address_spaces *spaces);
/* The memory of processes and mappings, without modules. */
size_t address_spaces_bytes(const struct address_spaces *spaces);
/* The directory of separate debug files; "/usr/lib/debug" by default. Copied. */
void address_spaces_set_debug_dir(struct address_spaces *spaces, const char *debug_dir);
/* Where the debug files of a module are; borrows spaces. */
struct debug_files address_spaces_debug_files(const struct address_spaces *spaces, module_id id);
/*
 * The list of symbols of a MODULE_JIT (jit_map.h): a descriptor, or -1. proc: where its process is,
 * or was.
 */
int address_spaces_open_jit_map(const struct address_spaces *spaces, module_id id,
				const char *proc);
/*
 * How much of that list has the names of this module, of which later generations are other modules
 * (perf_map.h): names after that are of later code. UINT64_MAX: all.
 */
uint64_t address_spaces_map_bytes(const struct address_spaces *spaces, module_id id);
/*
 * The separate debug file of a module with an ELF file; NULL if none is found. The caller frees
 * it.
 */
struct elf_file *address_spaces_find_debug_file(const struct address_spaces *spaces, module_id id);

uint32_t address_spaces_module_count(const struct address_spaces *spaces);
const struct module *address_spaces_module(const struct address_spaces *spaces, module_id id);

#endif
