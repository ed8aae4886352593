#include "elf/file_origin.h"

#include "base/alloc.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Missing in <linux/magic.h>. */
#define BCACHEFS_MAGIC 0xca451a4e
#define JFS_MAGIC 0x3153464a
#define ZFS_MAGIC 0x2fc12fc1

/*
 * Returns true for file systems that this machine's kernel implements on its
 * own disks, in memory or on images.
 */
static bool is_local(uint32_t type)
{
	static const uint32_t types[] = {
		EXT4_SUPER_MAGIC,
		XFS_SUPER_MAGIC,
		BTRFS_SUPER_MAGIC,
		F2FS_SUPER_MAGIC,
		TMPFS_MAGIC,
		RAMFS_MAGIC,
		HUGETLBFS_MAGIC,
		SQUASHFS_MAGIC,
		EROFS_SUPER_MAGIC_V1,
		ISOFS_SUPER_MAGIC,
		REISERFS_SUPER_MAGIC,
		NILFS_SUPER_MAGIC,
		BCACHEFS_MAGIC,
		JFS_MAGIC,
		ZFS_MAGIC,
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (type == types[i])
			return true;
	return false;
}

/*
 * Returns true for the overlay that prof itself runs in. Any user can mount
 * other overlays over anything.
 */
static bool is_on_our_root(const struct stat *st)
{
	struct stat root;

	return stat("/", &root) == 0 && root.st_dev == st->st_dev;
}

static bool may_stall(int fd, const struct stat *st)
{
	struct statfs system;

	if (fstatfs(fd, &system) < 0)
		return true;
	if ((uint32_t)system.f_type == OVERLAYFS_SUPER_MAGIC)
		return !is_on_our_root(st);
	return !is_local((uint32_t)system.f_type);
}

/*
 * Returns true for the private group of a user, which has the user's number.
 * Such users create files that the group can write to (umask 002). This
 * excludes root, because the users of some containers are in group 0.
 */
static bool is_private_group(const struct stat *st)
{
	return st->st_uid && st->st_uid == geteuid() && st->st_gid == st->st_uid &&
	       st->st_gid == getegid();
}

static bool is_anothers(const struct stat *st)
{
	return (st->st_uid && st->st_uid != geteuid()) || st->st_mode & S_IWOTH ||
	       (st->st_mode & S_IWGRP && !is_private_group(st));
}

/*
 * Maximum number of holes that are counted. Sparse files written by tools have
 * fewer.
 */
enum { HOLES_MAX = 1024 };

/*
 * Counts the holes. The number of blocks is not sufficient, because the file
 * system may compress.
 */
static uint64_t data_bytes(int fd, const struct stat *st)
{
	const off_t size = st->st_size;
	uint64_t count = 0, allocated = (uint64_t)st->st_blocks * 512;
	off_t start, end = 0;

	if (allocated >= (uint64_t)size)
		return (uint64_t)size;
	for (unsigned i = 0; i < HOLES_MAX; i++) {
		start = lseek(fd, end, SEEK_DATA);
		if (start < 0 && errno == ENXIO) /* only a hole remains */
			return count;
		end = lseek(fd, start, SEEK_HOLE);
		if (start < 0 || end < 0)
			return (uint64_t)size;
		count += (uint64_t)((end < size ? end : size) - start);
		if (end >= size)
			return count;
	}
	return count > allocated ? count : allocated;
}

struct file_origin file_origin_of(int fd, const struct stat *st)
{
	bool stalls = may_stall(fd, st);

	return (struct file_origin){
		.owner = st->st_uid,
		.is_untrusted = stalls || is_anothers(st),
		.may_stall = stalls,
		.data_bytes = data_bytes(fd, st),
	};
}
