/*
 * A directory of finished profiles that are to be delivered, each to every target: the queue of a
 * recording whose server is away, which outlives prof and the machine.
 *
 * The queue is the files themselves, named PREFIX*.pb.gz; whoever writes one gives it its name when
 * it is complete. The file ".pushed" has a line "TARGET FILE" for each that is done, and only of
 * files that still exist. So what is removed from the directory, because it is old, is out of the
 * queue, and what bounds the directory bounds the queue. A prof that is killed between a delivery
 * and its line delivers that file again. One prof at a time has a directory (flock(2)). Profiles
 * and state of others do not count (output/directory.h).
 */
#ifndef PROF_PUSH_BACKLOG_H
#define PROF_PUSH_BACKLOG_H

#include "output/directory.h"

#include <stdbool.h>
#include <stddef.h>

#define BACKLOG_STATE_FILE ".pushed"

struct backlog {
	char **files; /* the profiles: oldest first, by time of modification, then by name */
	size_t count;

	const struct output_directory *directory; /* borrowed */
	char *prefix;
	int lock;
	int state;   /* of the state file, to append to */
	char **done; /* its lines, sorted */
	size_t done_count;
};

/* prefix: "": all profiles of the directory. Fails with EWOULDBLOCK if another prof has it.
 * is_locked: it is this prof that has it. */
MUST_CHECK struct error *backlog_open(const struct output_directory *directory, const char *prefix,
				      bool is_locked, struct backlog *ret);
/* Only for questions: what is done at this moment, whoever has the directory. */
void backlog_look(const struct output_directory *directory, struct backlog *ret);
/* A zeroed one has nothing to free. */
void backlog_close(struct backlog *backlog);

/* As of backlog_open(). */
bool backlog_is_done(const struct backlog *backlog, const char *target, const char *file);
/* Whether two files are done for the same targets. */
bool backlog_is_done_alike(const struct backlog *backlog, const char *file, const char *other);
/* Writes it to the disk. */
MUST_CHECK struct error *backlog_set_done(const struct backlog *backlog, const char *target,
					  const char *file);

#endif
