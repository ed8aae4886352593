/*
 * A mapping of a process, and where the files of a recording are.
 */
#ifndef PROF_PROC_MAPPING_H
#define PROF_PROC_MAPPING_H

#include "base/text.h"
#include "elf/elf_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
	uint64_t start, end; /* pcs */
	uint64_t offset;     /* in the file, of start */
	uint32_t device_major, device_minor;
	uint64_t inode;		  /* 0: unknown */
	uint64_t generation;	  /* of the inode; 0: unknown */
	struct build_id build_id; /* len 0: unknown */
	/*
	 * A process has named it, and the kernel has not confirmed it: its file is opened with that
	 * user's rights, and only if it has that inode.
	 */
	bool is_claimed;
	uid_t claimant;
	const char *path;
	bool is_data; /* not executable */
};

/* Whether the path is one of the kernel's names of shared memory that was never a file. */
static inline bool mapping_is_of_memory(const char *path)
{
	return text_begins(path, "/memfd:") || text_begins(path, "/dev/zero") ||
	       text_begins(path, "/SYSV") || text_begins(path, "/anon_hugepage");
}

/*
 * Where the files of a recording are, which may come from another machine. NULL members: nowhere.
 */
struct recorded_files {
	const char *symfs;     /* root directory of the mapped files */
	const char *debug_dir; /* debug files by build-id: "/usr/lib/debug" */
	const char *cache_dir; /* perf's build-id cache: "~/.debug" */
	/* Who has written the recording, with whose rights the files that it names are opened; 0:
	 * a user who is trusted. */
	uid_t writer;
	bool same_kernel;    /* prof's own vdso stands in unless a build-id contradicts */
	bool is_monotonic;   /* its times are of CLOCK_MONOTONIC, as those of jitdumps are */
	const char *release; /* of the kernel: uname -r */
	struct build_id kernel_build_id;
};

#endif
