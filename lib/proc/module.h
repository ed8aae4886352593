/*
 * Manages modules: what is mapped into processes (files, the kernel, the vdso,
 * anonymous executable memory). Each exists once, no matter how many processes
 * map it.
 *
 * Two mappings have the same file if the kernel reports so (file_table.h). A
 * file that is mapped under another name, or from another layer of a container,
 * is the same module if it has the same device, inode, time and size. It also
 * is if it has the same build-id and the same owner, and only that owner can
 * write to both: anyone can write the build-id of another program into a file.
 *
 * Files are opened (file_locator.h) when they are first mapped, while the
 * process exists. A file that cannot be opened is tried again when another
 * process maps it. Each open file is a mapping in prof, whose number the kernel
 * limits. Beyond modules_set_files_max(), files without samples are closed,
 * oldest first, and opened again when they get a sample. Files of users other
 * than root and prof's user get half of that number. Once opening files has
 * taken 100 ms of a second, files are opened only when they get a sample, so
 * that processes that map many files cannot keep prof from reading samples. Not
 * thread-safe.
 */
#ifndef PROF_PROC_MODULE_H
#define PROF_PROC_MODULE_H

#include "elf/elf_file.h"
#include "proc/file_locator.h"
#include "proc/jit_objects.h"
#include "proc/mapping.h"

#include <stdint.h>
#include <sys/types.h>

typedef uint32_t module_id; /* dense, from 0 */

#define MODULE_NONE UINT32_MAX

enum module_kind {
	MODULE_FILE,
	MODULE_KERNEL, /* offset is the address */
	/*
	 * Includes the kernel's other user mappings, "[vsyscall]" and
	 * "[uprobes]", which have no ELF file. 32-bit processes have a vdso of
	 * their own.
	 */
	MODULE_VDSO,
	/*
	 * Executable memory without an ELF file: one module per process and
	 * generation (perf_map.h), whose offset is the pc. Or code in a jitdump
	 * (jitdump.h) or in an object that was registered for debuggers
	 * (jit_objects.h), whose offset is in that file.
	 */
	MODULE_JIT,
	/*
	 * The pc is outside all known mappings. One module for all processes,
	 * whose offset is the pc.
	 */
	MODULE_UNKNOWN,
	/* The frames of an interpreter, of all processes. No code is in it. */
	MODULE_SCRIPT,
};

struct module {
	enum module_kind kind;
	/*
	 * As mapped, without " (deleted)": "/usr/bin/x", "[vdso]",
	 * "[kernel.kallsyms]", "[nf_conntrack]", "[jit]", "[unknown]".
	 */
	const char *path;
	/*
	 * NULL if there is no file or it could not be opened. For a MODULE_JIT:
	 * the object that its process registered.
	 */
	struct elf_file *elf;
	const char *problem;	 /* Why the file could not be opened, as one sentence, or NULL. */
	pid_t pid;		 /* the process of a MODULE_JIT; otherwise 0 */
	struct jitdump *jitdump; /* for a MODULE_JIT that is a jitdump; otherwise NULL */
};

struct modules;

/* `proc` is as in address_spaces_new(). */
struct modules *modules_new(const char *proc);
struct modules *modules_new_recorded(const struct recorded_files *files);
void modules_free(struct modules *modules);

module_id modules_of_mapping(struct modules *modules, pid_t pid, const struct mapping *mapping);
module_id modules_kernel(struct modules *modules);
/* `path` is "[nf_conntrack]". */
module_id modules_kernel_module(struct modules *modules, const char *path);
module_id modules_unknown(struct modules *modules);
/* `path` is "[python]". */
module_id modules_script(struct modules *modules, const char *path);

/* See address_spaces_set_debug_dir() and address_spaces_debug_files(). */
void modules_set_debug_dir(struct modules *modules, const char *debug_dir);
struct debug_files modules_debug_files(const struct modules *modules, module_id id);
/* Returns the module of a process's JIT code that is not in a jitdump. */
module_id modules_jit(struct modules *modules, pid_t pid);
/*
 * Returns the module of JIT code for a sample at this pc and time. `first` is
 * the process's first such module. [*start, *end) are addresses around pc with
 * the same module, empty if unknown.
 */
module_id modules_jit_at(struct modules *modules, module_id first, uint64_t pc, uint64_t time_ns,
			 uint64_t *start, uint64_t *end);
/* Returns the budget for reading code that processes compile at run time. */
struct code_budget *modules_code_budget(struct modules *modules);
/*
 * Sets *vaddr to the descriptor of registered JIT code in a file (jit_list.h),
 * or 0 if there is none. Searches each file once. Returns false if the search
 * must wait.
 */
bool modules_find_jit_list(struct modules *modules, module_id id, struct jit_objects *objects,
			   uint64_t *vaddr);
/*
 * Adds an object with JIT code of a process, which has a sample. Takes
 * ownership of `elf`, unless it returns MODULE_NONE because there are too many
 * objects or because of the limit in modules_use().
 */
module_id modules_add_jit_object(struct modules *modules, pid_t pid, uid_t user,
				 struct elf_file *elf);
/* See address_spaces_map_bytes(). */
uint64_t modules_map_bytes(const struct modules *modules, module_id id);
/* See address_spaces_open_jit_map(). */
int modules_open_jit_map(const struct modules *modules, module_id id, const char *proc);

/*
 * Sets the number of files that are open at once. The default is a quarter of
 * vm.max_map_count, at most 16,000.
 */
void modules_set_files_max(struct modules *modules, unsigned max);
/*
 * Sets how long files may be opened per second of recording, 100 ms by default.
 * Files that are mapped after that are opened when they have a sample.
 */
void modules_set_opening_max(struct modules *modules, uint64_t max_ns);
/*
 * Returns how often a file could not be opened, most likely because its process
 * had ended, but may be accessible through another process.
 */
uint64_t modules_missed_files(const struct modules *modules);

/*
 * Notes that a module has a sample in this mapping, and may open its file.
 * `user` is that of the process. Returns the module, which is a new one if the
 * file was overwritten in place since it was opened. Returns MODULE_NONE if
 * modules with samples need too much memory: 24 MB for one user, or 64 MB for
 * all users except root and prof's own.
 */
module_id modules_use(struct modules *modules, module_id id, pid_t pid, uid_t user,
		      const struct mapping *mapping);
/*
 * Forgets the modules that have neither samples nor mappings. `mappings` has
 * the number of mappings for each id. The ids are reused.
 */
void modules_keep(struct modules *modules, const uint32_t *mappings);
/*
 * Returns the memory that would be freed if a module lost all its mappings,
 * which is 0 if it has samples.
 */
size_t modules_idle_bytes(const struct modules *modules, module_id id);
/* Does elf_file_release_all() for all files. */
void modules_release_files(const struct modules *modules);
/* Returns the memory in use. */
size_t modules_bytes(const struct modules *modules);

/* Includes forgotten modules, which are MODULE_UNKNOWN. */
uint32_t modules_count(const struct modules *modules);
/*
 * The result lives as long as `modules`. Its ELF file and problem may change
 * while mappings are added.
 */
const struct module *modules_get(const struct modules *modules, module_id id);

#endif
