#include "proc/process_vdso.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "proc/timed_memory.h"

/* Images have one to three pages. */
enum { IMAGE_BYTES_MAX = 64 << 10 };

bool process_vdso_is_other(const struct mapping *mapping)
{
	return sizeof(void *) == 8 && mapping->end <= UINT64_C(1) << 32;
}

struct elf_file *process_vdso_read(struct timed_caller *caller, const char *proc, pid_t pid,
				   uid_t user, const struct mapping *mapping)
{
	size_t len = mapping->end - mapping->start;
	struct memory_part image = {.address = mapping->start, .len = len};
	CLEANUP(free_ptr) void *bytes = NULL;
	struct elf_file *elf = NULL;

	if (len > IMAGE_BYTES_MAX)
		return NULL;
	image.into = bytes = xmalloc(len);
	timed_memory_read(caller, proc, pid, user, &image, 1);
	if (image.is_read)
		error_free(elf_file_from_user(bytes, len, "[vdso]", user, &elf));
	return elf;
}

static bool has_same_bytes(const struct elf_file *a, const struct elf_file *b)
{
	struct bytes left = elf_file_contents(a), right = elf_file_contents(b);

	return bytes_left(&left) == bytes_left(&right) &&
	       memcmp(left.at, right.at, bytes_left(&left)) == 0;
}

bool vdso_images_find(const struct vdso_images *images, const struct elf_file *elf,
		      uint32_t *module)
{
	for (unsigned i = 0; i < images->count; i++) {
		*module = images->modules[i];
		if (has_same_bytes(images->items[i], elf))
			return true;
	}
	return false;
}

bool vdso_images_have_room(const struct vdso_images *images, const struct elf_file *elf)
{
	return images->count < VDSO_IMAGES_MAX / (elf_file_is_untrusted(elf) ? 2 : 1);
}

void vdso_images_add(struct vdso_images *images, const struct elf_file *elf, uint32_t module)
{
	images->items[images->count] = elf;
	images->modules[images->count++] = module;
}
