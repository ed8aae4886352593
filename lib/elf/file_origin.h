/*
 * Whose a file is, and how much of it is data: what decides how far its contents are trusted, and
 * for how long and into how much memory they are read. Source: stat(2), statfs(2), lseek(2).
 */
#ifndef PROF_ELF_FILE_ORIGIN_H
#define PROF_ELF_FILE_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct file_origin {
	uid_t owner;
	/*
	 * Somebody other than root and prof's own user may write to the file, also while prof reads
	 * it: its owner or its mode say so (but for the group of a user alone), or its file system
	 * is one whose server says what it likes (network, FUSE), is a container's (its layers can
	 * be of any kind), or is not known.
	 */
	bool is_foreign;
	/* Its file system is one of those: reading a page may take for ever. */
	bool may_stall;
	/*
	 * Its size without holes. A sparse file claims terabytes that cost its owner nothing and
	 * whoever reads them hours.
	 */
	uint64_t data_bytes;
};

/* Asks the file system, which may take its time: on a network, or if it is another user's. */
struct file_origin file_origin_of(int fd, const struct stat *st);

#endif
