/*
 * The labels of samples: the well-known labels of threads, and any others.
 */
#ifndef PROF_PROFILE_LABELS_H
#define PROF_PROFILE_LABELS_H

#include "base/strtab.h"

#include <stdint.h>
#include <sys/types.h>

typedef uint32_t thread_id;
typedef uint32_t label_set_id;

/* The keys of the well-known labels. */
#define COMM_LABEL "comm"
#define THREAD_LABEL "thread"
#define PID_LABEL "pid"
#define TID_LABEL "tid"
/* The number of threads that ran, of samples of elapsed time. */
#define PARALLELISM_LABEL "parallelism"
/*
 * The keys of the labels for a process's cgroup and the container that it
 * belongs to.
 */
#define CGROUP_LABEL "cgroup"
#define CONTAINER_LABEL "container"

/* The well-known labels of a sample. */
struct profile_thread {
	pid_t pid, tid;	   /* -1 if unknown */
	string_id process; /* the process's name; "" if unknown */
	string_id name;	   /* the thread's name */
};

/*
 * Any other label of a sample: cgroup, container, task, or a label that the
 * program sets.
 */
struct profile_label {
	string_id key;
	string_id text; /* the value, or "" if it is a number */
	string_id unit; /* unit of the number; "" if unknown */
	int64_t number; /* 0 if the value is a text */
};

/* The labels that several samples share. A key may have several values. */
struct profile_label_set {
	thread_id thread;
	uint32_t count;
	const struct profile_label *labels; /* sorted by the text of their keys */
};

#endif
