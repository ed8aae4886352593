/*
 * Process and thread ids, as /proc and /proc/PID/task list them. Source: proc(5).
 */
#ifndef PROF_BASE_PIDS_H
#define PROF_BASE_PIDS_H

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <sys/types.h>

/* The next id of an open directory; other entries are skipped. 0 at its end and if dir is NULL. */
static inline pid_t pids_next(DIR *dir)
{
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			return (pid_t)atoi(entry->d_name);
	return 0;
}

#endif
