/*
 * Determines the owner of a file and its amount of data. These decide how far
 * its contents are trusted, and for how long and into how much memory they are
 * read. Source: stat(2), statfs(2), lseek(2).
 */
#ifndef PROF_ELF_FILE_ORIGIN_H
#define PROF_ELF_FILE_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct file_origin {
	uid_t owner;
	/*
	 * A user other than root and prof's own user may write to the file,
	 * even while prof reads it. This is the case if the owner or the mode
	 * permits it, except for a group with one user. It is also the case if
	 * the file system is a network or FUSE file system, whose server can
	 * return anything, that of a container, whose layers can be of any
	 * kind, or an unknown one.
	 */
	bool is_untrusted;
	/*
	 * The file is in one of these file systems, so that reading a page may
	 * take forever.
	 */
	bool may_stall;
	/*
	 * Size without holes. A sparse file can have a size of terabytes that
	 * costs its owner nothing, but takes hours to read.
	 */
	uint64_t data_bytes;
};

/*
 * Queries the file system, which may be slow: a network file system or one of
 * another user.
 */
struct file_origin file_origin_of(int fd, const struct stat *st);

#endif
