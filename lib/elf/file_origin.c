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

/* File systems of this machine's kernel on its own disks, in its memory or on its images. */
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

/* The overlay that prof itself runs in. Others can be mounted by any user, over anything. */
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
 * Users with groups of their own, which have their numbers, create files that these can write to
 * (umask 002). Not root: the users of some containers are in group 0.
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

/* Holes that are counted one by one; files that tools have made sparse have fewer. */
enum { HOLES_MAX = 1024 };

/*
 * Fewer blocks than bytes can also mean that the file system compresses, so the holes are asked
 * for.
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
		if (start < 0 && errno == ENXIO) /* nothing but a hole is left */
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
		.is_foreign = stalls || is_anothers(st),
		.may_stall = stalls,
		.data_bytes = data_bytes(fd, st),
	};
}
