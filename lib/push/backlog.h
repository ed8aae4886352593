/*
 * A directory of finished profiles that must be delivered to each target. It is
 * the queue for a server that is unavailable, and survives restarts of prof and
 * of the machine.
 *
 * The queue consists of the files PREFIX*.pb.gz, whose writers must give them
 * their names when they are complete. The file ".pushed" contains a line
 * "TARGET FILE" for each delivery that is done, only for files that still
 * exist. Removing an old file thus removes it from the queue, and a limit on
 * the directory also limits the queue. If prof is killed between a delivery and
 * writing its line, it delivers that file again. One prof at a time uses a
 * directory (flock(2)). Profiles and state of other users are ignored
 * (output/directory.h).
 */
#ifndef PROF_PUSH_BACKLOG_H
#define PROF_PUSH_BACKLOG_H

#include "output/directory.h"

#include <stdbool.h>
#include <stddef.h>

#define BACKLOG_STATE_FILE ".pushed"

struct backlog {
	char **files; /* the profiles: oldest first, by modification time, then by name */
	size_t count;

	const struct output_directory *directory; /* borrowed */
	char *prefix;
	int lock;
	int state;   /* descriptor of the state file, for appending */
	char **done; /* its lines, sorted */
	size_t done_count;
};

/*
 * Opens the queue. With the prefix "", it consists of all profiles of the
 * directory. Fails with EWOULDBLOCK if another prof uses it. is_locked is set
 * if this prof already holds the lock.
 */
MUST_CHECK struct error *backlog_open(const struct output_directory *directory, const char *prefix,
				      bool is_locked, struct backlog *ret);
/* Reads the current state only for queries, even if another prof uses the
 * directory. */
void backlog_look(const struct output_directory *directory, struct backlog *ret);
/* A zeroed backlog needs no close. */
void backlog_close(struct backlog *backlog);

/* Whether a file is done for a target, as of backlog_open(). */
bool backlog_is_done(const struct backlog *backlog, const char *target, const char *file);
/* Whether two files are done for the same targets. */
bool backlog_is_done_alike(const struct backlog *backlog, const char *file, const char *other);
/* Records that a file is done, and syncs the state file to disk. */
MUST_CHECK struct error *backlog_set_done(const struct backlog *backlog, const char *target,
					  const char *file);

#endif
