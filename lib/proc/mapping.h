/* Describes a mapping of a process, and where the files of a recording are. */
#ifndef PROF_PROC_MAPPING_H
#define PROF_PROC_MAPPING_H

#include "base/text.h"
#include "elf/elf_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* file offset of `start` */
	uint32_t device_major, device_minor;
	uint64_t inode;		  /* 0 if unknown */
	uint64_t generation;	  /* generation of the inode; 0 if unknown */
	struct build_id build_id; /* len is 0 if unknown */
	/*
	 * Only a process has reported this mapping, and the kernel has not
	 * confirmed it. Its file is opened with the privileges of `claimant`,
	 * and only if it has that inode.
	 */
	bool is_claimed;
	uid_t claimant;
	const char *path;
	bool is_data; /* not executable */
};

/*
 * Returns whether the path is a kernel name for shared memory that never was a
 * file.
 */
static inline bool mapping_is_of_memory(const char *path)
{
	return text_begins(path, "/memfd:") || text_begins(path, "/dev/zero") ||
	       text_begins(path, "/SYSV") || text_begins(path, "/anon_hugepage");
}

/*
 * Where to find the files of a recording, possibly from another machine. NULL
 * members are not searched.
 */
struct recorded_files {
	const char *symfs; /* root directory of the mapped files */
	/* Debug files by build-id; NULL means DEBUG_DIR (debug_files.h). */
	const char *debug_dir;
	const char *cache_dir; /* perf's build-id cache; NULL means "~/.debug" */
	/*
	 * The user who wrote the recording. The files that it names are opened
	 * with this user's privileges. 0 for a trusted user.
	 */
	uid_t writer;
	bool same_kernel;    /* prof's own vdso is used unless a build-id differs */
	bool is_monotonic;   /* its times are CLOCK_MONOTONIC, like those of jitdumps */
	const char *release; /* uname -r of the kernel */
	struct build_id kernel_build_id;
};

#endif
