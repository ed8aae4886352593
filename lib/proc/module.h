/*
 * What is mapped into processes: files, the kernel, the vdso, anonymous executable memory. One
 * module a thing, however many processes map it.
 *
 * Two mappings are of the same file when their build-ids say so; where those are unknown, when
 * device, inode and name do (a number alone is used again for the next file as soon as the first is
 * deleted). A file that was known by its inode and turns out to have a known build-id is the module
 * of that build-id.
 *
 * Files are opened (finder.h) when they are first mapped: live, while the process is there to show
 * them. One that cannot be opened is then tried again when another process maps it.
 */
#ifndef PROF_PROC_MODULE_H
#define PROF_PROC_MODULE_H

#include "elf/image.h"

#include <stdint.h>
#include <sys/types.h>

typedef uint32_t module_id; /* dense, from 0 */

enum module_kind {
	MODULE_FILE,
	MODULE_KERNEL, /* offset is the address */
	MODULE_VDSO,   /* and what else the kernel puts into a process: "[vsyscall]", "[uprobes]",
			  which have no image */
	MODULE_JIT, /* anonymous or memfd memory without an ELF file in it; offset is the pc; one a
		       process */
	MODULE_UNKNOWN, /* the pc lies in no known mapping; offset is the pc; one for all */
};

struct module {
	enum module_kind kind;
	const char *path;    /* as mapped, without " (deleted)": "/usr/bin/x", "[vdso]",
				"[kernel.kallsyms]", "[jit]", "[unknown]" */
	struct image *image; /* NULL when there is no file, or it could not be opened */
	const char *problem; /* why not, one sentence; NULL when all is well */
	pid_t pid;	     /* MODULE_JIT: whose memory it is; else 0 */
};

struct mapping {
	uint64_t start, end; /* pcs */
	uint64_t offset;     /* in the file, of start */
	uint32_t device_major, device_minor;
	uint64_t inode;		  /* 0: unknown */
	struct build_id build_id; /* len 0: unknown */
	const char *path;
};

/* Where the files of a recording are, which may be of another machine or long past. NULL: nowhere.
 */
struct recorded_files {
	const char *symfs;     /* mapped files are below it */
	const char *debug_dir; /* files by build-id: "/usr/lib/debug" */
	const char *cache_dir; /* perf's copies of what it recorded, by build-id: "~/.debug" */
	bool same_kernel;      /* our vdso is theirs, as far as no build-id says otherwise */
};

struct modules;

/* proc: as in spaces_new(). */
struct modules *modules_new(const char *proc);
struct modules *modules_new_recorded(const struct recorded_files *files);
void modules_free(struct modules *modules);

module_id modules_of_mapping(struct modules *modules, pid_t pid, const struct mapping *mapping);
module_id modules_kernel(struct modules *modules);
module_id modules_unknown(struct modules *modules);

uint32_t modules_count(const struct modules *modules);
/* Lives as long as modules; image and problem may still change while mappings are added. */
const struct module *modules_get(const struct modules *modules, module_id id);

#endif
