/*
 * The labels of samples: the well-known ones of threads, and any others.
 */
#ifndef PROF_PROFILE_LABELS_H
#define PROF_PROFILE_LABELS_H

#include "base/strtab.h"

#include <stdint.h>
#include <sys/types.h>

typedef uint32_t thread_id;
typedef uint32_t label_set_id;

/* The well-known labels of a sample. */
struct profile_thread {
	pid_t pid, tid;	   /* -1 when unknown */
	string_id process; /* name of the process; "" when unknown */
	string_id name;	   /* of the thread */
};

/* Any other label of a sample: cgroup, container, task, or what a program gives its samples. */
struct profile_label {
	string_id key;
	string_id text; /* the value; "": it is a number */
	string_id unit; /* of the number; "" when unknown */
	int64_t number; /* 0 where there is a text */
};

/* The labels that samples have in common. A key may have several values. */
struct profile_label_set {
	thread_id thread;
	uint32_t count;
	const struct profile_label *labels; /* sorted by the text of their keys */
};

#endif
