/*
 * Process and thread ids as listed in /proc and /proc/PID/task, the user of a
 * process, and whether it is one of user space. Source: proc(5).
 */
#ifndef PROF_BASE_PIDS_H
#define PROF_BASE_PIDS_H

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Returns the next id of an open directory and skips other entries. Returns 0
 * at the end and if dir is NULL.
 */
static inline pid_t pids_next(DIR *dir)
{
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			return (pid_t)atoi(entry->d_name);
	return 0;
}

/* An id that no user has. */
#define PIDS_NO_OWNER ((uid_t)-1)

/*
 * Returns the user of a process: like perf, the owner of its directory in
 * /proc. Returns PIDS_NO_OWNER if the process has ended.
 */
static inline uid_t pids_owner(pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) == 0 ? st.st_uid : PIDS_NO_OWNER;
}

/*
 * Returns whether the process runs a program. Zombies and kernel threads have
 * no command line.
 */
static inline bool pids_has_program(pid_t pid)
{
	char path[32];
	FILE *file;
	bool has_program;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	file = fopen(path, "re");
	has_program = file && getc(file) != EOF;
	if (file)
		fclose(file);
	return has_program;
}

#endif
