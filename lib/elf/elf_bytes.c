#include "elf/elf_bytes.h"

#include "base/alloc.h"
#include "base/mapped_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_uint *new_users(void)
{
	atomic_uint *users = xmalloc(sizeof(*users));

	atomic_init(users, 1);
	return users;
}

struct error *elf_bytes_map(int fd, const char *name, struct elf_bytes *ret)
{
	struct stat st;
	void *data;

	if (fstat(fd, &st) < 0)
		return error_errno(errno, "stat %s", name);
	if (!S_ISREG(st.st_mode))
		return error_new("%s is not a regular file", name);
	if (st.st_size == 0)
		return error_new("%s is empty", name);
	data = mapped_file_new(fd, (size_t)st.st_size);
	if (!data)
		return error_errno(errno, "map %s", name);
	*ret = (struct elf_bytes){
		.data = data,
		.size_bytes = (size_t)st.st_size,
		.is_mapped = true,
		.users = new_users(),
		.origin = file_origin_of(fd, &st),
		.version = file_version_of(&st),
	};
	return NULL;
}

struct elf_bytes elf_bytes_of_heap(void *data, size_t len, struct file_origin origin)
{
	origin.data_bytes = len;
	return (struct elf_bytes){
		.data = data, .size_bytes = len, .users = new_users(), .origin = origin};
}

struct elf_bytes elf_bytes_share(const struct elf_bytes *bytes)
{
	atomic_fetch_add(bytes->users, 1);
	return *bytes;
}

void elf_bytes_deinit(struct elf_bytes *bytes)
{
	if (atomic_fetch_sub(bytes->users, 1) > 1)
		return;
	free(bytes->users);
	if (bytes->is_mapped)
		mapped_file_free(bytes->data, bytes->size_bytes);
	else
		free(bytes->data);
}

struct bytes elf_bytes_all(const struct elf_bytes *bytes)
{
	return bytes_of(bytes->data, bytes->size_bytes);
}

struct bytes elf_bytes_part(const struct elf_bytes *bytes, uint64_t offset, uint64_t len)
{
	struct bytes at = bytes_at(elf_bytes_all(bytes), offset);

	if (len > bytes->origin.data_bytes)
		bytes_fail(&at);
	return bytes_sub(&at, len);
}

static bool elf_bytes_is_mapped(const struct elf_bytes *bytes, struct bytes part)
{
	return bytes->is_mapped && part.at >= bytes->data &&
	       part.end <= bytes->data + bytes->size_bytes;
}

bool elf_bytes_copy(const struct elf_bytes *bytes, struct bytes part, void *into)
{
	const size_t len = bytes_left(&part);

	if (elf_bytes_is_mapped(bytes, part))
		return mapped_file_read(part.at, len, into);
	if (len)
		memcpy(into, part.at, len);
	return true;
}

const unsigned char *elf_bytes_steady(const struct elf_bytes *bytes, struct bytes part, void **copy)
{
	*copy = NULL;
	if (!bytes->origin.is_untrusted)
		return part.at;
	*copy = malloc(bytes_left(&part));
	return *copy && elf_bytes_copy(bytes, part, *copy) ? *copy : NULL;
}

void elf_bytes_release(const struct elf_bytes *bytes, struct bytes part)
{
	const uintptr_t page = (uintptr_t)getpagesize();
	uintptr_t start = ((uintptr_t)part.at + page - 1) / page * page;
	uintptr_t end = (uintptr_t)part.end / page * page;

	if (elf_bytes_is_mapped(bytes, part) && start < end)
		madvise((void *)start, end - start, MADV_DONTNEED);
}

void elf_copies_init(struct elf_copies *copies, const struct elf_bytes *from)
{
	*copies = (struct elf_copies){.from = from};
	copies->first_bytes = from->size_bytes < ELF_FIRST_BYTES ? from->size_bytes
								 : ELF_FIRST_BYTES;
	if (copies->first_bytes &&
	    !elf_bytes_copy(from, bytes_of(from->data, copies->first_bytes), copies->first))
		copies->first_bytes = 0;
}

void elf_copies_deinit(struct elf_copies *copies)
{
	free(copies->other);
}

struct bytes elf_copies_take(struct elf_copies *copies, uint64_t offset, uint64_t len)
{
	struct bytes first = bytes_of(copies->first, copies->first_bytes);
	struct bytes from = elf_bytes_part(copies->from, offset, len);

	if (offset < copies->first_bytes && len <= copies->first_bytes - offset) {
		bytes_skip(&first, offset);
		return bytes_sub(&first, len);
	}
	free(copies->other);
	copies->other = bytes_ok(&from) ? malloc(len ? len : 1) : NULL;
	if (!copies->other || !elf_bytes_copy(copies->from, from, copies->other))
		return (struct bytes){.overrun = true};
	return bytes_of(copies->other, len);
}

struct bytes elf_copies_take_table(struct elf_copies *copies, uint64_t offset, size_t *count,
				   size_t entry_bytes, size_t max_bytes)
{
	const size_t size_bytes = copies->from->size_bytes;
	uint64_t left = offset < size_bytes ? size_bytes - offset : 0;
	uint64_t most = (left < max_bytes ? left : max_bytes) / entry_bytes;

	if (*count > most)
		*count = (size_t)most;
	return elf_copies_take(copies, offset, *count * entry_bytes);
}
