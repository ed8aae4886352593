/*
 * Identifies the contents of a file. Every write to a file changes its
 * changed_ns, which no user can set. Source: inode(7).
 */
#ifndef PROF_ELF_FILE_VERSION_H
#define PROF_ELF_FILE_VERSION_H

#include <stdint.h>
#include <sys/stat.h>

/* All zero for no file. No padding, so that it can be compared as bytes. */
struct file_version {
	uint64_t device, inode, size_bytes;
	int64_t written_ns, changed_ns;
};

static inline struct file_version file_version_of(const struct stat *st)
{
	return (struct file_version){
		.device = st->st_dev,
		.inode = st->st_ino,
		.size_bytes = (uint64_t)st->st_size,
		.written_ns = st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec,
		.changed_ns = st->st_ctim.tv_sec * INT64_C(1000000000) + st->st_ctim.tv_nsec,
	};
}

#endif
