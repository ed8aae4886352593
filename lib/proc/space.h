/*
 * Address spaces of all processes we know of, through time: from (pid, pc, time) to module and
 * offset.
 *
 * A mapping is valid from the record that made it until the one that replaced it (an overlapping
 * mapping, exec, exit), so a sample that is handled after an exec still resolves in the program it
 * was taken in. Changes may come slightly out of order (CPUs' rings are read one after the other);
 * they take effect at their own time. Only executable mappings are kept.
 *
 * A module is one mapped thing: a file (the same one in every process: device and inode, or
 * build-id), the kernel, the vdso, or the anonymous executable memory of one process. Files are
 * opened when their mapping is first seen, before the process can exit: /proc/PID/map_files,
 * /proc/PID/root/PATH checked against device and inode or build-id, PATH likewise. Modules live as
 * long as `spaces`.
 */
#ifndef PROF_PROC_SPACE_H
#define PROF_PROC_SPACE_H

#include "base/error.h"
#include "elf/image.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef uint32_t module_id; /* dense, from 0 */

enum module_kind {
	MODULE_FILE,
	MODULE_KERNEL, /* offset is the address */
	MODULE_VDSO,
	MODULE_JIT, /* anonymous or memfd memory without an ELF file in it; offset is the pc; one a
		       process */
	MODULE_UNKNOWN, /* the pc lies in no known mapping; offset is the pc; one for all */
};

struct module {
	enum module_kind kind;
	const char *path;    /* as mapped: "/usr/bin/x", "[vdso]", "[kernel.kallsyms]" */
	struct image *image; /* NULL when there is no file, or it could not be opened */
	const char *problem; /* why not; NULL when all is well */
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

struct location {
	module_id module;
	uint64_t offset; /* in the module: a file offset for files and the vdso, see module_kind for
			    the others */
	/* The mapping, so that a caller may keep it for the next pc of the same (pid, time). */
	uint64_t start, end;
};

struct spaces;

/* proc: "/proc", or a folder made to look like it, for tests. */
struct spaces *spaces_new(const char *proc);
void spaces_free(struct spaces *spaces);
DEFINE_CLEANUP(spaces, spaces_free)

void spaces_map(struct spaces *spaces, pid_t pid, uint64_t time_ns, const struct mapping *mapping);
void spaces_fork(struct spaces *spaces, pid_t parent, pid_t child, uint64_t time_ns);
void spaces_exec(struct spaces *spaces, pid_t pid, uint64_t time_ns);
void spaces_exit(struct spaces *spaces, pid_t pid, uint64_t time_ns);
/* The executable mappings in /proc/PID/maps, as of time_ns. A process that is gone has none;
 * mappings made known by a later record win. */
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
