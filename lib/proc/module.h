/*
 * What is mapped into processes: files, the kernel, the vdso, anonymous executable memory. One
 * module a thing, however many processes map it.
 *
 * Two mappings are of the same file when their build-ids say so; where those are unknown, when
 * device, inode and name do (a number alone is used again for the next file as soon as the first is
 * deleted). A file that was known by its inode and turns out to have a known build-id is the module
 * of that build-id.
 *
 * Files are opened when they are first mapped, while the process is there to show them:
 *	/proc/PID/exe			of a deleted file: if it is the program itself, anyone
 *					may read their own
 *	/proc/PID/map_files/START-END	the mapped file itself, even when it is deleted; needs
 *					CAP_CHECKPOINT_RESTORE or more
 *	/proc/PID/root/PATH		its name, in the mount namespace of the process
 *	PATH				its name, in ours
 * What is found must have the mapping's build-id; where that is unknown, its inode. The device must
 * agree too, or (btrfs and overlayfs tell mappings another device than stat(2)) the mapping must be
 * a piece of an executable segment. Only regular files are ever opened. A file that cannot be
 * opened is tried again when another process maps it.
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

struct modules;

/* proc: as in spaces_new(). */
struct modules *modules_new(const char *proc);
void modules_free(struct modules *modules);

module_id modules_of_mapping(struct modules *modules, pid_t pid, const struct mapping *mapping);
module_id modules_kernel(struct modules *modules);
module_id modules_unknown(struct modules *modules);

uint32_t modules_count(const struct modules *modules);
/* Lives as long as modules; image and problem may still change while mappings are added. */
const struct module *modules_get(const struct modules *modules, module_id id);

#endif
