/*
 * The threads and label sets of a profile, interned: equal ones have equal ids.
 *
 * The well-known labels (pid, tid, names of process and thread) are a struct
 * profile_thread. A label set is a thread and its other labels. If no sample
 * has other labels, label sets and threads have the same ids.
 */
#ifndef PROF_PROFILE_LABEL_SETS_H
#define PROF_PROFILE_LABEL_SETS_H

#include "base/arena.h"
#include "profile/labels.h"
#include "profile/table.h"

/* Zeroed: empty. */
struct label_sets {
	TABLE(struct profile_thread) threads; /* by (pid and tid, pair of names) */
	TABLE(uint64_t) names;		      /* pairs of string ids */
	/* By (hash of the content, nth set with this hash). */
	TABLE(struct profile_label_set) sets;
	struct arena arena; /* the labels of sets */
};

void label_sets_deinit(struct label_sets *sets);

thread_id label_sets_thread(struct label_sets *sets, const struct profile_thread *thread);
/*
 * Returns the id of a label set. Sorts the labels by the text of their keys;
 * repeated keys keep their order.
 */
label_set_id label_sets_put(struct label_sets *sets, const struct strtab *strings, thread_id thread,
			    const struct profile_label *labels, uint32_t count);

/* Returns the size of all tables in bytes. */
size_t label_sets_memory_bytes(const struct label_sets *sets);

#endif
