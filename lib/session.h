/*
 * The joint: gives records to whom they concern, and samples through the unwinder into the profile.
 * Holds no algorithm.
 *
 * Live records and those of a file take the same path; the order is by time (sampler.h). Needs
 * neither root nor perf.
 */
#ifndef PROF_SESSION_H
#define PROF_SESSION_H

#include "perf/record.h"
#include "proc/names.h"
#include "proc/space.h"
#include "profile/profile.h"
#include "unwind/unwind.h"

struct session_counts {
	uint64_t samples;
	uint64_t lost;	    /* samples the kernel could not write */
	uint64_t throttled; /* times the kernel paused sampling */
	uint64_t truncated; /* stacks that got [truncated] as their root */
	uint64_t deep;	    /* stacks larger than what the kernel copied of them … */
	uint64_t completed; /* … and complete all the same */
	uint64_t joined; /* stacks that frame pointers led on to the root, from where CFI did not */
	uint64_t user_stacks; /* samples that had a user stack to unwind */
	uint64_t compat;      /* samples of 32-bit processes */
};

struct session;

/* Borrows all of them. */
struct session *session_new(struct spaces *spaces, struct names *names, struct unwinder *unwinder,
			    const struct arch *arch, struct profile *profile);
void session_free(struct session *session);
DEFINE_CLEANUP(session, session_free)

/* Of stacks with more frames the middle is left out; UNWIND_DEPTH_MAX if not said. At least 1. */
void session_set_depth(struct session *session, unsigned frames);

/* Whose program is the profile's main module: the next one that process pid executes … */
void session_set_main_process(struct session *session, pid_t pid);
/* … or, of a process that runs already, the file of that name. */
void session_set_main_path(struct session *session, const char *path);

/* A thread that was there before: its process lasts as long as it does, also without the first one.
 */
void session_add_thread(struct session *session, pid_t pid, pid_t tid);

void session_feed(struct session *session, const struct record *record);
/* Of the record that was fed last. Where a stand-in's copy was not enough, the end is some way
 * above it. */
struct stack_extent session_stack_extent(const struct session *session);
/* Records older than this will not come any more: what ended before is forgotten. */
void session_forget(struct session *session, uint64_t before_ns);
/* No more records, for now at least: describes to the profile the modules its frames are in. */
void session_finish(struct session *session);

const struct session_counts *session_counts(const struct session *session);

#endif
