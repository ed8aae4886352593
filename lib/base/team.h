/*
 * A team of threads that share work: the items of a job, numbered from 0. The
 * caller is a member, so a job completes even if no thread could be started.
 */
#ifndef PROF_BASE_TEAM_H
#define PROF_BASE_TEAM_H

#include "base/cleanup.h"

#include <stddef.h>

struct team;

/*
 * member: below the size of the team; never the same in two concurrent calls.
 */
typedef void team_work(void *context, size_t item, unsigned member);

/* size: at least 1, including the caller. The threads receive no signals. */
struct team *team_new(unsigned size);
void team_free(struct team *team);
DEFINE_CLEANUP(team, team_free)

unsigned team_size(const struct team *team);
/*
 * Gives the threads a job. Only one job can run at a time; team_finish() ends
 * it.
 */
void team_begin(struct team *team, size_t items, team_work *work, void *context);
/* Lets the caller take part in the job. Returns when all items are done. */
void team_finish(struct team *team);

#endif
