/*
 * Finds the process that uses the most CPU time now.
 */
#ifndef PROF_PROC_BUSIEST_H
#define PROF_PROC_BUSIEST_H

#include <stdbool.h>
#include <sys/types.h>

struct busiest {
	pid_t pid;
	double cpus;   /* CPUs used: 0.5 is half of one */
	char name[64]; /* comm */
};

/*
 * Measures all processes for 0.1 s. Without `any_user` it considers only those of this user. This
 * process, kernel threads and processes below 1 % of a CPU are omitted. Returns false if there is
 * no other.
 */
bool busiest_process(uid_t user, bool any_user, struct busiest *ret);

#endif
