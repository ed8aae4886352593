/*
 * The threads of pprof samples, by their labels: "comm" and "thread", "pid" and "tid", as prof
 * writes them. Other labels are passed over.
 */
#ifndef PROF_FORMAT_PPROF_ORIGINS_H
#define PROF_FORMAT_PPROF_ORIGINS_H

#include "format/pprof_strings.h"

/* The field of a sample's message that is a label. */
#define PPROF_SAMPLE_LABEL 3

/* Most samples have the labels of one shortly before, byte by byte. */
struct pprof_origin {
	struct bytes labels;
	thread_id thread;
};

enum { PPROF_ORIGINS = 256 };

struct pprof_origins {
	struct pprof_strings *strings;
	string_id comm, thread, pid, tid;	   /* keys of labels */
	struct pprof_origin recent[PPROF_ORIGINS]; /* by the hash of the labels */
};

/* strings are borrowed. */
void pprof_origins_init(struct pprof_origins *origins, struct pprof_strings *strings);

/*
 * labels: a part of a sample's message with all its labels, which stays where it is as long as the
 * origins are asked. False when it is damaged.
 */
bool pprof_origins_find(struct pprof_origins *origins, struct bytes labels, thread_id *ret);

#endif
