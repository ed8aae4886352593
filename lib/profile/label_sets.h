/*
 * The threads and label sets of a profile, interned: equal ones get equal ids.
 *
 * The well-known labels (pid, tid, names of process and thread) are a struct profile_thread; a
 * label set is a thread and its other labels. A profile whose samples have no other labels has as
 * many label sets as threads, with the same ids.
 */
#ifndef PROF_PROFILE_LABEL_SETS_H
#define PROF_PROFILE_LABEL_SETS_H

#include "base/arena.h"
#include "profile/labels.h"
#include "profile/table.h"

/* Zeroed: none. */
struct label_sets {
	TABLE(struct profile_thread) threads; /* by (pid and tid, pair of names) */
	TABLE(uint64_t) names;		      /* pairs of string ids */
	TABLE(struct profile_label_set) sets; /* by (hash of the content, nth of that hash) */
	struct arena arena;		      /* the labels of sets */
};

void label_sets_deinit(struct label_sets *sets);

thread_id label_sets_thread(struct label_sets *sets, const struct profile_thread *thread);
/* Sorts the labels by the text of their keys; repeated keys keep their order. */
label_set_id label_sets_put(struct label_sets *sets, const struct strtab *strings, thread_id thread,
			    const struct profile_label *labels, uint32_t count);

/* The memory that they need. */
size_t label_sets_memory_bytes(const struct label_sets *sets);

#endif
