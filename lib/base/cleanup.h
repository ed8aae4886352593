/*
 * Scope-bound ownership, with the compiler's cleanup attribute.
 *
 *	CLEANUP(free_ptr) char *path = xasprintf(...);
 *	...
 *	return STEAL(path);		// ownership leaves the scope
 *
 * A cleanup function takes the address of the variable. A module that has `foo_free(struct foo *)`
 * gets one with DEFINE_CLEANUP(foo, foo_free): CLEANUP(foo_cleanup) struct foo *foo.
 */
#ifndef PROF_BASE_CLEANUP_H
#define PROF_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(fn) __attribute__((cleanup(fn)))

#define STEAL(ptr)                                                                                 \
	__extension__({                                                                            \
		__typeof__(ptr) stolen_ = (ptr);                                                   \
		(ptr) = NULL;                                                                      \
		stolen_;                                                                           \
	})

#define DEFINE_CLEANUP(name, free_fn)                                                              \
	static inline void name##_cleanup(struct name **ptr)                                       \
	{                                                                                          \
		free_fn(*ptr);                                                                     \
	}

static inline void free_ptr(void *ptr)
{
	free(*(void **)ptr);
}

/* For `CLEANUP(close_fd) int fd = -1;`. Ignores negative descriptors. */
static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline int steal_fd(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}

static inline void close_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void close_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

#endif
