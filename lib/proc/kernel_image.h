/*
 * Finds the file with the debug information of a kernel or of one of its loadable modules, and
 * where that was loaded.
 *
 * The kernel, R being its release: DEBUG_DIR/.build-id/ab/cdef….debug, DEBUG_DIR/boot/vmlinux-R,
 * DEBUG_DIR/lib/modules/R/vmlinux, the same two with .debug, /boot/vmlinux-R,
 * /lib/modules/R/build/vmlinux and /lib/modules/R/vmlinux.
 *
 * A module: DEBUG_DIR/.build-id/ab/cdef….debug, then its file in DEBUG_DIR/lib/modules/R, then in
 * /lib/modules/R, as modules.dep says in which directory: NAME.ko, NAME.ko.debug, and NAME.ko
 * compressed with xz, zstd or gzip.
 *
 * With a symfs directory, each is looked for in there first. A file must have the build-id; that
 * of a compressed one is not known yet. Files without .debug_info come last.
 *
 * Source: Documentation/ABI/testing/sysfs-module, tools/perf/util/symbol.c.
 */
#ifndef PROF_PROC_KERNEL_IMAGE_H
#define PROF_PROC_KERNEL_IMAGE_H

#include "base/cleanup.h"
#include "proc/debug_files.h"
#include "proc/kernel_map.h"

#include <stdio.h>

/* Where a symbol of the kernel, or a section of a module, was loaded. */
struct kernel_anchor {
	char name[64];
	uint64_t pc;
};

/* Modules have a dozen sections with code. */
enum { KERNEL_ANCHORS_MAX = 32 };

struct kernel_image {
	struct elf_file *elf; /* NULL: it is compressed */
	FILE *packed;
	char *path;
	struct build_id build_id; /* that the file must have; len 0: it is checked */
	bool is_module;
	struct kernel_anchor anchors[KERNEL_ANCHORS_MAX];
	size_t anchor_count;
};

/* What is looked for. Borrowed. */
struct kernel_image_query {
	const struct kernel_range *range;
	const char *root;	    /* as in kernel_map_new() */
	const char *release;	    /* of a recording's kernel; NULL: unknown, or the running one */
	struct build_id build_id;   /* … */
	struct debug_places places; /* where to look */
};

/* Fills a zero-initialized image. Fails if there is no such file, and says what is missing. */
MUST_CHECK struct error *kernel_image_open(const struct kernel_image_query *query,
					   struct kernel_image *ret);
void kernel_image_deinit(struct kernel_image *image);

#endif
