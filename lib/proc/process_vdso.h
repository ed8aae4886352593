/*
 * Reads the vdso of a process from its memory.
 *
 * All 64-bit processes have the same vdso as prof. 32-bit and x32 processes
 * have other ones, below 4 GiB, of which the kernel provides no file. The
 * process may have overwritten its vdso, so the image is as untrusted as a file
 * of the process's user. Source: arch/x86/entry/vdso in the kernel, vdso(7).
 */
#ifndef PROF_PROC_PROCESS_VDSO_H
#define PROF_PROC_PROCESS_VDSO_H

#include "base/timed_call.h"
#include "proc/mapping.h"

/*
 * Returns whether a process with this mapping of "[vdso]" has a different one
 * than prof.
 */
bool process_vdso_is_other(const struct mapping *mapping);
/*
 * Returns NULL if the vdso cannot be read. The other arguments are as in
 * timed_memory_read().
 */
struct elf_file *process_vdso_read(struct timed_caller *caller, const char *proc, pid_t pid,
				   uid_t user, const struct mapping *mapping);

/*
 * The maximum number of distinct images. The kernel has two or three, but
 * processes can write any number. Untrusted users get half of the room.
 */
enum { VDSO_IMAGES_MAX = 64 };

/* Empty when zero-initialized. */
struct vdso_images {
	const struct elf_file *items[VDSO_IMAGES_MAX]; /* borrowed */
	uint32_t modules[VDSO_IMAGES_MAX];	       /* ids of their modules */
	unsigned count;
};

/* Finds the module of an image with the same bytes. */
bool vdso_images_find(const struct vdso_images *images, const struct elf_file *elf,
		      uint32_t *module);
bool vdso_images_have_room(const struct vdso_images *images, const struct elf_file *elf);
void vdso_images_add(struct vdso_images *images, const struct elf_file *elf, uint32_t module);

#endif
