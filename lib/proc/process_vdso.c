#include "proc/process_vdso.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "proc/timed_memory.h"

/* The images have one to three pages. */
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
