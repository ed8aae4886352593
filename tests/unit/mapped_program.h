/* Maps a program that a test has made into a process that does not exist. */
#ifndef PROF_TESTS_MAPPED_PROGRAM_H
#define PROF_TESTS_MAPPED_PROGRAM_H

#include "proc/address_spaces.h"
#include "unit_test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Maps a page of the file. The test is its owner, so it is read like prof's own
 * files. */
static inline void map_program(struct address_spaces *spaces, pid_t pid, const void *program,
			       size_t length, uint64_t start)
{
	char path[] = "/tmp/prof_unit_test.XXXXXX";
	CLEANUP(close_fd) int fd = mkstemp(path);
	struct stat st;

	assert_int_equal(write(fd, program, length), length);
	assert_int_equal(fstat(fd, &st), 0);
	struct mapping mapping = {.start = start,
				  .end = start + 0x1000,
				  .device_major = major(st.st_dev),
				  .device_minor = minor(st.st_dev),
				  .inode = st.st_ino,
				  .path = path};

	address_spaces_map(spaces, pid, 0, &mapping);
	unlink(path);
}

#endif
