/*
 * Reads pprof profiles of any producer, compressed or not: prof, Go,
 * perf_to_profile, pprof-rs and others. Source:
 * https://github.com/google/pprof/blob/main/proto/profile.proto.
 *
 * - Sample types become events. The type "samples" contains the counts of one
 *   of them (pprof/events.h).
 * - Each location becomes a frame and each mapping a module. Consecutive
 *   mappings of one file become one module. The first mapping is the main
 *   program. Addresses are not changed.
 * - The labels comm, thread, pid and tid become the thread. Other labels are
 *   kept.
 * - drop_frames and keep_frames are applied (pprof/prune.h).
 * - In a difference of two profiles, types with negative values are omitted
 *   (pprof/events.h). profile_info.problems lists them.
 * - Inconsistent files are errors, for example references to unknown ids or
 *   strings.
 */
#ifndef PROF_FORMAT_PPROF_READ_H
#define PROF_FORMAT_PPROF_READ_H

#include "format/format.h"

/* The start of the comment with profile_info.title. */
#define PPROF_TITLE "title: "
/* The comment that sets profile_info.is_run. */
#define PPROF_RUN "recorded: a command, from its start to its end"
/*
 * Title of the comment with profile_module.source_user by id of the mapping:
 * "3=1000 4=1000".
 */
#define PPROF_OWNERS "owners of mappings: "
/*
 * Title of the comment with the polls of a task: their number, a space and the
 * task's name. There is one comment per task.
 */
#define PPROF_POLLS "polls of a task: "

bool pprof_recognize(const unsigned char *first, size_t len);
MUST_CHECK struct error *pprof_read(FILE *in, struct profile *profile);

/* A profile that several files are added to. */
struct pprof_sum {
	struct profile *profile;
	struct idmap *modules; /* of the profile (profile/transfer.h) */
	/* Called at the end of a file with the facts about its recording. */
	void (*add_info)(void *user, const struct profile_info *info);
	void *user;
};

/*
 * Adds a file, like pprof_read() followed by profile/transfer.h, but without
 * the intermediate profile. Reads times of samples if the profile keeps
 * timestamps; they are not sorted. After an error the sum must not be used.
 */
MUST_CHECK struct error *pprof_add(FILE *in, const struct pprof_sum *sum);

#endif
