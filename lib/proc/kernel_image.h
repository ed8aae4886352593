/*
 * Finds the file with the debug information of a kernel or of a loadable
 * module, and the addresses at which that was loaded.
 *
 * For the kernel of release R, these files are tried:
 *
 * - DEBUG_DIR/.build-id/ab/cdef….debug
 * - DEBUG_DIR/boot/vmlinux-R and DEBUG_DIR/lib/modules/R/vmlinux
 * - the same two with the suffix .debug
 * - /boot/vmlinux-R, /lib/modules/R/build/vmlinux and /lib/modules/R/vmlinux
 *
 * For a module, these files are tried:
 *
 * - DEBUG_DIR/.build-id/ab/cdef….debug
 * - its file in DEBUG_DIR/lib/modules/R, then in /lib/modules/R. modules.dep
 *   contains the directory. The name is NAME.ko, NAME.ko.debug, or NAME.ko
 *   compressed with xz, zstd or gzip.
 *
 * If there is a symfs directory, each is first searched in it. A file must have
 * the build-id, which for a compressed file is checked later. Files without
 * .debug_info come last.
 *
 * Source: Documentation/ABI/testing/sysfs-module, tools/perf/util/symbol.c.
 */
#ifndef PROF_PROC_KERNEL_IMAGE_H
#define PROF_PROC_KERNEL_IMAGE_H

#include "base/cleanup.h"
#include "proc/debug_files.h"
#include "proc/kernel_map.h"

#include <stdio.h>

/* The load address of a kernel symbol or of a module's section. */
struct kernel_anchor {
	char name[64];
	uint64_t pc;
};

/* Modules have about a dozen sections with code. */
enum { KERNEL_ANCHORS_MAX = 32 };

struct kernel_image {
	struct elf_file *elf; /* NULL if the file is compressed */
	FILE *packed;
	char *path;
	/*
	 * The build-id that a compressed file must have. len is 0 if it was
	 * already checked.
	 */
	struct build_id build_id;
	bool is_module;
	struct kernel_anchor anchors[KERNEL_ANCHORS_MAX];
	size_t anchor_count;
};

/* The image to search for. All members are borrowed. */
struct kernel_image_query {
	const struct kernel_range *range;
	const char *root; /* as in kernel_map_new() */
	/*
	 * Release of a recording's kernel; NULL if unknown, or for the running
	 * kernel.
	 */
	const char *release;
	struct build_id build_id;   /* build-id of a recording's kernel; len 0 likewise */
	struct debug_places places; /* where to search */
};

/*
 * Fills a zero-initialized image. Fails if there is no such file, with an error
 * that names what is missing.
 */
MUST_CHECK struct error *kernel_image_open(const struct kernel_image_query *query,
					   struct kernel_image *ret);
void kernel_image_deinit(struct kernel_image *image);

#endif
