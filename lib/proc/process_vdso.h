/*
 * The vdso of a process, from its memory.
 *
 * prof's own vdso is that of all 64-bit processes of the kernel. The kernel has other ones for
 * 32-bit and x32 processes, and no file of them. It gives them addresses below 4 GiB. The process
 * can have written to its vdso, so the image is a file of the process's user. Source:
 * arch/x86/entry/vdso in the kernel, vdso(7).
 */
#ifndef PROF_PROC_PROCESS_VDSO_H
#define PROF_PROC_PROCESS_VDSO_H

#include "base/timed_call.h"
#include "proc/mapping.h"

/* Whether a process that has this mapping of "[vdso]" has another one than prof. */
bool process_vdso_is_other(const struct mapping *mapping);
/* NULL: it cannot be read. The other arguments are as in timed_memory_read(). */
struct elf_file *process_vdso_read(struct timed_caller *caller, const char *proc, pid_t pid,
				   uid_t user, const struct mapping *mapping);

/*
 * The images that were read, each once. The kernel has two or three, but processes can make any
 * number: untrusted users have half of the room.
 */
enum { VDSO_IMAGES_MAX = 64 };

/* Zero-initialized: empty. */
struct vdso_images {
	const struct elf_file *items[VDSO_IMAGES_MAX]; /* borrowed */
	uint32_t modules[VDSO_IMAGES_MAX];	       /* their modules' numbers */
	unsigned count;
};

/* Finds the module of an image with the same bytes. */
bool vdso_images_find(const struct vdso_images *images, const struct elf_file *elf,
		      uint32_t *module);
bool vdso_images_have_room(const struct vdso_images *images, const struct elf_file *elf);
void vdso_images_add(struct vdso_images *images, const struct elf_file *elf, uint32_t module);

#endif
