/*
 * Modules: what is mapped into processes (files, the kernel, the vdso, anonymous executable
 * memory), each once, however many processes map it.
 *
 * Two mappings are of the same file if the kernel says so (file_table.h). A file that is mapped
 * under another name or from another layer of a container is the same module if it turns out to
 * have the same device, inode, time and size, or the same build-id and the same owner, who alone
 * may write to both: anybody can write the build-id of another program into a file.
 *
 * Files are opened (file_locator.h) when they are first mapped, while the process exists. A file
 * that cannot be opened is tried again when another process maps it. Each open file is a mapping of
 * prof's own, of which the kernel allows a number: beyond modules_set_files_max() those without
 * samples are closed, oldest first, and opened again when they get a sample. Files that others than
 * root and prof's user own have half of the number. Once opening has taken 100 ms of a second,
 * files are opened only when they get a sample: mapping files must not keep prof from reading
 * samples.
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
	MODULE_VDSO,   /* and the kernel's other user mappings, "[vsyscall]" and "[uprobes]", which
			  have no ELF file; 32-bit processes have one of their own */
	MODULE_JIT, /* executable memory without an ELF file; offset is the pc; one per process and
		       generation (perf_map.h). Or code in a jitdump (jitdump.h), or in an object
		       that was registered for debuggers (jit_objects.h); offset is in that file */
	MODULE_UNKNOWN, /* pc outside all known mappings; offset is the pc; one for all processes */
};

struct module {
	enum module_kind kind;
	const char *path;	 /* as mapped, without " (deleted)": "/usr/bin/x", "[vdso]",
				    "[kernel.kallsyms]", "[nf_conntrack]", "[jit]", "[unknown]" */
	struct elf_file *elf;	 /* NULL if there is no file or it could not be opened; of a
				    MODULE_JIT: what its process has registered */
	const char *problem;	 /* why it could not be opened, one sentence; else NULL */
	pid_t pid;		 /* MODULE_JIT: the process; else 0 */
	struct jitdump *jitdump; /* of a MODULE_JIT that is one; else NULL */
};

struct modules;

/* proc: as in address_spaces_new(). */
struct modules *modules_new(const char *proc);
struct modules *modules_new_recorded(const struct recorded_files *files);
void modules_free(struct modules *modules);

module_id modules_of_mapping(struct modules *modules, pid_t pid, const struct mapping *mapping);
module_id modules_kernel(struct modules *modules);
/* path: "[nf_conntrack]" */
module_id modules_kernel_module(struct modules *modules, const char *path);
module_id modules_unknown(struct modules *modules);

/* As address_spaces_set_debug_dir() and address_spaces_debug_files(). */
void modules_set_debug_dir(struct modules *modules, const char *debug_dir);
struct debug_files modules_debug_files(const struct modules *modules, module_id id);
/* The module of a process's JIT code that is in no jitdump. */
module_id modules_jit(struct modules *modules, pid_t pid);
/*
 * The module of JIT code for a sample of that time at that pc, whose process's first one is given.
 * *start, *end: around pc, the addresses that have the same module; empty if they are not known.
 */
module_id modules_jit_at(struct modules *modules, module_id first, uint64_t pc, uint64_t time_ns,
			 uint64_t *start, uint64_t *end);
/* What reading code that processes compile may cost. */
struct code_budget *modules_code_budget(struct modules *modules);
/*
 * The vaddr of the list of JIT code that a file has (jit_list.h); 0: it has none. Searches each
 * file once. False: that has to wait.
 */
bool modules_find_jit_list(struct modules *modules, module_id id, struct jit_objects *objects,
			   uint64_t *vaddr);
/*
 * Adds an object with JIT code of a process, which has a sample. Takes elf unless it returns
 * MODULE_NONE: there are too many, of all processes or as in modules_use().
 */
module_id modules_add_jit_object(struct modules *modules, pid_t pid, uid_t user,
				 struct elf_file *elf);
/* As address_spaces_map_bytes(). */
uint64_t modules_map_bytes(const struct modules *modules, module_id id);
/* As address_spaces_open_jit_map(). */
int modules_open_jit_map(const struct modules *modules, module_id id, const char *proc);

/* The number of files open at once; by default a fourth of vm.max_map_count, at most 16,000. */
void modules_set_files_max(struct modules *modules, unsigned max);
/*
 * How long files are opened for in each second of recording, 100 ms by default: of those that are
 * mapped after that, each is opened when it has a sample.
 */
void modules_set_opening_max(struct modules *modules, uint64_t max_ns);
/*
 * How often a file could not be opened that another process may make accessible: most likely its
 * process had ended.
 */
uint64_t modules_missed_files(const struct modules *modules);

/*
 * Notes that a module has a sample, in this mapping of it; may open its file. Returns the module,
 * which is another one if the file was written anew in place since it was opened; MODULE_NONE if
 * modules with samples of this user need too much memory: 24 MB, or 64 MB of all users but root and
 * prof's own. user: of the process.
 */
module_id modules_use(struct modules *modules, module_id id, pid_t pid, uid_t user,
		      const struct mapping *mapping);
/*
 * Forgets the modules that have neither samples nor mappings, whose numbers the caller gives by id.
 * Their ids are used again.
 */
void modules_keep(struct modules *modules, const uint32_t *mappings);
/* The memory that is freed if a module loses all its mappings: 0 if it has samples. */
size_t modules_idle_bytes(const struct modules *modules, module_id id);
/* As elf_file_release_all(), of all files. */
void modules_release_files(const struct modules *modules);
/* The memory in use. */
size_t modules_bytes(const struct modules *modules);

/* Forgotten modules, which are MODULE_UNKNOWN, included. */
uint32_t modules_count(const struct modules *modules);
/* Lives as long as modules; its ELF file and problem may change while mappings are added. */
const struct module *modules_get(const struct modules *modules, module_id id);

#endif
