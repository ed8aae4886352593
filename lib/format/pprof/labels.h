/*
 * The label sets of pprof samples. The labels "comm", "thread", "pid" and
 * "tid", as prof writes them, define the thread. All others are kept.
 */
#ifndef PROF_FORMAT_PPROF_LABELS_H
#define PROF_FORMAT_PPROF_LABELS_H

#include "format/pprof/strings.h"

/* Most samples have exactly the same labels as a recent one. */
struct pprof_recent_labels {
	struct bytes labels;
	label_set_id id;
};

enum { PPROF_RECENT_LABELS = 4096 };

struct pprof_labels {
	struct pprof_strings *strings;
	string_id comm, thread, pid, tid; /* keys */
	string_id id;			  /* unit of pid and tid */
	struct profile_label *others;	  /* of the current sample */
	uint32_t other_count, other_room;
	struct pprof_recent_labels recent[PPROF_RECENT_LABELS]; /* by hash of the labels */
};

/* strings are borrowed. */
void pprof_labels_init(struct pprof_labels *labels, struct pprof_strings *strings);
void pprof_labels_deinit(struct pprof_labels *labels);

/*
 * message: the part of a sample's message with all of its labels. It must stay
 * valid until pprof_labels_deinit(). Returns false if it is malformed.
 */
bool pprof_labels_find(struct pprof_labels *labels, struct bytes message, label_set_id *ret);

#endif
